/**
 * Many simulated worlds, one a seed. `npm run sim` runs it; swarm.test.ts runs a few in every test.
 *
 * Every seed is a world of endpoints (`transport-swarm.ts`), every twentieth also a whole match (`match.ts`), every hundredth
 * a crowd (`crowd.ts`). What fails is played again in less and less weather, until nothing can be taken away; crowds are not,
 * for each takes seconds.
 */

import { LinkTally } from '../../packages/tickwire/src/testing/link-model-tally.ts'
import { shrinkWeather } from '../../packages/tickwire/src/testing/shrink.ts'
import { type NetWeather, FAULT_NAMES, describeWeather } from '../../packages/tickwire/src/testing/weather.ts'
import type { SwarmFailure, SwarmOptions, SwarmPart, SwarmReport } from '../../tools/commands/sim.ts'
import { playCrowd } from './crowd.ts'
import { type Violation, describeViolation } from './invariants.ts'
import { playMatch } from './match.ts'
import { Trace } from './trace.ts'
import { playWorld } from './transport-swarm.ts'

/** One seed in so many plays a match as well; not those that play with real cryptography. */
const MATCH_EVERY = 20
const MATCH_AT = 10
/** One in so many plays a crowd as well. */
const CROWD_EVERY = 100
const CROWD_AT = 50

/** How often things happened, by name. */
export type Tallies = Readonly<Record<string, number>>

/** Beside what every swarm reports: what the weather, the people and the machines did. */
export interface FullReport extends SwarmReport {
  /** Datagrams, by what became of them; and moves, leaps, sleeps and pauses of nodes. */
  readonly faults: Tallies
  /** In how many worlds each fault was part of the weather. */
  readonly weathers: Tallies
  readonly counts: Tallies
  /** By whom and why. */
  readonly closes: Tallies
}

/** What a world and a match have in common. */
interface Played {
  readonly seed: number
  readonly violation: Violation | undefined
  readonly weather: NetWeather
  readonly endpointTicks: number
  readonly simulatedMs: number
  readonly traceHash: string
  readonly tally: LinkTally
}

/** Plays the worlds of some seeds, one after the other. */
export function runSwarm(options: SwarmOptions): FullReport {
  const { start, seeds, only, onSeed, isOver = () => false } = options
  const swarm = new Swarm()
  let seed = start
  for (; seed < start + seeds && !isOver(); seed++) {
    const before = swarm.failures.length
    if (only === undefined || only === 'transport') swarm.playWorld(seed)
    if (only === 'match' || (only === undefined && (seed % MATCH_EVERY === MATCH_AT || seeds === 1))) swarm.playMatch(seed)
    if (only === 'crowd' || (only === undefined && seed % CROWD_EVERY === CROWD_AT)) swarm.playCrowd(seed)
    onSeed?.(seed, swarm.failures.slice(before), swarm.endpointTicks)
  }
  return swarm.report(seed - start)
}

class Swarm {
  readonly failures: SwarmFailure[] = []
  endpointTicks = 0
  #simulatedMs = 0
  #worlds = 0
  #matches = 0
  #crowds = 0
  readonly #trace = new Trace()
  readonly #tally = new LinkTally()
  readonly #faults: Record<string, number> = {}
  readonly #weathers: Record<string, number> = {}
  readonly #counts: Record<string, number> = {}
  readonly #closes: Record<string, number> = {}

  playWorld(seed: number): void {
    const world = playWorld(seed)
    this.#worlds++
    this.#add(world, 'transport', (weather) => playWorld(seed, weather).violation)
    const { opened, messages, large, refusedSends, restarts, pathMoves, closes } = world.counts
    addAll(this.#counts, { opened, messages, large, refusedSends, restarts, pathMoves, ...world.datagrams, realCrypto: world.isReal ? 1 : 0 })
    addAll(this.#faults, { moves: world.moves, ...world.clocks })
    addAll(this.#closes, Object.fromEntries(closes))
  }

  playMatch(seed: number): void {
    const match = playMatch(seed)
    this.#matches++
    this.#add(match, 'match', (weather) => playMatch(seed, weather).violation)
    addAll(this.#counts, { matchMessages: match.messages, despawns: match.despawns })
  }

  playCrowd(seed: number): void {
    const crowd = playCrowd(seed)
    this.#crowds++
    this.#add(crowd, 'crowd', undefined)
    addAll(this.#counts, Object.fromEntries(Object.entries(crowd.counts).map(([name, count]) => [`crowd ${name}`, count])))
  }

  report(seeds: number): FullReport {
    return {
      seeds, worlds: this.#worlds, matches: this.#matches, crowds: this.#crowds, violations: this.failures.length, failures: this.failures,
      endpointTicks: this.endpointTicks, simulatedSeconds: Math.round(this.#simulatedMs / 1000), traceHash: this.#trace.hex,
      faults: { ...this.#faults, ...this.#tally }, weathers: this.#weathers, counts: this.#counts, closes: this.#closes,
    }
  }

  #add(played: Played, part: SwarmPart, again: ((weather: NetWeather) => Violation | undefined) | undefined): void {
    const { seed, violation, weather } = played
    this.endpointTicks += played.endpointTicks
    this.#simulatedMs += played.simulatedMs
    this.#trace.fold(played.traceHash)
    this.#tally.add(played.tally)
    addAll(this.#weathers, Object.fromEntries(FAULT_NAMES.filter((name) => weather[name] !== undefined).map((name) => [name, 1])))
    if (violation === undefined) return
    const least = again === undefined ? weather : shrinkWeather(weather, (candidate) => again(candidate)?.invariant === violation.invariant)
    this.failures.push({
      seed, part, invariant: violation.invariant, problem: describeViolation(violation),
      weather: describeWeather(weather), shrunk: describeWeather(least),
    })
  }
}

function addAll(sums: Record<string, number>, counts: Tallies): void {
  for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count
}
