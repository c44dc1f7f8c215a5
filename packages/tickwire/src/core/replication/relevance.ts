/**
 * Which objects one client may know, and how urgently it needs each: replication asks once per flush.
 *
 * The answer is three parallel arrays of length `count`, ascending by object index. An object that is not listed does
 * not exist for the client. An object that was listed and no longer is has left the client's view. The field set says
 * which fields of the row the client may receive.
 *
 * Invariant: an answer depends on nothing that the client may not see. Two runs that differ only in hidden state send
 * the client the same bytes.
 *
 * `interest/all-relevant.ts` is the simple implementation: every client sees everything. `interest/interest.ts` uses
 * distances.
 */

import type { PeerId, Tick } from '../base/time.ts'

/** The field set of a row as a number: an index into `schema.masks`. */
export const FIELD_SET = { all: 0, team: 1, owner: 2 } as const

/** One client's view of a world. */
export interface Relevance {
  /** Objects that this client may know, as of the last refresh. The length of the parallel arrays. */
  readonly count: number
  /** Object indexes in `world.objects`, ascending. A refresh may replace the array. */
  readonly indexes: Uint32Array
  /** Added to the object's accumulated urgency now: priority x distance factor x authority factor. */
  readonly weights: Float32Array
  /** Field sets: 0 all, 1 team, 2 owner. */
  readonly sets: Uint8Array
  /** Changes whenever a refresh changed `indexes` or `sets`. While it is the same, callers do not read them again. */
  readonly version: number
  /** Reads the world as it is after a tick. A second call for the same tick changes nothing. */
  refresh(tick: Tick): void
}

/** The team of a peer, as the game defines it. 0 means no team: a peer without a team has no teammates. */
export type TeamOf = (peer: PeerId) => number
