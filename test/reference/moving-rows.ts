/** Rows of things that move, tick by tick, for tests of codecs. */

import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import {
  angle, bool, f32, fixed, group, i16, i32, int, quat, text, u16, u32, u8, vec2, vec3,
} from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import type { Shape } from '../../packages/tickwire/src/core/schema/field.ts'
import type { Schema } from '../../packages/tickwire/src/core/schema/schema.ts'
import type { SchemaEngine } from './schema-engine.ts'

export const TICKS_PER_SECOND = 60

/** Definitions of things that move, of every kind of field. */
export const SHAPES: { readonly [name: string]: Shape } = {
  Walker: {
    at: vec3(-100, 100, 0.01).position(),
    speed: vec3(-20, 20, 0.01).velocity(),
    yaw: angle(12),
    health: int(0, 100),
    isUp: bool,
  },
  Racer: {
    at: vec2(-500, 500, 0.02).position(),
    speed: vec2(-60, 60, 0.02).velocity(),
    push: vec2(-30, 30, 0.1).acceleration(),
    name: text(12),
    gear: u8,
  },
  Wheel: {
    turn: angle(14),
    spin: fixed(-10, 10, 0.01).angularVelocity(),
    load: u16,
    drift: i16,
    count: i32,
    stamp: u32,
    heat: f32,
  },
  Body: {
    at: vec3(-64, 64, 0.002).position(),
    turn: quat(9),
    velocity: vec3(-30, 30, 0.01).velocity(),
    spin: vec3(-20, 20, 0.01).angularVelocity('turn'),
    other: quat(11),
    isAwake: bool,
  },
  Ship: {
    place: vec2(-100, 100, 0.01).position(),
    sails: group({ count: u8, torn: bool, trim: fixed(-1, 1, 0.01), side: quat(7) }),
    hull: int(0, 999),
    crew: u8.team(),
    gold: i32.owner(),
    drift: vec2(-3, 3, 0.01).velocity(),
  },
  // A step of the velocity is exactly a step of the position per tick.
  Lift: { at: vec2(-60, 60, 1 / 60).position(), speed: vec2(-60, 60, 1).velocity(), door: u8 },
  Fleet: Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`p${index}`, vec3(-10, 10, 0.01)])),
}

/** Rows that continue from tick to tick: most lanes change slightly, some rest, some jump. */
export function wander(schema: Schema, ticks: number, seed: number): Int32Array[] {
  const dice = new Prng(seed)
  const row = Int32Array.from(schema.initialRow)
  const speeds = new Int32Array(schema.laneCount)
  return Array.from({ length: ticks }, () => {
    for (const { lane, laneCount, max, width } of schema.leaves)
      for (let each = lane; each < lane + laneCount; each++) {
        const chance = dice.nextFloat()
        if (chance < 0.1) speeds[each] = Math.floor(dice.nextFloat() * 9) - 4
        const top = max > 0 ? max : width > 0 && width < 31 ? 2 ** width - 1 : 2 ** 31 - 1
        if (chance > 0.99) row[each] = Math.floor(dice.nextFloat() * (top + 1))
        else if (chance > 0.4) row[each] = Math.min(top, Math.max(0, row[each]! + speeds[each]!))
      }
    return Int32Array.from(row)
  })
}

/**
 * Rows of an object that turns, drifts and takes damage, made by the engine: rotations, texts and groups cannot be made
 * lane by lane.
 */
export function voyage(engine: SchemaEngine, shape: Shape, ticks: number, seed: number): Int32Array[] {
  const dice = new Prng(seed)
  let [x, speed, turn] = [0, 1, 0]
  return Array.from({ length: ticks }, (_, tick) => {
    if (dice.nextFloat() < 0.1) speed = dice.nextFloat() * 4 - 2
    x += speed / TICKS_PER_SECOND
    turn += dice.nextFloat() * 0.1
    const along = (size: number): object => ({ x: size, y: -size / 2, z: tick % 50 < 25 ? 0 : size / 3 })
    const rotation = { x: Math.sin(turn) / 2, y: 0.1, z: Math.sin(turn / 2) / 2, w: Math.cos(turn) }
    const values: { readonly [name: string]: unknown } = {
      at: along(x),
      place: along(x),
      velocity: along(speed),
      drift: along(speed),
      speed: along(speed),
      spin: { x: 0, y: 0, z: speed },
      push: { x: dice.nextFloat(), y: 0 },
      turn: rotation,
      other: rotation,
      isAwake: tick % 7 > 2,
      hull: 999 - (tick >> 3),
      crew: tick % 13,
      gold: tick * 1000,
      name: tick % 20 < 10 ? 'Ann' : 'Bo',
      gear: tick % 6,
      sails: tick % 30 < 20 ? { count: tick % 5, torn: tick % 11 < 3, trim: Math.sin(tick / 5), side: rotation } : null,
    }
    return engine.row(Object.fromEntries(Object.keys(shape).map((name) => [name, values[name]])))
  })
}
