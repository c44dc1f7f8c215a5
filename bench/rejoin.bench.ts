/**
 * Rejoin: how long a new process needs from `connect` until it is at most one tick behind, in a match of 2,000 units at
 * minute 30. Network time is simulated, with real packets; the CPU time of the new client is added to it.
 */

import { parseArgs } from 'node:util'
import { bool, entity, int, vec2 } from 'tickwire'
import { defineLockstep, ids, order, type LockstepGame, type LockstepRunner } from 'tickwire/lockstep'
import { encodeWorld } from 'tickwire/engine'
import { History } from '../packages/tickwire/src/core/lockstep/desync/history.ts'
import { ImageDonor } from '../packages/tickwire/src/core/lockstep/image-donor.ts'
import { LockstepParty, type PartyClient } from '../test/sim/lockstep-party.ts'
import type { Bench, BenchResult } from './harness.ts'
import { RatedLink } from './lockstep/rated-link.ts'

const UNITS = 2000
const SIZE = 128
const PLAYERS = 2
/** Orders of all players in a second: eight players that give 1.5 each. */
const ORDERS_PER_SECOND = 12
/** A client at the end of the longest line is so many ticks behind at most: 100 ms, and the time of a packet. */
const LAG_TICKS_MAX = 8
/** A packet waits so long at most behind others on the slowest line, in ms. */
const JOIN_JITTER_MS = 12

const DONOR_RUNS = 30

const place = vec2(0, SIZE, 1 / 256)
const Unit = entity({
  at: place, to: place, hp: int(0, 511), kind: int(0, 4), mode: int(0, 8), target: int(0, 65_535),
  readyAt: int(0, 65_535), isMoving: bool,
}, { name: 'Unit' })
const Move = order({ units: ids(250), to: place }, 'Move')

const game = defineLockstep({
  tickRate: 30, players: [1, 8], orders: [Move], entities: [Unit],
  onStart(world) {
    for (let each = 0; each < UNITS; each++) {
      const at = { x: world.prng.nextFloat() * SIZE, y: world.prng.nextFloat() * SIZE }
      world.spawn(Unit, { at, to: at, hp: 100, kind: each % 5 })
    }
  },
  step(world, orders) {
    for (const { values } of orders) {
      for (const id of values.units) {
        const unit = world.get(Unit, id)
        if (unit !== null) Object.assign(unit, { to: values.to, isMoving: true })
      }
    }
    for (const unit of world.each(Unit)) {
      if (!unit.isMoving) continue
      unit.at.x += Math.sign(unit.to.x - unit.at.x) / 16
      unit.at.y += Math.sign(unit.to.y - unit.at.y) / 16
      const [dx, dy] = [unit.to.x - unit.at.x, unit.to.y - unit.at.y]
      if (dx * dx + dy * dy < 0.05) unit.isMoving = false
    }
  },
})

export const bench: Bench = {
  name: 'rejoin',
  summary: 'from connect to one tick behind, at minute 30 of a match with 2,000 units',
  options: ['--minutes N    how old the match is (default 30)', '--joins N      clients that join (default 20)'],
  run: async (args) => {
    const { values } = parseArgs({
      args: [...args],
      options: { minutes: { type: 'string', default: '30' }, joins: { type: 'string', default: '20' } },
    })
    return await Promise.resolve(run(Number(values.minutes), Number(values.joins)))
  },
}

function run(minutes: number, joins: number): BenchResult {
  const party = new LockstepParty({ game: game as unknown as LockstepGame, seed: 5, clients: PLAYERS, resumeMs: 1000 })
  party.run(1000)
  play(party, minutes * 60)
  const { log } = party.match.relay
  const donor = party.clients[0]!.client.runner!
  const image = encodeWorld(donor.world)!
  const good = joinMany(party, joins, 25, 0.01, 10)
  const bad = joinMany(party, joins, 100, 0.05, 1)
  const draws = donorMs(donor)
  return {
    tables: [{
      title: `${UNITS} units, minute ${minutes}: ${(log.length / 1024).toFixed(0)} KB of ticks, an image of `
        + `${(image.length / 1024).toFixed(0)} KB, ms from connect to one tick behind`,
      columns: ['line', 'p50', 'p95'],
      rows: [
        ['50 ms, 10 Mbit/s, 1 % lost', part(good, 0.5), part(good, 0.95)],
        ['200 ms, 1 Mbit/s, 5 % lost', part(bad, 0.5), part(bad, 0.95)],
        ['BAR: replays all ticks, 10 to 30 minutes', '', 600_000],
      ],
    }],
    figures: [
      { name: 'rejoin_ms_p95', value: part(good, 0.95), unit: 'ms', against: null, atMost: 1500 },
      { name: 'rejoin_bad_line_ms_p95', value: part(bad, 0.95), unit: 'ms', against: null, atMost: 5000 },
      { name: 'donor_draw_ms_p50', value: part(draws, 0.5), unit: 'ms', against: null },
      { name: 'donor_draw_ms', value: part(draws, 0.95), unit: 'ms', against: null, atMost: 3 },
    ],
  }
}

/** Some seconds of a match: some units get orders. */
function play(party: LockstepParty, seconds: number): void {
  const unitIds = [...party.clients[0]!.client.runner!.world.each(Unit)].map(({ id }) => id)
  for (let each = 0; each < seconds * ORDERS_PER_SECOND; each++) {
    const from = (each * 37) % (UNITS - 12)
    const to = { x: (each * 13) % SIZE, y: (each * 29) % SIZE }
    party.clients[each % PLAYERS]!.order(party.clock.now, Move as never, { units: unitIds.slice(from, from + 12), to })
    party.run(1000 / ORDERS_PER_SECOND)
  }
}

function joinMany(party: LockstepParty, joins: number, latencyMs: number, loss: number, megabits: number): number[] {
  const took: number[] = []
  for (let each = 0; each < joins; each++) {
    const client = party.add()
    client.link = new RatedLink(1000 + each, latencyMs, loss, megabits)
    took.push(joinOnce(party, client, latencyMs))
    client.client.close(party.clock.now)
    party.run(500)
    client.frozenUntil = Infinity
    party.run(2000)
  }
  return took
}

function joinOnce(party: LockstepParty, client: PartyClient, latencyMs: number): number {
  const from = party.clock.now
  const { log } = party.match.relay
  let cpuMs = 0
  const wake = client.wake.bind(client)
  client.wake = (now) => {
    const before = process.cpuUsage()
    wake(now)
    const { user, system } = process.cpuUsage(before)
    cpuMs += (user + system) / 1000
  }
  // A tick that was closed one way ago has just arrived. The client has stepped it, or the one before.
  const isThere = (): boolean => {
    const tick = client.client.runner?.tick ?? 0
    if (log.newest - tick > LAG_TICKS_MAX) return false
    const arrivedAt = party.closedAt[tick + 2]
    return arrivedAt === undefined || party.clock.now - arrivedAt < latencyMs + JOIN_JITTER_MS
  }
  if (!party.runUntil(isThere, 30_000)) return 60_000
  return party.clock.now - from + cpuMs
}

/**
 * The longest that giving each of 30 images adds to a tick of the donor: copying the world, or encoding a slice. By the
 * clock: some images meet a garbage collection.
 */
function donorMs({ game: own, world, roster }: LockstepRunner): number[] {
  const history = new History(own, world)
  history.save(roster, 0, 0)
  let isGiven = false
  const donor = new ImageDonor(history, (bytes) => bytes.slice(0, 32), () => { isGiven = true })
  const { tick } = world
  const longest: number[] = []
  const measured = (code: () => void): number => {
    const before = performance.now()
    code()
    return performance.now() - before
  }
  for (let each = 0; each < 2 * DONOR_RUNS; each++) {
    isGiven = false
    let most = measured(() => donor.handleWanted({ kind: 'wanted', tick, isWhole: true }, tick))
    while (!isGiven) most = Math.max(most, measured(() => donor.handleStepped(tick)))
    // The compiler is done after some.
    if (each >= DONOR_RUNS) longest.push(most)
  }
  return longest
}

function part(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.ceil(values.length * share) - 1)] ?? 0
}
