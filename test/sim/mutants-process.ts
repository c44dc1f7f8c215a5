/**
 * Searches for one planted bug: the program of a bundle with one changed line, in a separate process.
 *
 * Worlds of endpoints and whole matches take turns until one finds something or the endpoint ticks are used up: for the
 * layers that carry bytes most are worlds of endpoints, and for those that carry state all are matches. Bugs of another
 * part are hunted in the worlds of that part. The last printed line is the result.
 */

import { playHandover } from './handover-swarm.ts'
import { describeViolation, type Violation } from './invariants.ts'
import { playLockstep } from './lockstep-swarm.ts'
import { playMatchOf } from './match-swarm.ts'
import { playMesh } from './mesh-swarm.ts'
import { playPath } from './path-swarm.ts'
import { playRejoin } from './rejoin-swarm.ts'
import { playRtype } from './rtype-swarm.ts'
import { playServices } from './services-swarm.ts'
import { playWorld } from './transport-swarm.ts'

/** The result of a search. */
export interface Hunt {
  readonly endpointTicks: number
  readonly seeds: number
  /** Undefined: the bug was not found. */
  readonly invariant: string | undefined
  readonly part: string | undefined
  readonly problem: string
}

const ticksMax = Number(process.argv[2] ?? 1e6)
/** The share of worlds of endpoints in all endpoint ticks. */
const bytesShare = Number(process.argv[3] ?? 0.5)
const PROBLEM_CHARS = 300

interface Played {
  readonly violation: Violation | undefined
  readonly endpointTicks: number
}

/** The worlds of one seed in which the bugs of a part are hunted. */
const WORLDS: { readonly [part: string]: readonly ((seed: number) => Played | Promise<Played>)[] } = {
  lockstep: [(seed) => playRejoin(seed), (seed) => playLockstep(seed, () => {}, true), (seed) => playLockstep(seed)],
  handover: [(seed) => playHandover(seed)],
  mesh: [(seed) => playMesh(seed)],
  path: [(seed) => playPath(seed)],
  rtype: [(seed) => playRtype(seed)],
  services: [(seed) => playServices(seed)],
}

/** Hunts a bug in the worlds of its part. */
async function huntIn(part: string): Promise<Hunt> {
  let endpointTicks = 0
  for (let seed = 1; endpointTicks < ticksMax; seed++) {
    for (const play of WORLDS[part] ?? []) {
      const world = await play(seed)
      endpointTicks += world.endpointTicks
      if (world.violation === undefined) continue
      const { invariant, problem } = world.violation
      const text = `seed ${seed}: ${problem}`.slice(0, PROBLEM_CHARS)
      return { endpointTicks, seeds: seed, invariant, part, problem: text }
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

const [, , , where = ''] = process.argv
console.log(JSON.stringify(where in WORLDS ? await huntIn(where) : await hunt()))
