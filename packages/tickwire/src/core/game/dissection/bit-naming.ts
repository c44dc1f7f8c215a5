/**
 * Names for the bits of a packet, recorded while a reader reads them.
 *
 * `OpReader` is a `BitReader` that reports every read. So the reads of a decoder without field names (a row
 * coder) can still be assigned to single fields.
 */

import { BitReader } from '../../bits/bit-reader.ts'
import type { WireField } from './wire-fields.ts'

/** A named range of bits in a packet. */
export interface NamedBits {
  /** The first bit, counted from the start of the packet, and the number of bits. */
  readonly at: number
  /** The number of bits. */
  readonly length: number
  /** The name of the wire field. */
  readonly name: WireField
  /** The context, for example `snapshot, Runner 3, x`. */
  readonly where: string
  /** The value, as text. */
  readonly value: string
}

export class OpReader extends BitReader {
  /** Called on every read, with its start and its number of bits. */
  onRead: ((at: number, length: number) => void) | undefined = undefined

  override readBits(width: number): number {
    const at = this.bitPosition
    const value = super.readBits(width)
    this.onRead?.(at, this.bitPosition - at)
    return value
  }

  override skipBits(count: number): void {
    const at = this.bitPosition
    super.skipBits(count)
    this.onRead?.(at, this.bitPosition - at)
  }

  override readBytes(out: Uint8Array, at: number, length: number): void {
    const from = this.bitPosition
    super.readBytes(out, at, length)
    this.onRead?.(from, this.bitPosition - from)
  }
}

export class BitNaming {
  readonly spans: NamedBits[] = []
  readonly reader: OpReader
  /** The context of the bits that are being named. */
  where = ''

  constructor(reader: OpReader) {
    this.reader = reader
  }

  /** Names the bits that `read` consumes, and returns its result. */
  name<T>(name: WireField, read: (reader: OpReader) => T, show: (value: T) => string = String): T {
    const at = this.reader.bitPosition
    const value = read(this.reader)
    const length = this.reader.bitPosition - at
    if (length > 0) this.add(name, at, length, show(value))
    return value
  }

  add(name: WireField, at: number, length: number, value: string, where: string = this.where): void {
    this.spans.push({ at, length, name, where, value })
  }

  /** Names all remaining bits up to `end`. */
  rest(name: WireField, end: number, value = ''): void {
    const { reader } = this
    const length = end - reader.bitPosition
    if (length <= 0) return
    this.add(name, reader.bitPosition, length, value)
    reader.skipBits(length)
  }
}
