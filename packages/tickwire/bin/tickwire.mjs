#!/usr/bin/env node
/**
 * `npx tickwire`. In the package that is published it is what was built; in a checkout, where a tsconfig.json lies
 * beside package.json, nothing
 * need be built: then it is the sources.
 */

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

const at = (path) => new URL(`../${path}`, import.meta.url)

if (existsSync(at('tsconfig.json'))) runSources()
else await import(at('dist/cli.js').href)

/** Games that it is given find the package's sources too. Signals reach it through the terminal, or from here. */
function runSources() {
  const child = spawn(
    process.execPath,
    [
      '--conditions=tickwire-source',
      '--import',
      import.meta.resolve('tsx'),
      fileURLToPath(at('src/cli/index.ts')),
      ...process.argv.slice(2),
    ],
    { stdio: 'inherit' },
  )
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => { if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal) })
  }
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal])
  })
}
