/**
 * The front door behind every npm script: `node tools/run.mjs <command> [arguments]`.
 *
 * On a fresh clone nothing is installed, so this file and `install.mjs` use Node alone. They make sure that Node is new
 * enough and that dependencies are installed and current, then hand over to `tools/commands/<command>.ts`, passing
 * arguments, signals and the exit code through.
 */

import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))

/** As `engines` in package.json says; a test holds the two together. */
const NODE_MIN = [20, 19]

const COMMANDS = {
  start: 'plays the arena in the browser, with bots',
  test: 'everything that must hold: types, tidy, tests, the packed package, real browsers',
  unit: 'types, tidy, and the tests beside their files: for use while you write code',
  check: 'types, tidy, code in docs: a few seconds (--fix mends what a machine can)',
  sim: 'whole matches from seeds, on a simulated network',
  fuzz: 'hostile bytes for every decoder',
  bench: 'figures, beside those of others',
  soak: 'a long match on real sockets, and what grew meanwhile',
  engines: 'the same bits on every JavaScript engine that can be installed',
  chaos: 'failures of services with real processes, each with its bar',
  docs: 'the docs site, from docs/ (--build only builds it)',
  prove: 'long forms of proofs whose short forms are in npm test',
}

/**
 * Extra Node flags per command. The simulation creates and discards worlds by the hundred: with a larger young
 * generation, garbage collection costs a third less.
 */
const NODE_FLAGS = { sim: ['--max-semi-space-size=64'] }

const [command, ...args] = process.argv.slice(2)

if (command === undefined || command === '--help' || command === '-h') {
  printHelp(console.log)
} else if (!Object.hasOwn(COMMANDS, command)) {
  console.error(`There is no command ${JSON.stringify(command)}.\n`)
  printHelp(console.error)
  process.exitCode = 2
} else if (isNodeTooOld()) {
  console.error(`Tickwire needs Node ${NODE_MIN.join('.')} or newer; this is ${process.version} (${process.execPath}).`)
  console.error('Fix: install the current Node LTS from https://nodejs.org, then run the same command again.')
  process.exitCode = 1
} else {
  // Only now: older Nodes would already fail to load it, with a message about syntax.
  const { ensureInstalled } = await import('./install.mjs')
  if (await ensureInstalled(ROOT)) run(command)
  else process.exitCode = 1
}

function isNodeTooOld() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  return major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1])
}

/** The `tickwire-source` condition makes the package's doors lead to its sources: no build in between. */
function run(name) {
  const script = join(ROOT, 'tools', 'commands', `${name}.ts`)
  const child = spawn(
    process.execPath,
    [...(NODE_FLAGS[name] ?? []), '--conditions=tickwire-source', '--import', 'tsx', script, ...args],
    {
      cwd: ROOT,
      stdio: 'inherit',
    },
  )
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to the child as well. A second signal would end a server before its orderly shutdown.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    })
  }
  child.on('error', (error) => {
    console.error(`could not start ${script}: ${error.message}`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal])
  })
}

function printHelp(print) {
  print('Tickwire, from a checkout. Every command installs what it needs first, and explains itself with --help.\n')
  for (const [name, summary] of Object.entries(COMMANDS)) {
    const typed = name === 'start' || name === 'test' ? `npm ${name}` : `npm run ${name}`
    print(`  ${typed.padEnd(16)}${summary}`)
  }
  print('\nArguments follow two dashes: npm run fuzz -- --seconds 60')
}
