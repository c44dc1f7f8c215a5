/**
 * A pulse without the hash of the world, for machines on which the whole hash takes too long: the generator, the ids of
 * the next spawns, and which numbers were drawn. It finds most differences at once; a whole hash finds the rest.
 */

import { AllocatorHash } from '../../world/allocator-hash.ts'
import { hashRow } from '../../world/row-hash.ts'
import type { World } from '../../world/world.ts'

const words = new Int32Array(8)
const out = new Uint32Array(2)
const allocator = new AllocatorHash()

/** 16 bits of a world after a tick. */
export function leanPulse({ tick, prng, objects, random }: World): number {
  allocator.hash(objects, out, 0)
  words[0] = out[0]
  words[1] = out[1]
  for (let word = 0; word < 4; word++) words[2 + word] = prng.state[word]
  words[6] = random.fold
  hashRow(words, 0, 7, tick, 0, out, 0)
  return (out[0] ^ (out[0] >>> 16)) & 0xffff
}
