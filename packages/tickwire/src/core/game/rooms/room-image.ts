/**
 * A room put into bytes, and made again of them in another process: for a server that is started anew while its developer works.
 *
 * ```
 * world   tick varint │ generator 4 x 32 │ count varint │ objects, ascending by index
 * object  id 32 │ type 8 │ owner 32 │ birth tick varint │ birth ordinal varint │ delta of all its fields against the initial row
 * ```
 *
 * Rows are quantised, as a recording's are: what lies between two steps of a field is lost, and so is what a game keeps outside
 * (`external`); ids of the dead may be given again. It is no format to keep: both sides must be the same build but for their code, which the fingerprint says.
 */

import { BitReader } from '../../bits/bit-reader.ts'
import { BitWriter } from '../../bits/bit-writer.ts'
import { readVarint, writeVarint } from '../../bits/varint.ts'
import type { PeerId } from '../../base/time.ts'
import { makeMask, type Mask } from '../../schema/mask.ts'
import { readDelta, writeDelta } from '../../schema/row-delta.ts'
import { indexOf, NO_TYPE } from '../../world/object-table.ts'
import type { World } from '../../world/world.ts'
import type { Metadata } from './join-body.ts'

/** One room, as it stood. */
export interface RoomImage {
  readonly typeName: string
  readonly number: number
  readonly id: string
  readonly code: string
  readonly seed: number
  readonly metadata: Metadata
  readonly isLocked: boolean
  /** Eight bytes: only the same game is put into it again. */
  readonly fingerprint: Uint8Array
  readonly world: Uint8Array
  readonly members: readonly MemberImage[]
}

/** One seat that was taken or held. */
export interface MemberImage {
  readonly peer: PeerId
  readonly serial: number
  readonly isSpectator: boolean
  readonly user: unknown
  readonly tokenUser: Uint8Array | undefined
}

/** Of an id, beside the index: an object that was never born has none. */
const GENERATION_MASK = 0xffff
const FIRST_BYTES = 65_536
const LAST_BYTES: number = 1 << 26

/** The world between two ticks; undefined when it is larger than 64 MiB. */
export function encodeWorld(world: World): Uint8Array | undefined {
  for (let size = FIRST_BYTES; size <= LAST_BYTES; size *= 4) {
    const bytes = new Uint8Array(size)
    const out = new BitWriter(bytes)
    writeWorld(world, out)
    if (!out.failed) return bytes.slice(0, out.finish())
  }
  return undefined
}

/** Puts objects into a world that has none. False, and the world is of no use, when the bytes make no sense. */
export function restoreWorld(world: World, bytes: Uint8Array): boolean {
  const reader = new BitReader(bytes)
  const masks = masksOf(world)
  world.tick = readVarint(reader)
  for (let word = 0; word < world.prng.state.length; word++) world.prng.state[word] = reader.readBits(32)
  const count = readVarint(reader)
  for (let at = 0; at < count && !reader.failed; at++) {
    const id = reader.readBits(32)
    const type = reader.readBits(8)
    const owner = reader.readBits(32)
    const [birthTick, ordinal] = [readVarint(reader), readVarint(reader)]
    const store = world.stores[type]
    if (reader.failed || store === undefined || (id & GENERATION_MASK) === 0 || world.atIndexOf(id) !== undefined) return false
    const row = new Int32Array(store.schema.laneCount)
    readDelta(reader, store.schema, masks[type], row, 0, store.schema.initialRow, 0, world.heap)
    if (reader.failed) return false
    store.load(world.seat(type, id, owner), row, 0)
    world.objects.setBirth(indexOf(id), birthTick, ordinal)
  }
  world.sample()
  return !reader.failed
}

function writeWorld(world: World, out: BitWriter): void {
  const { objects, stores, prng, heap } = world
  const masks = masksOf(world)
  writeVarint(out, world.tick)
  for (const word of prng.state) out.writeBits(word, 32)
  const living = Array.from({ length: objects.highWater }, (_, index) => index).filter((index) => objects.typeAt(index) !== NO_TYPE)
  writeVarint(out, living.length)
  for (const index of living) {
    const type = objects.typeAt(index)
    const { schema, rows } = stores[type]
    out.writeBits(objects.idAt(index), 32)
    out.writeBits(type, 8)
    out.writeBits(objects.ownerAt(index), 32)
    writeVarint(out, objects.birthTickAt(index))
    writeVarint(out, objects.birthOrdinalAt(index))
    writeDelta(out, schema, masks[type], rows, objects.slotAt(index) * schema.laneCount, schema.initialRow, 0, heap)
  }
}

/** Of all fields, those that nobody is told of too. */
function masksOf({ stores }: World): readonly Mask[] {
  return stores.map(({ schema: { members, leaves } }) => makeMask(members, leaves))
}
