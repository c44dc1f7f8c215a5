/** The tokens of a game server in a fleet: signed by the fleet, for the identity of this process. */

import { randomBytes } from 'node:crypto'
import { SpentTokens } from '../core/crypto/spent-tokens.ts'
import type { TokenPolicy } from '../core/endpoint/endpoint-security.ts'
import type { RoomServerOptions } from './room-server-options.ts'

/** The audience of tokens of a fleet, if the game has no name of its own for it. */
const FLEET_AUDIENCE = 'fleet'

/** The keys that may sign tokens for this process. */
export class FleetTokens {
  /** The options of the server, with the tokens of the fleet. */
  readonly policy: TokenPolicy
  #issuers: readonly Uint8Array[]

  /** `own`: the policy of the game, whose tokens are valid too. */
  constructor(own: TokenPolicy | undefined, issuer: Uint8Array) {
    const wallSeconds = (): number => Date.now() / 1000
    this.#issuers = [issuer, ...(own?.issuers.slice(0, 1) ?? [])]
    const issuers = (): readonly Uint8Array[] => this.#issuers
    this.policy = {
      audience: FLEET_AUDIENCE, spent: new SpentTokens(wallSeconds()), wallSeconds, ...own,
      get issuers() {
        return issuers()
      },
      // A client that resumes shows its ticket. A new client needs a reserved seat, which only its token names.
      isOptional: true,
    }
  }

  /** The fleet has another key, such as after a restart. The key of before stays valid beside it. */
  replace(issuer: Uint8Array): void {
    const [first] = this.#issuers
    if (first === undefined || Buffer.compare(first, issuer) === 0) return
    this.#issuers = [issuer, first]
  }

  /** The options of a server, with these tokens. */
  in<O extends RoomServerOptions>(options: O): O {
    // A token names the server that it is for, so each process has an identity.
    const identity = Uint8Array.from(randomBytes(32))
    return { ...options, security: { identity, ...options.security, tokens: this.policy } }
  }
}
