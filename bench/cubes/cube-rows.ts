/**
 * The scene of 901 cubes that articles on snapshot compression use, as an entity of the engine and as its rows.
 *
 * A file is little-endian int32, frame by frame, cube by cube, eight numbers each:
 *
 *   largest 0..3 | a, b, c 0..511 (the others, 9 bit) | x, y, z in 1/512 m | interacting 0 or 1
 *
 * The grid of rotations is that of the articles: 512 codes from -1/sqrt 2 to 1/sqrt 2, which has no exact 0. Rows
 * contain exactly the numbers of the file.
 */

import { readFileSync } from 'node:fs'
import type { RotationGrid } from '../../packages/tickwire/src/core/codec/rotation.ts'
import { bool, quat, vec3 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { compileSchema, type Schema } from '../../packages/tickwire/src/core/schema/schema.ts'

export const CUBES = 901
export const CUBE_LANES = 8
export const TICKS_PER_SECOND = 60

const LANE_X = 4
const LANE_Y = 5
/** Added to x and y of a file, so that lanes begin at 0. */
export const SIDE = 131_072

export function cubeSchema(): Schema {
  const flat = { min: -256, max: 256 - 1 / 512, precision: 1 / 512 }
  return compileSchema('Cube', {
    turn: quat(9),
    position: vec3(flat, flat, { min: 0, max: 32 - 1 / 512, precision: 1 / 512 }).position(),
    interacting: bool,
  })
}

/** Frames of a file as rows. */
export function cubeRows(path: string): Int32Array[] {
  const bytes = readFileSync(path)
  const all = new Int32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + (bytes.byteLength & ~3)))
  const size = CUBES * CUBE_LANES
  return Array.from({ length: Math.floor(all.length / size) }, (_, frame) => {
    const rows = all.slice(frame * size, (frame + 1) * size)
    for (let at = 0; at < size; at += CUBE_LANES) {
      rows[at + LANE_X]! += SIDE
      rows[at + LANE_Y]! += SIDE
    }
    return rows
  })
}

/** Rows as a file: the inverse. */
export function cubeFile(rows: readonly Int32Array[]): Uint8Array {
  const size = CUBES * CUBE_LANES
  const all = new Int32Array(rows.length * size)
  rows.forEach((row, frame) => all.set(row, frame * size))
  for (let at = 0; at < all.length; at += CUBE_LANES) {
    all[at + LANE_X]! -= SIDE
    all[at + LANE_Y]! -= SIDE
  }
  return new Uint8Array(all.buffer)
}

/** The grid of the file's rotations. */
export const articleGrid: RotationGrid = {
  toUnit(lanes, at, out, outAt) {
    const dropped = lanes[at]!
    let rest = 1
    for (let axis = 0, code = at + 1; axis < 4; axis++) {
      if (axis === dropped) continue
      const part = (lanes[code++]! / 511) * Math.SQRT2 - Math.SQRT1_2
      out[outAt + axis] = part
      rest -= part * part
    }
    out[outAt + dropped] = Math.sqrt(rest > 0 ? rest : 0)
  },
  toCodes(unit, unitAt, dropped, out, outAt) {
    const sign = unit[unitAt + dropped]! < 0 ? -1 : 1
    for (let axis = 0, code = outAt; axis < 4; axis++) {
      if (axis === dropped) continue
      const step = Math.floor(((unit[unitAt + axis]! * sign + Math.SQRT1_2) / Math.SQRT2) * 511 + 0.5)
      out[code++] = step < 0 ? 0 : step > 511 ? 511 : step
    }
  },
  isRow: (lanes, at) =>
    lanes[at]! >= 0 && lanes[at]! <= 3 && [1, 2, 3].every((code) => lanes[at + code]! >= 0 && lanes[at + code]! <= 511),
}
