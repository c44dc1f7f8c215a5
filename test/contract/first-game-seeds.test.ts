/** The test of the guide's first game, played by a process of its own with many seeds. */

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { form } from '../form.ts'

const TUTORIAL = fileURLToPath(new URL('../../docs/guide/examples/first-game/game.test.ts', import.meta.url))
const SEEDS = form(5, 1000)

test(`[SIM18] the test of the first game passes with ${SEEDS} seeds`, { timeout: form(60_000, 1_800_000) }, () => {
  const { status, stdout } = spawnSync(
    process.execPath,
    ['--conditions=tickwire-source', '--import', 'tsx', '--test', TUTORIAL],
    { env: { ...process.env, SEEDS: String(SEEDS), NODE_OPTIONS: '' }, encoding: 'utf8' },
  )
  expect(stdout).toContain('# pass 1')
  expect(status).toBe(0)
})
