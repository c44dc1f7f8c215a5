/**
 * What a desync costs: how soon it is detected, in how many rounds and bytes it has a name, and how long until it is
 * healed. Four players at a round trip of 50 ms, 2,000 units, in simulated time with real packets: one number of one
 * world is changed at a random moment.
 */

import { parseArgs } from 'node:util'
import type { DesyncFinding } from 'tickwire/lockstep'
import { Dice } from 'tickwire/testing'
import { LockstepParty } from '../test/sim/lockstep-party.ts'
import { army, Unit } from './desync/army-game.ts'
import type { Bench, BenchResult, Figure } from './harness.ts'

const RTT_MS = 50
const CLIENTS = 4

export const bench: Bench = {
  name: 'desync',
  summary: 'how soon a desync is detected, named and healed',
  options: ['--samples N    changed numbers (default 24)'],
  run: async (args) => {
    const { values } = parseArgs({ args: [...args], options: { samples: { type: 'string', default: '24' } } })
    return await Promise.resolve(run(Number(values.samples)))
  },
}

interface Sample {
  readonly detectMs: number
  readonly healMs: number
  readonly rounds: number
  readonly bytes: number
}

function run(count: number): BenchResult {
  const dice = new Dice(3)
  const samples: Sample[] = []
  const tickMs = 1000 / army.tickRate
  for (let seed = 1; samples.length < count; seed++) {
    const party = new LockstepParty({
      game: army, seed, clients: CLIENTS, weather: () => ({ latencyMs: RTT_MS / 2 - 1, jitterMs: 2 }),
    })
    party.run(3000)
    // Two heals of a player are allowed, the third ends its seat.
    for (let each = 0; each < 2 * CLIENTS && samples.length < count; each++)
      samples.push(measure(party, each % CLIENTS, dice))
  }
  const numbers = (pick: (sample: Sample) => number): number[] => samples.map(pick).sort((a, b) => a - b)
  const mean = (list: readonly number[]): number => list.reduce((sum, each) => sum + each, 0) / list.length
  const p95 = (list: readonly number[]): number => list[Math.min(list.length - 1, Math.floor(0.95 * list.length))]!
  const detect = numbers(({ detectMs }) => (detectMs - RTT_MS) / tickMs)
  const figure = (name: string, value: number, unit: string, atMost?: number): Figure =>
    ({ name, value, unit, against: null, ...(atMost !== undefined && { atMost }) })
  const figures = [
    figure('detect_ticks', mean(detect), 'ticks', 1),
    figure('detect_ticks_p95', p95(detect), 'ticks'),
    figure('name_rounds', Math.max(...numbers(({ rounds }) => rounds)), 'rounds', 6),
    figure('heal_bytes', Math.max(...numbers(({ bytes }) => bytes)), 'B', 2048),
    figure('heal_ms_p95', p95(numbers(({ healMs }) => healMs)), 'ms', 1000),
  ]
  return {
    tables: [{
      title: `desync: ${samples.length} changed numbers, 2,000 units, round trip ${RTT_MS} ms`,
      columns: ['figure', 'value', 'unit', 'bound', 'others'],
      rows: figures.map(({ name, value, unit, atMost }) =>
        [name, value, unit, atMost === undefined ? '' : `<= ${atMost}`, ANCHORS[name] ?? '']),
    }],
    figures,
  }
}

const ANCHORS: Readonly<Record<string, string>> = {
  detect_ticks: '0 A.D. 20 turns, OpenRA within 7 sync frames',
  name_rounds: 'others do not name the field',
  heal_ms_p95: 'others end the match',
}

/** Changes one number, and measures until the client is healed. Detected: when the relay asks for reports. */
function measure(party: LockstepParty, at: number, dice: Dice): Sample {
  party.run(200 + 400 * dice.fraction())
  const client = party.clients[at]!
  const { runner, agent } = client.client
  const units = [...runner!.world.each(Unit)]
  const unit = units[Math.floor(dice.fraction() * units.length)]!
  unit.hp = unit.hp === 50 ? 51 : 50
  const bad = runner!.tick + 1
  const { judge } = party.match
  const cases = judge.counts.cases
  const heals = agent!.heals
  party.runUntil(() => judge.counts.cases > cases, 5000)
  const detectedAt = party.clock.now
  party.runUntil(() => agent!.heals > heals, 5000)
  const healedAt = party.clock.now
  const reports = party.reports.length
  party.runUntil(() => party.reports.length > reports, 5000)
  const { rounds, bytes } = party.reports.at(-1)!.diverged[0]!.finding as DesyncFinding
  const startedAt = client.executedAt[bad]!
  return { detectMs: detectedAt - startedAt, healMs: healedAt - startedAt, rounds, bytes }
}
