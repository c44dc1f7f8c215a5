/** The standard crowd as an entity of the engine, and its rows. Positions, velocities and angles are marked as such. */

import { angle, int, u8, vec3 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { compileSchema, type Schema } from '../../packages/tickwire/src/core/schema/schema.ts'
import { FIELD_BITS, FIELD_COUNT, FIELD_MIN, makeCrowd } from '../scenario.ts'

export const TICKS_PER_SECOND = 60

const bounds = (field: number, precision: number): { min: number; max: number; precision: number } => ({
  min: FIELD_MIN[field]! * precision,
  max: (FIELD_MIN[field]! + 2 ** FIELD_BITS[field]! - 1) * precision,
  precision,
})

/** Lane by lane, the fields that `FIELDS` lists. */
export const CROWD_SHAPE = {
  at: vec3(bounds(0, 1 / 512), bounds(1, 1 / 512), bounds(2, 1 / 512)).position(),
  speed: vec3(bounds(3, 1 / 64), bounds(4, 1 / 64), bounds(5, 1 / 64)).velocity(),
  yaw: angle(12), pitch: int(0, 2047), health: int(0, 127), flags: u8,
}

export function crowdSchema(): Schema {
  return compileSchema('Player', CROWD_SHAPE)
}

/** The rows of a crowd, tick by tick: `FIELD_COUNT` lanes per player. */
export function crowdRows(players: number, ticks: number, seed: number): Int32Array[] {
  return makeCrowd(players, ticks, seed).map((frame) => frame.map((value, at) => value - FIELD_MIN[at % FIELD_COUNT]!))
}
