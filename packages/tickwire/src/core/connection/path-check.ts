/**
 * A peer that speaks from a new address: is he there, or did somebody carry his packet?
 *
 * A packet that opens, and is newer than all before it, names a candidate. A nonce is sent there, and the connection
 * moves when it comes back, sealed, from that very address. Until then everything else goes where it went.
 *
 * Invariants: one candidate at a time; never more bytes are sent to it than came from it.
 *
 * It is a source of one frame for packets of its own, which no one else's frames share.
 */

import { PATH_CANDIDATE_MS, PATH_CHECK_BYTES_MAX, PATH_CHECK_MS } from '../base/limits.ts'
import type { Entropy } from '../base/entropy.ts'
import type { Millis } from '../base/time.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import type { FrameSource } from '../packet/frame-source.ts'
import { PATH_NONCE_BYTES, writePathCheck } from './control.ts'

/** The candidate for one connection's next path. */
export class PathCheck implements FrameSource {
  readonly nonce: Uint8Array = new Uint8Array(PATH_NONCE_BYTES)
  /** Where the peer may be now; empty when there is no doubt. */
  address: string = ''
  #creditBytes: number = 0
  #heardAt: Millis = 0
  #sendAt: Millis = Infinity
  #sequence: number = 0

  /** A packet of `length` bytes has come from `from`, and is genuine. `isNewest`: none with a higher number came before. */
  hear(now: Millis, from: string, length: number, isNewest: boolean, entropy: Entropy): void {
    if (from !== this.address) {
      if (!isNewest) return
      this.address = from
      this.#creditBytes = 0
      this.#sendAt = now
      entropy.fill(this.nonce)
    }
    this.#heardAt = now
    this.#creditBytes += length
  }

  /** Lowers a deadline to when a check is due, or the candidate is given up: in a cell, for a double that is returned is boxed. @hot */
  lower(deadline: Float64Array): void {
    if (this.address === '') return
    const givenUpAt = this.#heardAt + PATH_CANDIDATE_MS
    if (givenUpAt < deadline[0]) deadline[0] = givenUpAt
    if (this.#creditBytes >= PATH_CHECK_BYTES_MAX && this.#sendAt < deadline[0]) deadline[0] = this.#sendAt
  }

  /** Whether a check must go out now. */
  isDue(now: Millis): boolean {
    if (this.address === '') return false
    if (now >= this.#heardAt + PATH_CANDIDATE_MS) {
      this.clear()
      return false
    }
    return now >= this.#sendAt && this.#creditBytes >= PATH_CHECK_BYTES_MAX
  }

  begin(): void {}

  wantsAt(now: Millis): Millis {
    return now
  }

  /** The one frame of a check; a packet gets one. */
  fill(now: Millis, sequence: number, out: BitWriter): boolean {
    if (sequence === this.#sequence) return false
    this.#sequence = sequence
    this.#creditBytes -= PATH_CHECK_BYTES_MAX
    this.#sendAt = now + PATH_CHECK_MS
    writePathCheck(this.nonce, out)
    return true
  }

  onDelivered(): void {}

  onLost(): void {}

  /** There is no doubt any more. */
  clear(): void {
    this.address = ''
    this.#sendAt = Infinity
    this.#creditBytes = 0
  }
}
