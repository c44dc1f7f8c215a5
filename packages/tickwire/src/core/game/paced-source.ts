/**
 * Lets a source begin only on every n-th tick: for example 30 snapshots per second in a game with 60 ticks.
 *
 * The grid is the same for all clients, so that encoded rows can be shared and the authority knows which ticks a player
 * was sent. A snapshot that did not fit continues in between.
 */

import type { Millis, Tick } from '../base/time.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import type { FrameSource } from '../packet/frame-source.ts'

/** Ticks from one snapshot to the next. */
export function snapshotPeriod(tickRate: number, snapshotRate: number): number {
  return Math.max(1, Math.round(tickRate / snapshotRate))
}

export class PacedSource implements FrameSource {
  readonly #source: FrameSource
  readonly #period: number
  readonly #tick: () => Tick
  #begun: Tick = -1

  constructor(source: FrameSource, period: number, tick: () => Tick) {
    this.#source = source
    this.#period = period
    this.#tick = tick
  }

  /** Does nothing: only a tick makes this source want a packet, and the caller of the tick wakes the connections. */
  attach(): void {}

  begin(now: Millis): void {
    if (!this.#isDue()) return
    this.#begun = this.#tick()
    this.#source.begin(now)
  }

  wantsAt(now: Millis): Millis {
    return this.#isDue() ? this.#source.wantsAt(now) : Infinity
  }

  /** @hot */
  fill(now: Millis, sequence: number, out: BitWriter): boolean {
    return this.#source.fill(now, sequence, out)
  }

  onDelivered(now: Millis, sequence: number): void {
    this.#source.onDelivered(now, sequence)
  }

  onLost(now: Millis, sequence: number): void {
    this.#source.onLost(now, sequence)
  }

  /**
   * On a grid tick, or after one was passed: a host that catches up runs several ticks at once. The first is always
   * due.
   */
  #isDue(): boolean {
    const tick = this.#tick()
    return this.#begun < 0 || tick - tick % this.#period > this.#begun
  }
}
