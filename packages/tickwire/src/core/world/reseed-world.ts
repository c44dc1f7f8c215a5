/** Starts all random numbers of a world over. For a match that agrees on its seed before the first draw. */

import type { World } from './world.ts'

export function reseedWorld(world: World, seed: number): void {
  world.seed = seed
  world.prng.reseed(seed)
  world.random.reseed(seed)
}
