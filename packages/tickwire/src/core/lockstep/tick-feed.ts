/**
 * Where the ticks of a match come from: this process, a recording, other peers, or a relay. Neither the game nor the
 * runner knows which.
 */

import type { Millis, PeerId, Tick } from '../base/time.ts'
import type { TickLog } from '../order/tick-log.ts'
import type { TimingFeedback } from '../order/ticks-frame.ts'

/** The result of `submit`. */
export type SubmitResult = 'sent' | 'full' | 'closed'

/** The state of a feed. `waiting`: the next tick has not arrived. `ended`: no tick follows. */
export type FeedStatus = 'connecting' | 'waiting' | 'ready' | 'ended'

/** Numbers about a feed, for an overlay. All times in ms. */
export interface FeedDiagnostics {
  /** The newest tick that has arrived. */
  readonly newest: Tick
  /** The newest tick that was taken. */
  readonly taken: Tick
  /** The smoothed round trip. 0: there is no network. */
  readonly rttMs: number
  /** How long ticks are held back, so that they are stepped evenly. */
  readonly holdMs: number
  /** Orders that are not acknowledged. */
  readonly waitingOrders: number
  /** The last feedback of the relay about the arrival of orders. */
  readonly timing: TimingFeedback | undefined
  /** Frames that were invalid. */
  readonly corrupted: number
}

/** A source of ticks. `LockstepRunner` is its only caller. */
export interface TickFeed {
  /** The ticks so far. */
  readonly log: TickLog
  /** The seed of the match. 0: the players agree on it in the first two ticks (`order/seed-share.ts`). */
  readonly seed: number
  /** The local player. 0: no player, as in a recording. */
  readonly player: PeerId
  /** Bytes of the values of the largest order. Undefined: those that fit a frame. */
  readonly orderBytesMax?: number
  /** Sends an order of the local player. */
  submit(now: Millis, type: number, data: Uint8Array): SubmitResult
  /** The tick after the last that was taken, if it is there and due; 0: not yet. */
  poll(now: Millis): Tick
  /**
   * Goes on after a tick that was not stepped, at a speed in percent. Feeds that cannot skip have no such function.
   */
  skipTo?(tick: Tick, speedPercent: number): void
  /** When `poll` may have the next tick. Infinity: when something arrives. */
  nextAt(): Millis
  /** The runner has stepped a tick: 16 bits and 64 bits of its state. */
  report(tick: Tick, pulse: number, low: number, high: number): void
  /** Whether ticks follow, and whether the next is there. */
  status(): FeedStatus
  /** Numbers for an overlay. */
  diagnostics(): FeedDiagnostics
}
