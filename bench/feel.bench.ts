/**
 * Feel, as numbers: scripted players in whole simulated matches, over connections of every kind. No time is measured.
 *
 *   own_input_ticks          from a player's input to the player's own screen
 *   rollbacks_per_min_alone  how often a player alone in a world is corrected
 *   hits_with                of 64 shots aimed at the screen: hits on a server that rewinds up to 500 ms; the worst of
 *                            targets that run straight, run in circles, and stop and go
 *   hits_without             the same without rewinding, on straight runs of two and a half widths per round trip
 *   visible_jumps_per_min    of one other player; feel/shots.ts defines visible
 *   outage, sleep            back means: the other player is drawn within half a width of its position at the drawn
 *                            moment, and own ticks run. No teleport means: no draw covers more than half of the way
 *
 * Round trips are without jitter. Jitter is added each way, evenly distributed between 0 and the given value.
 */

import { parseArgs } from 'node:util'
import type { Weather } from '../packages/tickwire/src/testing/memory-link.ts'
import { WIDTH } from './feel/course.ts'
import type { Motion } from './feel/plays.ts'
import { duel, VISIBLE_M, type Duel } from './feel/shots.ts'
import { outage, ownInputTicks, rollbacks, sleep } from './feel/trials.ts'
import type { Bench, BenchResult, Figure, Table } from './harness.ts'

const ROUND_TRIPS_MS = [0, 50, 100, 250, 400]
const LOSSES = [0, 0.05, 0.2]
const JITTERS_MS = [0, 20, 60]
const MOTIONS: readonly Motion[] = ['straight', 'curved', 'stop-and-go']
const SHOTS = 64
const GRID_SHOTS = 16
const PRESSES = 20
const CROWD = 8
const OUTAGE_MS = 2000
const SLEEP_MS = 30_000
const REWIND_MS = 500

interface Line {
  readonly rttMs: number
  readonly loss: number
  readonly jitterMs: number
}

/** The connection that the figures are measured on. */
const NAMED: Line = { rttMs: 250, loss: 0.05, jitterMs: 20 }

export const bench: Bench = {
  name: 'feel',
  summary: 'scripted players over lines of every kind: own input, hits, jumps, coming back',
  options: ['--seed N     (default 1)', '--brief      only the line that the figures are of'],
  run: async (args) => {
    const { values } = parseArgs({
      args: [...args],
      options: { seed: { type: 'string', default: '1' }, brief: { type: 'boolean', default: false } },
    })
    return run(Number(values.seed), values.brief)
  },
}

function run(seed: number, isBrief: boolean): BenchResult {
  const shooting = shoot(seed)
  const playing = play(seed)
  return {
    tables: [...shooting.tables, ...playing.tables, ...(isBrief ? [] : [grid(seed)])],
    figures: [...playing.figures.slice(0, 2), ...shooting.figures, ...playing.figures.slice(2)],
  }
}

const weatherOf = ({ rttMs, loss, jitterMs }: Line): Weather => ({ latencyMs: rttMs / 2, jitterMs, loss })
const nameOf = ({ rttMs, loss, jitterMs }: Line): string => `${rttMs} ms, ${jitterMs} ms jitter, ${loss * 100} % loss`
const figure = (name: string, value: number, unit: string, budget: Partial<Figure> = {}): Figure => ({
  name,
  value,
  unit,
  against: nameOf(NAMED),
  ...budget,
})

function shoot(seed: number): { tables: Table[]; figures: Figure[] } {
  const weather = weatherOf(NAMED)
  const series = (rewindMs: number): readonly Duel[] =>
    MOTIONS.map((motion) => duel({ seed, weather, motion, shots: SHOTS, rewindMs }))
  const [full, half, none] = [series(REWIND_MS), series(250), series(0)]
  const jumps = Math.max(...full.map(({ jumpsPerMinute }) => jumpsPerMinute))
  return {
    tables: [
      {
        title: `${SHOTS} shots each at what is seen of a body ${WIDTH} m wide; ${nameOf(NAMED)}`,
        columns: ['target', 'away, m', `hits, ${REWIND_MS} ms`, 'hits, 250 ms', 'hits, none', 'jumps/min', 'worst, m'],
        rows: MOTIONS.map((motion, at) => [
          motion,
          full[at]!.awayM,
          full[at]!.hits,
          half[at]!.hits,
          none[at]!.hits,
          full[at]!.jumpsPerMinute,
          full[at]!.worstM,
        ]),
      },
    ],
    figures: [
      figure('hits_with', Math.min(...full.map(({ hits }) => hits)), `of ${SHOTS}`, { atLeast: SHOTS }),
      figure('hits_with_250', Math.min(...half.map(({ hits }) => hits)), `of ${SHOTS}`),
      figure('hits_without', none[0]!.hits, `of ${SHOTS}`, { atMost: 4 }),
      figure('visible_jumps_per_min', jumps, `steps above ${VISIBLE_M} m`, { atMost: 1 }),
    ],
  }
}

function play(seed: number): { tables: Table[]; figures: Figure[] } {
  const weather = weatherOf(NAMED)
  const own = ownInputTicks(seed, weather, PRESSES)
  const [alone, crowd] = [rollbacks(seed, weather, 1), rollbacks(seed, weather, CROWD)]
  const [out, slept] = [outage(seed, weather, OUTAGE_MS), sleep(seed, weather, SLEEP_MS)]
  return {
    tables: [
      {
        title:
          `a minute of running; ${nameOf(NAMED)}. In a crowd bodies push each other: a client cannot know what others `
          + 'do in the next quarter of a second',
        columns: ['', 'rollbacks', 'mistaken ticks', 'by, m', 'worst, m', 'late inputs'],
        rows: ([['alone', alone], [`${CROWD} on ten metres`, crowd]] as const).map(([name, one]) =>
          [name, one.rollbacksPerMinute, one.mistakenTicks, one.meanM, one.worstM, one.lateInputs]),
      },
      {
        title: 'coming back',
        columns: ['after', 'back, ms', 'gap, m', 'longest step in a draw, m', 'share'],
        rows: (
          [
            [`${OUTAGE_MS / 1000} s outage`, out],
            [`${SLEEP_MS / 1000} s sleep`, slept],
          ] as const
        ).map(([name, one]) => [name, one.backMs, one.gapM, one.stepM, one.stepShare]),
      },
    ],
    figures: [
      figure('own_input_ticks', own, 'ticks', { atMost: 0 }),
      figure('rollbacks_per_min_alone', alone.rollbacksPerMinute, '1/min', { atMost: 0 }),
      figure('rollbacks_per_min_crowd', crowd.rollbacksPerMinute, '1/min'),
      figure('corrected_m_crowd', crowd.meanM, 'm'),
      figure('outage_back_ms', out.backMs, 'ms', { atMost: 300 }),
      figure('outage_longest_step', out.stepShare, 'of the way', { atMost: 0.5 }),
      figure('sleep_back_ms', slept.backMs, 'ms', { atMost: 1000 }),
    ],
  }
}

function grid(seed: number): Table {
  const lines = ROUND_TRIPS_MS.flatMap((rttMs) =>
    LOSSES.flatMap((loss) => JITTERS_MS.map((jitterMs): Line => ({ rttMs, loss, jitterMs }))),
  )
  return {
    title: `every line; ${GRID_SHOTS} shots each, rewind ${REWIND_MS} ms`,
    columns: [
      'round trip, loss, jitter',
      'own input, ticks',
      'rollbacks/min alone',
      ...MOTIONS.map((motion) => `hits, ${motion}`),
      'jumps/min',
      'worst, m',
    ],
    rows: lines.map((line) => {
      const weather = weatherOf(line)
      const duels = MOTIONS.map((motion) => duel({ seed, weather, motion, shots: GRID_SHOTS, rewindMs: REWIND_MS }))
      return [
        `${line.rttMs} ms, ${line.loss * 100} %, ${line.jitterMs} ms`,
        ownInputTicks(seed, weather, 5),
        rollbacks(seed, weather, 1).rollbacksPerMinute,
        ...duels.map(({ hits }) => hits),
        Math.max(...duels.map(({ jumpsPerMinute }) => jumpsPerMinute)),
        Math.max(...duels.map(({ worstM }) => worstM)),
      ]
    }),
  }
}
