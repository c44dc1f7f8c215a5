/** A simulated line that carries so many bits in a second. */

import { MemoryLink, type LinkSide } from '../../packages/tickwire/src/testing/memory-link.ts'

/** A queue of the line that would be longer drops packets, in ms. */
const QUEUE_MS_MAX = 250

/** A line with a rate in both directions. */
export class RatedLink extends MemoryLink {
  readonly #bitsPerMs: number
  readonly #freeAt = [0, 0]

  constructor(seed: number, latencyMs: number, loss: number, megabits: number) {
    super(seed, { latencyMs, loss })
    this.#bitsPerMs = megabits * 1000
  }

  override send(now: number, side: LinkSide, bytes: Uint8Array, length: number): void {
    const from = Math.max(now, this.#freeAt[side]!)
    if (from - now > QUEUE_MS_MAX) return
    this.#freeAt[side] = from + ((length + 28) * 8) / this.#bitsPerMs
    super.send(this.#freeAt[side]!, side, bytes, length)
  }
}
