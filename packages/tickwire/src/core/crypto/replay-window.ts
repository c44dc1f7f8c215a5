/**
 * Which packets of the peer were received, so that none takes effect twice.
 *
 * A ring of 1024 bits behind the newest sequence. Check first (`peek`), and mark only authentic packets (`mark`).
 * Marking first would let an attacker block packets that have not been sent yet.
 *
 * This class does not decide which packets are acknowledged: a packet that was received but could not be used is not
 * acknowledged (`delivery/ack-window.ts`).
 */

import { assert } from '../base/assert.ts'
import { REPLAY_WINDOW_PACKETS } from '../base/limits.ts'

/** The state of a sequence. */
export type Freshness = 'new' | 'duplicate' | 'old'

const WORDS = REPLAY_WINDOW_PACKETS / 32
const BIT_MASK = REPLAY_WINDOW_PACKETS - 1

/** Received sequences. One window for each key that opens packets. */
export class ReplayWindow {
  #newest: number = 0
  #seen: Uint32Array = new Uint32Array(WORDS)

  /** @hot */
  peek(sequence: number): Freshness {
    if (sequence > this.#newest) return 'new'
    // Sequence 0 is never sent in a counted packet. It would look like the state before the first packet.
    if (sequence === 0 || sequence <= this.#newest - REPLAY_WINDOW_PACKETS) return 'old'
    const bit = sequence & BIT_MASK
    return (this.#seen[bit >>> 5] >>> (bit & 31)) & 1 ? 'duplicate' : 'new'
  }

  /** Marks a sequence for which `peek` returned 'new'. @hot */
  mark(sequence: number): void {
    assert(this.peek(sequence) === 'new', 'only new sequences are marked')
    if (sequence > this.#newest) {
      const skipped = sequence - this.#newest - 1
      if (skipped >= REPLAY_WINDOW_PACKETS) this.#seen.fill(0)
      else for (let passed = this.#newest + 1; passed < sequence; passed++) this.#clear(passed)
      this.#newest = sequence
    }
    const bit = sequence & BIT_MASK
    this.#seen[bit >>> 5] |= 1 << (bit & 31)
  }

  #clear(sequence: number): void {
    const bit = sequence & BIT_MASK
    this.#seen[bit >>> 5] &= ~(1 << (bit & 31))
  }
}
