/**
 * The difference from one world to another, as bytes: for key images of replays, which are patches of the image before,
 * and for a diverged peer, which receives only the objects that differ.
 *
 * ```
 * patch    magic 16 │ version 8 │ seed varint │ base tick varint │ tick varint │ generator 4 x 32 │ draws
 *          │ high water varint │ runs │ queue │ external
 * draws    1 bit: is there any │ if so: draws for the world varint
 * runs     same varint │ changed varint │ a place for each changed index          until all indexes are covered
 * place    kind 2
 *          0 empty │ generation 16, 0 if the index was never used
 *          1 new   │ generation 16 │ type 8 │ owner 32 │ birth tick varint │ birth ordinal varint │ draws, if any
 *                  │ object
 *          2 kept  │ draws, if any │ object against the row in the base
 *          3 given │ owner 32 │ draws, if any │ object against the row in the base
 * object   row and cells as in an image (world-image.ts)
 * queue    0: that of the base │ 1: queue and births as in an image
 * external 0: that of the base │ 1: length varint │ bytes
 * ```
 *
 * An index in a run of `same` has the object, or the empty place, of the base. The base must be the world that the
 * encoder means: the caller compares hashes. Both worlds share one heap. The bytes may be hostile: reading never
 * throws.
 */

import { assert } from '../base/assert.ts'
import { OBJECTS_MAX } from '../base/limits.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { readVarint, writeVarint } from '../bits/varint.ts'
import { NO_TYPE, WORD } from './object-table.ts'
import { ObjectCodec, readQueue, writeQueue, type ImageVerdict } from './world-image.ts'
import type { World } from './world.ts'

const MAGIC = 0x5450
const VERSION = 1
const FIRST_BYTES = 4096
const LAST_BYTES: number = 1 << 26
const PLACE = { empty: 0, new: 1, kept: 2, given: 3 } as const

/** What a patch replaces in a world that the encoder does not have. */
export interface PatchScope {
  /** Object indexes whose places are sent, ascending. */
  readonly indexes: readonly number[]
  /** Whether the allocator is sent: the queue of free indexes and all empty places. */
  readonly hasAllocator: boolean
  /** Whether the external state is sent. */
  readonly hasExternal: boolean
}

/** What makes `base` into `world`. Undefined when it is larger than 64 MiB. */
export function encodePatch(world: World, base: World): Uint8Array | undefined {
  return encode(world, new Comparison(world, base), base.tick)
}

/** The places of `scope`, for a peer whose world differs there. */
export function encodeScope(world: World, scope: PatchScope): Uint8Array | undefined {
  return encode(world, new Selection(world, scope), world.tick)
}

/** Puts the patched base into an empty world that shares the heap of the base. */
export function restorePatch(world: World, base: World, bytes: Uint8Array): ImageVerdict {
  assert(world.heap === base.heap, 'a patch is applied where the values of its base are')
  const reader = new BitReader(bytes)
  if (reader.readBits(16) !== MAGIC || reader.readBits(8) !== VERSION) return 'other-version'
  if (readVarint(reader) !== world.seed) return reader.failed ? 'malformed' : 'other-seed'
  if (readVarint(reader) !== base.tick) return 'malformed'
  const external = new PatchReader(world, base, reader).read()
  if (external === undefined || !reader.finish()) return 'malformed'
  try {
    if (external === 'same') world.external.load(base.external.save())
    else world.external.decode(external)
  } catch {
    // reason: the game says that the bytes are not its state
    return 'external-refused'
  }
  world.handleLoaded(world.structure)
  return 'restored'
}

/** Which places are written, and against what. */
interface Plan {
  readonly hasQueue: boolean
  readonly hasExternal: boolean
  isSame(index: number): boolean
  /** The base's row of the object at an index, if it has the same object. */
  baseRow(index: number, type: number): { readonly rows: Int32Array; readonly at: number } | undefined
  isSameOwner(index: number): boolean
}

/** Two worlds that are both here. */
class Comparison implements Plan {
  readonly hasQueue: boolean
  readonly hasExternal: boolean
  readonly #world: World
  readonly #base: World

  constructor(world: World, base: World) {
    assert(world.heap === base.heap, 'rows are compared where their values are')
    this.#world = world
    this.#base = base
    this.hasQueue = !isSameQueue(world, base)
    this.hasExternal = !isEqualBytes(world.external.encode(), base.external.encode())
  }

  isSame(index: number): boolean {
    const { objects: a, stores } = this.#world
    const { objects: b, stores: others } = this.#base
    if (index >= b.highWater || a.idAt(index) !== b.idAt(index) || a.typeAt(index) !== b.typeAt(index)) return false
    const type = a.typeAt(index)
    if (type === NO_TYPE) return true
    const at = (index << WORD.shift) + WORD.owner
    const isSameTable =
      a.words[at] === b.words[at]
      && a.words[at + WORD.draws - WORD.owner] === b.words[at + WORD.draws - WORD.owner]
      && a.birthTickAt(index) === b.birthTickAt(index)
      && a.birthOrdinalAt(index) === b.birthOrdinalAt(index)
    if (!isSameTable) return false
    const [slot, other] = [a.slotAt(index), b.slotAt(index)]
    const { laneCount, cellCount } = stores[type].schema
    for (let lane = 0; lane < laneCount; lane++)
      if (stores[type].rows[slot * laneCount + lane] !== others[type].rows[other * laneCount + lane]) return false
    for (let cell = 0; cell < cellCount; cell++) {
      const otherValue = others[type].cells[other * cellCount + cell]
      if (!Object.is(stores[type].cells[slot * cellCount + cell], otherValue)) return false
    }
    return true
  }

  baseRow(index: number, type: number): { rows: Int32Array; at: number } | undefined {
    const { objects, stores } = this.#base
    const { objects: own } = this.#world
    const isKept =
      index < objects.highWater && objects.typeAt(index) === type && objects.idAt(index) === own.idAt(index)
      && objects.birthTickAt(index) === own.birthTickAt(index)
      && objects.birthOrdinalAt(index) === own.birthOrdinalAt(index)
    if (!isKept) return undefined
    return { rows: stores[type].rows, at: objects.slotAt(index) * stores[type].schema.laneCount }
  }

  isSameOwner(index: number): boolean {
    return this.#world.objects.ownerAt(index) === this.#base.objects.ownerAt(index)
  }
}

/** Some places of a world, for a base that is elsewhere. */
class Selection implements Plan {
  readonly hasQueue: boolean
  readonly hasExternal: boolean
  readonly #world: World
  readonly #isListed: Uint8Array

  constructor(world: World, { indexes, hasAllocator, hasExternal }: PatchScope) {
    this.#world = world
    this.hasQueue = hasAllocator
    this.hasExternal = hasExternal
    this.#isListed = new Uint8Array(world.objects.highWater)
    for (const index of indexes) this.#isListed[index] = 1
  }

  isSame(index: number): boolean {
    return this.#isListed[index] === 0 && !(this.hasQueue && this.#world.objects.typeAt(index) === NO_TYPE)
  }

  baseRow(): undefined {
    return undefined
  }

  isSameOwner(): boolean {
    return false
  }
}

function encode(world: World, plan: Plan, baseTick: number): Uint8Array | undefined {
  assert(!world.isStepping, 'a patch is made between two ticks')
  for (let size = FIRST_BYTES; size <= LAST_BYTES; size *= 4) {
    const bytes = new Uint8Array(size)
    const out = new BitWriter(bytes)
    writePatch(world, plan, baseTick, out)
    if (!out.failed) return bytes.slice(0, out.finish())
  }
  return undefined
}

function writePatch(world: World, plan: Plan, baseTick: number, out: BitWriter): void {
  const { objects, prng } = world
  const hasDraws = world.hasDraws || world.worldDraws > 0
  out.writeBits(MAGIC, 16)
  out.writeBits(VERSION, 8)
  writeVarint(out, world.seed)
  writeVarint(out, baseTick)
  writeVarint(out, world.tick)
  for (const word of prng.state) out.writeBits(word, 32)
  out.writeBits(hasDraws ? 1 : 0, 1)
  if (hasDraws) writeVarint(out, world.worldDraws)
  writeVarint(out, objects.highWater)
  const codec = new ObjectCodec(world)
  for (let index = 0; index < objects.highWater && !out.failed; ) {
    const same = runLength(index, objects.highWater, (each) => plan.isSame(each))
    const changed = runLength(index + same, objects.highWater, (each) => !plan.isSame(each))
    writeVarint(out, same)
    writeVarint(out, changed)
    index += same
    for (const end = index + changed; index < end; index++) writePlace(world, plan, codec, index, hasDraws, out)
  }
  out.writeBits(plan.hasQueue ? 1 : 0, 1)
  if (plan.hasQueue) writeQueue(world, out)
  out.writeBits(plan.hasExternal ? 1 : 0, 1)
  if (!plan.hasExternal) return
  const external = world.external.encode()
  writeVarint(out, external.length)
  out.copyBits(external, 0, 8 * external.length)
}

function runLength(from: number, end: number, isIn: (index: number) => boolean): number {
  let index = from
  while (index < end && isIn(index)) index++
  return index - from
}

function writePlace(
  { objects }: World, plan: Plan, codec: ObjectCodec, index: number, hasDraws: boolean, out: BitWriter,
): void {
  const type = objects.typeAt(index)
  const base = type === NO_TYPE ? undefined : plan.baseRow(index, type)
  const kind = type === NO_TYPE ? PLACE.empty
    : base === undefined ? PLACE.new : plan.isSameOwner(index) ? PLACE.kept : PLACE.given
  out.writeBits(kind, 2)
  if (base === undefined) out.writeBits(objects.idAt(index) & 0xffff, 16)
  if (kind === PLACE.empty) return
  if (kind === PLACE.new) out.writeBits(type, 8)
  if (kind !== PLACE.kept) out.writeBits(objects.ownerAt(index), 32)
  if (kind === PLACE.new) {
    writeVarint(out, objects.birthTickAt(index))
    writeVarint(out, objects.birthOrdinalAt(index))
  }
  if (hasDraws) writeVarint(out, objects.words[(index << WORD.shift) + WORD.draws])
  codec.write(out, type, objects.slotAt(index), base?.rows, base?.at)
}

/** Reads everything after the base tick. */
class PatchReader {
  readonly #world: World
  readonly #base: World
  readonly #reader: BitReader
  readonly #codec: ObjectCodec
  #hasDraws = false

  constructor(world: World, base: World, reader: BitReader) {
    this.#world = world
    this.#base = base
    this.#reader = reader
    this.#codec = new ObjectCodec(world)
  }

  /** The bytes of the external state, or 'same'; undefined when the patch is malformed. */
  read(): Uint8Array | 'same' | undefined {
    const reader = this.#reader
    const world = this.#world
    world.tick = readVarint(reader)
    for (let word = 0; word < world.prng.state.length; word++) world.prng.state[word] = reader.readBits(32)
    this.#hasDraws = reader.readBits(1) === 1
    world.hasDraws = this.#hasDraws
    world.worldDraws = this.#hasDraws ? readVarint(reader) : 0
    const highWater = readVarint(reader)
    if (reader.failed || highWater > OBJECTS_MAX || !this.#readPlaces(highWater)) return undefined
    const isQueueRead = reader.readBits(1) === 0 ? this.#copyQueue(highWater) : readQueue(world, reader, highWater)
    if (!isQueueRead) return undefined
    if (reader.readBits(1) === 0) return reader.failed ? undefined : 'same'
    const length = readVarint(reader)
    if (reader.failed || length * 8 > reader.bitsLeft) return undefined
    const external = new Uint8Array(length)
    reader.readBytes(external, 0, length)
    return external
  }

  #readPlaces(highWater: number): boolean {
    const reader = this.#reader
    for (let index = 0; index < highWater; ) {
      const same = readVarint(reader)
      const changed = readVarint(reader)
      if (reader.failed || same + changed === 0 || index + same + changed > highWater) return false
      for (const end = index + same; index < end; index++) if (!this.#copyPlace(index)) return false
      for (const end = index + changed; index < end; index++) if (!this.#readPlace(index)) return false
    }
    return true
  }

  /** The place of the base. */
  #copyPlace(index: number): boolean {
    const { objects, stores } = this.#base
    if (index >= objects.highWater) return false
    const type = objects.typeAt(index)
    const id = objects.idAt(index)
    const own = this.#world
    if (type === NO_TYPE) {
      own.objects.retire(index, id & 0xffff)
      return true
    }
    const slot = own.stores[type].slotOf(own.seat(type, id, objects.ownerAt(index)))
    own.objects.setBirth(index, objects.birthTickAt(index), objects.birthOrdinalAt(index))
    const draws = (index << WORD.shift) + WORD.draws
    own.objects.words[draws] = objects.words[draws]
    const { rows, cells, schema: { laneCount, cellCount } } = stores[type]
    const from = objects.slotAt(index)
    own.stores[type].rows.set(rows.subarray(from * laneCount, (from + 1) * laneCount), slot * laneCount)
    own.stores[type].cells.set(cells.subarray(from * cellCount, (from + 1) * cellCount), slot * cellCount)
    return true
  }

  #readPlace(index: number): boolean {
    const reader = this.#reader
    const { objects: base, stores } = this.#base
    const world = this.#world
    const kind = reader.readBits(2)
    const isBased = kind >= PLACE.kept
    const generation = isBased ? 0 : reader.readBits(16)
    if (kind === PLACE.empty) {
      if (reader.failed) return false
      world.objects.retire(index, generation)
      return true
    }
    if (isBased && (index >= base.highWater || base.typeAt(index) === NO_TYPE)) return false
    const type = isBased ? base.typeAt(index) : reader.readBits(8)
    const owner = kind === PLACE.kept ? base.ownerAt(index) : reader.readBits(32)
    const birthTick = isBased ? base.birthTickAt(index) : readVarint(reader)
    const ordinal = isBased ? base.birthOrdinalAt(index) : readVarint(reader)
    const draws = this.#hasDraws ? readVarint(reader) : 0
    if (reader.failed || world.stores[type] === undefined || (!isBased && generation === 0)) return false
    const handle = world.seat(type, isBased ? base.idAt(index) : index * 65_536 + generation, owner)
    world.objects.setBirth(index, birthTick, ordinal)
    world.objects.words[(index << WORD.shift) + WORD.draws] = draws
    const slot = world.stores[type].slotOf(handle)
    const baseAt = isBased ? base.slotAt(index) * stores[type].schema.laneCount : 0
    this.#codec.read(reader, type, slot, isBased ? stores[type].rows : undefined, baseAt)
    return !reader.failed
  }

  /** The queue of the base, if it fits the empty indexes of this world. */
  #copyQueue(highWater: number): boolean {
    const { objects: base } = this.#base
    const { objects } = this.#world
    if (base.buriedCount > 0) return false
    for (let index = base.freeFirst; index >= 0; index = base.nextFree(index)) {
      if (index >= highWater || objects.typeAt(index) !== NO_TYPE || objects.idAt(index) === 0) return false
      objects.release(index)
    }
    objects.setBorn([...base.bornCounts.subarray(0, base.bornCountsLength)])
    return true
  }
}

function isSameQueue({ objects: a }: World, { objects: b }: World): boolean {
  if (a.buriedCount > 0 || b.buriedCount > 0 || a.bornCountsLength > 0 || b.bornCountsLength > 0) return false
  let [index, other] = [a.freeFirst, b.freeFirst]
  while (index === other && index >= 0) [index, other] = [a.nextFree(index), b.nextFree(other)]
  return index === other
}

function isEqualBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at])
}
