/**
 * The number of draws between two states of a generator: a few bits instead of its four words.
 */

import { RECORDING_DRAWS_MAX } from '../base/limits.ts'
import { Prng } from '../base/prng.ts'

const COUNTER = 3
const scratch = new Prng(0)

/** The draws from one state to another; 0 when they are too many, or do not lead there. */
export function drawsBetween(from: Uint32Array, to: Uint32Array): number {
  const draws = (to[COUNTER] - from[COUNTER]) >>> 0
  if (draws > RECORDING_DRAWS_MAX) return 0
  scratch.state.set(from)
  for (let draw = 0; draw < draws; draw++) scratch.nextU32()
  return scratch.state.every((word, at) => word === to[at]) ? draws : 0
}
