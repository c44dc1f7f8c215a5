/**
 * A snapshot codec on the standard crowd: its coder, its training, and the bytes of the frames that one client is sent.
 *
 * Nothing is lost, and every packet is acknowledged `distance` ticks after it was sent, so all baselines have one age.
 */

import { EntropyCoder } from '../../packages/tickwire/src/core/codec/entropy-coder.ts'
import { PackedCoder } from '../../packages/tickwire/src/core/codec/packed-coder.ts'
import { TrainedTables, type EntityPriors } from '../../packages/tickwire/src/core/codec/priors.ts'
import { RowPair, type RowCoder } from '../../packages/tickwire/src/core/codec/row-coder.ts'
import { train } from '../../packages/tickwire/src/core/codec/training.ts'
import type { Schema } from '../../packages/tickwire/src/core/schema/schema.ts'
import { compileRows } from '../../packages/tickwire/src/node/compile-rows.ts'
import { FIELD_COUNT, type Frame } from '../scenario.ts'
import { seesAll } from './crowd-peer.ts'
import { crowdRows, crowdSchema, TICKS_PER_SECOND } from './crowd-rows.ts'
import { TickwireCrowd } from './tickwire-crowd.ts'

/** Ticks that are not counted, because a crowd begins at rest. */
export const FIRST_TICK = 30

export type CodecName = 'packed' | 'entropy'

/** Rows of a crowd, tick by tick. */
export interface Crowd {
  readonly rows: readonly Int32Array[]
  readonly players: number
}

export function makeCrowdRows(players: number, ticks: number, seed: number): Crowd {
  return { rows: crowdRows(players, ticks, seed), players }
}

/** The coder of a codec as on a server. `priors`: trained tables instead of built-in ones. */
export function makeCoder(schema: Schema, codec: CodecName, priors?: EntityPriors): RowCoder {
  const coder = makePlainCoder(schema, codec, priors)
  coder.compile?.(compileRows)
  return coder
}

/** The coder as in a page, where no code is generated for the rows. */
export function makePlainCoder(schema: Schema, codec: CodecName, priors?: EntityPriors): RowCoder {
  if (codec === 'packed') return new PackedCoder(schema)
  return new EntropyCoder(
    schema,
    TICKS_PER_SECOND,
    priors === undefined ? {} : { tables: (plan) => new TrainedTables(plan, priors) },
  )
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

/** Mean bytes a tick of the frames that one client is sent. Every row that the client holds is compared. */
export function measureFrames(
  codec: CodecName,
  crowd: { readonly frames: readonly Frame[]; readonly players: number },
  distance: number,
  priors?: EntityPriors,
): number {
  const one = new TickwireCrowd(crowd.players, 1, {
    codec,
    distance,
    sees: seesAll,
    coderOf: (schema) => makeCoder(schema, codec, priors),
  })
  let total = 0
  crowd.frames.forEach((frame, tick) => {
    one.write(frame)
    const bytes = one.send()
    one.receive()
    if (tick >= FIRST_TICK) total += bytes
    if (tick >= distance) one.verifyReaders(frame)
  })
  return total / (crowd.frames.length - FIRST_TICK)
}

function hasChanged({ rows }: Crowd, tick: number, distance: number, player: number): boolean {
  const [row, base] = [rows[tick]!, rows[tick - distance]!]
  for (let lane = player * FIELD_COUNT; lane < (player + 1) * FIELD_COUNT; lane++)
    if (row[lane] !== base[lane]) return true
  return false
}
