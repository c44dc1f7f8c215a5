/**
 * Orders that wait for the close of their tick, in one run of bytes.
 *
 *   entry    tick 32 | time us 32 | slot 8 | type 8 | length 16 | values
 *
 * The run has a fixed size. A burst that does not fit gets a larger array until everything is sent.
 */

import { RELAY_PENDING_BYTES_MAX } from '../base/limits.ts'
import type { Tick } from '../base/time.ts'
import type { TickBodyWriter } from '../order/tick-body.ts'

const HEAD_BYTES = 12
const NO_SLOT = -1

export class PendingOrders {
  /** Orders that found no room. */
  refused = 0
  readonly #fixed: Uint8Array
  #bytes: Uint8Array
  #view: DataView
  #length = 0
  /** Positions of the entries of one tick, while it is closed. */
  readonly #due: number[] = []

  constructor(fixed: Uint8Array) {
    this.#fixed = fixed
    this.#bytes = fixed
    this.#view = new DataView(fixed.buffer, fixed.byteOffset, fixed.byteLength)
  }

  /** Adds an order. False when there is no room. @hot */
  add(tick: Tick, timeUs: number, slot: number, type: number, data: Uint8Array, length: number): boolean {
    const at = this.#length
    if (at + HEAD_BYTES + length > this.#bytes.length && !this.#grow(at + HEAD_BYTES + length)) {
      this.refused++
      return false
    }
    const view = this.#view
    view.setUint32(at, tick)
    view.setUint32(at + 4, timeUs)
    view.setUint8(at + 8, slot)
    view.setUint8(at + 9, type)
    view.setUint16(at + 10, length)
    for (let byte = 0; byte < length; byte++) this.#bytes[at + HEAD_BYTES + byte] = data[byte]
    this.#length = at + HEAD_BYTES + length
    return true
  }

  /** Writes the orders of a tick, sorted by time, player and number, and forgets them. @hot */
  take(tick: Tick, body: TickBodyWriter, peerOf: (slot: number) => number): void {
    if (this.#length === 0) return
    const due = this.#due
    const view = this.#view
    due.length = 0
    for (let at = 0; at < this.#length; at += HEAD_BYTES + view.getUint16(at + 10)) {
      if (view.getUint32(at) > tick >>> 0) continue
      // Insertion sort: there are few, and they arrive nearly sorted. Equal ones keep the order of their arrival.
      let place = due.length
      due.push(at)
      for (; place > 0 && this.#isBefore(at, due[place - 1], peerOf); place--) due[place] = due[place - 1]
      due[place] = at
    }
    for (let each = 0; each < due.length; each++) {
      const at = due[each]
      const length = view.getUint16(at + 10)
      const player = peerOf(view.getUint8(at + 8))
      body.add(player, view.getUint32(at + 4), view.getUint8(at + 9), this.#bytes, at + HEAD_BYTES, length)
    }
    this.#compact(tick, NO_SLOT)
  }

  /** The player of a slot leaves. Without this the next player of the slot would give its orders. */
  forget(slot: number): void {
    this.#compact(0, slot)
  }

  #isBefore(a: number, b: number, peerOf: (slot: number) => number): boolean {
    const view = this.#view
    const [timeA, timeB] = [view.getUint32(a + 4), view.getUint32(b + 4)]
    return timeA !== timeB ? timeA < timeB : peerOf(view.getUint8(a + 8)) < peerOf(view.getUint8(b + 8))
  }

  /** Removes the entries up to a tick, and those of a slot. */
  #compact(tick: Tick, slot: number): void {
    const view = this.#view
    let to = 0
    for (let at = 0; at < this.#length; ) {
      const size = HEAD_BYTES + view.getUint16(at + 10)
      if (view.getUint32(at) > tick >>> 0 && view.getUint8(at + 8) !== slot) {
        this.#bytes.copyWithin(to, at, at + size)
        to += size
      }
      at += size
    }
    this.#length = to
    if (to <= this.#fixed.length && this.#bytes !== this.#fixed) this.#use(this.#fixed)
  }

  #grow(count: number): boolean {
    if (count > RELAY_PENDING_BYTES_MAX) return false
    this.#use(new Uint8Array(2 * count))
    return true
  }

  #use(bytes: Uint8Array): void {
    bytes.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }
}
