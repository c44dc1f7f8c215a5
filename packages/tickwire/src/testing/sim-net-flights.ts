/**
 * Datagrams in flight to one node: a heap by time of arrival, over pooled buffers.
 *
 * Invariant: of two that arrive at the same time, the one launched first lands first.
 *
 * A landed datagram is lent, not copied: its bytes are valid until the next `land`.
 */

import { DATAGRAM_BYTES_MAX } from '../core/base/limits.ts'
import type { Millis } from '../core/base/time.ts'
import type { LinkTally } from './link-model-tally.ts'

/** Most datagrams in flight to one node; more are dropped. It bounds the memory of a test, at 1.5 KB each. */
const FLIGHTS_MAX = 16_384
const FLIGHTS_MIN = 16

/** A datagram that has arrived. Allocated once and reused. */
export interface Arrival {
  /** The sender's address when it was sent. */
  from: string
  /** The address it was sent to. */
  to: string
  /** Its bytes, at the start of a buffer. */
  bytes: Uint8Array
  /** The number of bytes. */
  length: number
  /** When it arrived, which may be before it was polled. */
  at: Millis
}

/** An empty arrival. */
export function createArrival(): Arrival {
  return { from: '', to: '', bytes: new Uint8Array(0), length: 0, at: 0 }
}

/** Datagrams in flight. */
export class Flights {
  #bytes: Uint8Array[] = []
  #lengths: Uint16Array = new Uint16Array(0)
  #arrivesAt: Float64Array = new Float64Array(0)
  #order: Float64Array = new Float64Array(0)
  #from: string[] = []
  #to: string[] = []
  #tally: LinkTally[] = []
  /** Slots in a binary heap by time, and the heap position of each slot. */
  #heap: Int32Array = new Int32Array(0)
  #place: Int32Array = new Int32Array(0)
  #count: number = 0
  /** Free slots, as a stack. */
  #free: number[] = []
  #lent: number = -1
  #launched: number = 0

  /** How many datagrams are in flight. */
  get count(): number {
    return this.#count
  }

  /** The order of the datagram launched last. With its slot, it identifies the datagram for `hasten`. */
  get lastOrder(): number {
    return this.#launched
  }

  /** Copies a datagram in. Returns its slot, or -1 when there is no room. */
  launch(arrivesAt: Millis, bytes: Uint8Array, length: number, from: string, to: string, tally: LinkTally): number {
    const slot = this.#free.pop() ?? this.#grow()
    const buffer = slot === undefined ? undefined : this.#bytes[slot]
    if (slot === undefined || buffer === undefined) {
      tally.overflowed++
      return -1
    }
    // Copying a whole packet buffer costs less than making a view of its front.
    buffer.set(bytes.length <= DATAGRAM_BYTES_MAX ? bytes : bytes.subarray(0, length))
    this.#lengths[slot] = length
    this.#from[slot] = from
    this.#to[slot] = to
    this.#tally[slot] = tally
    this.#arrivesAt[slot] = arrivesAt
    this.#order[slot] = ++this.#launched
    this.#rise(this.#count++, slot)
    return slot
  }

  /** Makes a datagram arrive at `arrivesAt`, if that is sooner and it has not landed yet. */
  hasten(slot: number, order: number, arrivesAt: Millis): void {
    if (this.#order[slot] !== order || !(arrivesAt < (this.#arrivesAt[slot] ?? 0))) return
    this.#arrivesAt[slot] = arrivesAt
    // It gets a new order, so that it lands after those it was held back for.
    this.#order[slot] = ++this.#launched
    this.#rise(this.#place[slot] ?? 0, slot)
  }

  /** When the next one arrives. */
  nextAt(): Millis {
    return this.#count === 0 ? Infinity : this.#arrivesAt[this.#heap[0] ?? 0] ?? Infinity
  }

  /** Lends the next datagram to `out`, and returns its link's tally. There must be one. */
  land(out: Arrival): LinkTally {
    this.release()
    const slot = this.#heap[0] ?? 0
    const last = this.#heap[--this.#count] ?? 0
    if (this.#count > 0) this.#sink(last)
    this.#order[slot] = -1
    this.#lent = slot
    out.from = this.#from[slot] ?? ''
    out.to = this.#to[slot] ?? ''
    out.bytes = this.#bytes[slot] ?? out.bytes
    out.length = this.#lengths[slot] ?? 0
    out.at = this.#arrivesAt[slot] ?? 0
    return this.#tally[slot] as LinkTally
  }

  /** Takes back the datagram that was lent last. */
  release(): void {
    if (this.#lent >= 0) this.#free.push(this.#lent)
    this.#lent = -1
  }

  /** Doubles the capacity. Returns one of the new slots, or undefined at the maximum. */
  #grow(): number | undefined {
    const before = this.#bytes.length
    const size = Math.max(FLIGHTS_MIN, before * 2)
    if (size > FLIGHTS_MAX) return undefined
    const page = new ArrayBuffer((size - before) * DATAGRAM_BYTES_MAX)
    for (let slot = before; slot < size; slot++) {
      this.#bytes.push(new Uint8Array(page, (slot - before) * DATAGRAM_BYTES_MAX, DATAGRAM_BYTES_MAX))
      this.#free.push(slot)
    }
    const widen = <T extends Uint16Array | Float64Array | Int32Array>(from: T, to: T): T => {
      to.set(from)
      return to
    }
    this.#lengths = widen(this.#lengths, new Uint16Array(size))
    this.#arrivesAt = widen(this.#arrivesAt, new Float64Array(size))
    this.#order = widen(this.#order, new Float64Array(size))
    this.#heap = widen(this.#heap, new Int32Array(size))
    this.#place = widen(this.#place, new Int32Array(size))
    return this.#free.pop()
  }

  #isBefore(slot: number, other: number): boolean {
    const at = this.#arrivesAt[slot] ?? 0
    const otherAt = this.#arrivesAt[other] ?? 0
    return at < otherAt || (at === otherAt && (this.#order[slot] ?? 0) < (this.#order[other] ?? 0))
  }

  #rise(from: number, slot: number): void {
    let place = from
    while (place > 0) {
      const parent = (place - 1) >> 1
      const above = this.#heap[parent] ?? 0
      if (!this.#isBefore(slot, above)) break
      this.#put(place, above)
      place = parent
    }
    this.#put(place, slot)
  }

  /** Puts `slot`, which was last, in the first place of the heap, and sinks it. */
  #sink(slot: number): void {
    let place = 0
    for (;;) {
      let child = 2 * place + 1
      if (child >= this.#count) break
      if (child + 1 < this.#count && this.#isBefore(this.#heap[child + 1] ?? 0, this.#heap[child] ?? 0)) child++
      const below = this.#heap[child] ?? 0
      if (!this.#isBefore(below, slot)) break
      this.#put(place, below)
      place = child
    }
    this.#put(place, slot)
  }

  #put(place: number, slot: number): void {
    this.#heap[place] = slot
    this.#place[slot] = place
  }
}
