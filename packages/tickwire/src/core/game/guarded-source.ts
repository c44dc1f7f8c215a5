/**
 * A source that runs the game's interest rules. These may throw, in the middle of a flush that other sources share.
 *
 * The first error is reported once. After that the source sends nothing, and the flush goes on. The listener ends the
 * match.
 */

import type { Millis } from '../base/time.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import type { FrameSource } from '../packet/frame-source.ts'

export class GuardedSource implements FrameSource {
  readonly #source: FrameSource
  readonly #onFault: (error: unknown) => void
  #isBroken = false

  constructor(source: FrameSource, onFault: (error: unknown) => void) {
    this.#source = source
    this.#onFault = onFault
  }

  /** Does nothing: only a tick makes this source want a packet, and the caller of the tick wakes the connections. */
  attach(): void {}

  begin(now: Millis): void {
    if (this.#isBroken) return
    try {
      this.#source.begin(now)
    } catch (error) {
      this.#break(error)
    }
  }

  wantsAt(now: Millis): Millis {
    return this.#isBroken ? Infinity : this.#source.wantsAt(now)
  }

  /** @hot */
  fill(now: Millis, sequence: number, out: BitWriter): boolean {
    if (this.#isBroken) return false
    try {
      return this.#source.fill(now, sequence, out)
    } catch (error) {
      this.#break(error)
      return false
    }
  }

  onDelivered(now: Millis, sequence: number): void {
    if (!this.#isBroken) this.#source.onDelivered(now, sequence)
  }

  onLost(now: Millis, sequence: number): void {
    if (!this.#isBroken) this.#source.onLost(now, sequence)
  }

  #break(error: unknown): void {
    this.#isBroken = true
    this.#onFault(error)
  }
}
