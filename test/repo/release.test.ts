import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { RELEASE, releaseLines, runRelease } from '../../tools/release.ts'
import { ROOT } from '../../tools/typecheck.ts'

vi.setConfig({ testTimeout: 120_000 })

test('[REL1] prove -- release --list prints every command of a release in its order, and runs nothing', () => {
  const args = [join(ROOT, 'tools/run.mjs'), 'prove', 'release', '--list']
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' })
  expect(status).toBe(0)
  expect(stdout.trimEnd().split('\n').map((line) => line.trim())).toEqual(releaseLines().map((line) => line.trim()))
  const parts = ['prove -- tests', 'settings-mutants', 'sim -- --each', 'fuzz', 'soak -- arena', 'soak -- skirmish',
    'soak -- all', 'chaos -- --long', '--sum']
  for (const part of parts) expect(stdout).toContain(part)
  expect(stdout.match(/--timed/g)).toHaveLength(10)
})

test('[REL1] every command of the list exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  for (const { command } of RELEASE) {
    const name = /^npm (?:run )?(\w+)/.exec(command)?.[1] ?? ''
    expect(Object.keys(scripts), command).toContain(name)
    expect(existsSync(join(ROOT, `tools/commands/${name}.ts`)), command).toBe(true)
  }
})

test('[REL1] a release ends with the first command that fails', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tickwire-release-'))
  const step = (command: string): { command: string; minutes: number } => ({ command, minutes: 0 })
  const lines = vi.spyOn(console, 'log').mockImplementation(() => {})
  const steps = ['1', 'process.exit(3)', "fs.writeFileSync('after', '')"].map((code) => step(`node -e "${code}"`))
  expect(runRelease(folder, steps)).toBe(false)
  expect(existsSync(join(folder, 'after'))).toBe(false)
  expect(runRelease(folder, [step('node -e "2"')])).toBe(true)
  expect(lines.mock.calls.join('\n')).toMatch(/FAILED after \d\.\d min: node -e "process/)
  lines.mockRestore()
  rmSync(folder, { recursive: true })
})
