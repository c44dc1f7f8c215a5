/**
 * Answers to strangers that wait for the next flush: a ring of fixed size, so that a flood of questions grows nothing.
 *
 * Whoever finds no room is not answered; strangers repeat themselves.
 */

import { PENDING_REPLIES_MAX, REPLY_BYTES_MAX } from '../base/limits.ts'
import type { Transmit } from '../connection/transmit.ts'

/** Answers in the order they were given. */
export class Replies {
  #to: string[] = new Array<string>(PENDING_REPLIES_MAX).fill('')
  #lengths: Uint16Array = new Uint16Array(PENDING_REPLIES_MAX)
  #bytes: readonly Uint8Array[] = Array.from({ length: PENDING_REPLIES_MAX }, () => new Uint8Array(REPLY_BYTES_MAX))
  #first: number = 0
  #count: number = 0

  get count(): number {
    return this.#count
  }

  /** Bytes to write the next answer into, or undefined when there is no room. `commit` makes it count. */
  reserve(): Uint8Array | undefined {
    return this.#count === PENDING_REPLIES_MAX ? undefined : this.#bytes[(this.#first + this.#count) % PENDING_REPLIES_MAX]
  }

  commit(to: string, length: number): void {
    const place = (this.#first + this.#count++) % PENDING_REPLIES_MAX
    this.#to[place] = to
    this.#lengths[place] = length
  }

  /** Hands over the oldest answer, if there is one. */
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
