/**
 * Many simulated worlds, one per seed. `npm run sim` runs it; swarm.test.ts runs a few in every test.
 *
 * Every seed is a world of endpoints (`transport-swarm.ts`). Every twentieth is also a whole match (`match-swarm.ts`),
 * that of a twentieth of the seed; every hundredth is also a crowd (`crowd.ts`). `KINDS` has the other worlds. A
 * failure of endpoints or of a match is played again smaller and smaller, until nothing can be taken away.
 */

import { LinkTally } from '../../packages/tickwire/src/testing/link-model-tally.ts'
import { shrinkWeather } from '../../packages/tickwire/src/testing/shrink.ts'
import { type NetWeather, FAULT_NAMES, describeWeather } from '../../packages/tickwire/src/testing/weather.ts'
import {
  SWARM_PARTS, type SwarmFailure, type SwarmOptions, type SwarmPart, type SwarmReport,
} from '../../tools/sim-report.ts'
import { playCrowd } from './crowd.ts'
import { type Violation, describeViolation } from './invariants.ts'
import { playHandover } from './handover-swarm.ts'
import { playLockstep } from './lockstep-swarm.ts'
import { playRejoin } from './rejoin-swarm.ts'
import { playMesh } from './mesh-swarm.ts'
import { marksHit } from './marks.ts'
import { type Feature, FEATURE_NAMES, describeScenario, drawScenario, shrinkScenario } from './match-scenario.ts'
import { playMatch } from './match-swarm.ts'
import { playPath } from './path-swarm.ts'
import { playRtype } from './rtype-swarm.ts'
import { playServices } from './services-swarm.ts'
import type { Regression } from './swarm-regressions.ts'
import { Trace } from './trace.ts'
import { playWorld } from './transport-swarm.ts'

/** One seed in this many plays a match as well; not those whose worlds have real cryptography. */
const MATCH_EVERY = 20
const MATCH_AT = 10
/** One seed in this many plays a crowd as well. */
const CROWD_EVERY = 100
const CROWD_AT = 50

/** A world that is one function of its seed. */
interface Kind {
  readonly part: SwarmPart
  /** The name that its counts begin with. */
  readonly name: string
  /** One seed in `every` plays it as well: those with the remainder `at`. */
  readonly every: number
  readonly at: number
  readonly play: (seed: number) => CountedWorld | Promise<CountedWorld>
}

const KINDS: readonly Kind[] = [
  { part: 'lockstep', name: 'lockstep', every: 50, at: 25, play: (seed) => playLockstep(seed) },
  { part: 'lockstep', name: 'desync', every: 50, at: 25, play: (seed) => playLockstep(seed, () => {}, true) },
  { part: 'lockstep', name: 'rejoin', every: 50, at: 25, play: (seed) => playRejoin(seed) },
  { part: 'lockstep', name: 'handover', every: 50, at: 25, play: (seed) => playHandover(seed) },
  { part: 'mesh', name: 'mesh', every: 50, at: 35, play: (seed) => playMesh(seed) },
  { part: 'path', name: 'path', every: 20, at: 15, play: (seed) => playPath(seed) },
  { part: 'services', name: 'services', every: 50, at: 45, play: (seed) => playServices(seed) },
  { part: 'rtype', name: 'rtype', every: 20, at: 5, play: (seed) => playRtype(seed) },
]

export { FEATURE_NAMES }

/** How often things happened, by name. */
export type Tallies = Readonly<Record<string, number>>

/** Beside the common report of swarms: what the weather, the players and the machines did. */
export interface FullReport extends SwarmReport {
  /** Of those, the endpoint ticks of whole matches. */
  readonly matchTicks: number
  /** Datagrams, by their fate; and moves, leaps, sleeps and pauses of nodes. */
  readonly faults: Tallies
  /** In how many worlds each fault was part of the weather. */
  readonly weathers: Tallies
  /** In how many matches each feature was on. */
  readonly features: Tallies
  readonly counts: Tallies
  /** By side and reason. */
  readonly closes: Tallies
  /** How often each mark was passed; all 0 unless the engine was bundled with them. */
  readonly marks: Tallies
}

/** What a world, a match and a crowd have in common. */
interface Played {
  readonly seed: number
  readonly violation: Violation | undefined
  readonly weather: NetWeather
  readonly endpointTicks: number
  readonly simulatedMs: number
  readonly traceHash: string
  readonly tally: LinkTally
}

interface CountedWorld extends Played {
  readonly counts: Tallies
}

/** A failure made as small as possible: the original, the result, and the file to keep. */
interface Shrunk {
  readonly from: string
  readonly to: string
  readonly regression?: Regression
}

/** Plays the worlds of some seeds, one after the other. Pending answers are resolved between two ticks of a match. */
export async function runSwarm(options: SwarmOptions): Promise<FullReport> {
  const { start, seeds, only, each, onSeed, isOver = () => false } = options
  const feature = FEATURE_NAMES.find((name) => name === only)
  const swarm = new Swarm(options)
  let seed = start
  for (; seed < start + seeds && !isOver() && !swarm.hasEach(each); seed++) {
    const before = swarm.failures.length
    const wants = (part: SwarmPart, every: number, at: number): boolean =>
      only !== undefined ? only === part : each !== undefined ? !swarm.has(part, each) : seed % every === at
    if (wants('transport', 1, 0)) await swarm.playWorld(seed)
    if (feature !== undefined || (only === undefined && seeds === 1)) await swarm.playMatch(seed, feature)
    // Matches have their own numbers: what is in every fourth match must be in a fourth of these.
    else if (wants('match', MATCH_EVERY, MATCH_AT))
      await swarm.playMatch(only === undefined && each === undefined ? Math.floor(seed / MATCH_EVERY) : seed)
    if (wants('crowd', CROWD_EVERY, CROWD_AT)) await swarm.playCrowd(seed)
    for (const kind of KINDS) if (wants(kind.part, kind.every, kind.at)) await swarm.play(kind, seed)
    onSeed?.(seed, swarm.failures.slice(before), swarm.endpointTicks, coverageOf(swarm.marks))
  }
  return swarm.report(seed - start)
}

class Swarm {
  readonly failures: SwarmFailure[] = []
  readonly #clock: () => number
  readonly #parts = Object.fromEntries(
    SWARM_PARTS.map((part) => [part, { worlds: 0, endpointTicks: 0, ms: 0 }]),
  ) as Record<SwarmPart, { worlds: number; endpointTicks: number; ms: number }>
  endpointTicks = 0
  #matchTicks = 0
  #simulatedMs = 0
  #worlds = 0
  #matches = 0
  #crowds = 0
  readonly #marksBefore = marksHit()
  readonly #trace = new Trace()
  readonly #tally = new LinkTally()
  readonly #faults: Record<string, number> = {}
  readonly #weathers: Record<string, number> = {}
  readonly #features: Record<string, number> = {}
  readonly #counts: Record<string, number> = {}
  readonly #closes: Record<string, number> = {}

  constructor({ clock = () => 0 }: SwarmOptions) {
    this.#clock = clock
  }

  /** Whether a part has so many endpoint ticks. */
  has(part: SwarmPart, endpointTicks: number): boolean {
    return this.#parts[part].endpointTicks >= endpointTicks
  }

  /** Whether every part has. */
  hasEach(endpointTicks: number = Infinity): boolean {
    return SWARM_PARTS.every((part) => this.has(part, endpointTicks))
  }

  async playWorld(seed: number): Promise<void> {
    const startedAt = this.#clock()
    const world = playWorld(seed)
    this.#spend('transport', world, startedAt)
    this.#worlds++
    await this.#add(world, 'transport', (violation) => {
      const least = shrinkWeather(
        world.weather,
        (weather) => playWorld(seed, weather).violation?.invariant === violation.invariant,
      )
      return {
        from: describeWeather(world.weather),
        to: describeWeather(least),
        regression: { part: 'transport', seed, weather: least },
      }
    })
    const { opened, messages, large, refusedSends, restarts, pathMoves, stolen, reused, closes } = world.counts
    addAll(this.#counts, {
      opened,
      messages,
      large,
      refusedSends,
      restarts,
      pathMoves,
      stolen,
      reused,
      ...world.datagrams,
      realCrypto: world.isReal ? 1 : 0,
    })
    addAll(this.#faults, { moves: world.moves, ...world.clocks })
    addAll(this.#closes, Object.fromEntries(closes))
  }

  async playMatch(seed: number, only?: Feature): Promise<void> {
    const scenario = drawScenario(seed, only)
    const startedAt = this.#clock()
    const match = await playMatch(scenario)
    this.#spend('match', match, startedAt)
    this.#matches++
    this.#matchTicks += match.endpointTicks
    await this.#add(match, 'match', async (violation) => {
      const least = await shrinkScenario(
        scenario,
        async (smaller) => (await playMatch(smaller)).violation?.invariant === violation.invariant,
      )
      return {
        from: describeScenario(scenario),
        to: describeScenario(least),
        regression: { part: 'match', scenario: least },
      }
    })
    addAll(this.#features, Object.fromEntries(scenario.features.map((name) => [name, 1])))
    const { closes, ...counts } = match.counts
    addAll(this.#counts, Object.fromEntries(Object.entries(counts).map(([name, count]) => [`match ${name}`, count])))
    addAll(this.#closes, Object.fromEntries([...closes].map(([name, count]) => [`match ${name}`, count])))
  }

  async playCrowd(seed: number): Promise<void> {
    const startedAt = this.#clock()
    const crowd = await playCrowd(seed)
    this.#spend('crowd', crowd, startedAt)
    this.#crowds++
    await this.#add(crowd, 'crowd', () => ({
      from: describeWeather(crowd.weather),
      to: describeWeather(crowd.weather),
    }))
    addAll(
      this.#counts,
      Object.fromEntries(Object.entries(crowd.counts).map(([name, count]) => [`crowd ${name}`, count])),
    )
  }

  async play({ part, name, play }: Kind, seed: number): Promise<void> {
    const startedAt = this.#clock()
    const world = await play(seed)
    this.#spend(part, world, startedAt)
    await this.#add(world, part, () => ({ from: `${name} ${seed}`, to: `${name} ${seed}` }))
    addAll(this.#counts, Object.fromEntries(Object.entries(world.counts).map(([key, n]) => [`${name} ${key}`, n])))
  }

  /** The marks that were passed since this swarm began. */
  get marks(): Tallies {
    return Object.fromEntries(
      Object.entries(marksHit()).map(([name, count]) => [name, count - (this.#marksBefore[name] ?? 0)]),
    )
  }

  report(seeds: number): FullReport {
    return {
      seeds,
      worlds: this.#worlds,
      matches: this.#matches,
      crowds: this.#crowds,
      violations: this.failures.length,
      failures: this.failures,
      endpointTicks: this.endpointTicks,
      matchTicks: this.#matchTicks,
      simulatedSeconds: Math.round(this.#simulatedMs / 1000),
      traceHash: this.#trace.hex,
      faults: { ...this.#faults, ...this.#tally },
      weathers: this.#weathers,
      features: this.#features,
      counts: this.#counts,
      closes: this.#closes,
      marks: this.marks,
      parts: this.#parts,
    }
  }

  #spend(part: SwarmPart, { endpointTicks }: Played, startedAt: number): void {
    this.#parts[part].worlds++
    this.#parts[part].endpointTicks += endpointTicks
    this.#parts[part].ms += this.#clock() - startedAt
  }

  async #add(
    played: Played,
    part: SwarmPart,
    shrink: (violation: Violation) => Shrunk | Promise<Shrunk>,
  ): Promise<void> {
    const { seed, violation, weather } = played
    this.endpointTicks += played.endpointTicks
    this.#simulatedMs += played.simulatedMs
    this.#trace.fold(played.traceHash)
    this.#tally.add(played.tally)
    addAll(
      this.#weathers,
      Object.fromEntries(FAULT_NAMES.filter((name) => weather[name] !== undefined).map((name) => [name, 1])),
    )
    if (violation === undefined) return
    const { from, to, regression } = await shrink(violation)
    const { invariant } = violation
    this.failures.push({
      seed,
      part,
      invariant,
      problem: describeViolation(violation),
      weather: from,
      shrunk: to,
      ...(regression && {
        regression: { invariant, problem: describeViolation(violation).split('\n')[0]!, ...regression },
      }),
    })
  }
}

/** How many of the marks were passed. */
function coverageOf(marks: Tallies): { readonly hit: number; readonly all: number } {
  const counts = Object.values(marks)
  return { hit: counts.filter((count) => count > 0).length, all: counts.length }
}

function addAll(sums: Record<string, number>, counts: Tallies): void {
  for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count
}
