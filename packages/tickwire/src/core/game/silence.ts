/** How long a server was silent. Time in which this program slept does not count. */

import type { Millis } from '../base/time.ts'

/** A longer time between two looks counts as this: the program was asleep, or its timers are slow. */
const LOOK_MS_MAX = 300

export class Silence {
  /** How long it was silent, in ms. */
  ms: Millis = 0
  #packets = 0
  #lookedAt: Millis = Infinity

  /** Another connection. */
  reset(): void {
    this.ms = 0
  }

  /** So many packets were received. */
  note(packets: number): void {
    if (packets !== this.#packets) this.ms = 0
    this.#packets = packets
  }

  /** Time passes. */
  pass(now: Millis): void {
    this.ms += Math.min(Math.max(0, now - this.#lookedAt), LOOK_MS_MAX)
    this.#lookedAt = now
  }
}
