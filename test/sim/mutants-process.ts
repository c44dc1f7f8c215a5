/**
 * Searches for one planted bug: the program of a bundle with one changed line, in a separate process.
 *
 * Worlds of endpoints and whole matches take turns until one finds something or the endpoint ticks are used up: for the
 * layers that carry bytes most are worlds of endpoints, for those that carry state all are matches, and for lockstep
 * all are matches with a relay. The last printed line is the result.
 */

import { describeViolation } from './invariants.ts'
import { playLockstep, type LockstepResult } from './lockstep-swarm.ts'
import { playMatchOf } from './match-swarm.ts'
import { playRejoin } from './rejoin-swarm.ts'
import { playWorld } from './transport-swarm.ts'

/** The result of a search. */
export interface Hunt {
  readonly endpointTicks: number
  readonly seeds: number
  /** Undefined: the bug was not found. */
  readonly invariant: string | undefined
  readonly part: 'transport' | 'match' | 'lockstep' | undefined
  readonly problem: string
}

const ticksMax = Number(process.argv[2] ?? 1e6)
/** The share of worlds of endpoints in all endpoint ticks. */
const bytesShare = Number(process.argv[3] ?? 0.5)
const PROBLEM_CHARS = 300

/** The matches of one seed in which a bug of lockstep is hunted. */
const LOCKSTEP: readonly ((seed: number) => LockstepResult)[] = [
  playRejoin, (seed) => playLockstep(seed, () => {}, true), playLockstep,
]

/** Hunts a bug of lockstep. */
function huntLockstep(): Hunt {
  let endpointTicks = 0
  for (let seed = 1; endpointTicks < ticksMax; seed++) {
    for (const play of LOCKSTEP) {
      const match = play(seed)
      endpointTicks += match.endpointTicks
      if (match.violation === undefined) continue
      const { invariant, problem } = match.violation
      const text = `seed ${seed}: ${problem}`.slice(0, PROBLEM_CHARS)
      return { endpointTicks, seeds: seed, invariant, part: 'lockstep', problem: text }
    }
  }
  return { endpointTicks, seeds: 0, invariant: undefined, part: undefined, problem: '' }
}

async function hunt(): Promise<Hunt> {
  const spent = { transport: 0, match: 0 }
  const seeds = { transport: 0, match: 0 }
  while (spent.transport + spent.match < ticksMax) {
    const part =
      spent.transport <= bytesShare * (spent.transport + spent.match) && bytesShare > 0 ? 'transport' : 'match'
    const seed = ++seeds[part]
    const { endpointTicks, violation } = part === 'match' ? await playMatchOf(seed) : playWorld(seed)
    spent[part] += endpointTicks
    if (violation === undefined) continue
    const problem = describeViolation(violation).split('\n').slice(0, 2).join(' ').slice(0, PROBLEM_CHARS)
    return {
      endpointTicks: spent.transport + spent.match,
      seeds: seed,
      invariant: violation.invariant,
      part,
      problem: `seed ${seed}: ${problem}`,
    }
  }
  return {
    endpointTicks: spent.transport + spent.match,
    seeds: seeds.transport + seeds.match,
    invariant: undefined,
    part: undefined,
    problem: '',
  }
}

console.log(JSON.stringify(process.argv[3] === 'lockstep' ? huntLockstep() : await hunt()))
