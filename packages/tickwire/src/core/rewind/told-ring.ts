/**
 * Which of the last ticks a client holds, as far as the authority knows: what `Rewinder` asks when not every tick is sent, or
 * packets were lost.
 *
 * A snapshot source notes the tick of every packet that was acknowledged. A shot rides in a packet that acknowledges all
 * that its shooter had received, so what he drew from is noted by then. Which objects were in those packets is not kept:
 * one that was left out had not changed, or was less urgent than most.
 */

import type { ObjectId, Tick } from '../base/time.ts'
import type { ToldTicks } from '../interpolate/pose.ts'

const NO_TICK = -1

export class ToldRing implements ToldTicks {
  readonly #ticks: Float64Array

  /** Of so many ticks: as many as the Timeline remembers. */
  constructor(windowTicks: number) {
    this.#ticks = new Float64Array(windowTicks).fill(NO_TICK)
  }

  /** A packet of this tick arrived. @hot */
  note(tick: Tick): void {
    const at = tick % this.#ticks.length
    if (tick > this.#ticks[at]) this.#ticks[at] = tick
  }

  wasTold(_id: ObjectId, tick: Tick): boolean {
    return this.#ticks[tick % this.#ticks.length] === tick
  }
}
