import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { ROOT } from '../../tools/typecheck.ts'
import { slowestLines, timedStage } from '../../tools/test-stages.ts'
import { appendTestRun, sumTestRuns } from '../../tools/test-log.ts'
import { runVitest } from '../../tools/vitest-run.ts'

// Inside the repository, so that vitest itself is found from there.
mkdirSync(join(ROOT, '.cache'), { recursive: true })
const folder = mkdtempSync(join(ROOT, '.cache', 'tally-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

// Without a config of its own it would find ours.
writeFileSync(join(folder, 'vitest.config.mjs'), 'export default {}\n')

const CLEAN = { passed: 3, failed: 0, skipped: 0, files: [], failures: [] }
const AT = new Date('2026-11-19T10:00:00Z')

function write(name: string, body: string): void {
  writeFileSync(join(folder, name), `import { expect, test } from 'vitest'\n${body}`)
}

test('[REPO7] the tally counts what passed, failed and was skipped, and files that do not load', async () => {
  write('good.test.ts', `test('a', () => {})\ntest('b', () => {})\ntest.skip('c', () => {})\n`)
  expect(await runVitest(folder, [], true)).toMatchObject({ passed: 2, failed: 0, skipped: 1 })
  write('bad.test.ts', `test('a', () => { expect(1).toBe(2) })\ntest('b', () => {})\n`)
  write('broken.test.ts', `throw new Error('does not load')\n`)
  expect(await runVitest(folder, [], true)).toMatchObject({ passed: 3, failed: 2, skipped: 1 })
}, 60_000)

test('[REPO7] the time of every file is measured, and a report names the slowest files', async () => {
  write('slow.test.ts', `test('a', async () => { await new Promise((r) => setTimeout(r, 300)) })\n`)
  const { files } = await runVitest(folder, ['slow'], true)
  expect(files.map(({ path }) => path)).toEqual(['slow.test.ts'])
  expect(files[0]!.seconds).toBeGreaterThan(0.29)
  const times = [...files, { path: 'quick.test.ts', seconds: 0.1 }, { path: 'endless.test.ts', seconds: 31.5 }]
  const lines = slowestLines(times, 2)
  expect(lines).toHaveLength(4)
  expect(lines[1]).toBe('  31.5 s  endless.test.ts')
  expect(lines[2]).toMatch(/^ +\d+\.\d s {2}slow\.test\.ts$/)
  expect(lines[3]).toMatch(/^warning: endless\.test\.ts took 31\.5 s \(expected at most 30 s\)\. Fix: /)
}, 60_000)

test('[REPO7] an error outside of any test is a failure, and so is a run without tests', async () => {
  write(
    'loose.test.ts',
    `test('a', async () => { setTimeout(() => { throw new Error('later') }, 0); `
        + `await new Promise((r) => setTimeout(r, 50)) })\n`,
  )
  expect(await runVitest(folder, ['loose'], true)).toMatchObject({ passed: 1, failed: 1, skipped: 0 })
  expect(await runVitest(folder, ['nothing-has-this-name'], true)).toMatchObject({ passed: 0, failed: 1 })
}, 60_000)

test('[REPO7] a failed test on a real clock runs once more, alone, and is named if it passes then', async () => {
  write(
    'unsteady.test.ts',
    `import { existsSync, writeFileSync } from 'node:fs'
    const flag = new URL('./flag', import.meta.url)
    test('first (a+b) fails', () => {
      const isSecond = existsSync(flag)
      writeFileSync(flag, '')
      expect(isSecond).toBe(true)
    })
    test('steady', () => {})\n`,
  )
  const run = (args: readonly string[]): ReturnType<typeof runVitest> => runVitest(folder, args, true)
  expect(await timedStage(run, ['unsteady'])).toMatchObject({
    passed: 2,
    failed: 0,
    failures: [],
    unsteady: ['unsteady.test.ts > first (a+b) fails'],
  })
  // A test that fails twice has failed, and so has a file that does not load.
  expect(await timedStage(run, ['bad.test'])).toMatchObject({ passed: 1, failed: 1, unsteady: [] })
  expect(await timedStage(run, ['broken.test'])).toMatchObject({ passed: 0, failed: 1 })
}, 60_000)

test('[REPO7] npm test ends with the sum', () => {
  const { status, stdout } = spawnSync(process.execPath, ['tools/run.mjs', 'test', 'test/repo/docs-code.test.ts'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^\d+ passed, 0 failed$/)
  expect(status).toBe(0)
}, 60_000)

test('[REPO7] logged runs are steady when the newest of each stage had no failed and no unsteady test', () => {
  const log = join(folder, 'runs.jsonl')
  const run = (name: string, failures: readonly string[], unsteady: readonly string[] = []): void =>
    appendTestRun(log, [{ name, seconds: 2.4, run: { ...CLEAN, failed: failures.length, failures, unsteady } }], AT)
  run('sockets', [], ['a.test.ts > waits'])
  for (let i = 0; i < 2; i++) run('sockets', [])
  run('browsers', [])
  expect(sumTestRuns(log, ['sockets'], 2)).toEqual({
    lines: ['sockets: 2 of 2 runs, 0 tests failed or unsteady'], isMet: true,
  })
  expect(sumTestRuns(log, ['browsers'], 2)).toEqual({
    lines: ['browsers: 1 of 2 runs, 0 tests failed or unsteady'], isMet: false,
  })
  const { lines, isMet } = sumTestRuns(log, ['sockets'], 3)
  expect(isMet).toBe(false)
  expect(lines[0]).toBe('sockets: 3 of 3 runs, 1 tests failed or unsteady')
  expect(lines[1]).toMatch(/^ {2}unsteady: a\.test\.ts > waits \([0-9a-f]{12}\+?, 2026-11-19\)$/)
  run('sockets', ['b.test.ts > breaks'])
  expect(sumTestRuns(log, ['sockets'], 2).lines[1]).toContain('failed: b.test.ts > breaks')
})
