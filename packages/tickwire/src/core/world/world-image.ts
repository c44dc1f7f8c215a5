/**
 * A world between two ticks as bytes, and a world made from those bytes. A restored world equals the live one in
 * everything that `step` can observe: objects, hidden fields, ids of the next spawns, generators, external state.
 *
 * ```
 * image    magic 16 │ version 8 │ seed varint │ tick varint │ generator 4 x 32 │ draws │ high water varint
 *          │ a place for each index │ queue │ births │ external
 * draws    1 bit: is there any │ if so: draws for the world varint
 * place    1 │ generation 16 │ type 8 │ owner 32 │ birth tick varint │ birth ordinal varint
 *            │ if there are draws: draws varint │ row │ cells
 *          0 │ generation 16, 0 if the index was never used
 * row      delta of all fields against the initial row
 * cells    0 if they are what the row stands for
 *          1 │ delta of the quantised cells against the row │ 64 bits for each cell
 * queue    free varint │ free indexes 16 each, in order │ buried varint │ index 16, type 8 each, in order
 * births   varint │ owner 32, type 8, count varint each
 * external length varint │ bytes
 * ```
 *
 * The bytes are canonical: equal worlds give equal bytes. They are read by a world of the same entities and seed; the
 * caller compares fingerprints. Another version is refused. The bytes may be hostile: reading them never
 * throws.
 *
 * The past is not in the image: a Timeline of a restored world begins at the image's tick.
 */

import { assert } from '../base/assert.ts'
import { OBJECTS_MAX } from '../base/limits.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { readVarint, writeVarint } from '../bits/varint.ts'
import { dequantizeRow, quantizeCells } from '../schema/cells.ts'
import { makeMask, type Mask } from '../schema/mask.ts'
import { readDelta, writeDelta } from '../schema/row-delta.ts'
import type { EntityStore } from './entity-store.ts'
import { NO_TYPE, WORD } from './object-table.ts'
import type { World } from './world.ts'

/** Why bytes did not become a world. A world that refused an image is unusable. */
export type ImageVerdict = 'restored' | 'other-version' | 'other-seed' | 'malformed' | 'external-refused'

const MAGIC = 0x5457
/** Version 1 had neither magic nor allocator and is refused. */
const VERSION = 2
const FIRST_BYTES = 65_536
const LAST_BYTES: number = 1 << 26
const DOUBLE = new DataView(new ArrayBuffer(8))

/** The world between two ticks; undefined when it is larger than 64 MiB. */
export function encodeWorld(world: World): Uint8Array | undefined {
  const encoder = new WorldEncoder(world)
  while (!encoder.advance(Infinity));
  return encoder.image
}

/** Encodes a world in slices, so that no draw of a page waits for all of it. The world must not change meanwhile. */
export class WorldEncoder {
  /** The bytes, when `advance` has returned true. Undefined then: the world is larger than 64 MiB. */
  image: Uint8Array | undefined = undefined
  readonly #world: World
  readonly #external: Uint8Array
  readonly #codec: ObjectCodec
  readonly #hasDraws: boolean
  #out: BitWriter
  #size = FIRST_BYTES
  #index = 0

  constructor(world: World) {
    assert(!world.isStepping, 'an image is taken between two ticks')
    this.#world = world
    this.#external = world.external.encode()
    this.#codec = new ObjectCodec(world)
    this.#hasDraws = world.hasDraws || world.worldDraws > 0
    this.#out = this.#begin()
  }

  /** Writes at most about `sizeBytes` more bytes. True when it is done. */
  advance(sizeBytes: number): boolean {
    const { highWater } = this.#world.objects
    const end = this.#out.bitLength + 8 * sizeBytes
    while (this.#index < highWater && this.#out.bitLength < end && !this.#out.failed) this.#place(this.#index++)
    if (this.#index >= highWater && !this.#out.failed) this.#finish()
    if (!this.#out.failed) return this.image !== undefined
    this.#size *= 4
    if (this.#size > LAST_BYTES) return true
    this.#out = this.#begin()
    return false
  }

  #begin(): BitWriter {
    const { seed, tick, prng, worldDraws, objects } = this.#world
    const out = new BitWriter(new Uint8Array(this.#size))
    this.#index = 0
    out.writeBits(MAGIC, 16)
    out.writeBits(VERSION, 8)
    writeVarint(out, seed)
    writeVarint(out, tick)
    for (const word of prng.state) out.writeBits(word, 32)
    out.writeBits(this.#hasDraws ? 1 : 0, 1)
    if (this.#hasDraws) writeVarint(out, worldDraws)
    writeVarint(out, objects.highWater)
    return out
  }

  #place(index: number): void {
    const { objects } = this.#world
    const out = this.#out
    const type = objects.typeAt(index)
    out.writeBits(type === NO_TYPE ? 0 : 1, 1)
    out.writeBits(objects.idAt(index) & 0xffff, 16)
    if (type === NO_TYPE) return
    out.writeBits(type, 8)
    out.writeBits(objects.ownerAt(index), 32)
    writeVarint(out, objects.birthTickAt(index))
    writeVarint(out, objects.birthOrdinalAt(index))
    if (this.#hasDraws) writeVarint(out, objects.words[(index << WORD.shift) + WORD.draws])
    this.#codec.write(out, type, objects.slotAt(index))
  }

  #finish(): void {
    const out = this.#out
    writeQueue(this.#world, out)
    writeVarint(out, this.#external.length)
    out.copyBits(this.#external, 0, 8 * this.#external.length)
    if (!out.failed) this.image = out.bytes.slice(0, out.finish())
  }
}

/** Puts an image into a world that has no objects yet. */
export function restoreWorld(world: World, bytes: Uint8Array): ImageVerdict {
  if (bytes.length > LAST_BYTES) return 'malformed'
  const reader = new BitReader(bytes)
  if (reader.readBits(16) !== MAGIC || reader.readBits(8) !== VERSION) return 'other-version'
  if (readVarint(reader) !== world.seed) return reader.failed ? 'malformed' : 'other-seed'
  const external = readWorld(world, reader)
  if (external === undefined || !reader.finish()) return 'malformed'
  try {
    world.external.decode(external)
  } catch {
    // reason: the game says that the bytes are not its state
    return 'external-refused'
  }
  world.handleLoaded(world.structure)
  return 'restored'
}

/** Everything that decides the ids of the next spawns. */
export function writeQueue({ objects }: World, out: BitWriter): void {
  const free: number[] = []
  for (let index = objects.freeFirst; index >= 0; index = objects.nextFree(index)) free.push(index)
  writeVarint(out, free.length)
  for (const index of free) out.writeBits(index, 16)
  writeVarint(out, objects.buriedCount)
  for (let each = 0; each < objects.buriedCount; each++) out.writeBits(objects.buried[2 * each], 24)
  const { bornCounts, bornCountsLength } = objects
  writeVarint(out, bornCountsLength / BORN_WORDS)
  for (let at = 0; at < bornCountsLength; at += BORN_WORDS) {
    out.writeBits(bornCounts[at], 32)
    out.writeBits(bornCounts[at + 1], 8)
    writeVarint(out, bornCounts[at + 2])
  }
}

/** Words of one count of births in the object table: owner, type, count. */
const BORN_WORDS = 3

/** Everything after the seed. Returns the bytes of the external state; undefined when the bytes are malformed. */
function readWorld(world: World, reader: BitReader): Uint8Array | undefined {
  const codec = new ObjectCodec(world)
  world.tick = readVarint(reader)
  for (let word = 0; word < world.prng.state.length; word++) world.prng.state[word] = reader.readBits(32)
  const hasDraws = reader.readBits(1) === 1
  world.hasDraws = hasDraws
  world.worldDraws = hasDraws ? readVarint(reader) : 0
  const highWater = readVarint(reader)
  if (highWater > OBJECTS_MAX) return undefined
  for (let index = 0; index < highWater; index++) {
    const isAlive = reader.readBits(1) === 1
    const generation = reader.readBits(16)
    if (reader.failed) return undefined
    if (!isAlive) world.objects.retire(index, generation)
    else if (generation === 0 || !readObject(world, reader, codec, index * 65_536 + generation, hasDraws))
      return undefined
  }
  if (!readQueue(world, reader, highWater)) return undefined
  const length = readVarint(reader)
  if (reader.failed || length * 8 > reader.bitsLeft) return undefined
  const external = new Uint8Array(length)
  reader.readBytes(external, 0, length)
  return external
}

function readObject(world: World, reader: BitReader, codec: ObjectCodec, id: number, hasDraws: boolean): boolean {
  const { objects, stores } = world
  const type = reader.readBits(8)
  const owner = reader.readBits(32)
  const [birthTick, ordinal] = [readVarint(reader), readVarint(reader)]
  const draws = hasDraws ? readVarint(reader) : 0
  if (reader.failed || stores[type] === undefined) return false
  const handle = world.seat(type, id, owner)
  objects.setBirth(id >>> 16, birthTick, ordinal)
  objects.words[(id >>> 16 << WORD.shift) + WORD.draws] = draws
  codec.read(reader, type, stores[type].slotOf(handle))
  return !reader.failed
}

/** False when the queue does not fit the empty indexes of the world. */
export function readQueue(world: World, reader: BitReader, highWater: number): boolean {
  const { objects, stores } = world
  const isQueued = new Uint8Array(highWater)
  /** Whether an index is empty, was used before, and is not queued yet. */
  const mayQueue = (index: number): boolean => {
    const isFit =
      index < highWater && isQueued[index] === 0 && objects.typeAt(index) === NO_TYPE && objects.idAt(index) !== 0
    if (isFit) isQueued[index] = 1
    return isFit && !reader.failed
  }
  const freeCount = readVarint(reader)
  if (freeCount > highWater) return false
  for (let count = 0; count < freeCount; count++) {
    const index = reader.readBits(16)
    if (!mayQueue(index)) return false
    objects.release(index)
  }
  const buriedCount = readVarint(reader)
  if (buriedCount > highWater) return false
  for (let count = 0; count < buriedCount; count++) {
    const index = reader.readBits(16)
    const type = reader.readBits(8)
    if (stores[type] === undefined || !mayQueue(index)) return false
    world.despawn(world.seat(type, objects.idAt(index), 0))
  }
  const bornCount = readVarint(reader)
  if (bornCount > OBJECTS_MAX || bornCount * BORN_BITS_MIN > reader.bitsLeft) return false
  objects.setBorn(
    Array.from({ length: bornCount }, () => [reader.readBits(32), reader.readBits(8), readVarint(reader)]).flat(),
  )
  return !reader.failed
}

const BORN_BITS_MIN = 48

/** Rows and cells of objects, as deltas against the initial row or a given one. */
export class ObjectCodec {
  readonly #stores: readonly EntityStore[]
  /** Indexed by type: masks of all fields, including those that are never sent. */
  readonly #masks: readonly Mask[]
  readonly #rows: readonly Int32Array[]
  readonly #cells: readonly Float64Array[]

  constructor({ stores }: World) {
    this.#stores = stores
    this.#masks = stores.map(({ schema: { members, leaves } }) => makeMask(members, leaves))
    this.#rows = stores.map(({ schema }) => new Int32Array(2 * schema.laneCount))
    this.#cells = stores.map(({ schema }) => new Float64Array(schema.cellCount))
  }

  write(out: BitWriter, type: number, slot: number, base?: Int32Array, baseAt: number = 0): void {
    const { schema, heap, cells, rows } = this.#stores[type]
    const { laneCount, cellCount, initialRow } = schema
    const [row, settled] = [this.#rows[type], this.#cells[type]]
    writeDelta(out, schema, this.#masks[type], rows, slot * laneCount, base ?? initialRow, baseAt, heap)
    dequantizeRow(schema, rows, slot * laneCount, settled, 0)
    const isSettled = settled.every((value, cell) => Object.is(value, cells[slot * cellCount + cell]))
    out.writeBits(isSettled ? 0 : 1, 1)
    if (isSettled) return
    // The cells were written since the last sample. Heap values are sent by their row, numbers as they are.
    quantizeCells(schema, cells, slot * cellCount, row, 0)
    writeDelta(out, schema, this.#masks[type], row, 0, rows, slot * laneCount, heap)
    for (let cell = 0; cell < cellCount; cell++) {
      DOUBLE.setFloat64(0, schema.heapLeaves.some((leaf) => leaf.cell === cell) ? 0 : cells[slot * cellCount + cell])
      out.writeBits(DOUBLE.getUint32(0), 32)
      out.writeBits(DOUBLE.getUint32(4), 32)
    }
  }

  read(reader: BitReader, type: number, slot: number, base?: Int32Array, baseAt: number = 0): void {
    const { schema, heap, cells, rows } = this.#stores[type]
    const { laneCount, cellCount, initialRow } = schema
    const row = this.#rows[type]
    readDelta(reader, schema, this.#masks[type], row, 0, base ?? initialRow, baseAt, heap)
    if (reader.failed) return
    rows.set(row.subarray(0, laneCount), slot * laneCount)
    dequantizeRow(schema, rows, slot * laneCount, cells, slot * cellCount)
    if (reader.readBits(1) === 0) return
    readDelta(reader, schema, this.#masks[type], row, laneCount, row, 0, heap)
    for (let cell = 0; cell < cellCount; cell++) {
      DOUBLE.setUint32(0, reader.readBits(32))
      DOUBLE.setUint32(4, reader.readBits(32))
      cells[slot * cellCount + cell] = DOUBLE.getFloat64(0)
    }
    for (const leaf of schema.heapLeaves)
      cells[slot * cellCount + leaf.cell] = reader.failed ? 0 : row[laneCount + leaf.lane]
  }
}
