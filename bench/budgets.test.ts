/**
 * Checks figures that do not vary between runs against their budgets: bytes on the wire, sizes of bundles, allocations.
 * Each benchmark runs in a separate process, as with `npm run bench`.
 */

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

interface Budget {
  readonly bench: string
  readonly args: readonly string[]
  readonly atMost: Readonly<Record<string, number>>
}

const ROOT = join(import.meta.dirname, '..')
const BUDGETS = JSON.parse(readFileSync(join(import.meta.dirname, 'budgets.json'), 'utf8')) as readonly Budget[]

test.each(BUDGETS.map((budget) => [[budget.bench, ...budget.args].join(' '), budget] as const))(
  '[RESULT2] %s',
  (_name, { bench, args, atMost }) => {
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      ['tools/run.mjs', 'bench', bench, ...args, '--json'],
      { cwd: ROOT, encoding: 'utf8' },
    )
    expect(status, stderr).toBe(0)
    const { figures } = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as {
      figures: readonly { name: string; value: number }[]
    }
    const found = Object.fromEntries(figures.map(({ name, value }) => [name, value]))
    const exceeded = Object.entries(atMost)
      .filter(([name, most]) => !(found[name]! <= most))
      .map(([name, most]) => `${name} is ${found[name]}, budget ${most}`)
    expect(exceeded).toEqual([])
  },
  120_000,
)
