import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SWARM_PARTS, type PartReport, type SwarmPart, type SwarmReport } from './sim-report.ts'
import { appendRun, commitOf, sumRuns } from './sim-runs.ts'

let folder = ''
beforeEach(() => { folder = mkdtempSync(join(tmpdir(), 'tickwire-runs-')) })
afterEach(() => rmSync(folder, { recursive: true }))

const PART: PartReport = { worlds: 1, endpointTicks: 600, ms: 10 }
function report(violations: number = 0, marks: Record<string, number> = { early: 1, late: 0 }): SwarmReport {
  const parts = Object.fromEntries(SWARM_PARTS.map((part) => [part, PART])) as Record<SwarmPart, PartReport>
  return {
    seeds: 3, worlds: 1, matches: 1, crowds: 1, violations, failures: [], endpointTicks: 600 * SWARM_PARTS.length,
    simulatedSeconds: 1, traceHash: '', marks, parts,
  }
}

test('[SIM19] the runs of one commit are summed by part; a run of another commit is left out', () => {
  const file = join(folder, 'runs.jsonl')
  const run = { start: 1, seconds: 60, at: new Date(0) }
  const other = { commit: 'other', seeds: 9, seconds: 9, violations: 9, parts: {}, marks: {} }
  appendFileSync(file, `${JSON.stringify(other)}\n`)
  appendRun(file, run, report())
  appendRun(file, { ...run, start: 4, only: 'mesh' }, report(0, { early: 0, late: 2 }))
  const ticks = 1200 * SWARM_PARTS.length
  const { lines, isMet } = sumRuns(file, { total: ticks, each: 1200 })
  expect(lines[0]).toBe(`2 runs of commit ${commitOf()}, 6 seeds, 0.03 hours of wall time`)
  expect(lines).toContain(`mesh${' '.repeat(14)}2${' '.repeat(11)}1,200${' '.repeat(16)}60,000`)
  expect(lines.at(-1)).toBe('2 of 2 marks were passed')
  // Files that are changed and not committed are no commit.
  expect(isMet).toBe(!commitOf().endsWith('+'))
  expect(sumRuns(file, { total: ticks, each: 1201 })).toMatchObject({ isMet: false })
  expect(sumRuns(file, { total: ticks + 1, each: 1 })).toMatchObject({ isMet: false })
  appendRun(file, run, report(1))
  expect(sumRuns(file, { total: ticks, each: 1200 })).toMatchObject({ isMet: false })
})
