/**
 * The relays that members of a session may use, with a token for each.
 */

import { randomBytes } from 'node:crypto'
import { bestProvider } from 'tickwire/node'
import { tokenToText } from 'tickwire/engine'
import { issueRelayToken } from 'tickwire/nat'
import type { RelayOffer } from './schemas.ts'

/** A relay that a rendezvous gives to its sessions. */
export interface KnownRelay {
  /** `ip:port`. */
  readonly address: string
  /** Its WebSocket, for pages: `wss://relay.example/v1/relay`. Default: none. */
  readonly url?: string
}

/** How long a token may begin an allocation: the most that a token may have. */
const TOKEN_SECONDS = 3600

export class RelayIssuer {
  readonly #relays: readonly KnownRelay[]
  readonly #issuer: ReturnType<ReturnType<typeof bestProvider>['importSigning']>
  readonly #audience: string

  /** `secret`: the issuer's secret key, 32 bytes. */
  constructor(relays: readonly KnownRelay[], secret: Uint8Array, audience: string) {
    this.#relays = relays
    this.#issuer = bestProvider().importSigning(Uint8Array.from(secret))
    this.#audience = audience
  }

  /** The issuer's public key. */
  get publicKey(): Uint8Array {
    return this.#issuer.publicKey
  }

  /** The relays, without tokens. */
  known(): KnownRelay[] {
    return this.#relays.map(({ address, url }) => ({ address, ...(url !== undefined && { url }) }))
  }

  /** A token for each relay. `session`: 32 hexadecimal digits. */
  offers(session: string): RelayOffer[] {
    const issuedAt = Math.floor(Date.now() / 1000)
    const token = (): string => tokenToText(issueRelayToken(bestProvider(), this.#issuer, {
      session: Buffer.from(session, 'hex'), id: randomBytes(16), issuedAt, expiresAt: issuedAt + TOKEN_SECONDS,
      audience: this.#audience,
    }))
    return this.#relays.map(({ address, url }) => ({
      address, ...(url !== undefined && { url }), token: token(), turn: token(),
    }))
  }
}
