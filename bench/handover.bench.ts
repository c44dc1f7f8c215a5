/**
 * Handover: how long players wait from the crash of their relay to the next tick, at another relay. Network time is
 * simulated, with real packets.
 */

import type { LockstepGame } from 'tickwire/lockstep'
import { HandoverParty } from '../test/sim/handover-party.ts'
import { game, Spawn } from '../test/sim/lockstep-game.ts'
import type { Bench, BenchResult } from './harness.ts'

const MATCHES = 20
const SECONDS = 20
const PLAYERS = 4

export const bench: Bench = {
  name: 'handover',
  summary: 'from the crash of a relay to the next tick at another one',
  options: [],
  run: async () => await Promise.resolve(run()),
}

function run(): BenchResult {
  const all = waits(0)
  const some = waits(1)
  return {
    tables: [{
      title: `${PLAYERS} players, ${MATCHES} matches, 50 ms, 1 % lost: ms from the crash to the next tick`,
      columns: ['players', 'p50', 'p95'],
      rows: [
        ['all come to the next relay', part(all, 0.5), part(all, 0.95)],
        ['one of them is gone', part(some, 0.5), part(some, 0.95)],
      ],
    }],
    figures: [
      { name: 'handover_ms_p95', value: part([...all, ...some], 0.95), unit: 'ms', against: null, atMost: 6000 },
    ],
  }
}

/** The waits of all players that go on. */
function waits(gone: number): number[] {
  const took: number[] = []
  for (let seed = 1; seed <= MATCHES; seed++) {
    const party = new HandoverParty({
      game: game as unknown as LockstepGame, seed, clients: PLAYERS,
      weather: () => ({ latencyMs: 25, jitterMs: 5, loss: 0.01 }),
    })
    for (let each = 0; each < 4 * SECONDS; each++) {
      party.run(250 + seed)
      party.clients[each % PLAYERS]!.order(party.clock.now, Spawn as never, { count: 1 })
    }
    for (const client of party.clients.slice(0, gone)) client.isGone = true
    party.crash(0)
    const from = party.clock.now
    party.run(10_000)
    for (const { continued: [first], executedAt } of party.clients.slice(gone))
      took.push(first === undefined ? Infinity : executedAt[first.tick + 1]! - from)
  }
  return took
}

function part(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!)
}
