/**
 * Bits with names: what a reader takes, written down as it takes it.
 *
 * `OpReader` is a `BitReader` that can tell of every read, so that decoders that know nothing of names (row coders) can still be
 * told apart field by field.
 */

import { BitReader } from '../../bits/bit-reader.ts'
import type { WireField } from './wire-fields.ts'

/** Some bits of a packet. */
export interface NamedBits {
  /** The first, counted from the packet's first byte, and how many. */
  readonly at: number
  readonly length: number
  readonly name: WireField
  /** Whose: `snapshot, Runner 3, x`. */
  readonly where: string
  readonly value: string
}

export class OpReader extends BitReader {
  /** Told of every read: where it began and how many bits it took. */
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
  /** Whose bits are being named. */
  where = ''

  constructor(reader: OpReader) {
    this.reader = reader
  }

  /** Names what `read` takes, and gives what it gives. */
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

  /** Names all that is left up to a place. */
  rest(name: WireField, end: number, value = ''): void {
    const { reader } = this
    const length = end - reader.bitPosition
    if (length <= 0) return
    this.add(name, reader.bitPosition, length, value)
    reader.skipBits(length)
  }
}
