/**
 * Which of the last ticks a client has received, as far as the authority knows. `Rewinder` asks it when not every tick
 * is sent, or packets were lost.
 *
 * A snapshot source notes the tick of every acknowledged packet. A shot arrives in a packet that acknowledges all that
 * the shooter had received, so the ticks that the shooter saw are noted by then. Which objects were in those packets is
 * not kept: an object that was left out had not changed, or was less urgent than most.
 */

import type { ObjectId, Tick } from '../base/time.ts'
import type { AckedTicks } from '../interpolate/pose.ts'

const NO_TICK = -1

export class AckedRing implements AckedTicks {
  readonly #ticks: Float64Array

  /** `windowTicks`: as many ticks as the Timeline stores. */
  constructor(windowTicks: number) {
    this.#ticks = new Float64Array(windowTicks).fill(NO_TICK)
  }

  /** A packet of this tick was acknowledged. @hot */
  note(tick: Tick): void {
    const at = tick % this.#ticks.length
    if (tick > this.#ticks[at]) this.#ticks[at] = tick
  }

  wasAcked(_id: ObjectId, tick: Tick): boolean {
    return this.#ticks[tick % this.#ticks.length] === tick
  }
}
