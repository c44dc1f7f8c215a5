import { spawnSync } from 'node:child_process'
import { expect, test, vi } from 'vitest'
import { ROOT } from '../../tools/typecheck.ts'

vi.setConfig({ testTimeout: 120_000 })

const PLANTED = 'test/fuzz/run-fuzz-planted.ts'

function fuzz(...args: string[]): { status: number | null; lines: string[]; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['tools/run.mjs', 'fuzz', ...args], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  return { status, lines: stdout.trimEnd().split('\n'), stderr }
}

test('[FUZZ5] a failure ends with 1, its replay command shows the error, and the last line is the report', () => {
  const target = 'planted/throws-when-truncated'
  const found = fuzz('--file', PLANTED, '--target', target, '--inputs', '50', '--seed', '1', '--json')
  expect(found.status).toBe(1)
  const report = JSON.parse(found.lines.at(-1) ?? '')
  expect(report).toMatchObject({ inputs: 50, slow: 0, large: 0, seed: 1, targets: [{ name: target, inputs: 50 }] })
  expect(report.throws).toBeGreaterThan(0)

  const replay = found.lines.find((line) => line.includes('replay  npm run fuzz -- ')) ?? ''
  const again = fuzz(...replay.replace(/^.* -- /, '').split(' '))
  expect(again.status).toBe(1)
  expect(again.stderr).toContain('RangeError: read past the end')
})

test('[FUZZ5] a sound target ends with 0, twice the same', () => {
  const runs = [1, 2].map(() => fuzz('--file', PLANTED, '--target', 'planted/sound', '--inputs', '200', '--seed', '3'))
  expect(runs.map(({ status }) => status)).toEqual([0, 0])
  // The rate differs from run to run.
  const results = runs.map(({ lines }) => lines.at(-1)?.replace(/; \d+ a second of one core$/, ''))
  expect(results).toEqual(Array(2).fill('200 inputs: 0 threw, 0 slow, 0 large'))
})

test('[FUZZ5] a target that does not exist is refused, with the names of those that do', () => {
  const { status, stderr } = fuzz('--file', PLANTED, '--target', 'unknown')
  expect(status).toBe(2)
  expect(stderr).toContain('no target unknown; there are: planted/sound, ')
})
