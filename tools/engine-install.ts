/**
 * Installs shells of JavaScript engines from Debian's packages, for `npm run engines` and its test.
 *
 * It installs nothing where the user is not root, or where there is no apt-get.
 */

import { spawnSync } from 'node:child_process'
import { programOf, type Engine } from '../test/engines/run-engines.ts'

/** Installs the engines that are missing, if the user is root. Prints a line before each. */
export function ensureEngines(engines: readonly Engine[], say: (line: string) => void = console.log): void {
  const missing = engines.filter((engine) => programOf(engine) === undefined)
  if (missing.length === 0 || process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).status !== 0) return
  // The package lists of a fresh container are empty.
  aptGet('update')
  for (const { name, packages } of missing) {
    const found = packages.find((each) => spawnSync('apt-cache', ['show', each]).status === 0)
    if (found === undefined) continue
    say(`Installing Debian's ${found} with apt-get, for ${name}.`)
    aptGet('install', '--yes', '--no-install-recommends', found)
  }
}

function aptGet(...args: string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  spawnSync('apt-get', ['-qq', ...args], { env, stdio: ['ignore', 'ignore', 'inherit'] })
}
