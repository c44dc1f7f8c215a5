import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { FAULT_NAMES } from '../../packages/tickwire/src/testing/weather.ts'
import { ROOT } from '../../tools/typecheck.ts'
import { describeViolation } from './invariants.ts'
import { drawScenario, FEATURE_NAMES } from './match-scenario.ts'
import { playMatch, type MatchReport } from './match-swarm.ts'
import { type FullReport, runSwarm } from './swarm.ts'
import { playWorld } from './transport-swarm.ts'

// Seconds when the machine is idle; it seldom is.
vi.setConfig({ testTimeout: 120_000 })

/** `npm run sim`, without npm; the report of `--json`. */
function runCommand(...args: string[]): { readonly lines: readonly string[]; readonly status: number | null } {
  const { stdout, status } = spawnSync(process.execPath, [join(ROOT, 'tools', 'run.mjs'), 'sim', ...args], { cwd: ROOT, encoding: 'utf8' })
  return { lines: stdout.trim().split('\n'), status }
}

/** Names of what never happened. */
const idle = (tallies: Readonly<Record<string, number>>, names: readonly string[]): string[] => names.filter((name) => !((tallies[name] ?? 0) > 0))

describe('matches', () => {
  // Small ones: what they have is drawn as always, and a match of thirty takes seconds.
  const reports = new Map<number, MatchReport>()
  const play = async (seed: number): Promise<MatchReport> => {
    const scenario = drawScenario(seed)
    const report = await playMatch({ ...scenario, players: Math.min(3, scenario.players), spectators: Math.min(1, scenario.spectators), stormMs: 2500 })
    reports.set(seed, report)
    return report
  }

  test.each([1, 2, 3, 4, 5, 7, 8, 9, 27])('[SIM1, SIM10, G2, G3, G4, C6, C7] in any weather clients are told what the authority had and may be known, and all is well once it clears: seed %i', async (seed) => {
    const { violation } = await play(seed)
    expect(violation && describeViolation(violation)).toBeUndefined()
  })

  test('[SIM10] what they have was there: rooms, spectators, attackers, calls, messages, births', () => {
    const all = [...reports.values()]
    const features = new Set(all.flatMap(({ scenario }) => scenario.features))
    expect(FEATURE_NAMES.filter((name) => !features.has(name))).toEqual([])
    const sum = (of: 'rows' | 'messages' | 'calls' | 'rollbacks' | 'bent' | 'forged'): number => all.reduce((total, { counts }) => total + counts[of], 0)
    expect(sum('rows')).toBeGreaterThan(10_000)
    expect([sum('messages'), sum('calls'), sum('rollbacks'), sum('bent'), sum('forged')].map((count) => count > 0)).toEqual([true, true, true, true, true])
  })

  test('[SIM3, I22] a match is a function of its scenario', async () => {
    const { traceHash } = await play(8)
    expect((await play(8)).traceHash).toBe(traceHash)
    expect((await play(5)).traceHash).not.toBe(traceHash)
  })
})

describe('worlds of endpoints', () => {
  let report: FullReport

  test('[SIM4, SIM5, I1, I2, I3, I4, I5, I6, I7, I8, I13, I14, I15, I16, I17, I18] every invariant holds in thirty of them', async () => {
    report = await runSwarm({ start: 1, seeds: 30, only: 'transport' })
    expect(report.failures).toEqual([])
    expect(report.endpointTicks).toBeGreaterThan(50_000)
  })

  test('[SIM2] the weather was real: every fault was drawn, and did something', () => {
    expect(idle(report.weathers, FAULT_NAMES)).toEqual([])
    const outcomes = Object.keys(report.faults).filter((name) => !['overflowed', 'policed', 'tailDropped'].includes(name))
    expect(outcomes.length).toBeGreaterThan(15)
    expect(idle(report.faults, outcomes)).toEqual([])
    expect(report.faults.overflowed).toBe(0)
  })

  test('[SIM6] so were people and machines: new keys, moves, deaths, large messages, changed and repeated datagrams, every way to end', async () => {
    const { counts, closes } = report
    expect(idle(counts, Object.keys(counts).filter((name) => name !== 'refusedSends'))).toEqual([])
    expect(counts.rekeys).toBeGreaterThan(20)
    expect(counts.pathMoves).toBeGreaterThan(5)
    expect(counts.large).toBeGreaterThan(50)
    expect(counts.changedDelivered).toBeGreaterThan(100)
    expect(counts.replaysDelivered).toBeGreaterThan(100)
    expect(idle(closes, [
      'local left', 'peer left', 'local shutdown', 'peer shutdown', 'protocol schema', 'protocol refused', 'protocol full',
      'protocol identity', 'network unreachable', 'network timed-out', 'network reset',
    ])).toEqual([])
    const rare = await runSwarm({ start: 40, seeds: 20, only: 'transport' })
    expect(rare.failures).toEqual([])
    expect(idle(rare.closes, ['local kicked', 'peer kicked', 'protocol broken', 'network path-closed'])).toEqual([])
    const narrow = playWorld(5, { policing: { bps: 100_000, burstBytes: 4000 }, line: { bps: 64_000, queueMs: 50 } })
    expect(narrow.violation).toBeUndefined()
    expect(idle({ ...narrow.tally }, ['policed', 'tailDropped'])).toEqual([])
  })
})

describe('one seed, one world', () => {
  test('[SIM3] in its own weather, or in another', () => {
    // #region replay
    const { violation, traceHash } = playWorld(1234, { duplication: { rate: 0.01, copies: 1, lateMs: 0 } })
    expect(violation).toBeUndefined()
    // #endregion
    expect(traceHash).not.toBe(playWorld(1234).traceHash)
  })

  test('[SIM3, I22] to the last bit; another seed is another', async () => {
    const first = await runSwarm({ start: 9, seeds: 2 })
    const second = await runSwarm({ start: 9, seeds: 2 })
    expect(second).toEqual(first)
    expect(first.matches).toBe(1)
    expect(first.features).not.toEqual({})
    expect((await runSwarm({ start: 11, seeds: 2 })).traceHash).not.toBe(first.traceHash)
  })

  test('[SIM3, SIM7, SIM12] from the command line, in two other processes; the report is one line', async () => {
    const runs = [1, 2].map(() => runCommand('--start', '9', '--seeds', '2', '--json'))
    const reports = runs.map(({ lines }) => JSON.parse(lines.at(-1)!) as FullReport & { endpointTicksPerSecond: number })
    const { traceHash } = await runSwarm({ start: 9, seeds: 2 })
    expect(reports.map((report) => report.traceHash)).toEqual([traceHash, traceHash])
    expect(runs.map(({ status }) => status)).toEqual([0, 0])
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
