/**
 * Tables that change while a match runs, over the simulated network: no client reconnects, and no client is sent rows
 * that it cannot read.
 */

import { expect, test, vi } from 'vitest'
import { ConfigError, defineGame, packed, type Game, type Priors } from 'tickwire'
import {
  createMatchHost, PacketDissector, recentFieldBits, type FieldBits, type MatchHostOptions,
} from 'tickwire/engine'
import { Dice, SimClock, simulate, StubCrypto, type Simulation, type Weather } from 'tickwire/testing'
import { SimPlayer, SimServer } from '../../packages/tickwire/src/testing/simulate-actors.ts'
import { differenceOf } from '../../packages/tickwire/src/testing/simulate-difference.ts'
import { learnMoths, makeMoths, type MothInput } from './retraining-game.ts'

// All time in it is simulated, but a busy machine needs real time to compute it.
vi.setConfig({ testTimeout: 120_000 })

const ROUGH: Weather = { latencyMs: 60, jitterMs: 40, loss: 0.1, duplication: 0.02, reordering: 0.05 }
const PRIORS: Priors = learnMoths(3)
const OTHERS: Priors = learnMoths(4, 8)

const versions = (sim: Pick<Simulation<MothInput>, 'host'>): number[] =>
  sim.host.peers.map(({ id }) => sim.host.retraining.versionOf(id))
const refused = (sim: Simulation<MothInput>): number =>
  sim.players.reduce((sum, { host }) => sum + host.insides.snapshots.undecodableCount, 0)

/** Bits of snapshots in the next `ms`. */
function snapshotBits(sim: Simulation<MothInput>, ms: number): number {
  sim.host.watch.resetBandwidth()
  sim.run(ms)
  return sim.host.bandwidth().bits
}

test('[REPL22] a retrained match sends fewer bits and the same worlds, without new connections', () => {
  for (const seed of [1, 2]) {
    const air = { isCalm: false }
    const sim = simulate(makeMoths(air), { seed, clients: 3, link: ROUGH })
    sim.run(1500)
    const connections = sim.host.peers.map((peer) => sim.host.connectionOf(peer))
    const before = snapshotBits(sim, 3000)
    expect(sim.host.retrain(PRIORS)).toBe(1)
    expect(versions(sim)).toEqual([0, 0, 0])
    expect(sim.runUntil(() => versions(sim).every((version) => version === 1), 20_000)).toBe(true)
    sim.run(500)
    const undecodable = refused(sim)
    const after = snapshotBits(sim, 3000)
    expect(after, `seed ${seed}: ${before} bits before`).toBeLessThan(before * 0.85)
    expect(refused(sim)).toBe(undecodable)
    air.isCalm = true
    expect(sim.difference()).toBeUndefined()
    expect(sim.host.peers.map((peer) => sim.host.connectionOf(peer))).toEqual(connections)
    expect(connections.every((connection) => connection?.isOpen === true)).toBe(true)
  }
})

test('[REPL22] rows are those of a match without retraining, to the byte', () => {
  const rowsOf = (isRetrained: boolean): Map<string, string> => {
    const sim = simulate(makeMoths(), { seed: 5, link: { latencyMs: 40 } })
    const rows = new Map<string, string>()
    const { world, snapshots } = sim.players[0]!.host.insides
    snapshots.probe = {
      onEntry: () => {},
      onFrame: () => {},
      onRow: (type, _set, pair) =>
        rows.set(`${rows.size}`, `${[...pair.rows.subarray(pair.at, pair.at + world.stores[type]!.schema.laneCount)]}`),
    }
    sim.run(1000)
    if (isRetrained) sim.host.retrain(PRIORS)
    sim.run(3000)
    expect(versions(sim)).toEqual([isRetrained ? 1 : 0])
    return rows
  }
  const without = rowsOf(false)
  expect(without.size).toBeGreaterThan(1000)
  expect(rowsOf(true)).toEqual(without)
})

test('[BAND2] the cost of fields is counted by the tables that most clients use', () => {
  const game = makeMoths()
  const sim = simulate(game, { seed: 6, clients: 3, link: { latencyMs: 40 } })
  sim.run(1000)
  const { host } = sim
  const by = (coders: Game<MothInput>['coders']): FieldBits[] =>
    recentFieldBits(host.world, host.replicator.timeline, coders, 3)
  const trained = game.codersBy(PRIORS)
  expect(by(trained)).not.toEqual(by(game.coders))
  // One client receives nothing, and goes on with the tables it has.
  sim.weather({ latencyMs: 40, loss: 1 }, 2)
  host.retrain(PRIORS)
  expect(host.watch.fieldBits(3)).toEqual(by(game.coders))
  expect(sim.runUntil(() => versions(sim).filter((version) => version === 1).length === 2, 3000)).toBe(true)
  expect(host.watch.fieldBits(3)).toEqual(by(trained))
  sim.weather({ latencyMs: 40 })
  sim.run(3000)
  for (const player of sim.players) player.host.close(sim.clock.now)
  sim.run(1000)
  expect(host.watch.fieldBits(3)).toEqual(by(game.coders))
})

interface Scene extends Pick<Simulation<MothInput>, 'host'> {
  readonly clock: SimClock
  readonly all: readonly SimPlayer<MothInput>[]
  join(number: number): void
}

/** A match that clients join when the test says so: the last of them is a spectator. */
function stage(count: number, link: Weather, options: Partial<MatchHostOptions>, air: { isCalm: boolean }): Scene {
  const security = { provider: new StubCrypto() }
  const clock = new SimClock()
  const game = makeMoths(air)
  const { rooms, host } = createMatchHost(game, { entropy: new Dice(5), seed: 1, security, limits: {}, ...options })
  const all = Array.from(
    { length: count },
    (_, number) =>
      new SimPlayer(game, 100 + number * 17, link, { security, role: number === count - 1 ? 'spectator' : 'player' }),
  )
  clock.add(new SimServer(rooms, all))
  return {
    clock, host, all,
    join(number) {
      clock.add(all[number]!)
      all[number]!.host.connect(clock.now, 'server')
    },
  }
}

test.each([0, 1000])(
  '[REPL22] players and spectators are sent rows with the newest tables: feed delayed by %i ms',
  (delayMs) => {
    const air = { isCalm: false }
    const scene = stage(
      5,
      { latencyMs: 50, jitterMs: 20, loss: 0.05 },
      delayMs === 0 ? {} : { spectators: { delayMs } },
      air,
    )
    const { clock, host, all, join } = scene
    join(0)
    join(4)
    clock.drive(2500)
    host.retrain(PRIORS)
    join(1)
    clock.drive(120)
    join(2)
    clock.drive(2000)
    host.retrain(OTHERS)
    clock.drive(60)
    join(3)
    const lines = (): number[] => all.map(({ host: client }) => host.retraining.versionOf(client.peer))
    expect(clock.driveUntil(() => lines().every((version) => version === 2), 20_000)).toBe(true)
    clock.drive(1000)
    air.isCalm = true
    clock.drive(3000 + delayMs)
    for (const [number, { host: client }] of all.entries()) {
      expect(differenceOf(number, client, host, clock.now), `client ${number}`).toBeUndefined()
      expect(client.endpoint.connections[0]!.isOpen).toBe(true)
    }
  },
)

test('[REPL23] of several changes in a row only the newest waits, and unused tables are freed', () => {
  const air = { isCalm: false }
  const sim = simulate(makeMoths(air), { seed: 8, clients: 2, link: { latencyMs: 80, jitterMs: 30, loss: 0.1 } })
  sim.run(500)
  for (const priors of [PRIORS, OTHERS, {}, PRIORS, OTHERS]) sim.host.retrain(priors)
  const seen = new Set<string>()
  const isDone = (): boolean => {
    seen.add(versions(sim).join())
    return versions(sim).every((version) => version === 5)
  }
  expect(sim.runUntil(isDone, 20_000)).toBe(true)
  expect([...seen].join(' ')).not.toMatch(/[234]/)
  expect(sim.host.retraining.keptCount).toBe(1)
  expect(sim.host.retrain({})).toBe(6)
  expect(sim.host.retraining.keptCount).toBe(2)
  expect(sim.runUntil(() => versions(sim).every((version) => version === 6), 20_000)).toBe(true)
  expect(sim.host.retraining.keptCount).toBe(1)
  const [player] = sim.players
  player!.host.close(sim.clock.now)
  sim.run(1000)
  air.isCalm = true
  sim.run(1500)
  expect(differenceOf(1, sim.players[1]!.host, sim.host, sim.clock.now)).toBeUndefined()
})

test('[REPL23] a client without reception keeps its tables, and gets the newest when it receives again', () => {
  const air = { isCalm: false }
  const sim = simulate(makeMoths(air), { seed: 9, clients: 3, link: { latencyMs: 40 } })
  const [, , deaf] = sim.players
  const deafId = (): number => deaf!.host.peer
  sim.weather({ latencyMs: 40, loss: 1 }, 2)
  sim.host.retrain(PRIORS)
  const others = (): number[] =>
    sim.host.peers.filter(({ id }) => id !== deafId()).map(({ id }) => sim.host.retraining.versionOf(id))
  expect(sim.runUntil(() => others().every((version) => version === 1), 3000)).toBe(true)
  sim.host.retrain(OTHERS)
  expect(sim.runUntil(() => others().every((version) => version === 2), 3000)).toBe(true)
  expect(sim.host.retraining.versionOf(deafId())).toBe(0)
  sim.weather({ latencyMs: 40 })
  expect(sim.runUntil(() => sim.host.retraining.versionOf(deafId()) === 2, 20_000)).toBe(true)
  air.isCalm = true
  expect(sim.difference()).toBeUndefined()
})

test('[REPL24] tables that a match cannot use are refused by name, and change nothing', () => {
  const sim = simulate(makeMoths(), { seed: 2 })
  const torn = JSON.parse(JSON.stringify(PRIORS)) as { Moth: { tables: number[][] } }
  torn.Moth.tables[0] = [1, -2]
  expect(() => sim.host.retrain(torn as never)).toThrow(
    'priors.Moth: a table of tokens is torn. Fix: train again: npx tickwire train.',
  )
  expect(() => sim.host.retrain({ Boat: PRIORS['Moth']! })).toThrow(
    'codec: priors for "Boat", which is not an entity of the game',
  )
  const { tables } = PRIORS['Moth']!
  const many = { ...PRIORS['Moth']!, tables: Array.from({ length: 1025 }, () => tables[0]!) }
  expect(() => sim.host.retrain({ Moth: many })).toThrow('priors.Moth: a table of tokens is torn.')
  const huge = { ...PRIORS['Moth']!, note: 'x'.repeat(2 ** 20) }
  expect(() => sim.host.retrain({ Moth: huge })).toThrow(
    /^retrain: priors too large \(expected at most 1048576 bytes, got \d+\)\. Fix: train fewer entities\.$/,
  )
  const { host: plain } = createMatchHost(defineGame({ ...makeMoths(), codec: packed }), { entropy: new Dice(1) })
  expect(() => plain.retrain(PRIORS)).toThrow(ConfigError)
  expect([sim.host.retraining.version, versions(sim)]).toEqual([0, [0]])
})

test('[REPL25] packets are dissected by the tables sent in them; without those their bits are unread', () => {
  const game = makeMoths()
  const { clock, host, all: [player], join } = stage(2, { latencyMs: 30, loss: 0.05 }, {}, { isCalm: false })
  const packets: Uint8Array[] = []
  player!.host.look({ handleReceived: (_now, _header, bytes, length) => packets.push(bytes.slice(0, length)) })
  join(0)
  clock.drive(1000)
  host.retrain(PRIORS)
  clock.drive(2000)
  const first = packets.findIndex((bytes) =>
    new PacketDissector(game).dissect(bytes).frames.some(({ kind }) => kind === 'retrained'),
  )
  expect(first).toBeGreaterThan(0)
  const whole = new PacketDissector(game)
  const all = packets.map((bytes) => whole.dissect(bytes))
  const retrained = all.filter(({ frames }) => frames.some(({ kind }) => kind === 'retrained'))
  expect(retrained.at(-1)!.bits.some(({ name }) => name === 'snapshot.tables')).toBe(true)
  expect(retrained.at(-1)!.entries.length).toBeGreaterThan(5)
  expect(retrained.at(-1)!.bits.some(({ name }) => name === 'row.unread')).toBe(false)
  expect(all.some(({ bits }) => bits.some(({ name }) => name === 'tables.body'))).toBe(true)
  const late = new PacketDissector(game)
  const unread = packets
    .slice(first)
    .map((bytes) => late.dissect(bytes))
    .find(({ frames }) => frames.some(({ kind }) => kind === 'retrained'))
  expect([unread!.entries, unread!.bits.some(({ name }) => name === 'row.unread')]).toEqual([[], true])
})
