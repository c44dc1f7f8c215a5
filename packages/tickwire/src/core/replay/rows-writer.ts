/**
 * The world, tick by tick, as the body of a rows chunk.
 *
 *   body     ticks 16 LE | tick | tick | …                       as many as that says, then zeros to a byte
 *   tick     key 1 | dice 1 | generator, if dice | entries | end of entries
 *   entry    index and kind (`entry-heads.ts`) | …               ascending by object index
 *     0 change    delta against the object's row one tick before
 *     1 birth     generation 16 | type 8 | owner varint | delta against the initial row
 *     2 death     nothing
 *     3 handover  owner varint | delta, perhaps empty
 *
 * In the packed codec all of it is bits. In the entropy codec heads and deltas are symbols of a range-coded block
 * (`rans-stream.ts`), the rest is its raw bits, and the block's words follow the ticks. Its deltas also use the row two
 * ticks before, unless the tick before was the object's birth: a reader that began at the last key has that row.
 *
 * A key needs nothing before it: an object without a birth in it does not exist. In other ticks an object without an
 * entry is unchanged. The generator is written in keys and when it changed, and only where everything is recorded: its
 * state predicts future random numbers.
 *
 * Rows come from a dense Timeline, which knows what changed: a tick costs what changed in it, plus one check per index.
 */

import { ConfigError } from '../base/assert.ts'
import { RECORDING_CHUNK_TICKS_MAX } from '../base/limits.ts'
import type { ObjectId, Tick } from '../base/time.ts'
import { writeVarint } from '../bits/varint.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { PackedCoder } from '../codec/packed-coder.ts'
import { RansCoder } from '../codec/rans-coder.ts'
import { RansSink } from '../codec/rans-stream.ts'
import { RowPair, type FieldSet, type RowCoder } from '../codec/row-coder.ts'
import { diffMask, type Mask } from '../schema/mask.ts'
import { NO_TYPE } from '../world/object-table.ts'
import type { Timeline } from '../world/timeline.ts'
import type { World } from '../world/world.ts'
import { CHUNK, FLAG_KEY } from './chunk.ts'
import { ChunkBuffer } from './chunk-buffer.ts'
import { drawsBetween } from './draw-count.ts'
import { ENTRY, PlainHeadsWriter, type EntryHeadsWriter } from './entry-heads.ts'
import { LivelyHeadsWriter } from './lively-heads.ts'
import { fieldSetOf, recordedSchema } from './recorded-schema.ts'
import { CODEC, type RecordedFields, type RecordingCodec } from './recording-head.ts'
import { writeSmall } from './small-number.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const { change: CHANGE, birth: BIRTH, death: DEATH, handover: HANDOVER } = ENTRY
/** The size of the count of ticks at the start of a body. */
export const COUNT_BITS = 16
const NO_ID = 0

/** The window that a Timeline needs for recording: rows are encoded against one tick before, or against two. */
export function timelineTicksFor(codec: RecordingCodec): number {
  if (Object.hasOwn(CODEC, codec)) return codec === 'packed' ? 2 : 3
  throw new ConfigError(
    'codec',
    `unknown codec ${JSON.stringify(codec)}`,
    `give ${Object.keys(CODEC)
      .map((name) => `'${name}'`)
      .join(' or ')}, or leave it out.`,
  )
}

export class RowsWriter {
  readonly chunk: ChunkBuffer
  /** Ticks in the chunk. */
  count = 0
  readonly #world: World
  readonly #timeline: Timeline
  /** Only in the entropy codec. */
  readonly #block: RansSink | undefined
  readonly #heads: EntryHeadsWriter
  /** Indexed by type. */
  readonly #coders: readonly RowCoder[]
  readonly #masks: readonly Mask[]
  readonly #set: FieldSet
  readonly #hasEverything: boolean
  readonly #pair = new RowPair()
  /** Indexed by object index: the object id in the last tick written; and the generator's state then. */
  #known: Uint32Array = new Uint32Array(64)
  #knownCount = 0
  readonly #dice = new Uint32Array(4)
  /** Whether the last tick written was a key, in which every object is born. */
  #wasKey = true

  /**
   * `type` of its chunks: rows, or rows as received by a client. The Timeline needs a window of `timelineTicksFor`
   * ticks.
   */
  constructor(
    world: World,
    timeline: Timeline,
    fields: RecordedFields,
    tickRate: number,
    codec: RecordingCodec,
    type: number = CHUNK.rows,
  ) {
    const windowTicks = timelineTicksFor(codec)
    if (timeline.windowTicks < windowTicks)
      throw new ConfigError(
        'timeline',
        `too short (expected at least ${windowTicks} ticks, got ${timeline.windowTicks})`,
        'use a longer Timeline, or leave it out.',
      )
    this.chunk = new ChunkBuffer(type, COUNT_BITS)
    this.#world = world
    this.#timeline = timeline
    this.#set = fieldSetOf(fields)
    this.#hasEverything = fields === 'everything'
    const { writer } = this.chunk
    const block = codec === 'entropy' ? new RansSink(writer) : undefined
    const schemas = world.stores.map(({ schema }) => recordedSchema(schema, fields))
    this.#block = block
    this.#heads = block === undefined ? new PlainHeadsWriter(writer) : new LivelyHeadsWriter(writer, block)
    this.#coders = schemas.map((schema) =>
      block === undefined ? new PackedCoder(schema) : new RansCoder(schema, tickRate, block),
    )
    this.#masks = schemas.map(({ masks }) => masks[this.#set])
  }

  get isFull(): boolean {
    return this.count >= RECORDING_CHUNK_TICKS_MAX
  }

  /**
   * Appends the newest tick of the Timeline. Returns false when it is too large for any chunk: then the next must be a
   * key.
   */
  append(isKey: boolean): boolean {
    const { chunk } = this
    const tick = this.#timeline.newest
    if (chunk.isEmpty) {
      chunk.tick = tick
      chunk.flags = isKey ? FLAG_KEY : 0
    }
    const block = this.#block
    const symbols = block?.count ?? 0
    for (;;) {
      chunk.mark()
      this.#writeTick(chunk.writer, tick, isKey)
      const said = chunk.keep(block?.tailBytesMax)
      if (said === 'kept') break
      block?.rewind(symbols)
      if (said === 'too-large') return false
    }
    block?.settle()
    this.#heads.keep()
    this.#remember()
    this.#wasKey = isKey
    this.count++
    return true
  }

  /** The chunk, ready to be written; the next tick begins a new one. */
  seal(): Uint8Array {
    this.#block?.finish()
    return this.chunk.seal(this.count)
  }

  clear(): void {
    this.chunk.clear()
    this.#block?.clear()
    this.count = 0
  }

  #writeTick(out: BitWriter, tick: Tick, isKey: boolean): void {
    const { state } = this.#world.prng
    const dice = this.#dice
    let hasDice = isKey
    for (let word = 0; word < 4; word++) if (state[word] !== dice[word]) hasDice = true
    hasDice &&= this.#hasEverything
    out.writeBits(isKey ? 1 : 0, 1)
    out.writeBits(hasDice ? 1 : 0, 1)
    if (hasDice) this.#writeDice(out, state, isKey)
    this.#heads.begin(isKey)
    this.#writeEntries(out, tick, isKey)
    this.#heads.end()
  }

  /**
   * Writes the generator's words; in the entropy codec the number of draws since the tick before, if that leads there.
   */
  #writeDice(out: BitWriter, state: Uint32Array, isKey: boolean): void {
    if (this.#block !== undefined && !isKey) {
      const draws = drawsBetween(this.#dice, state)
      writeSmall(out, draws)
      if (draws > 0) return
    }
    for (let word = 0; word < 4; word++) out.writeBits(state[word], 32)
  }

  /** @hot */
  #writeEntries(out: BitWriter, tick: Tick, isKey: boolean): void {
    const { objects } = this.#world
    const end = isKey || objects.highWater > this.#knownCount ? objects.highWater : this.#knownCount
    for (let index = 0; index < end; index++) {
      const isHere = index < objects.highWater && objects.typeAt(index) !== NO_TYPE
      const known = !isKey && index < this.#knownCount ? this.#known[index] : NO_ID
      if (!isHere && known === NO_ID) continue
      const id = isHere ? objects.idAt(index) : NO_ID
      if (id === NO_ID) this.#heads.write(index, DEATH)
      else if (id !== known) this.#writeBirth(out, tick, index, id)
      else if (this.#timeline.changedAt(id) === tick) this.#writeChange(out, tick, index, id)
      if (out.failed) return
    }
  }

  /** @hot */
  #writeBirth(out: BitWriter, tick: Tick, index: number, id: ObjectId): void {
    const type = this.#world.objects.typeAt(index)
    const pool = this.#timeline.pools[type]
    const pair = this.#pair
    pair.rows = pool.rows
    pair.at = this.#timeline.find(type, id, tick)
    pair.baseRows = pool.schema.initialRow
    pair.baseAt = 0
    pair.age = 0
    pair.olderAt = -1
    this.#heads.write(index, BIRTH)
    out.writeBits(id & 0xffff, 16)
    out.writeBits(type, 8)
    writeVarint(out, this.#timeline.owner(type, id, tick))
    this.#coders[type].write(out, this.#set, pair, this.#world.heap)
  }

  /** Writes nothing when only fields changed that are not recorded. @hot */
  #writeChange(out: BitWriter, tick: Tick, index: number, id: ObjectId): void {
    const timeline = this.#timeline
    const type = this.#world.objects.typeAt(index)
    const { rows } = timeline.pools[type]
    const pair = this.#pair
    const owner = timeline.owner(type, id, tick)
    const isHandover = timeline.owner(type, id, tick - 1) !== owner
    pair.rows = rows
    pair.at = timeline.find(type, id, tick)
    pair.baseRows = rows
    pair.baseAt = timeline.find(type, id, tick - 1)
    pair.age = 1
    pair.olderRows = rows
    pair.olderAt = this.#wasKey ? -1 : timeline.find(type, id, tick - 2)
    if (!isHandover && !diffMask(this.#masks[type], rows, pair.at, rows, pair.baseAt)) return
    this.#heads.write(index, isHandover ? HANDOVER : CHANGE)
    if (isHandover) writeVarint(out, owner)
    this.#coders[type].write(out, this.#set, pair, this.#world.heap)
  }

  #remember(): void {
    const { objects, prng } = this.#world
    if (this.#known.length < objects.highWater) this.#known = new Uint32Array(objects.words.length >>> 2)
    for (let index = 0; index < objects.highWater; index++) {
      this.#known[index] = objects.typeAt(index) === NO_TYPE ? NO_ID : objects.idAt(index)
    }
    this.#knownCount = objects.highWater
    this.#dice.set(prng.state)
  }
}
