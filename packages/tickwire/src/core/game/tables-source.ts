/**
 * Sends new entropy tables to one receiver, in numbered pieces.
 *
 *   frame   version varint | bytes of all varint | piece varint | its bytes: 512, the last one fewer
 *   all     the priors' JSON, packed (codec/packed-text.ts)
 *
 * A lost piece is sent again. The receiver acknowledges the packet with the last piece only after it has checked all
 * tables and can decode with them. So when all pieces are acknowledged, the receiver holds the version, without a
 * separate confirmation.
 *
 * Invariant: versions are sent one after the other, each completely. A receiver needs the version in use and the
 * version in flight, and never a third. If several versions wait, only the newest is sent.
 */

import { TABLES_PIECE_BYTES } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { writeVarint } from '../bits/varint.ts'
import type { FrameSource } from '../packet/frame-source.ts'

/** Tables in the form in which they are sent. */
export interface TablesText {
  /** 1 or more. */
  readonly version: number
  readonly bytes: Uint8Array
}

const WAITS = -1
const ARRIVED = -2
/** The longest frame head: version, size, piece. */
const HEAD_BYTES_MAX = 8 + 3 + 2

export class TablesSource<T extends TablesText = TablesText> implements FrameSource {
  readonly #onHeld: (tables: T) => void
  #tables: T | undefined = undefined
  #next: T | undefined = undefined
  /** Indexed by piece: the packet that it was sent in, `WAITS` or `ARRIVED`. */
  #packets = new Float64Array(0)
  #waitCount = 0
  #leftCount = 0
  #wake: () => void = () => {}

  /** `onHeld`: the receiver has a version and can decode with it. */
  constructor(onHeld: (tables: T) => void) {
    this.#onHeld = onHeld
  }

  /** Whether these tables are being sent or wait for that. */
  sends(tables: T): boolean {
    return this.#tables === tables || this.#next === tables
  }

  /** Sends these tables after the version in progress has arrived. */
  offer(tables: T): void {
    if (this.#tables === undefined) this.#start(tables)
    else this.#next = tables
  }

  attach(wake: () => void): void {
    this.#wake = wake
  }

  begin(): void {}

  wantsAt(now: Millis): Millis {
    return this.#waitCount > 0 ? now : Infinity
  }

  /** @hot */
  fill(_now: Millis, sequence: number, out: BitWriter): boolean {
    if (this.#waitCount === 0 || this.#tables === undefined) return false
    const { version, bytes } = this.#tables
    const piece = this.#packets.indexOf(WAITS)
    const at = piece * TABLES_PIECE_BYTES
    const length = Math.min(TABLES_PIECE_BYTES, bytes.length - at)
    if (out.bitsLeft < (HEAD_BYTES_MAX + length) * 8) return false
    writeVarint(out, version)
    writeVarint(out, bytes.length)
    writeVarint(out, piece)
    out.copyBits(bytes, at * 8, length * 8)
    this.#packets[piece] = sequence
    this.#waitCount--
    return true
  }

  onDelivered(_now: Millis, sequence: number): void {
    const packets = this.#packets
    for (let piece = packets.indexOf(sequence); piece >= 0; piece = packets.indexOf(sequence, piece + 1)) {
      packets[piece] = ARRIVED
      this.#leftCount--
    }
    const tables = this.#tables
    if (this.#leftCount > 0 || tables === undefined) return
    const next = this.#next
    this.#tables = undefined
    this.#next = undefined
    this.#packets = new Float64Array(0)
    this.#onHeld(tables)
    if (next !== undefined) this.#start(next)
  }

  onLost(_now: Millis, sequence: number): void {
    const packets = this.#packets
    for (let piece = packets.indexOf(sequence); piece >= 0; piece = packets.indexOf(sequence, piece + 1)) {
      packets[piece] = WAITS
      this.#waitCount++
    }
  }

  #start(tables: T): void {
    this.#tables = tables
    this.#packets = new Float64Array(Math.ceil(tables.bytes.length / TABLES_PIECE_BYTES)).fill(WAITS)
    this.#waitCount = this.#packets.length
    this.#leftCount = this.#packets.length
    this.#wake()
  }
}
