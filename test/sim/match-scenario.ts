/**
 * What a match of the swarm is made of, as plain data: drawn from a seed, printed, stored with a failure, made smaller.
 *
 * Each seed switches a random part of the features on. An attacker is in every fourth.
 */

import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { weatherShrinking } from '../../packages/tickwire/src/testing/shrink.ts'
import { type NetWeather, describeWeather } from '../../packages/tickwire/src/testing/weather.ts'
import { drawWeather } from '../../packages/tickwire/src/testing/weather-draw.ts'

/** What a match may have, and what that means. */
export const FEATURES = {
  rooms: 'the match is a room behind a host of rooms, and not a host by itself',
  listen: 'the host plays too',
  tokens: 'who comes must bring a token',
  attacker: 'somebody with a valid token bends his own frames, repeats and forges datagrams, and calls what he may not',
  resume: 'who loses his line comes back to his seat with a ticket; in rooms',
  spectators: 'some look on, through changing eyes',
  joins: 'players leave, crash and come again during the storm',
  kicks: 'the authority sends players away',
  restarts: 'the process of the authority dies, and another begins a new match',
  moves: 'players get new ports and addresses',
  cuts: 'the transport says that a path is closed, which it need not be',
  rekey: 'keys are replaced after some dozen packets',
  interest: 'objects are known by nearness, by team, by predicate, by owner',
  teams: 'players change sides',
  grid: 'the world is parted by a grid, and not by an octree',
  shared: 'some objects are written by who owns them, and change hands',
  owners: 'objects get other owners',
  spawns: 'players and the authority make objects, and end them',
  surprises: 'the authority does what no client can foresee',
  rates: 'fields are told at rates of their own',
  messages: 'both sides talk, by every delivery',
  calls: 'both sides call each other',
  events: 'step says what happened',
  schemas: 'objects have random definitions, of every kind of field',
  packed: 'rows are packed, and not entropy-coded',
  predictAll: 'clients predict everybody',
  predictNone: 'clients predict nothing',
  slowSnapshots: 'fewer snapshots than ticks',
  draws: 'players look: views are drawn at odd moments',
  thrift: 'everybody gets a few kilobytes a second, and what he needs most',
  retrains: 'the authority goes on with other tables, which everybody is handed',
} as const

export type Feature = keyof typeof FEATURES

export const FEATURE_NAMES: readonly Feature[] = Object.keys(FEATURES) as Feature[]

/** One match, before it is played. */
export interface Scenario {
  readonly seed: number
  readonly features: readonly Feature[]
  /** Beside the attacker and who looks on. */
  readonly players: number
  readonly spectators: number
  readonly tickRate: number
  readonly stormMs: number
  readonly weather: NetWeather
}

/** How many may be there at once, all together. */
const CLIENTS_MAX = 32

/** What cannot be together: the second gives way. */
const EXCLUDED: readonly (readonly [Feature, Feature])[] = [
  ['rooms', 'listen'], ['shared', 'predictAll'], ['shared', 'predictNone'], ['predictAll', 'predictNone'], ['packed', 'retrains'],
]
const RETRAINS_PART = 0.4

/** Draws the match of a seed; `only` is on in any case. */
export function drawScenario(seed: number, only?: Feature): Scenario {
  const dice = new Dice(seed ^ 0x5ce7a)
  const part = 0.25 + 0.6 * dice.fraction()
  const chosen = new Set(FEATURE_NAMES.filter((name) => name !== 'retrains' && dice.chance(RARE[name] ?? part)))
  // By dice of its own: seeds are what they were before.
  if (new Dice(seed ^ 0x7ab1e5).chance(RETRAINS_PART)) chosen.add('retrains')
  if (seed % 4 === 0) chosen.add('attacker')
  else chosen.delete('attacker')
  if (only !== undefined) chosen.add(only)
  if (chosen.has('attacker')) chosen.add('tokens')
  if (only === 'resume') chosen.add('rooms')
  for (const [first, second] of EXCLUDED) {
    if (chosen.has(first) && chosen.has(second)) chosen.delete(second === only ? first : second)
  }
  if (!chosen.has('rooms')) chosen.delete('resume')
  const luck = dice.fraction()
  const spectators = chosen.has('spectators') ? 1 + (dice.word() % 4) : 0
  const players = Math.min(2 + Math.floor(30 * luck ** 5), CLIENTS_MAX - spectators - 1)
  return {
    seed, players, spectators,
    features: FEATURE_NAMES.filter((name) => chosen.has(name)),
    tickRate: [20, 20, 30, 30, 60][dice.word() % 5]!,
    stormMs: Math.round(3000 + 4000 * dice.fraction()),
    weather: drawWeather(seed ^ 0x3a7c, { without: [] }),
  }
}

/** Features that change too much to be on as often as others. */
const RARE: Partial<Record<Feature, number>> = { restarts: 0.15, predictAll: 0.15, predictNone: 0.1, packed: 0.3, cuts: 0.2, thrift: 0.2 }

/** The smallest that still fails; tries at most so many. */
export async function shrinkScenario(scenario: Scenario, fails: (scenario: Scenario) => Promise<boolean>, triesMax = 80): Promise<Scenario> {
  let tries = 0
  let smallest = scenario
  const attempt = async (candidate: Scenario): Promise<boolean> => {
    if (tries++ >= triesMax || !await fails(candidate)) return false
    smallest = candidate
    return true
  }
  while (smallest.players > 1 && await attempt({ ...smallest, players: Math.ceil(smallest.players / 2) }));
  if (smallest.spectators > 0) await attempt({ ...smallest, spectators: 0 })
  for (const name of smallest.features) await attempt({ ...smallest, features: smallest.features.filter((other) => other !== name) })
  while (smallest.stormMs > 600 && await attempt({ ...smallest, stormMs: Math.round(smallest.stormMs / 2) }));
  const search = weatherShrinking(smallest.weather)
  for (let step = search.next(); step.done !== true;) step = search.next(await attempt({ ...smallest, weather: step.value }))
  return smallest
}

/** One line. */
export function describeScenario({ players, spectators, tickRate, stormMs, features, weather }: Scenario): string {
  return `${players} players, ${spectators} looking on, ${tickRate} Hz, ${stormMs} ms; ${features.join(' ') || 'nothing'}; ${describeWeather(weather)}`
}
