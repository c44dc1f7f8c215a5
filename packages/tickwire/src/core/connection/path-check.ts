/**
 * Path validation: a packet came from a new address. Either the peer moved, or a third party relayed its packet.
 *
 * A packet that decrypts, and is newer than all before it, makes its source address a candidate. A nonce is sent there.
 * The connection moves when the nonce arrives, sealed, from exactly that address. Until then all other packets go to
 * the old address.
 *
 * Invariants: one candidate at a time; never more bytes are sent to it than came from it.
 *
 * This class is a source of one frame, in packets that carry no other frames.
 */

import { PATH_CANDIDATE_MS, PATH_CHECK_BYTES_MAX, PATH_CHECK_MS } from '../base/limits.ts'
import type { Entropy } from '../base/entropy.ts'
import type { Millis } from '../base/time.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import type { FrameSource } from '../packet/frame-source.ts'
import { PATH_NONCE_BYTES, writePathCheck } from './control.ts'

/** The candidate for the next path of one connection. */
export class PathCheck implements FrameSource {
  readonly nonce: Uint8Array = new Uint8Array(PATH_NONCE_BYTES)
  /** The candidate address; empty when there is none. */
  address: string = ''
  #creditBytes: number = 0
  #receivedAt: Millis = 0
  #sendAt: Millis = Infinity
  #sequence: number = 0

  /**
   * An authentic packet of `length` bytes came from `from`. `isNewest`: no packet with a higher sequence came before.
   */
  onPacket(now: Millis, from: string, length: number, isNewest: boolean, entropy: Entropy): void {
    if (from !== this.address) {
      if (!isNewest) return
      this.address = from
      this.#creditBytes = 0
      this.#sendAt = now
      entropy.fill(this.nonce)
    }
    this.#receivedAt = now
    this.#creditBytes += length
  }

  /**
   * Lowers a deadline to when a check is due or the candidate expires. Uses a typed array, because a returned double is
   * boxed. @hot
   */
  lower(deadline: Float64Array): void {
    if (this.address === '') return
    const givenUpAt = this.#receivedAt + PATH_CANDIDATE_MS
    if (givenUpAt < deadline[0]) deadline[0] = givenUpAt
    if (this.#creditBytes >= PATH_CHECK_BYTES_MAX && this.#sendAt < deadline[0]) deadline[0] = this.#sendAt
  }

  /** Whether a check must be sent now. */
  isDue(now: Millis): boolean {
    if (this.address === '') return false
    if (now >= this.#receivedAt + PATH_CANDIDATE_MS) {
      this.clear()
      return false
    }
    return now >= this.#sendAt && this.#creditBytes >= PATH_CHECK_BYTES_MAX
  }

  begin(): void {}

  wantsAt(now: Millis): Millis {
    return now
  }

  /** Writes the frame of a check, one for each packet. */
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

  /** Removes the candidate. */
  clear(): void {
    this.address = ''
    this.#sendAt = Infinity
    this.#creditBytes = 0
  }
}
