/**
 * The parameters of a match of the swarm, as plain data: drawn from a seed, printed, stored with a failure, made
 * smaller.
 *
 * Each seed switches a random part of the features on. Every fourth match has an attacker.
 */

import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { weatherShrinking } from '../../packages/tickwire/src/testing/shrink.ts'
import { type FaultName, type NetWeather, describeWeather } from '../../packages/tickwire/src/testing/weather.ts'
import { drawWeather } from '../../packages/tickwire/src/testing/weather-draw.ts'

/** The features that a match may have, and what they mean. */
export const FEATURES = {
  rooms: 'clients ask for the room by its name',
  listen: 'the host plays too',
  tokens: 'clients must have a connect token',
  attacker: 'a client with a valid token corrupts its frames, replays and forges datagrams, and makes forbidden calls',
  resume: 'a client that loses its connection resumes its seat with a ticket; in rooms',
  spectators: 'some clients are spectators, and look through changing eyes',
  joins: 'players leave, crash and join again during the storm',
  kicks: 'the authority disconnects players',
  restarts: 'the process of the authority dies, and another begins a new match',
  moves: 'players get new ports and addresses',
  cuts: 'the transport reports that a path is closed, which it need not be',
  rekey: 'keys are replaced after some dozen packets',
  interest: 'objects are known by nearness, by team, by predicate, by owner',
  teams: 'players change sides',
  grid: 'the world is partitioned by a grid, and not by an octree',
  shared: 'some objects are written by their owners, and change owners',
  owners: 'objects get other owners',
  spawns: 'players and the authority spawn objects, and despawn them',
  surprises: 'the authority does what no client can predict',
  rates: 'fields are sent at rates of their own',
  messages: 'both sides send messages, by every delivery',
  calls: 'both sides call each other',
  events: 'step raises events',
  schemas: 'objects have random definitions, of every kind of field',
  packed: 'rows are packed, and not entropy-coded',
  predictAll: 'clients predict all players',
  predictNone: 'clients predict nothing',
  slowSnapshots: 'fewer snapshots than ticks',
  draws: 'views are drawn at odd moments',
  thrift: 'every client gets a few kilobytes a second, and what it needs most',
  retrains: 'the authority switches to other tables, which are sent to every client',
  stalls:
    'server and clients stop for 20 to 200 ms at random; in half of these matches the links are clean',
} as const

export type Feature = keyof typeof FEATURES

export const FEATURE_NAMES: readonly Feature[] = Object.keys(FEATURES) as Feature[]

/** One match, before it is played. */
export interface Scenario {
  readonly seed: number
  readonly features: readonly Feature[]
  /** Beside the attacker and the spectators. */
  readonly players: number
  readonly spectators: number
  readonly tickRate: number
  /** Ticks from one snapshot to the next. Default: 2 with `slowSnapshots`, else 1. */
  readonly strideTicks?: number
  readonly stormMs: number
  readonly weather: NetWeather
}

/** The most clients of one match, all kinds together. */
const CLIENTS_MAX = 32
/** Ticks from one snapshot to the next, where there are fewer than ticks. */
const STRIDES: readonly number[] = [2, 3, 4, 6]

/** Features that exclude each other: the second is switched off. */
const EXCLUDED: readonly (readonly [Feature, Feature])[] = [
  ['rooms', 'listen'],
  ['shared', 'predictAll'],
  ['shared', 'predictNone'],
  ['predictAll', 'predictNone'],
  ['packed', 'retrains'],
]
const RETRAINS_PART = 0.4
const STALLS_PART = 0.5
/** Faults that neither lose nor duplicate nor reorder datagrams. */
const ORDERLY: readonly FaultName[] = ['latency', 'skew', 'timers', 'stalls']
/** Features that send datagrams to addresses without a receiver. */
const DISORDERLY: readonly Feature[] = ['moves', 'cuts']

/** Draws the match of a seed; the features in `only` are always on. */
export function drawScenario(seed: number, only?: Feature): Scenario {
  const dice = new Dice(seed ^ 0x5ce7a)
  const part = 0.25 + 0.6 * dice.fraction()
  const chosen = new Set(
    FEATURE_NAMES.filter((name) => name !== 'retrains' && name !== 'stalls' && dice.chance(RARE[name] ?? part)),
  )
  // Drawn from a separate generator, so that older seeds stay the same.
  if (new Dice(seed ^ 0x7ab1e5).chance(RETRAINS_PART)) chosen.add('retrains')
  const stalling = new Dice(seed ^ 0x57a11)
  if (stalling.chance(STALLS_PART)) chosen.add('stalls')
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
    strideTicks: chosen.has('slowSnapshots') ? STRIDES[new Dice(seed ^ 0x571de).word() % STRIDES.length]! : 1,
    tickRate: [20, 20, 30, 30, 60][dice.word() % 5]!,
    stormMs: Math.round(3000 + 4000 * dice.fraction()),
    weather: drawMatchWeather(seed, chosen.has('stalls') ? stalling : undefined),
  }
}

/** The weather of a match; `stalling` draws how its hosts stall. */
function drawMatchWeather(seed: number, stalling: Dice | undefined): NetWeather {
  const weather = drawWeather(seed ^ 0x3a7c, { without: ['stalls'] })
  if (stalling === undefined) return weather
  const stalls = {
    everyMs: Math.round(60 + 600 * stalling.fraction()),
    lastsMs: Math.round(60 + 140 * stalling.fraction()),
  }
  if (stalling.chance(0.5)) return { ...weather, stalls }
  return {
    ...Object.fromEntries(Object.entries(weather).filter(([name]) => ORDERLY.includes(name as FaultName))),
    stalls,
  }
}

/** Whether every datagram of a match arrives once, and in order. */
export function isOrderly({ weather, features }: Scenario): boolean {
  return (
    Object.keys(weather).every((name) => ORDERLY.includes(name as FaultName))
    && !features.some((name) => DISORDERLY.includes(name))
  )
}

/** Features that change too much to be on as often as others. */
const RARE: Partial<Record<Feature, number>> = {
  restarts: 0.15,
  predictAll: 0.15,
  predictNone: 0.1,
  packed: 0.3,
  cuts: 0.2,
  thrift: 0.2,
}

/** The smallest scenario that still fails, after at most `triesMax` attempts. */
export async function shrinkScenario(
  scenario: Scenario,
  fails: (scenario: Scenario) => Promise<boolean>,
  triesMax = 80,
): Promise<Scenario> {
  let tries = 0
  let smallest = scenario
  const attempt = async (candidate: Scenario): Promise<boolean> => {
    if (tries++ >= triesMax || !await fails(candidate)) return false
    smallest = candidate
    return true
  }
  while (smallest.players > 1 && await attempt({ ...smallest, players: Math.ceil(smallest.players / 2) }));
  if (smallest.spectators > 0) await attempt({ ...smallest, spectators: 0 })
  for (const name of smallest.features)
    await attempt({ ...smallest, features: smallest.features.filter((other) => other !== name) })
  while (smallest.stormMs > 600 && (await attempt({ ...smallest, stormMs: Math.round(smallest.stormMs / 2) })));
  const search = weatherShrinking(smallest.weather)
  for (let step = search.next(); step.done !== true;)
    step = search.next(await attempt({ ...smallest, weather: step.value }))
  return smallest
}

/** One line. */
export function describeScenario({ players, spectators, tickRate, stormMs, features, weather }: Scenario): string {
  const size = `${players} players, ${spectators} spectators, ${tickRate} Hz, ${stormMs} ms`
  return `${size}; ${features.join(' ') || 'nothing'}; ${describeWeather(weather)}`
}
