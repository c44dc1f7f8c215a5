import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { FAULT_NAMES } from '../../packages/tickwire/src/testing/weather.ts'
import { ROOT } from '../../tools/typecheck.ts'
import { form } from '../form.ts'
import { describeViolation } from './invariants.ts'
import { drawScenario, FEATURE_NAMES, type Feature } from './match-scenario.ts'
import type { MatchReport } from './match-report.ts'
import { playMatch } from './match-swarm.ts'
import { type FullReport, runSwarm } from './swarm.ts'
import { playWorld } from './transport-swarm.ts'

// It takes seconds on an idle machine, and longer on a busy one.
vi.setConfig({ testTimeout: 120_000 })

/** `npm run sim`, without npm; returns the report of `--json`. */
function runCommand(...args: string[]): { readonly lines: readonly string[]; readonly status: number | null } {
  const { stdout, status } = spawnSync(process.execPath, [join(ROOT, 'tools', 'run.mjs'), 'sim', ...args], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  return { lines: stdout.trim().split('\n'), status }
}

/** The names whose count is 0. */
const idle = (tallies: Readonly<Record<string, number>>, names: readonly string[]): string[] =>
  names.filter((name) => !((tallies[name] ?? 0) > 0))

/** Between them they have every feature. */
const SEEDS = [1, 2, 3, 4, 5, 7, 8, 9, 27]
/** A seed that takes little time. */
const REPEATED = 3

describe('matches', () => {
  // Small ones: their features are drawn as always, and a match of thirty takes seconds.
  const reports = new Map<number, MatchReport>()
  const play = async (seed: number): Promise<MatchReport> => {
    const scenario = drawScenario(seed)
    const report = await playMatch({
      ...scenario,
      players: Math.min(3, scenario.players),
      spectators: Math.min(1, scenario.spectators),
      stormMs: form(1500, 2500),
    })
    reports.set(seed, report)
    return report
  }

  test.each(SEEDS)(
    '[SIM1, SIM10, G2, G3, G4, C6, C7] every client has correct rows only, and is up to date after the faults: seed %i',
    async (seed) => {
      const { violation } = await play(seed)
      expect(violation && describeViolation(violation)).toBeUndefined()
    },
  )

  test('[SIM10] the matches had rooms, spectators, attackers, calls, messages and spawns', () => {
    const all = [...reports.values()]
    const features = new Set(all.flatMap(({ scenario }) => scenario.features))
    expect(FEATURE_NAMES.filter((name) => !features.has(name))).toEqual([])
    const sum = (of: 'rows' | 'messages' | 'calls' | 'rollbacks' | 'bent' | 'forged'): number =>
      all.reduce((total, { counts }) => total + counts[of], 0)
    expect(sum('rows')).toBeGreaterThan(10_000)
    expect(
      [sum('messages'), sum('calls'), sum('rollbacks'), sum('bent'), sum('forged')].map((count) => count > 0),
    ).toEqual([true, true, true, true, true])
  })

  test.each([
    [28, 2],
    [25, 3],
    [18, 4],
    [27, 5],
  ])(
    '[SIM13, C8] on clean links clients read every snapshot, however hosts stall: seed %i, one every %i ticks',
    async (seed, strideTicks) => {
      const scenario = drawScenario(seed, 'stalls')
      const features: readonly Feature[] = ['slowSnapshots', 'spawns', 'stalls', 'draws']
      const weather = { latency: { ms: 40 }, stalls: { everyMs: 100, lastsMs: 150 } }
      const { violation, counts } = await playMatch({
        ...scenario,
        features,
        weather,
        strideTicks,
        tickRate: 60,
        players: 3,
        spectators: 0,
        stormMs: form(2500, 4000),
      })
      expect(violation && describeViolation(violation)).toBeUndefined()
      expect(counts.stalls).toBeGreaterThan(form(30, 50))
    },
  )

  test('[SIM3, I22] a match is a function of its scenario', async () => {
    const { traceHash } = reports.get(REPEATED) ?? await play(REPEATED)
    const other = reports.get(5) ?? await play(5)
    expect((await play(REPEATED)).traceHash).toBe(traceHash)
    expect(other.traceHash).not.toBe(traceHash)
  })
})

describe('worlds of endpoints', () => {
  let report: FullReport

  test(
    '[SIM4, SIM5, I1, I2, I3, I4, I5, I6, I7, I8, I13, I14, I15, I16, I17, I18] all invariants hold in thirty worlds',
    async () => {
      report = await runSwarm({ start: 1, seeds: 30, only: 'transport' })
      expect(report.failures).toEqual([])
      expect(report.endpointTicks).toBeGreaterThan(50_000)
    },
  )

  test('[SIM2] every fault was drawn in some world, and every outcome of a datagram was counted', () => {
    expect(idle(report.weathers, FAULT_NAMES)).toEqual([])
    const outcomes = Object.keys(report.faults).filter(
      (name) => !['overflowed', 'policed', 'tailDropped'].includes(name),
    )
    expect(outcomes.length).toBeGreaterThan(15)
    expect(idle(report.faults, outcomes)).toEqual([])
    expect(report.faults.overflowed).toBe(0)
  })

  test('[SIM6] the worlds had new keys, moves, deaths, large messages, and every way to end', async () => {
    const { counts, closes } = report
    expect(idle(counts, Object.keys(counts).filter((name) => name !== 'refusedSends'))).toEqual([])
    expect(counts.rekeys).toBeGreaterThan(20)
    expect(counts.pathMoves).toBeGreaterThan(5)
    expect(counts.large).toBeGreaterThan(50)
    expect(counts.changedDelivered).toBeGreaterThan(100)
    expect(counts.replaysDelivered).toBeGreaterThan(100)
    expect(
      idle(closes, [
        'local left',
        'peer left',
        'local shutdown',
        'peer shutdown',
        'protocol schema',
        'protocol refused',
        'protocol full',
        'protocol identity',
        'network unreachable',
        'network timed-out',
        'network reset',
      ]),
    ).toEqual([])
    const rare = await runSwarm({ start: 40, seeds: 20, only: 'transport' })
    expect(rare.failures).toEqual([])
    expect(idle(rare.closes, ['local kicked', 'peer kicked', 'protocol broken', 'network path-closed'])).toEqual([])
    const narrow = playWorld(5, { policing: { bps: 100_000, burstBytes: 4000 }, line: { bps: 64_000, queueMs: 50 } })
    expect(narrow.violation).toBeUndefined()
    expect(idle({ ...narrow.tally }, ['policed', 'tailDropped'])).toEqual([])
  })
})

describe('one seed, one world', () => {
  let known: FullReport | undefined

  test('[SIM3] one seed plays in its own weather, or in another', () => {
    // #region replay
    const { violation, traceHash } = playWorld(1234, { duplication: { rate: 0.01, copies: 1, lateMs: 0 } })
    expect(violation).toBeUndefined()
    // #endregion
    expect(traceHash).not.toBe(playWorld(1234).traceHash)
  })

  test('[SIM3, I22] one seed gives the same trace to the bit; another seed gives another', async () => {
    const first = await runSwarm({ start: 9, seeds: 2 })
    known = first
    const second = await runSwarm({ start: 9, seeds: 2 })
    expect(second).toEqual(first)
    expect(first.matches).toBe(1)
    expect(first.features).not.toEqual({})
    expect((await runSwarm({ start: 11, seeds: 1 })).traceHash).not.toBe(first.traceHash)
  })

  test('[SIM3, SIM7, SIM12] one seed gives the same report from the command line, in other processes', async () => {
    const runs = form([1], [1, 2]).map(() => runCommand('--start', '9', '--seeds', '2', '--json'))
    const reports = runs.map(
      ({ lines }) => JSON.parse(lines.at(-1)!) as FullReport & { endpointTicksPerSecond: number },
    )
    const { traceHash } = known ?? await runSwarm({ start: 9, seeds: 2 })
    expect(reports.map((report) => report.traceHash)).toEqual(runs.map(() => traceHash))
    expect(runs.map(({ status }) => status)).toEqual(runs.map(() => 0))
    for (const report of reports) {
      expect(report).toMatchObject({ seeds: 2, worlds: 2, matches: 1, violations: 0, failures: [] })
      expect(report.endpointTicks).toBeGreaterThan(1000)
      expect(report.endpointTicksPerSecond).toBeGreaterThan(0)
      // Marks are in the bundle that the command runs, and count nothing here.
      const hits = Object.values(report.marks)
      expect(hits.length).toBeGreaterThanOrEqual(100)
      expect(hits.filter((count) => count > 0).length).toBeGreaterThan(40)
    }
  })
})
