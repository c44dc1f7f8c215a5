/**
 * The side table of values of variable size: text, bytes, lists, manual values. Cells and lanes hold handles into it.
 *
 * A value is immutable and kept once, as its canonical bits and as what those bits decode to: equal content has an
 * equal handle, so that comparing handles compares content, and a delta copies bits instead of encoding again.
 * Handle 0 is every field's initial value and needs no heap at all.
 *
 * Handles are local: two peers may number the same content differently, and only content is sent or hashed.
 */

import { assert } from '../base/assert.ts'
import { VALUE_BYTES_MAX, VALUE_HEAP_ENTRIES_MAX } from '../base/limits.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import type { Leaf } from './leaf.ts'
import { readHeapValue, writeHeapValue } from './value-codec.ts'
import { initialValue } from './values.ts'

/** One kept value. */
interface Entry {
  readonly bytes: Uint8Array
  readonly bitCount: number
  readonly value: unknown
}

/** What a heap knows of one leaf: its initial value, and handles by content. */
interface LeafTable {
  readonly initial: Entry
  readonly initialKey: string
  readonly handles: Map<string, number>
}

export class ValueHeap {
  readonly #entries: Entry[] = [{ bytes: new Uint8Array(0), bitCount: 0, value: undefined }]
  readonly #tables = new Map<Leaf, LeafTable>()
  /** Made when first needed: most heaps only read. */
  #writer: BitWriter | undefined
  readonly #reader = new BitReader(new Uint8Array(0))

  /** Values kept, initial ones aside. */
  get size(): number {
    return this.#entries.length - 1
  }

  /** The handle of a value. Throws RangeError when the value does not fit its field: that is the game's mistake. */
  put(leaf: Leaf, value: unknown): number {
    const entry = this.#encode(leaf, value)
    const handle = this.#intern(leaf, entry.bytes, entry.bitCount, entry.value)
    if (handle < 0) throw new RangeError(`${leaf.path}: more than ${VALUE_HEAP_ENTRIES_MAX} different values in one world.`)
    return handle
  }

  /** The value behind a handle. */
  get(leaf: Leaf, handle: number): unknown {
    return this.#entry(leaf, handle).value
  }

  /** Copies the value's bits to the writer. */
  write(writer: BitWriter, leaf: Leaf, handle: number): void {
    const entry = this.#entry(leaf, handle)
    writer.copyBits(entry.bytes, 0, entry.bitCount)
  }

  /** Reads a value and gives its handle; on nonsense, or when the heap is full, the reader has failed. */
  read(reader: BitReader, leaf: Leaf): number {
    const { bytes, bitPosition } = reader
    const value = readHeapValue(reader, leaf, this.#inside(leaf))
    if (reader.failed) return 0
    const bitCount = reader.bitPosition - bitPosition
    const handle = this.#intern(leaf, cutBits(bytes, bitPosition, bitCount), bitCount, value)
    if (handle < 0) reader.fail()
    return handle < 0 ? 0 : handle
  }

  /** Where the texts inside a list live while it is encoded or decoded: not here, they are part of the list. */
  #inside(leaf: Leaf): ValueHeap {
    return leaf.item !== undefined && leaf.item.heapLeaves.length > 0 ? new ValueHeap() : this
  }

  #entry(leaf: Leaf, handle: number): Entry {
    const entry = handle === 0 ? this.#table(leaf).initial : this.#entries[handle]
    assert(entry !== undefined, 'a handle points into its own heap')
    return entry
  }

  #table(leaf: Leaf): LeafTable {
    let table = this.#tables.get(leaf)
    if (!table) {
      const initial = this.#encode(leaf, initialValue(leaf.field))
      table = { initial, initialKey: keyOf(initial.bytes, initial.bitCount), handles: new Map() }
      this.#tables.set(leaf, table)
    }
    return table
  }

  /** Encodes a value and decodes it again: what is kept is what every peer will see, and nobody else's object. */
  #encode(leaf: Leaf, value: unknown): Entry {
    const writer = (this.#writer ??= new BitWriter(new Uint8Array(VALUE_BYTES_MAX + 16)))
    const inside = this.#inside(leaf)
    writer.reset(writer.bytes)
    writeHeapValue(writer, leaf, value, inside)
    const bitCount = writer.bitLength
    if (writer.failed || bitCount > VALUE_BYTES_MAX * 8) {
      throw new RangeError(`${leaf.path}: more than ${VALUE_BYTES_MAX} bytes in one value.`)
    }
    writer.finish()
    const bytes = cutBits(writer.bytes, 0, bitCount)
    this.#reader.resetBits(bytes, 0, bitCount)
    const decoded = readHeapValue(this.#reader, leaf, inside)
    if (this.#reader.failed) throw new RangeError(`${leaf.path}: the value does not read back as it was written.`)
    return { bytes, bitCount, value: decoded }
  }

  #intern(leaf: Leaf, bytes: Uint8Array, bitCount: number, value: unknown): number {
    const table = this.#table(leaf)
    const key = keyOf(bytes, bitCount)
    if (key === table.initialKey) return 0
    const known = table.handles.get(key)
    if (known !== undefined) return known
    if (this.size >= VALUE_HEAP_ENTRIES_MAX) return -1
    const handle = this.#entries.push({ bytes, bitCount, value }) - 1
    table.handles.set(key, handle)
    return handle
  }
}

/** A copy of some bits, at the start of their own bytes. */
function cutBits(bytes: Uint8Array, bitOffset: number, bitCount: number): Uint8Array {
  const copy = new Uint8Array((bitCount + 7) >>> 3)
  const writer = new BitWriter(copy)
  writer.copyBits(bytes, bitOffset, bitCount)
  writer.finish()
  return copy
}

/** Content as a map key: one character a byte, and how many bits of the last one count. */
function keyOf(bytes: Uint8Array, bitCount: number): string {
  let key = `${bitCount & 7}:`
  for (let at = 0; at < bytes.length; at++) key += String.fromCharCode(bytes[at])
  return key
}
