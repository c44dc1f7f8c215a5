/**
 * Handover: how long players wait from the crash of their relay, or from its SIGTERM, to the next tick at another
 * relay. Network time is simulated, with real packets.
 *
 * With `--minute 30` one match is played until then, and its relays end one after the other: the next relay fetches all
 * ticks from a client each time.
 */

import { parseArgs } from 'node:util'
import type { LockstepGame } from 'tickwire/lockstep'
import { HandoverParty } from '../test/sim/handover-party.ts'
import { game, Move, Spawn, Unit } from '../test/sim/lockstep-game.ts'
import type { Bench, BenchResult } from './harness.ts'
import { RatedLink } from './lockstep/rated-link.ts'

const MATCHES = 20
const SECONDS = 20
const PLAYERS = 4
const [LATENCY_MS, LOSS, MEGABITS] = [25, 0.01, 10]
/** Orders of all players in a second of an old match: eight players that give 1.5 each. */
const ORDERS_PER_SECOND = 12
/** Between two handovers of an old match, so that the line is quiet again. */
const REST_SECONDS = 10

type End = 'crash' | 'stop'

export const bench: Bench = {
  name: 'handover',
  summary: 'from the crash or the SIGTERM of a relay to the next tick at another one',
  options: [
    '--minute N       one match of this age (default: 20 matches of 20 s)',
    '--handovers N    of each kind, in the old match (default 10)',
  ],
  run: async (args) => {
    const { values } = parseArgs({
      args: [...args],
      options: { minute: { type: 'string', default: '0' }, handovers: { type: 'string', default: '10' } },
    })
    const minute = Number(values.minute)
    return await Promise.resolve(minute > 0 ? runOld(minute, Number(values.handovers)) : run())
  },
}

function run(): BenchResult {
  const all = waits('crash', 0)
  const some = waits('crash', 1)
  const asked = waits('stop', 0)
  return {
    tables: [{
      title: `${PLAYERS} players, ${MATCHES} matches, 50 ms, 1 % lost: ms from the end of the relay to the next tick`,
      columns: ['players', 'p50', 'p95'],
      rows: [
        ['a crash, and all come to the next relay', part(all, 0.5), part(all, 0.95)],
        ['a crash, and one of them is gone', part(some, 0.5), part(some, 0.95)],
        ['SIGTERM', part(asked, 0.5), part(asked, 0.95)],
      ],
    }],
    figures: [
      { name: 'handover_ms_p95', value: part([...all, ...some], 0.95), unit: 'ms', against: null, atMost: 6000 },
      { name: 'handover_asked_ms_p95', value: part(asked, 0.95), unit: 'ms', against: null, atMost: 2000 },
    ],
  }
}

/** A match of this age. Its relays end in turn, and start again. */
function runOld(minute: number, handovers: number): BenchResult {
  const party = partyOf(1)
  play(party, 60 * minute)
  const bytes = party.relays[0]!.match!.relay.log.length
  let relay = 0
  const times = (end: End): number[] => Array.from({ length: handovers }, () => {
    const took = endRelay(party, relay, end, PLAYERS)
    party.relays[relay] = party.restarted(relay)
    relay = 1 - relay
    play(party, REST_SECONDS)
    return took
  }).flat()
  const [crashed, asked] = [times('crash'), times('stop')]
  return {
    tables: [{
      title: `${PLAYERS} players, minute ${minute}: ${Math.round(bytes / 1024)} KB of ticks, 50 ms, `
        + `${MEGABITS} Mbit/s, 1 % lost: ms from the end of the relay to the next tick`,
      columns: ['relay', 'p50', 'p95'],
      rows: [
        ['a crash', part(crashed, 0.5), part(crashed, 0.95)],
        ['SIGTERM', part(asked, 0.5), part(asked, 0.95)],
      ],
    }],
    figures: [
      { name: 'handover_old_ms_p95', value: part(crashed, 0.95), unit: 'ms', against: null, atMost: 6000 },
      { name: 'handover_old_asked_ms_p95', value: part(asked, 0.95), unit: 'ms', against: null, atMost: 3000 },
    ],
  }
}

function partyOf(seed: number): HandoverParty {
  const party = new HandoverParty({ game: game as unknown as LockstepGame, seed, clients: PLAYERS })
  party.clients.forEach(({ links }, client) => links.forEach((_, relay) => {
    links[relay] = new RatedLink(1000 * seed + 10 * client + relay, LATENCY_MS, LOSS, MEGABITS)
  }))
  party.run(1000)
  return party
}

/** Some seconds of a match, with many orders. */
function play(party: HandoverParty, seconds: number): void {
  const units = party.clients.map(({ client: { runner, player } }) =>
    [...runner!.world.each(Unit)].filter(({ owner }) => owner === player).map(({ id }) => id))
  for (let each = 0; each < seconds * ORDERS_PER_SECOND; each++) {
    const to = { x: (each * 13) % 256, y: (each * 29) % 256 }
    const ids = units[each % PLAYERS]!
    party.clients[each % PLAYERS]!.order(party.clock.now, Move as never, { units: ids, to })
    party.run(1000 / ORDERS_PER_SECOND)
  }
}

/** Ends a relay. Returns how long each player that goes on waits for the next tick. */
function endRelay(party: HandoverParty, relay: number, end: End, players: number): number[] {
  const there = party.clients.slice(-players)
  const before = there.map(({ continued }) => continued.length)
  if (end === 'crash') party.crash(relay)
  else party.stop(relay)
  const from = party.clock.now
  const hasNext = (): boolean => there.every(({ continued, executedAt }, each) =>
    continued.length > before[each]! && executedAt[continued.at(-1)!.tick + 1] !== undefined)
  if (!party.runUntil(hasNext, 20_000)) return [Infinity]
  return there.map(({ continued, executedAt }) => executedAt[continued.at(-1)!.tick + 1]! - from)
}

/** The waits of all players that go on, over some matches. */
function waits(end: End, gone: number): number[] {
  const took: number[] = []
  for (let seed = 1; seed <= MATCHES; seed++) {
    const party = partyOf(seed)
    for (let each = 0; each < 4 * SECONDS; each++) {
      party.run(250 + seed)
      party.clients[each % PLAYERS]!.order(party.clock.now, Spawn as never, { count: 1 })
    }
    for (const client of party.clients.slice(0, gone)) client.isGone = true
    took.push(...endRelay(party, 0, end, PLAYERS - gone))
  }
  return took
}

function part(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!)
}
