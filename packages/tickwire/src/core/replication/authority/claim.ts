/**
 * Which peer may write an object, as a pair that travels with its state: the owner, and the first tick that it writes.
 *
 *   claim    (owner, tick)        owner 0: the server
 *
 * Of two claims of one object the one with the higher tick is newer; of two with equal ticks the one with the higher
 * owner. That is a total order. Peers that keep the newest claim they received therefore agree, whatever the order of
 * arrival.
 */

import type { ObjectId, PeerId, Tick } from '../../base/time.ts'

export interface Claim {
  readonly owner: PeerId
  /** The first tick that the owner writes. */
  readonly tick: Tick
}

/** Above 0 when the first claim is the newer one, below when the second is, 0 when they are the same. @hot */
export function compareClaims(tick: Tick, owner: PeerId, otherTick: Tick, otherOwner: PeerId): number {
  return tick === otherTick ? owner - otherOwner : tick - otherTick
}

/** The newer of two claims: last writer wins. */
export function newerClaim(a: Claim, b: Claim): Claim {
  return compareClaims(a.tick, a.owner, b.tick, b.owner) >= 0 ? a : b
}

/** Looks up the claims of objects. */
export interface Claims {
  /** The first tick that the owner of the object at an index writes. */
  authorityTickAt(index: number): Tick
  /** The same, as it was at the end of a tick, for an object that existed then. Default: the current value. */
  authorityTickAfter?(id: ObjectId, tick: Tick): Tick
}
