/**
 * The world, tick by tick, as the body of a chunk of rows.
 *
 *   body     ticks 16 LE | tick | tick | …                       as many as that says, one after the other; then zeros to a byte
 *   tick     key 1 | dice 1 | generator 4 x 32, if dice | entries | 0
 *   entry    1 | gap, small | kind 2 | …                         ascending by object index; gap = indexes left out before it
 *     0 change    delta against the object's row one tick before
 *     1 birth     generation 16 | type 8 | owner varint | delta against the initial row
 *     2 death     nothing
 *     3 handover  owner varint | delta, perhaps of nothing
 *
 * A key needs nothing before it: who is not born in it is not there. Everyone else who is not spoken of is what he was.
 * The generator is told in keys, and when it moved; only where everything is recorded, for it knows the future.
 *
 * Rows come from a dense Timeline, which knows what changed: a tick costs what changed in it, and a look at each index.
 */

import { RECORDING_CHUNK_TICKS_MAX } from '../base/limits.ts'
import type { ObjectId, Tick } from '../base/time.ts'
import { writeVarint } from '../bits/varint.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { RowPair, type FieldSet, type MakeRowCoder, type RowCoder } from '../codec/row-coder.ts'
import { NO_TYPE } from '../world/object-table.ts'
import type { Timeline } from '../world/timeline.ts'
import type { World } from '../world/world.ts'
import { CHUNK, FLAG_KEY } from './chunk.ts'
import { ChunkBuffer } from './chunk-buffer.ts'
import { fieldSetOf, recordedSchema } from './recorded-schema.ts'
import type { RecordedFields } from './recording-head.ts'
import { writeSmall } from './small-number.ts'

/** What became of an object. */
export const ENTRY = { change: 0, birth: 1, death: 2, handover: 3 } as const
/** Bits of the count of ticks before them. */
export const COUNT_BITS = 16
const NOBODY = 0

export class RowsWriter {
  readonly chunk: ChunkBuffer
  /** Ticks in the chunk. */
  count = 0
  readonly #world: World
  readonly #timeline: Timeline
  readonly #coders: readonly RowCoder[]
  readonly #set: FieldSet
  readonly #hasEverything: boolean
  readonly #pair = new RowPair()
  /** By object index: who lived there in the last tick written, and what was told of the generator then. */
  #known: Uint32Array = new Uint32Array(64)
  #knownCount = 0
  readonly #dice = new Uint32Array(4)

  /** `type` of its chunks: rows, or told rows. */
  constructor(world: World, timeline: Timeline, fields: RecordedFields, tickRate: number, makeCoder: MakeRowCoder, type: number = CHUNK.rows) {
    this.chunk = new ChunkBuffer(type, COUNT_BITS)
    this.#world = world
    this.#timeline = timeline
    this.#set = fieldSetOf(fields)
    this.#hasEverything = fields === 'everything'
    this.#coders = world.stores.map(({ schema }) => makeCoder(recordedSchema(schema, fields), tickRate))
  }

  get isFull(): boolean {
    return this.count >= RECORDING_CHUNK_TICKS_MAX
  }

  /** Appends the newest tick of the Timeline. False when it is too large for any chunk: then the next must be a key. */
  append(isKey: boolean): boolean {
    const { chunk } = this
    const tick = this.#timeline.newest
    if (chunk.isEmpty) {
      chunk.tick = tick
      chunk.flags = isKey ? FLAG_KEY : 0
    }
    let said: ReturnType<ChunkBuffer['keep']>
    do {
      chunk.mark()
      this.#writeTick(chunk.writer, tick, isKey)
      said = chunk.keep()
    } while (said === 'again')
    if (said === 'too-large') return false
    this.#remember()
    this.count++
    return true
  }

  /** The chunk, ready to be written; the next tick begins another. */
  seal(): Uint8Array {
    return this.chunk.seal(this.count)
  }

  clear(): void {
    this.chunk.clear()
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
    if (hasDice) for (let word = 0; word < 4; word++) out.writeBits(state[word], 32)
    this.#writeEntries(out, tick, isKey)
    out.writeBits(0, 1)
  }

  /** @hot */
  #writeEntries(out: BitWriter, tick: Tick, isKey: boolean): void {
    const { objects } = this.#world
    const end = isKey || objects.highWater > this.#knownCount ? objects.highWater : this.#knownCount
    let next = 0
    for (let index = 0; index < end; index++) {
      const isHere = index < objects.highWater && objects.typeAt(index) !== NO_TYPE
      const known = !isKey && index < this.#knownCount ? this.#known[index] : NOBODY
      if (!isHere && known === NOBODY) continue
      const id = isHere ? objects.idAt(index) : NOBODY
      if (id === known && this.#timeline.changedAt(id) !== tick) continue
      const mark = out.bitLength
      out.writeBits(1, 1)
      writeSmall(out, index - next)
      if (!this.#writeEntry(out, tick, index, id, known)) out.rewind(mark)
      else next = index + 1
      if (out.failed) return
    }
  }

  /** @hot False when there was nothing to say. */
  #writeEntry(out: BitWriter, tick: Tick, index: number, id: ObjectId, known: ObjectId): boolean {
    if (id === NOBODY) {
      out.writeBits(ENTRY.death, 2)
      return true
    }
    const timeline = this.#timeline
    const type = this.#world.objects.typeAt(index)
    const pool = timeline.pools[type]
    const pair = this.#pair
    const owner = timeline.owner(type, id, tick)
    pair.rows = pool.rows
    pair.at = timeline.find(type, id, tick)
    if (id !== known) {
      out.writeBits(ENTRY.birth, 2)
      out.writeBits(id & 0xffff, 16)
      out.writeBits(type, 8)
      writeVarint(out, owner)
      pair.baseRows = pool.schema.initialRow
      pair.baseAt = 0
      pair.age = 0
      this.#coders[type].write(out, this.#set, pair, this.#world.heap)
      return true
    }
    const isHandover = timeline.owner(type, id, tick - 1) !== owner
    out.writeBits(isHandover ? ENTRY.handover : ENTRY.change, 2)
    if (isHandover) writeVarint(out, owner)
    pair.baseRows = pool.rows
    pair.baseAt = timeline.find(type, id, tick - 1)
    pair.age = 1
    return this.#coders[type].write(out, this.#set, pair, this.#world.heap) || isHandover
  }

  #remember(): void {
    const { objects, prng } = this.#world
    if (this.#known.length < objects.highWater) this.#known = new Uint32Array(objects.words.length >>> 2)
    for (let index = 0; index < objects.highWater; index++) {
      this.#known[index] = objects.typeAt(index) === NO_TYPE ? NOBODY : objects.idAt(index)
    }
    this.#knownCount = objects.highWater
    this.#dice.set(prng.state)
  }
}
