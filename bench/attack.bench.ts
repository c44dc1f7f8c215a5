/**
 * Attacks, with numbers: the attack, how often it ran, its result, and the bound. docs/spec/attacks.md says
 * what each threat is; `test/contract/attack.test.ts` plays the same attacks, shorter, on every test run.
 *
 * Most are played without sockets, where nothing but the engine can lose a datagram; the floods also on real ones,
 * against loopback only (`attack/sockets.ts`). Attacks that once worked have the ids S1 to S11 and are played against a
 * real server process (`attack/found/`).
 */

import { parseArgs } from 'node:util'
import { playFound } from './attack/found/found.ts'
import { dishonestMember, fragmentFlood, malformedFrames, memberFlood } from './attack/members.ts'
import { bitFlips, forgedEndings, forgeries, garbage, guessedIds, hijack, longLife, replays } from './attack/packets.ts'
import { relayAmplification, relayForgeries, relaySpellings } from './attack/relay.ts'
import { relaySink } from './attack/relay-sink.ts'
import { socketFloods } from './attack/sockets.ts'
import { type AttackReport, isHeld } from './attack/stage.ts'
import { amplification, cookies, halfOpen, loops, requestFlood, slowLoris } from './attack/strangers.ts'
import { timing } from './attack/timing.ts'
import { tokens } from './attack/tokens.ts'
import { type Bench, type BenchResult, type Figure } from './harness.ts'

export const bench: Bench = {
  name: 'attack',
  summary: 'attacks on a server and its members, with their results',
  options: [
    '--scale X      times the usual number of tries (default 1)',
    '--found        only the attacks S1 to S11, which once worked, against a real server process',
    '--seconds N    how long a flood of those lasts (default 6)',
  ],
  run: async (args) => {
    const { values } = parseArgs({
      args: [...args],
      options: {
        scale: { type: 'string', default: '1' },
        found: { type: 'boolean', default: false },
        seconds: { type: 'string', default: '6' },
      },
    })
    const found = await playFound(Number(values.seconds))
    return resultOf(values.found ? found : [...await playEngine(Number(values.scale)), ...found])
  },
}

async function playEngine(scale: number): Promise<AttackReport[]> {
  const times = (count: number): number => Math.max(1, Math.round(count * scale))
  return [
    ...requestFlood(times(100_000)),
    ...amplification(7),
    ...loops(),
    ...cookies(times(2000)),
    ...halfOpen(2560, 5, false),
    ...halfOpen(2000, 2, true),
    ...slowLoris(times(1000)),
    ...longLife(times(150_000)),
    ...forgeries(2 ** 20 + 1),
    ...bitFlips(),
    ...replays(200, times(300_000)),
    ...tokens(times(20)),
    ...fragmentFlood(8, times(3000)),
    ...dishonestMember(times(20_000)),
    ...memberFlood(times(100_000)),
    ...malformedFrames(times(400)),
    ...garbage(times(24)),
    ...forgedEndings(times(200_000)),
    ...hijack(times(20_000)),
    ...guessedIds(times(100_000)),
    ...relaySpellings(),
    ...relayAmplification(times(100)),
    ...relayForgeries(times(1_000_000)),
    ...(await relaySink()),
    ...timing(times(50_000)),
    ...(await socketFloods(10_000)),
  ]
}

function resultOf(reports: readonly AttackReport[]): BenchResult {
  return {
    tables: [
      {
        title: 'attacks',
        columns: ['threat', 'what was done: what is counted', 'tries', 'measured', 'unit', 'bar', ''],
        rows: reports.map(rowOf),
      },
    ],
    figures: figuresOf(reports),
  }
}

function rowOf(report: AttackReport): (string | number)[] {
  const { threat, what, count, value, unit, atMost, atLeast } = report
  const bar = [
    ...(atLeast === undefined ? [] : [`>= ${atLeast}`]),
    ...(atMost === undefined ? [] : [`<= ${atMost}`]),
  ].join(', ')
  return [threat, what, count, value, unit, bar, bar === '' ? 'reported' : isHeld(report) ? 'held' : 'MISSED']
}

function figuresOf(reports: readonly AttackReport[]): Figure[] {
  const judged = reports.filter(({ atMost, atLeast }) => atMost !== undefined || atLeast !== undefined)
  const quoted = reports.flatMap(({ figure, value, unit, atMost, atLeast }): Figure[] =>
    figure === undefined
      ? []
      : [
          {
            name: figure,
            value,
            unit: unit === '' ? 'count' : unit,
            against: null,
            ...(atMost !== undefined && { atMost }),
            ...(atLeast !== undefined && { atLeast }),
          },
        ],
  )
  return [
    { name: 'attacks_judged', value: judged.length, unit: 'count', against: null },
    {
      name: 'attacks_missed',
      value: judged.filter((report) => !isHeld(report)).length,
      unit: 'count',
      against: null,
      atMost: 0,
    },
    ...quoted,
  ]
}
