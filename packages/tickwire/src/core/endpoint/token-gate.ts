/**
 * Token checks during admission: whether a token is valid, and whether this client may still use it.
 *
 * A token is spent by the key of the first client that is accepted with it. The same key may use it again until its
 * connection has opened, because its Accepted was lost, its address changed, or the server restarted. Every other key
 * is refused.
 *
 * Without a token policy no client needs a token, and every check here passes.
 */

import type { RuleCode } from '../connection/close-reason.ts'
import { type ConnectToken, verifyToken } from '../crypto/connect-token.ts'
import type { CompleteSecurity } from './endpoint-security.ts'

/** Checks and spends the tokens of connecting clients. */
export class TokenGate {
  #policy: CompleteSecurity['tokens']
  #drops: { tokens: number }

  /** Invalid tokens are counted in `drops`. */
  constructor(policy: CompleteSecurity['tokens'], drops: { tokens: number }) {
    this.#policy = policy
    this.#drops = drops
  }

  /**
   * Returns the content of the token. A token that this client cannot spend is rejected before a seat is looked for.
   * Otherwise such a client could keep seats without end.
   */
  check(bytes: Uint8Array, clientKey: Uint8Array): ConnectToken | undefined | 'bad' {
    if (this.#policy === undefined || (bytes.length === 0 && this.#policy.isOptional === true)) return undefined
    const token = verifyToken(this.#policy.check, bytes, this.#policy.wallSeconds())
    if (typeof token === 'object' && !this.#policy.spent.isSpent(token.id, clientKey)) return token
    this.#drops.tokens++
    return 'bad'
  }

  /** Spends a token that passed `check`. Call it as the last check, because spending cannot be undone. */
  spend(token: ConnectToken | undefined, clientKey: Uint8Array): 'good' | RuleCode {
    if (this.#policy === undefined || token === undefined) return 'good'
    const { spent, wallSeconds } = this.#policy
    switch (spent.spend(wallSeconds(), token.id, clientKey, token.expiresAt)) {
      case 'fresh': case 'repeated': return 'good'
      case 'full': case 'unwritten': return 'full'
      case 'spent': case 'expired': break
    }
    this.#drops.tokens++
    return 'token'
  }

  /** The connection of a token has opened: from now on not even the client that spent the token can use it again. */
  finish(tokenId: Uint8Array | undefined): void {
    if (tokenId !== undefined) this.#policy?.spent.finish(tokenId)
  }
}
