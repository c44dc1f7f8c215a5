/**
 * Installs dependencies when they are missing or stale, once, however many commands start at the same time.
 *
 * "Stale" is decided by looking: every package of package-lock.json must be in node_modules with that version, and
 * npm's own record, which it writes at the very end, must be there. So an install that was interrupted, made before a
 * pull or made by hand is judged by what it left, in some 10 ms, and there is no state of our own to go wrong. Uses
 * Node alone.
 */

import { spawn } from 'node:child_process'
import {
  existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** The holder of the lock touches it this often; a lock untouched for LOCK_STALE_MS has lost its holder. */
const LOCK_BEAT_MS = 2_000
const LOCK_STALE_MS = 20_000

/** Makes sure that `root` has the dependencies its lockfile names. False: it has not, and the reason is printed. */
export async function ensureInstalled(root) {
  if (whyInstall(root) === undefined) return true
  const release = await lock(join(root, '.cache'))
  try {
    // The process that held the lock before may have done the work.
    const reason = whyInstall(root)
    return reason === undefined || (await install(root, reason))
  } finally {
    release()
  }
}

/** Why an install is due, in words; undefined when it is not. */
function whyInstall(root) {
  if (!existsSync(join(root, 'node_modules'))) return 'node_modules is missing'
  if (!existsSync(join(root, 'node_modules', '.package-lock.json'))) return 'an earlier install did not finish'
  const wanted = readJson(join(root, 'package-lock.json'))?.packages ?? {}
  for (const [path, { version, link, optional, devOptional, peer }] of Object.entries(wanted)) {
    if (!path.startsWith('node_modules/') && !path.includes('/node_modules/')) continue
    const present = readJson(join(root, path, 'package.json'))
    // Optional packages are for other platforms, more often than not.
    if (present === undefined && (optional || devOptional || peer)) continue
    if (present === undefined || (!link && present.version !== version)) {
      return `package-lock.json asks for another ${path.replace(/^.*node_modules\//, '')} than is installed`
    }
  }
  return undefined
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

async function install(root, reason) {
  // `ci` installs exactly the lockfile. Development dependencies by name: NODE_ENV=production would leave them out.
  const verb = existsSync(join(root, 'package-lock.json')) ? 'ci' : 'install'
  console.error(`tickwire: installing dependencies with npm ${verb}, because ${reason}.`)
  const startedAt = Date.now()
  const elapsed = () => `${Math.round((Date.now() - startedAt) / 1000)} s`
  const ticker = setInterval(() => console.error(`tickwire: still installing (${elapsed()})`), 5_000)
  const { code, output } = await npm(root, [verb, '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'])
  clearInterval(ticker)
  if (code === 0) console.error(`tickwire: installed in ${elapsed()}.`)
  else console.error(explainFailure(code, output))
  return code === 0
}

function npm(root, args) {
  // Inside an npm script npm says where it is; that spares looking for npm.cmd and a shell on Windows.
  const cli = process.env.npm_execpath
  const isNpm = cli !== undefined && basename(cli) === 'npm-cli.js'
  const child = isNpm
    ? spawn(process.execPath, [cli, ...args], { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] })
    : spawn('npm', args, { cwd: root, stdio: ['ignore', 'ignore', 'pipe'], shell: process.platform === 'win32' })
  return new Promise((resolve) => {
    let output = ''
    child.stderr.on('data', (chunk) => {
      output += chunk
      process.stderr.write(chunk)
    })
    child.on('error', (error) => resolve({ code: 1, output: `${output}${error.code} ${error.message}` }))
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

/** What npm's own words come down to: first match wins. */
const FAILURES = [
  [/EUSAGE|in sync/, 'package.json and package-lock.json disagree', 'run `npm install` and commit package-lock.json'],
  [/spawn npm ENOENT|ENOENT spawn npm/, 'npm was not found', 'install npm (it comes with Node), then try again'],
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|UNABLE_TO|CERT_|network/,
    'the package registry could not be reached',
    'check the network, the proxy and `npm config get registry`, then run the same command again',
  ],
  [/\bE40[13]\b/, 'the package registry refused us', 'log in to it, or set another with `npm config set registry`'],
  [
    /\bE404\b|ETARGET/,
    'the registry lacks a package that package-lock.json names',
    'use a complete registry or mirror',
  ],
  [/EINTEGRITY/, 'a package is not the one package-lock.json names', 'run `npm cache clean --force` and try again'],
  [/ENOSPC/, 'the disk is full', 'free some space, then run the same command again'],
  [/EACCES|EPERM|EROFS/, 'npm may not write here', 'give yourself write access to this folder and to npm\'s cache'],
]

/** Cause and fix in two plain lines. */
function explainFailure(code, output) {
  const known = FAILURES.find(([pattern]) => pattern.test(output))
  const [, cause, fix] = known ?? [/./, `npm ended with code ${code}`, 'its own words are above; `npm ci` repeats them']
  return `tickwire: dependencies could not be installed: ${cause}.\nFix: ${fix}.`
}

/** Takes the install lock, waiting for its holder; returns the function that releases it. */
async function lock(folder) {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'install.lock')
  let hasSaid = false
  while (!create(path)) {
    if (breakStale(path)) continue
    if (!hasSaid) console.error('tickwire: waiting for another command that is installing dependencies.')
    hasSaid = true
    await sleep(250)
  }
  // After a long sleep of the machine the lock may be another's: then it is neither touched nor removed.
  const isOurs = () => existsSync(path) && Number(readFileSync(path, 'utf8')) === process.pid
  const beat = setInterval(() => isOurs() && utimesSync(path, new Date(), new Date()), LOCK_BEAT_MS)
  const release = () => {
    clearInterval(beat)
    process.off('exit', release)
    if (isOurs()) rmSync(path, { force: true })
  }
  process.on('exit', release)
  return release
}

function create(path) {
  try {
    writeFileSync(path, `${process.pid}\n`, { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

/** Removes a lock without a holder; moved aside first, or of two who see it stale one removes the other's new lock. */
function breakStale(path) {
  const aside = `${path}.${process.pid}`
  try {
    if (!isStale(path)) return false
    renameSync(path, aside)
    if (!isStale(aside)) linkSync(aside, path)
    return true
  } catch (error) {
    // Gone, or taken again, in the meantime: the caller tries once more.
    if (error.code === 'ENOENT' || error.code === 'EEXIST') return true
    throw error
  } finally {
    rmSync(aside, { force: true })
  }
}

function isStale(path) {
  return Date.now() - statSync(path).mtimeMs > LOCK_STALE_MS || !isAlive(Number(readFileSync(path, 'utf8')))
}

function isAlive(pid) {
  // A lock just created is still empty: its holder is about to write its number.
  if (pid === 0) return true
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}
