/**
 * The side table of values of variable size: text, bytes, lists, manual values. Cells and lanes hold handles into it.
 *
 * A value is immutable and stored once, as its canonical bits and as the value they decode to. Equal content has an
 * equal handle, so comparing handles compares content, and a delta copies bits instead of encoding again. Handle 0 is
 * every field's initial value and takes no room.
 *
 * Handles are local: two peers may number the same content differently, and only content is sent or hashed. Nothing is
 * freed automatically, because a heap does not know which code holds a handle. The holders call `markRow` and
 * `markCells` for all that must stay, then `sweep` runs.
 */

import { assert } from '../base/assert.ts'
import { hashBytes } from '../base/hash.ts'
import { VALUE_HEAP_BYTES_MAX, VALUE_HEAP_ENTRIES_MAX } from '../base/limits.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import type { Layout } from './layout.ts'
import type { Leaf } from './leaf.ts'
import { readHeapValue, ValueCounts, valueBitsMax } from './value-codec.ts'
import { encodeContent, freezeValue, initialContent, makeContent, type Content } from './value-content.ts'
import type { ValueStore } from './values.ts'

/** One stored value. */
interface Entry extends Content {
  /** The handles by content of the leaf that it belongs to. */
  readonly handles: Map<string, number>
  isMarked: boolean
}

export class ValueHeap implements ValueStore {
  /** Values ever added: a sweep does not lower it. */
  addedCount = 0
  /** Indexed by handle; undefined where a value was swept, and at 0. */
  readonly #entries: (Entry | undefined)[] = [undefined]
  readonly #free: number[] = []
  /** By leaf: handles by content. */
  readonly #handles = new Map<Leaf, Map<string, number>>()
  readonly #sizeMax: number
  readonly #bytesMax: number
  #sizeBytes = 0
  /** How often values added here were changed to fit. */
  readonly counts: ValueCounts

  /** A heap that a remote peer can fill should get a smaller limit than a world's. */
  constructor(
    sizeMax: number = VALUE_HEAP_ENTRIES_MAX,
    bytesMax: number = VALUE_HEAP_BYTES_MAX,
    counts: ValueCounts = new ValueCounts(),
  ) {
    this.#sizeMax = sizeMax
    this.#bytesMax = bytesMax
    this.counts = counts
  }

  /** Values stored, without initial ones. */
  get size(): number {
    return this.#entries.length - 1 - this.#free.length
  }

  /** Bytes of encoded content stored, without initial values. */
  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /**
   * The handle of a value, cut to the limit of its field; `kept` when the heap is full or the value cannot be cut.
   * Throws a RangeError when the value has the wrong type: that is an error of the game.
   */
  put(leaf: Leaf, value: unknown, kept: number = 0): number {
    const content = encodeContent(leaf, value, this.counts)
    const handle = content === undefined ? -1 : this.#intern(leaf, content)
    if (handle >= 0) return handle
    this.counts.refused++
    return kept
  }

  /** The value of a handle. Bytes are a copy; everything else is shared and must not be written to. */
  get(leaf: Leaf, handle: number): unknown {
    const { value } = this.#content(leaf, handle)
    return value instanceof Uint8Array && leaf.field.spec.kind === 'bytes' ? value.slice() : value
  }

  /** Copies the value's bits to the writer. @hot */
  write(writer: BitWriter, leaf: Leaf, handle: number): void {
    const content = this.#content(leaf, handle)
    writer.copyBits(content.bytes, 0, content.bitCount)
  }

  /** Reads a value and returns its handle; on invalid input, or when the heap is full, the reader has failed. */
  read(reader: BitReader, leaf: Leaf): number {
    const { bytes, bitPosition } = reader
    const value = readHeapValue(reader, leaf)
    const bitCount = reader.bitPosition - bitPosition
    if (bitCount > valueBitsMax(leaf)) reader.fail()
    if (reader.failed) return 0
    const handle = this.#intern(leaf, makeContent(bytes, bitPosition, bitCount, value))
    if (handle < 0) reader.fail()
    return handle < 0 ? 0 : handle
  }

  /** The handle of a value of a different heap; -1 when there is no room for it here. @hot */
  adopt(leaf: Leaf, from: ValueHeap, handle: number): number {
    return handle === 0 ? 0 : this.#intern(leaf, from.#content(leaf, handle))
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

  /** Removes every value that was not marked since the last sweep; its handle may be reused. */
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

  /** The handle of some content, existing or new; -1 when there is no room. */
  #intern(leaf: Leaf, content: Content): number {
    if (content.key === initialContent(leaf).key) return 0
    const handles = this.#handlesOf(leaf)
    const known = handles.get(content.key)
    if (known !== undefined) return known
    const isFull = this.size >= this.#sizeMax || this.#sizeBytes + content.bytes.length > this.#bytesMax
    if (isFull) return -1
    freezeValue(leaf.field, content.value)
    this.addedCount++
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

/** For layouts without values of variable size: nothing is ever added to it. */
const UNUSED = new ValueHeap()

/**
 * A heap for the values of one message. Most messages need none, and a heap costs as much as the rest of a small
 * message.
 */
export function heapFor({ heapLeaves }: Pick<Layout, 'heapLeaves'>): ValueHeap {
  return heapLeaves.length === 0 ? UNUSED : new ValueHeap()
}
