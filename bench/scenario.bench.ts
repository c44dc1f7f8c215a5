/**
 * The standard crowd (`scenario.ts`), sent by a snapshot codec alone, and by the whole replication to many clients.
 *
 * With `--clients` or `--views` it compares whole replications with @colyseus/schema and nengi 2
 * (scenario/crowd-race.ts). With any other option it measures the codec alone (scenario/codec-alone.ts). Without
 * options it prints the figures of both that have budgets.
 */

import { parseArgs } from 'node:util'
import type { Bench, BenchResult } from './harness.ts'
import { runCodec } from './scenario/codec-alone.ts'
import { runRace, runStandard } from './scenario/crowd-race.ts'

const OPTIONS = {
  n: { type: 'string', default: '200' },
  clients: { type: 'string' },
  views: { type: 'string' },
  codec: { type: 'string' },
  distance: { type: 'string', default: '1' },
  lines: { type: 'string', default: 'steady' },
  ticks: { type: 'string' },
  seed: { type: 'string' },
  'train-seed': { type: 'string', default: '1' },
  rounds: { type: 'string', default: '15' },
} as const

const CODEC_TICKS = 600
const RACE_TICKS = 120

export const bench: Bench = {
  name: 'scenario',
  summary: 'the standard crowd: bytes, CPU and heap beside @colyseus/schema and nengi 2; the codec by itself',
  options: [
    '--clients N              so many clients, all of replication (default 1 with --views)',
    '--views same|subset      all clients see all, or each sees a different nine of ten (default same)',
    '--lines steady|real      all baselines --distance old, or connections of 50 to 250 ms, 5 % loss (default steady)',
    '--codec packed|entropy   (default packed with clients, entropy by itself)',
    '--distance D             ticks to the baseline (default 1)',
    '--n N                    players (default 200)',
    `--ticks N                (default ${RACE_TICKS} with clients, ${CODEC_TICKS} by itself)`,
    '--seed S                 of the crowd (default 1 with clients, 2 by itself)',
    '--train-seed S           of the crowd to train on; 0 = built-in tables (default 1; the codec by itself)',
    '--rounds N               timed rounds (default 15; the codec by itself)',
  ],
  run: async (args) => {
    const { values } = parseArgs({ args: [...args], options: OPTIONS })
    const number = (text: string | undefined, otherwise: number): number => Number(text ?? otherwise)
    const distance = Number(values.distance)
    const codecAlone = (): BenchResult =>
      runCodec(
        values.codec === 'packed' ? 'packed' : 'entropy',
        distance,
        Number(values.n),
        number(values.ticks, CODEC_TICKS),
        number(values.seed, 2),
        Number(values['train-seed']),
        Number(values.rounds),
      )
    const base = {
      seed: number(values.seed, 1),
      distance,
      codec: values.codec === 'entropy' ? ('entropy' as const) : ('packed' as const),
    }
    if (values.clients !== undefined || values.views !== undefined) {
      const views = values.views === 'subset' ? 'subset' : 'same'
      const isReal = values.lines === 'real'
      return runRace({
        ...base,
        ...(isReal && { distance: 'real' as const }),
        players: Number(values.n),
        clients: number(values.clients, 1),
        views,
        ticks: number(values.ticks, RACE_TICKS),
      })
    }
    if (args.length > 0) return codecAlone()
    const [whole, alone] = [runStandard(base), codecAlone()]
    return { tables: [...whole.tables, ...alone.tables], figures: [...whole.figures, ...alone.figures] }
  },
}
