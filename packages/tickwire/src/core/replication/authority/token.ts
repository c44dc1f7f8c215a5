/**
 * Who may write an object, as a pair that travels with its state: whose it is, and the first tick that is his.
 *
 *   token    (owner, tick)        owner 0: the server
 *
 * Of two tokens of one object the one with the higher tick is newer; of two with equal ticks the one with the higher owner.
 * That is a total order, so whoever keeps the newest he has heard of ends where everybody else does, whatever order they
 * came in.
 */

import type { ObjectId, PeerId, Tick } from '../../base/time.ts'

export interface Token {
  readonly owner: PeerId
  /** The first tick that the owner writes. */
  readonly tick: Tick
}

/** Above 0 when the first token is the newer one, below when the second is, 0 when they are the same. @hot */
export function compareTokens(tick: Tick, owner: PeerId, otherTick: Tick, otherOwner: PeerId): number {
  return tick === otherTick ? owner - otherOwner : tick - otherTick
}

/** The newer of two tokens: last writer wins. */
export function newerToken(a: Token, b: Token): Token {
  return compareTokens(a.tick, a.owner, b.tick, b.owner) >= 0 ? a : b
}

/** Where the tokens of objects are found. */
export interface Tokens {
  /** The first tick that the owner of who lives at an index writes. */
  authorityTickAt(index: number): Tick
  /** Likewise, as it was at the end of a tick, of an object that lived then. Default: as it is now. */
  authorityTickAfter?(id: ObjectId, tick: Tick): Tick
}
