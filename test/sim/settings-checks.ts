/**
 * Defaults, settings and profiles, as a list of checks: without a test framework, so that it also runs in a process
 * whose engine has a planted bug (`settings-process.ts`).
 */

import {
  bool, defineGame, entity, fixed, profiles, sphere, vec3, type Game, type Match, type NetSettings, type Predict,
} from 'tickwire'
import { createClientHost, createMatchHost } from 'tickwire/engine'
import { Dice, simulate, type Simulation } from 'tickwire/testing'
import { NET_SETTINGS } from '../../packages/tickwire/src/core/game/settings.ts'
import { defineLockstep } from 'tickwire/lockstep'
import { Party } from './rooms-party.ts'
import { PROFILES, SETTING_NAMES, SETTINGS, settingsOf } from './settings-table.ts'

/** One check. Both values are compared as JSON. */
export interface SettingCheck {
  readonly name: string
  readonly expected: unknown
  actual(): unknown
}

const Runner = entity({ at: vec3(-1000, 1000, 0.01).position(), heat: fixed(0, 1000, 0.1) }, { name: 'Runner' })
const INPUT = { right: bool, jump: bool }
type RunnerGame = Game<typeof INPUT>
const JUMP = 50

/**
 * A game with everything that settings affect: objects that can be hit, an input, and a move that is longer than any
 * speed.
 */
function makeGame(net: Partial<NetSettings>, tickRate = 60, predict: Predict = 'owned'): RunnerGame {
  return defineGame({
    tickRate, predict, input: INPUT, entities: [Runner], hitboxes: [[Runner, [sphere(1)]]], net,
    onJoin: (world, peer) => world.spawn(Runner, {}, peer),
    step(world, inputs) {
      for (const runner of world.each(Runner)) {
        const { right, jump } = inputs.of(runner.owner)
        runner.at.x += jump ? JUMP : right ? 0.1 : 0
        if (runner.at.x > 900) runner.at.x = 0
      }
    },
  })
}

function play(game: RunnerGame, latencyMs = 20): Simulation<typeof INPUT> {
  const sim = simulate(game, { seed: 5, link: { latencyMs } })
  sim.run(500)
  return sim
}

const rounded = (value: number): number => Math.round(value * 1e6) / 1e6

/** Compares the values in the components of both sides with the settings. */
function* reachChecks(title: string, game: RunnerGame): Generator<SettingCheck> {
  let sim: Simulation<typeof INPUT> | undefined
  const hosts = (): Simulation<typeof INPUT> => sim ??= play(game)
  for (const name of SETTING_NAMES) {
    const { as = (value: number) => value, server = {}, client = {}, needsPrediction } = SETTINGS[name]
    if (needsPrediction === true && game.predict === 'none') continue
    const expected = rounded(as(game.net[name], game.tickRate))
    for (const [component, read] of Object.entries(server)) {
      yield {
        name: `${title}: ${name} on the server: ${component}`,
        expected,
        actual: () => rounded(read(hosts().host as unknown as Match<never>)),
      }
    }
    for (const [component, read] of Object.entries(client)) {
      yield {
        name: `${title}: ${name} on the client: ${component}`,
        expected,
        actual: () => rounded(read(hosts().players[0]!.host as never)),
      }
    }
  }
  yield {
    name: `${title}: interpolationMs on the client: the delay that the render clock begins with`,
    expected: game.net.interpolationMs,
    actual: () => createClientHost(game, { entropy: new Dice(1) }).insides.renderClock.targetDelayMs,
  }
  yield {
    name: `${title}: smoothingMs on the client: half of a correction is gone after it`, expected: 0.5,
    actual: () => correctionLeft(hosts(), game.net.smoothingMs),
  }
  yield {
    name: `${title}: connectRetryMs: at least 80 % of it lie between two requests`,
    expected: rounded(game.net.connectRetryMs * 0.8),
    actual: () => rounded(hosts().players[0]!.host.endpoint.connections[0]!.timers.retryMsMin),
  }
}

/** A place in the view that no object has. */
const SLOT = 2

/** The share of a correction of ten units that is still drawn after `ms`. */
function correctionLeft(sim: Simulation<typeof INPUT>, ms: number): number {
  const { interpolator, world } = sim.players[0]!.host.insides
  const cells = new Float64Array(world.stores[0]!.schema.cellCount)
  const moved = cells.slice()
  moved[0] = 10
  interpolator.smoother.reset(0, SLOT)
  interpolator.smoother.shift(0, SLOT, moved, 0, cells, 0)
  interpolator.smoother.begin(ms / 1000)
  interpolator.smoother.apply(0, SLOT, cells, 0)
  return rounded(cells[0]! / 10)
}

/** How many snapshots a client receives in a second of a moving world. */
function snapshotsPerSecond(game: RunnerGame): number {
  const sim = play(game)
  sim.hold(0, { right: true })
  sim.run(500)
  const { insides } = sim.players[0]!.host
  const last = insides.snapshots.tick
  sim.runUntil(() => insides.snapshots.tick !== last, 1000)
  const seen = new Set<number>([insides.snapshots.tick])
  // Half a period more than a second, so that the last snapshot is not at the border.
  for (let ms = 0; ms < 1016; ms += 2) {
    sim.run(2)
    seen.add(insides.snapshots.tick)
  }
  // The first one was there before.
  return seen.size - 1
}

/** The most ticks that one call steps when the authority contradicts a client that is many ticks ahead. */
function mostStepsAtOnce(game: RunnerGame): number {
  const sim = play(game, 150)
  const { predictor } = sim.players[0]!.host
  const advance = predictor!.advance.bind(predictor!)
  let most = 0
  predictor!.advance = (target, stepsMax) => {
    const steps = advance(target, stepsMax)
    most = Math.max(most, steps)
    return steps
  }
  sim.server(Runner)[0]!.heat = 500
  sim.run(1000)
  return most
}

/**
 * Where a jump of 50 is drawn half way between two ticks: in between where it is a move, on one end where it is a
 * teleport.
 */
function drawnHalfWay(
  host: { draw(now: number): { each(entity: typeof Runner): Iterable<{ readonly at: { readonly x: number } }> } },
  now: number,
): string {
  const [runner] = [...host.draw(now).each(Runner)]
  return runner!.at.x % JUMP === 0 ? 'on one end' : 'in between'
}

function teleportOfLocalView(game: RunnerGame): string {
  const { rooms, host } = createMatchHost(game, { entropy: new Dice(1), role: 'local' })
  host.join(() => ({ jump: true }))
  for (let now = 0; now <= 100; now += 5) rooms.tick(now)
  // No tick is due then: the host only learns the time.
  const halfWay = host.loop.nextAt() - host.loop.tickMs / 2
  rooms.tick(halfWay)
  return drawnHalfWay(host, halfWay)
}

function teleportOfOwnObjects(game: RunnerGame): string {
  const sim = play(game)
  sim.hold(0, { jump: true })
  sim.run(200)
  const { host } = sim.players[0]!
  const { ticks } = host.clock
  return drawnHalfWay(host, ticks.timeOf(Math.floor(ticks.ticks) + 1) - 500 / game.tickRate)
}

/** Which distances of corrections are eased, and which are drawn at once. */
function teleportOfCorrections(game: RunnerGame, distances: readonly number[]): readonly boolean[] {
  const { interpolator, world } = createClientHost(game, { entropy: new Dice(1) }).insides
  const { smoother } = interpolator
  const zero = new Float64Array(world.stores[0]!.schema.cellCount)
  return distances.map((distance, slot) => {
    const moved = zero.slice()
    moved[0] = distance
    smoother.shift(0, slot, moved, 0, zero, 0)
    return smoother.distance(0, slot) > 0
  })
}

const OTHER = settingsOf('other')

/** Each default is the one of the table, in the constant and in a game without settings. */
export const DEFAULT_CHECKS: readonly SettingCheck[] = [
  {
    name: 'the table names every setting',
    expected: Object.keys(NET_SETTINGS).toSorted(),
    actual: () => SETTING_NAMES.toSorted(),
  },
  ...SETTING_NAMES.map((name) => ({
    name: `${name} is ${SETTINGS[name].standard}`,
    expected: SETTINGS[name].standard,
    actual: () => makeGame({}).net[name],
  })),
  {
    name: 'no setting of the table has the same value twice',
    expected: [],
    actual: () => SETTING_NAMES.filter((name) => SETTINGS[name].standard === SETTINGS[name].other),
  },
]

/** The timers of the two games in `roomTimers`. */
const ROOM_TIMERS = {
  keepaliveMs: 800,
  timeoutMs: 10_000,
  graceMs: 500,
  retryMsMin: 240,
  retryMsMax: 300,
  connectMs: 10_000,
  rtoMsMin: 50,
  rtoMsMax: 1700,
  bytes: 1333,
}

/** Each setting arrives where it is used. */
export const REACH_CHECKS: readonly SettingCheck[] = [
  ...reachChecks('defaults', makeGame({})),
  ...reachChecks('other values', makeGame(OTHER)),
  { name: 'snapshotRate: 30 snapshots in a second', expected: 30, actual: () => snapshotsPerSecond(makeGame({})) },
  {
    name: 'snapshotRate: 15 snapshots in a second',
    expected: 15,
    actual: () => snapshotsPerSecond(makeGame({ snapshotRate: 15 })),
  },
  {
    name: 'replayTicksMax: 5 steps in one call at most',
    expected: 5,
    actual: () => mostStepsAtOnce(makeGame({ replayTicksMax: 5 })),
  },
  { name: 'replayTicksMax: as many as there are', expected: true, actual: () => mostStepsAtOnce(makeGame({})) > 15 },
  { name: 'teleport in the past', expected: [60, 60, 60], actual: () => teleportsOf(makeGame(OTHER)) },
  {
    name: 'teleport of a local view: a jump of 50 is a move',
    expected: 'in between',
    actual: () => teleportOfLocalView(makeGame({ teleport: 60 })),
  },
  {
    name: 'teleport of a local view: a jump of 50 is a teleport',
    expected: 'on one end',
    actual: () => teleportOfLocalView(makeGame({ teleport: 40 })),
  },
  {
    name: 'teleport of own objects: a jump of 50 is a move',
    expected: 'in between',
    actual: () => teleportOfOwnObjects(makeGame({ teleport: 60 })),
  },
  {
    name: 'teleport of own objects: a jump of 50 is a teleport',
    expected: 'on one end',
    actual: () => teleportOfOwnObjects(makeGame({ teleport: 40 })),
  },
  {
    name: 'teleport of corrections',
    expected: [true, false],
    actual: () => teleportOfCorrections(makeGame({ teleport: 60 }), [59, 61]),
  },
  {
    name: 'rooms: an endpoint of two games uses the longest timeouts of both, and the shortest heartbeat',
    expected: ROOM_TIMERS,
    actual: roomTimers,
  },
]

function teleportsOf(game: RunnerGame): readonly number[] {
  const { host, players } = play(game)
  const { rewinding } = host.world as unknown as {
    readonly rewinding: { readonly rewinder: { readonly poser: { readonly teleports: readonly Float64Array[] } } }
  }
  return [
    ...rewinding.rewinder.poser.teleports[0]!,
    ...players[0]!.host.insides.interpolator.poser.teleports[0]!,
    OTHER.teleport,
  ]
}

function roomTimers(): unknown {
  const [first, second] = [makeGame({}), makeGame(OTHER, 30)]
  const party = new Party({ first: { game: first as unknown as Game }, second: { game: second as unknown as Game } })
  party.ask(second, { quick: 'second' })
  party.run(500)
  const [connection] = party.host.endpoint.connections
  const { keepaliveMs, timeoutMs, graceMs, retryMsMin, retryMsMax, connectMs } = connection!.timers
  const { rtoMsMin, rtoMsMax } = connection!.rtt
  return {
    keepaliveMs, timeoutMs, graceMs, retryMsMin: rounded(retryMsMin), retryMsMax, connectMs, rtoMsMin, rtoMsMax,
    bytes: connection!.gate.mtu.limitBytes,
  }
}

/** Each profile has the numbers of the table, and a match of it uses them. */
export const PROFILE_CHECKS: readonly SettingCheck[] = [
  {
    name: 'lockstep: its numbers, which are the defaults of defineLockstep',
    expected: [{ tickRate: 30, players: [1, 8] }, 30, [1, 8]],
    actual: () => {
      const { tickRate, players } = defineLockstep({ orders: [], entities: [], step: () => {} })
      return [profiles.lockstep, tickRate, players]
    },
  },
  ...Object.entries(PROFILES).flatMap(([name, { tickRate, predict, net }]) => {
    const profile = profiles[name as keyof typeof PROFILES]
    return [
      {
        name: `${name}: its numbers`,
        expected: { tickRate, predict, net: { ...settingsOf('standard'), ...net } },
        actual: () => profile,
      },
      ...reachChecks(name, makeGame(profile.net, profile.tickRate, profile.predict)),
    ]
  }),
]
