/** How desyncs are decided, and what the judge decided. */

import type { PeerId, Tick } from '../base/time.ts'
import type { DesyncReport } from '../order/desync-report.ts'
import type { SyncMessage } from '../order/sync-messages.ts'

/** How desyncs are decided. */
export interface DesyncRules {
  /** When no state has a majority: the match is void, or the state of the first player counts. Default: 'first'. */
  readonly tie?: 'void' | 'first'
  /** Whether diverged players are repaired. Default: true. */
  readonly heal?: boolean
  /** Whether a referee is asked when no state has a majority (`JudgeEvent`). Default: false. */
  readonly hasReferee?: boolean
  /**
   * What clients with a `DebugLog` write when their worlds are compared: 1 and 2 the order log up to that tick, 3 also
   * an image. Default: 0, which is the same as 1.
   */
  readonly debugLevel?: number
}

/** What the judge decided, for the caller to carry out. */
export type JudgeEvent =
  | { readonly kind: 'report'; readonly report: DesyncReport }
  /** The match is void: no state is right. */
  | { readonly kind: 'void' }
  /** The player was repaired too often, or cannot be. */
  | { readonly kind: 'desynced'; readonly peer: PeerId }
  /** Call `decide` with the hash of a tick. */
  | { readonly kind: 'referee'; readonly tick: Tick }

/** A player that the judge may ask. */
export interface JudgedPlayer {
  readonly peer: PeerId
  /** Its round trip, in ms: the nearest one is the donor. */
  readonly rttMs: number
  /** The newest tick that it has stepped. */
  readonly executed: Tick
}

/** A message to a player. */
export interface Outgoing {
  readonly to: PeerId
  readonly message: SyncMessage
}
