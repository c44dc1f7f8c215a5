/**
 * The side table of values of variable size: text, bytes, lists, manual values. Cells and lanes hold handles into it.
 *
 * A value is immutable and kept once, as its canonical bits and as what those bits decode to: equal content has an
 * equal handle, so that comparing handles compares content, and a delta copies bits instead of encoding again.
 * Handle 0 is every field's initial value and takes no room.
 *
 * Handles are local: two peers may number the same content differently, and only content is sent or hashed. Nothing
 * is freed by itself, for a heap does not know who holds a handle; whoever does calls `markRow` and `markCells` for all
 * that must stay, then `sweep`.
 */

import { assert } from '../base/assert.ts'
import { hashBytes } from '../base/hash.ts'
import { VALUE_HEAP_BYTES_MAX, VALUE_HEAP_ENTRIES_MAX } from '../base/limits.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import type { Layout } from './layout.ts'
import type { Leaf } from './leaf.ts'
import { readHeapValue, VALUE_BITS_MAX } from './value-codec.ts'
import { encodeContent, freezeValue, initialContent, makeContent, type Content } from './value-content.ts'
import type { ValueStore } from './values.ts'

/** One kept value. */
interface Entry extends Content {
  /** Handles by content, of the leaf it belongs to. */
  readonly handles: Map<string, number>
  isMarked: boolean
}

export class ValueHeap implements ValueStore {
  /** By handle; undefined where a value was swept away, and at 0. */
  readonly #entries: (Entry | undefined)[] = [undefined]
  readonly #free: number[] = []
  /** By leaf: handles by content. */
  readonly #handles = new Map<Leaf, Map<string, number>>()
  readonly #sizeMax: number
  readonly #bytesMax: number
  #sizeBytes = 0

  /** A heap that a stranger can fill should be given less than a world's. */
  constructor(sizeMax: number = VALUE_HEAP_ENTRIES_MAX, bytesMax: number = VALUE_HEAP_BYTES_MAX) {
    this.#sizeMax = sizeMax
    this.#bytesMax = bytesMax
  }

  /** Values kept, initial ones aside. */
  get size(): number {
    return this.#entries.length - 1 - this.#free.length
  }

  /** Bytes of encoded content kept, initial values aside. */
  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** The handle of a value. Throws RangeError when the value does not fit its field: that is the game's mistake. */
  put(leaf: Leaf, value: unknown): number {
    const handle = this.#intern(leaf, encodeContent(leaf, value))
    if (handle < 0) throw new RangeError(`${leaf.path}: more than ${this.#sizeMax} values or ${this.#bytesMax} bytes in one heap.`)
    return handle
  }

  /** The value behind a handle. Bytes are a copy; everything else is shared and not to be written to. */
  get(leaf: Leaf, handle: number): unknown {
    const { value } = this.#content(leaf, handle)
    return value instanceof Uint8Array && leaf.field.spec.kind === 'bytes' ? value.slice() : value
  }

  /** Copies the value's bits to the writer. @hot */
  write(writer: BitWriter, leaf: Leaf, handle: number): void {
    const content = this.#content(leaf, handle)
    writer.copyBits(content.bytes, 0, content.bitCount)
  }

  /** Reads a value and gives its handle; on nonsense, or when the heap is full, the reader has failed. */
  read(reader: BitReader, leaf: Leaf): number {
    const { bytes, bitPosition } = reader
    const value = readHeapValue(reader, leaf)
    const bitCount = reader.bitPosition - bitPosition
    if (bitCount > VALUE_BITS_MAX) reader.fail()
    if (reader.failed) return 0
    const handle = this.#intern(leaf, makeContent(bytes, bitPosition, bitCount, value))
    if (handle < 0) reader.fail()
    return handle < 0 ? 0 : handle
  }

  /** 64 bits of a value's content: out[0] is the low half. Equal content, equal hash, in every heap. */
  hash(leaf: Leaf, handle: number, out: Uint32Array): void {
    const { bytes, bitCount } = this.#content(leaf, handle)
    hashBytes(bytes, 0, bytes.length, bitCount, out, 0)
  }

  /** Keeps the values of the row at `rows[at]` in the coming sweep. */
  markRow(layout: Layout, rows: Int32Array, at: number): void {
    for (const leaf of layout.heapLeaves) this.#mark(rows[at + leaf.lane])
  }

  /** Keeps the values of the cells at `cells[at]` in the coming sweep. */
  markCells(layout: Layout, cells: Float64Array, at: number): void {
    for (const leaf of layout.heapLeaves) this.#mark(cells[at + leaf.cell])
  }

  /** Forgets every value that was not marked since the last sweep; its handle may be given out again. */
  sweep(): void {
    for (let handle = 1; handle < this.#entries.length; handle++) {
      const entry = this.#entries[handle]
      if (entry === undefined) continue
      if (!entry.isMarked) {
        entry.handles.delete(entry.key)
        this.#entries[handle] = undefined
        this.#free.push(handle)
        this.#sizeBytes -= entry.bytes.length
      }
      entry.isMarked = false
    }
  }

  #mark(handle: number): void {
    const entry = this.#entries[handle]
    if (entry !== undefined) entry.isMarked = true
  }

  #content(leaf: Leaf, handle: number): Content {
    const content = handle === 0 ? initialContent(leaf) : this.#entries[handle]
    assert(content !== undefined, 'a handle points into its own heap')
    return content
  }

  /** The handle of some content, old or new; -1 when there is no room. */
  #intern(leaf: Leaf, content: Content): number {
    if (content.key === initialContent(leaf).key) return 0
    const handles = this.#handlesOf(leaf)
    const known = handles.get(content.key)
    if (known !== undefined) return known
    const isFull = this.size >= this.#sizeMax || this.#sizeBytes + content.bytes.length > this.#bytesMax
    if (isFull) return -1
    freezeValue(leaf.field, content.value)
    const handle = this.#free.pop() ?? this.#entries.length
    this.#entries[handle] = { ...content, handles, isMarked: false }
    handles.set(content.key, handle)
    this.#sizeBytes += content.bytes.length
    return handle
  }

  #handlesOf(leaf: Leaf): Map<string, number> {
    let handles = this.#handles.get(leaf)
    if (handles === undefined) this.#handles.set(leaf, (handles = new Map()))
    return handles
  }
}
