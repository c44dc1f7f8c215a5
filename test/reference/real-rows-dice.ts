/** Chance and rotations for the game of `real-rows-game.ts`: pure functions of their arguments. */

import { math } from 'tickwire'

/** A whole number that depends on a tick, an object and a purpose, and on nothing else. */
export function dice(tick: number, id: number, purpose: number): number {
  let word = Math.imul(tick ^ Math.imul(id, 0x9e3779b1), 0x85ebca6b) ^ Math.imul(purpose + 1, 0xc2b2ae35)
  word = Math.imul(word ^ (word >>> 15), 0x2c1b3c6d)
  word = Math.imul(word ^ (word >>> 13), 0x297a2d39)
  return (word ^ (word >>> 16)) >>> 0
}

/** A rotation. */
export type Turn = { readonly x: number; readonly y: number; readonly z: number; readonly w: number }

/** A rotation, turned on about an axis. */
export function turned({ x, y, z, w }: Turn, by: number, axis: 'x' | 'y' | 'z'): Turn {
  const [sine, cosine] = [math.sin(by / 2), math.cos(by / 2)]
  const r = { x: 0, y: 0, z: 0, [axis]: sine }
  const [qx, qy, qz, qw] = [
    cosine * x + r.x * w + r.y * z - r.z * y,
    cosine * y + r.y * w + r.z * x - r.x * z,
    cosine * z + r.z * w + r.x * y - r.y * x,
    cosine * w - r.x * x - r.y * y - r.z * z,
  ]
  const length = Math.sqrt(qx * qx + qy * qy + qz * qz + qw * qw)
  return { x: qx / length, y: qy / length, z: qz / length, w: qw / length }
}
