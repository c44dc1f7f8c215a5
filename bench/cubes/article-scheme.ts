/**
 * The size of the scheme that the articles describe: relative indexes, relative positions in 5 or 9 bits, relative
 * smallest-three rotations in 5 or 8 bits. It counts sizes only. The articles' own program in C++ needs a sixth less.
 */

import { CUBE_LANES, CUBES } from './cube-rows.ts'

/** Mean bytes per packet. */
export function articleBytes(rows: readonly Int32Array[], distance: number): number {
  let sum = 0
  for (let frame = distance; frame < rows.length; frame++) sum += packetBytes(rows[frame]!, rows[frame - distance]!)
  return sum / (rows.length - distance)
}

function packetBytes(now: Int32Array, base: Int32Array): number {
  let indexBits = 10
  let bits = 1
  let before = -1
  for (let cube = 0; cube < CUBES; cube++) {
    const at = cube * CUBE_LANES
    const steps = Array.from({ length: CUBE_LANES }, (_, lane) => now[at + lane]! - base[at + lane]!)
    if (steps.every((step) => step === 0)) continue
    const gap = cube - before
    indexBits += before < 0 ? 10 : gap <= 8 ? 4 : gap <= 40 ? 7 : 12
    before = cube
    bits += 3 + positionBits(steps.slice(4, 7)) + rotationBits(steps.slice(0, 4))
  }
  return Math.ceil((bits + Math.min(CUBES, indexBits)) / 8)
}

function positionBits(steps: readonly number[]): number {
  if (steps.every((step) => step === 0)) return 0
  const each = steps.map((step) => relativeBits(step, 16, 272, 10))
  return 1 + (each.includes(-1) ? 50 : each.reduce((sum, bits) => sum + bits, 0))
}

function rotationBits([largest, ...codes]: readonly number[]): number {
  if (largest === 0 && codes.every((step) => step === 0)) return 0
  const each = codes.map((step) => relativeBits(step, 16, 144, 9))
  return 1 + (largest !== 0 || each.includes(-1) ? 29 : each.reduce((sum, bits) => sum + bits, 0))
}

/** Bits of a small step or of a larger step. -1: neither fits. */
function relativeBits(step: number, small: number, large: number, largeBits: number): number {
  if (step >= -small && step < small) return 6
  return step >= -large && step < large ? largeBits : -1
}
