/**
 * Reads ticks of rows into a world: the counterpart of `rows-writer.ts`, which draws the bits.
 *
 * The world is read-only for all other code. An object that exists before and after a key keeps its handle. An invalid
 * body leaves the world between two ticks and is reported; only a key restores it.
 */

import { OBJECTS_MAX, RECORDING_DRAWS_MAX } from '../base/limits.ts'
import type { ObjectId } from '../base/time.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { readVarint } from '../bits/varint.ts'
import { PackedCoder } from '../codec/packed-coder.ts'
import { RansCoder } from '../codec/rans-coder.ts'
import { RansSource } from '../codec/rans-stream.ts'
import { RowPair, type FieldSet, type RowCoder } from '../codec/row-coder.ts'
import type { Handle } from '../world/handle.ts'
import { indexOf, NO_TYPE } from '../world/object-table.ts'
import type { World } from '../world/world.ts'
import { ENTRY, NO_ENTRY, PlainHeadsReader, type EntryHeadsReader } from './entry-heads.ts'
import { FormerRows } from './former-rows.ts'
import { LivelyHeadsReader } from './lively-heads.ts'
import { fieldSetOf, recordedSchema } from './recorded-schema.ts'
import type { RecordedFields, RecordingCodec } from './recording-head.ts'
import { COUNT_BITS } from './rows-writer.ts'
import { readSmall } from './small-number.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const { birth: BIRTH, death: DEATH, handover: HANDOVER } = ENTRY
const NONE = NO_ENTRY
const NO_BYTES = new Uint8Array(0)
const PEER_MAX = 0xffff_ffff

export class RowsReader {
  /** Ticks of the body that are not read yet. */
  left = 0
  readonly #world: World
  /** For the entropy codec: the block, and the rows of two ticks ago, which its deltas use beside the baseline. */
  readonly #block: RansSource | undefined
  readonly #former: FormerRows | undefined
  readonly #heads: EntryHeadsReader
  readonly #coders: readonly RowCoder[]
  readonly #set: FieldSet
  readonly #hasEverything: boolean
  readonly #reader = new BitReader(NO_BYTES)
  readonly #pair = new RowPair()
  readonly #scratch: readonly Int32Array[]

  constructor(world: World, fields: RecordedFields, tickRate: number, codec: RecordingCodec) {
    this.#world = world
    this.#set = fieldSetOf(fields)
    this.#hasEverything = fields === 'everything'
    const block = codec === 'entropy' ? new RansSource(this.#reader) : undefined
    this.#block = block
    this.#former = block && new FormerRows(world)
    this.#heads = block === undefined ? new PlainHeadsReader(this.#reader) : new LivelyHeadsReader(this.#reader, block)
    this.#coders = world.stores.map(({ schema }) => {
      const recorded = recordedSchema(schema, fields)
      return block === undefined ? new PackedCoder(recorded) : new RansCoder(recorded, tickRate, block)
    })
    this.#scratch = world.stores.map(({ schema }) => new Int32Array(schema.laneCount))
  }

  /** Starts a body. */
  reset(body: Uint8Array): void {
    this.#reader.reset(body)
    const count = this.#reader.readBits(COUNT_BITS)
    this.left = (count >>> 8) | ((count & 0xff) << 8)
    this.#block?.begin()
  }

  /**
   * Reads the next tick into the world. Returns false when it is invalid, or when it is not the key that was asked for.
   */
  read(mustBeKey: boolean): boolean {
    const reader = this.#reader
    this.left--
    const isKey = reader.readBits(1) === 1
    const hasDice = reader.readBits(1) === 1
    if ((mustBeKey && !isKey) || hasDice && !this.#hasEverything) reader.fail()
    if (hasDice) this.#readDice(isKey)
    if (!reader.failed) this.#readEntries(isKey)
    if (this.left === 0 && !reader.failed) this.#finish()
    if (reader.failed) this.left = 0
    return !reader.failed
  }

  #readDice(isKey: boolean): void {
    const { prng } = this.#world
    const draws = this.#block === undefined || isKey ? 0 : readSmall(this.#reader)
    if (draws > RECORDING_DRAWS_MAX) return this.#reader.fail()
    for (let draw = 0; draw < draws; draw++) prng.nextU32()
    if (draws === 0) for (let word = 0; word < 4; word++) prng.state[word] = this.#reader.readBits(32)
  }

  #finish(): void {
    if (this.#block === undefined) this.#reader.finish()
    else this.#block.finish()
  }

  #readEntries(isKey: boolean): void {
    const reader = this.#reader
    const heads = this.#heads
    let next = 0
    heads.begin(isKey)
    this.#former?.beginTick()
    for (let index = heads.next(); index !== NONE; index = heads.next()) {
      if (reader.failed || index >= OBJECTS_MAX) return reader.fail()
      // A key lists every object that exists: an index that it skips is free.
      if (isKey) this.#unseat(next, index)
      this.#readEntry(index, isKey)
      if (reader.failed) return
      next = index + 1
    }
    if (isKey && !reader.failed) this.#unseat(next, this.#world.objects.highWater)
  }

  #readEntry(index: number, isKey: boolean): void {
    const reader = this.#reader
    const { kind } = this.#heads
    if (kind === BIRTH) {
      const id = index * 0x1_0000 + reader.readBits(16)
      const type = reader.readBits(8)
      const owner = readVarint(reader)
      this.#readBirth(id, type, owner)
      return
    }
    const handle = this.#handleAt(index)
    if (isKey || handle === undefined) return reader.fail()
    if (kind === DEATH) return this.#world.unseat(handle)
    if (kind === HANDOVER) {
      const owner = readVarint(reader)
      if (owner > PEER_MAX || owner === handle.owner) return reader.fail()
      this.#world.setOwner(handle, owner)
    }
    const store = handle.$store
    const at = store.rowAt(handle)
    this.#former?.find(index, store, at, this.#pair)
    this.#readRow(handle, store.rows, at, 1)
  }

  #readBirth(id: ObjectId, type: number, owner: number): void {
    const world = this.#world
    const reader = this.#reader
    if (reader.failed || type >= world.stores.length || id % 0x1_0000 === 0 || owner > PEER_MAX) return reader.fail()
    const former = this.#handleAt(indexOf(id))
    const isSame = former !== undefined && former.id === id && former.$store.type === type
    if (former !== undefined && !isSame) world.unseat(former)
    const handle = isSame ? former : world.seat(type, id, owner)
    if (isSame && former.owner !== owner) world.setOwner(former, owner)
    this.#former?.forget(indexOf(id))
    this.#pair.olderAt = -1
    this.#readRow(handle, world.stores[type].schema.initialRow, 0, 0)
  }

  #readRow(handle: Handle, baseRows: Int32Array, baseAt: number, age: number): void {
    const store = handle.$store
    const pair = this.#pair
    const scratch = this.#scratch[store.type]
    pair.rows = scratch
    pair.at = 0
    pair.baseRows = baseRows
    pair.baseAt = baseAt
    pair.age = age
    this.#coders[store.type].read(this.#reader, this.#set, pair, this.#world.heap)
    if (!this.#reader.failed) store.load(handle, scratch, 0)
  }

  #handleAt(index: number): Handle | undefined {
    const { objects } = this.#world
    return index < objects.highWater && objects.typeAt(index) !== NO_TYPE ? objects.handles[index] : undefined
  }

  /** Removes all objects at these indexes. */
  #unseat(first: number, end: number): void {
    const { objects } = this.#world
    const stop = Math.min(end, objects.highWater)
    for (let index = first; index < stop; index++) {
      const handle = this.#handleAt(index)
      if (handle !== undefined) this.#world.unseat(handle)
    }
  }
}
