/**
 * A snapshot codec by itself, on the standard crowd: a presence section and the rows of all who changed, tick after tick,
 * against the tick `distance` before (and the one before that, where the coder uses it). Every byte is read back, and every row
 * compared.
 *
 * No packets, no loss: what a frame would hold if all baselines were of one age.
 */

import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { EntropyCoder } from '../../packages/tickwire/src/core/codec/entropy-coder.ts'
import { PackedCoder } from '../../packages/tickwire/src/core/codec/packed-coder.ts'
import { IndexSet, PresenceSection } from '../../packages/tickwire/src/core/codec/presence-section.ts'
import { TrainedTables, type EntityPriors } from '../../packages/tickwire/src/core/codec/priors.ts'
import { RowPair, type RowCoder } from '../../packages/tickwire/src/core/codec/row-coder.ts'
import { train } from '../../packages/tickwire/src/core/codec/training.ts'
import type { Schema } from '../../packages/tickwire/src/core/schema/schema.ts'
import { ValueHeap } from '../../packages/tickwire/src/core/schema/value-heap.ts'
import { compileRows } from '../../packages/tickwire/src/node/compile-rows.ts'
import { FIELD_COUNT } from '../scenario.ts'
import { crowdRows, crowdSchema, TICKS_PER_SECOND } from './crowd-rows.ts'

/** Ticks that are not scored: a crowd begins at rest. */
const FIRST_TICK = 30
const ROOM_BYTES = 1 << 18

export type CodecName = 'packed' | 'entropy'

/** Rows of a crowd, tick by tick. */
export interface Crowd {
  readonly rows: readonly Int32Array[]
  readonly players: number
}

/** Bytes a tick. */
export interface CodecBytes {
  readonly total: number
  readonly presence: number
  /** Those who changed, of all. */
  readonly changed: number
}

export function makeCrowdRows(players: number, ticks: number, seed: number): Crowd {
  return { rows: crowdRows(players, ticks, seed), players }
}

/** The coder of a codec as a server has it; `priors`: trained tables instead of built-in ones. */
export function makeCoder(schema: Schema, codec: CodecName, priors?: EntityPriors): RowCoder {
  const coder = makePlainCoder(schema, codec, priors)
  coder.compile?.(compileRows)
  return coder
}

/** The same as a page has it, where no code is made for the rows. */
export function makePlainCoder(schema: Schema, codec: CodecName, priors?: EntityPriors): RowCoder {
  if (codec === 'packed') return new PackedCoder(schema)
  return new EntropyCoder(schema, TICKS_PER_SECOND, priors === undefined ? {} : { tables: (plan) => new TrainedTables(plan, priors) })
}

/** Priors from a crowd of another seed. */
export function trainOn(crowd: Crowd, distance: number): EntityPriors {
  return train(crowdSchema(), TICKS_PER_SECOND, 1, (see) => {
    const pair = new RowPair()
    for (let tick = FIRST_TICK; tick < crowd.rows.length; tick++) {
      for (let player = 0; player < crowd.players; player++) {
        if (!hasChanged(crowd, tick, distance, player)) continue
        aim(pair, crowd, tick, distance, player)
        see(pair)
      }
    }
  })
}

/** Points a pair at a player's rows. */
export function aim(pair: RowPair, { rows }: Crowd, tick: number, distance: number, player: number): void {
  const at = player * FIELD_COUNT
  pair.rows = rows[tick]!
  pair.at = at
  pair.baseRows = rows[tick - distance]!
  pair.baseAt = at
  pair.age = distance
  pair.olderRows = rows[tick - distance - 1]!
  pair.olderAt = at
}

/** Encodes and decodes every tick, compares every row, and gives the mean. */
export function measureBytes(coder: RowCoder, crowd: Crowd, distance: number): CodecBytes {
  const writer = new BitWriter(new Uint8Array(ROOM_BYTES))
  const reader = new BitReader(writer.bytes)
  const section = new PresenceSection()
  const reference = new IndexSet()
  const heap = new ValueHeap()
  const pair = new RowPair()
  const ordinary = new Uint8Array(crowd.players).fill(1)
  let [total, presence, changed] = [0, 0, 0]
  for (let tick = FIRST_TICK; tick < crowd.rows.length; tick++) {
    const moving: number[] = []
    reference.clear()
    for (let player = 0; player < crowd.players; player++) {
      if (hasChanged(crowd, tick, distance, player)) moving.push(player)
      if (hasChanged(crowd, tick - distance, 1, player)) reference.add(player)
    }
    writer.reset(writer.bytes)
    section.write(writer, moving, ordinary, moving.length, reference)
    presence += writer.bitLength / 8
    for (const player of moving) {
      aim(pair, crowd, tick, distance, player)
      coder.write(writer, 0, pair, heap)
    }
    total += writer.finish()
    changed += moving.length
    reader.reset(writer.bytes)
    verify(reader, coder, section, reference, crowd, tick, distance)
  }
  const ticks = crowd.rows.length - FIRST_TICK
  return { total: total / ticks, presence: presence / ticks, changed: changed / ticks / crowd.players }
}

function verify(reader: BitReader, coder: RowCoder, section: PresenceSection, reference: IndexSet, crowd: Crowd, tick: number, distance: number): void {
  const heap = new ValueHeap()
  const pair = new RowPair()
  const got = new Int32Array(FIELD_COUNT)
  const count = section.read(reader, reference)
  let next = 0
  for (let player = 0; player < crowd.players; player++) {
    aim(pair, crowd, tick, distance, player)
    if (next < count && section.indexes[next] === player) {
      next++
      pair.rows = got
      pair.at = 0
      coder.read(reader, 0, pair, heap)
    } else {
      got.set(pair.baseRows.subarray(pair.baseAt, pair.baseAt + FIELD_COUNT))
    }
    for (let field = 0; field < FIELD_COUNT; field++) {
      if (reader.failed || got[field] !== crowd.rows[tick]![player * FIELD_COUNT + field]) throw new Error(`tick ${tick}: player ${player} was lost`)
    }
  }
}

function hasChanged({ rows }: Crowd, tick: number, distance: number, player: number): boolean {
  const [row, base] = [rows[tick]!, rows[tick - distance]!]
  for (let lane = player * FIELD_COUNT; lane < (player + 1) * FIELD_COUNT; lane++) if (row[lane] !== base[lane]) return true
  return false
}
