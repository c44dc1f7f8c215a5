/**
 * Replies to clients without a connection, queued until the next flush: a ring of fixed size, so a flood of requests
 * allocates nothing.
 *
 * When the ring is full the client is not answered. Clients repeat their requests.
 */

import { PENDING_REPLIES_MAX, REPLY_BYTES_MAX } from '../base/limits.ts'
import type { Transmit } from '../connection/transmit.ts'

/** Replies in the order in which they were written. Arrays are indexed by slot in the ring. */
export class Replies {
  #to: string[] = new Array<string>(PENDING_REPLIES_MAX).fill('')
  #lengths: Uint16Array = new Uint16Array(PENDING_REPLIES_MAX)
  #bytes: readonly Uint8Array[] = Array.from({ length: PENDING_REPLIES_MAX }, () => new Uint8Array(REPLY_BYTES_MAX))
  #first: number = 0
  #count: number = 0

  get count(): number {
    return this.#count
  }

  /** A buffer for the next reply, or undefined when the ring is full. `commit` adds the reply to the queue. */
  reserve(): Uint8Array | undefined {
    return this.#count === PENDING_REPLIES_MAX
      ? undefined
      : this.#bytes[(this.#first + this.#count) % PENDING_REPLIES_MAX]
  }

  commit(to: string, length: number): void {
    const place = (this.#first + this.#count++) % PENDING_REPLIES_MAX
    this.#to[place] = to
    this.#lengths[place] = length
  }

  /** Writes the oldest reply into `out`, if there is one. */
  poll(out: Transmit): boolean {
    if (this.#count === 0) return false
    const place = this.#first
    out.to = this.#to[place] ?? ''
    out.length = this.#lengths[place] ?? 0
    out.bytes.set(this.#bytes[place] ?? out.bytes)
    this.#to[place] = ''
    this.#first = (place + 1) % PENDING_REPLIES_MAX
    this.#count--
    return true
  }
}
