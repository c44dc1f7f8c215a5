/**
 * The game that every server of the end-to-end bench runs: each player moves over a field by its own inputs, and every
 * client sees every player. 30 ticks a second, one input per player and tick.
 */

export const TICK_RATE = 30
export const FIELD = 1000
export const SPEED = 5

/** The input of a client in one tick. */
export interface Keys {
  readonly dx: number
  readonly dy: number
  readonly fire: boolean
}

/** The keys of one player: a new direction about three times a second, from a separate seed. */
export function createKeys(seed: number): () => Keys {
  let state = (seed * 0x9e3779b9 + 1) >>> 0
  const draw = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  let keys: Keys = { dx: 0, dy: 0, fire: false }
  return () => {
    if (draw(10) === 0) keys = { dx: draw(3) - 1, dy: draw(3) - 1, fire: draw(4) === 0 }
    return keys
  }
}

/** A coordinate after one tick: players stop at the border. */
export function moved(at: number, direction: number): number {
  return Math.min(FIELD, Math.max(0, at + direction * SPEED))
}

/** Angle of a direction, in 256 steps of a turn. */
export function angleOf({ dx, dy }: Keys): number {
  return ((dx + 1) * 3 + (dy + 1)) * 28
}
