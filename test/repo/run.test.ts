import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import {
  cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { ROOT } from '../../tools/typecheck.ts'

// Each test starts npm and Node a few times, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

const folders: string[] = []
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })))

/**
 * A clone with nothing installed: the real front door, a command of its own, and tsx by path, so that npm needs no
 * registry to install it.
 */
function freshClone(command: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tickwire-clone-')))
  folders.push(folder)
  mkdirSync(join(folder, 'tools', 'commands'), { recursive: true })
  for (const name of ['run.mjs', 'install.mjs']) cpSync(join(ROOT, 'tools', name), join(folder, 'tools', name))
  writeFileSync(join(folder, 'tools', 'commands', 'start.ts'), command)
  writePackage(folder, { tsx: `file:${join(ROOT, 'node_modules', 'tsx')}` })
  return folder
}

/** All clones are siblings, so npm makes the same lockfile for the same package.json in each: it is made once. */
const lockfiles = new Map<string, string>()

/** Writes package.json and the package-lock.json that npm makes from it. */
function writePackage(folder: string, devDependencies: Record<string, string>): void {
  const manifest = JSON.stringify({ name: 'clone', private: true, type: 'module', devDependencies })
  const lockfile = join(folder, 'package-lock.json')
  writeFileSync(join(folder, 'package.json'), manifest)
  rmSync(lockfile, { force: true })
  if (!lockfiles.has(manifest)) {
    spawnSync('npm', ['install', '--package-lock-only', '--no-audit'], { cwd: folder, env: cleanEnv() })
    lockfiles.set(manifest, readFileSync(lockfile, 'utf8'))
  }
  writeFileSync(lockfile, lockfiles.get(manifest) ?? '')
}

/** The environment without the variables of npm and vitest, as in a user's shell. */
function cleanEnv(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(?:npm_|VITEST|NODE_OPTIONS|NODE_ENV)/i.test(name))
  return { ...Object.fromEntries(own), ...extra }
}

interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

function start(
  folder: string,
  args: readonly string[],
  env: Record<string, string> = {},
  nodeArgs: readonly string[] = [],
): ChildProcess {
  return spawn(process.execPath, [...nodeArgs, join(folder, 'tools', 'run.mjs'), ...args], {
    cwd: folder,
    env: cleanEnv(env),
  })
}

async function outcomeOf(child: ChildProcess): Promise<Outcome> {
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk) => { stdout += chunk })
  child.stderr?.on('data', (chunk) => { stderr += chunk })
  return await new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })))
}

async function run(folder: string, args: readonly string[], env?: Record<string, string>): Promise<Outcome> {
  return await outcomeOf(start(folder, args, env))
}

const SAY_HELLO = `const greeting: string = 'hello'\nconsole.log(greeting, ...process.argv.slice(2))\n`

describe('installing', () => {
  test('[REPO1] a fresh clone installs, says why in one line, and later prints nothing more', async () => {
    const clone = freshClone(SAY_HELLO)
    const first = await run(clone, ['start'])
    expect(first).toMatchObject({ code: 0, stdout: 'hello\n' })
    expect(first.stderr).toContain('tickwire: installing dependencies with npm ci, because node_modules is missing.\n')
    expect(await run(clone, ['start'])).toEqual({ code: 0, stdout: 'hello\n', stderr: '' })
  })

  test('[REPO1] production settings do not leave the tools out', async () => {
    expect(await run(freshClone(SAY_HELLO), ['start'], { NODE_ENV: 'production' })).toMatchObject({
      code: 0,
      stdout: 'hello\n',
    })
  })

  test('[REPO2] another lockfile, or an install that did not finish, installs again', async () => {
    const clone = freshClone(SAY_HELLO)
    await run(clone, ['start'])
    mkdirSync(join(clone, 'extra'))
    writeFileSync(join(clone, 'extra', 'package.json'), JSON.stringify({ name: 'extra', version: '1.0.0' }))
    writePackage(clone, { tsx: `file:${join(ROOT, 'node_modules', 'tsx')}`, extra: 'file:./extra' })
    const stale = await run(clone, ['start'])
    expect(stale.stderr).toContain('because package-lock.json asks for another extra than is installed.')
    expect(existsSync(join(clone, 'node_modules', 'extra'))).toBe(true)
    expect((await run(clone, ['start'])).stderr).toBe('')

    rmSync(join(clone, 'node_modules', '.package-lock.json'))
    expect((await run(clone, ['start'])).stderr).toContain('because an earlier install did not finish.')
    expect((await run(clone, ['start'])).stderr).toBe('')
  })

  test('[REPO2] an install made by hand is left alone', async () => {
    const clone = freshClone(SAY_HELLO)
    spawnSync('npm', ['install', '--no-audit'], { cwd: clone, env: cleanEnv() })
    expect(await run(clone, ['start'])).toEqual({ code: 0, stdout: 'hello\n', stderr: '' })
  })

  test('[REPO3] of commands that start together one installs', async () => {
    const clone = freshClone(SAY_HELLO)
    const outcomes = await Promise.all([1, 2, 3].map((n) => run(clone, ['start', String(n)])))
    expect(outcomes.map(({ code }) => code)).toEqual([0, 0, 0])
    expect(outcomes.map(({ stdout }) => stdout)).toEqual(['hello 1\n', 'hello 2\n', 'hello 3\n'])
    expect(outcomes.filter(({ stderr }) => stderr.includes('installing dependencies with'))).toHaveLength(1)
    expect(readdirSync(join(clone, '.cache'))).toEqual([])
  })

  test('[REPO3] a lock whose holder died or hangs is broken', async () => {
    const dead = spawnSync(process.execPath, ['-e', '']).pid
    for (const [holder, ageMs] of [[dead, 0], [process.pid, 60_000]] as const) {
      const clone = freshClone(SAY_HELLO)
      const lock = join(clone, '.cache', 'install.lock')
      mkdirSync(join(clone, '.cache'))
      writeFileSync(lock, `${holder}\n`)
      const touchedAt = new Date(Date.now() - ageMs)
      utimesSync(lock, touchedAt, touchedAt)
      expect(await run(clone, ['start'])).toMatchObject({ code: 0, stdout: 'hello\n' })
      expect(existsSync(lock)).toBe(false)
    }
  })
})

describe('errors before the command starts', () => {
  test('[REPO4] an install without a registry is reported with cause and fix', async () => {
    const clone = freshClone(SAY_HELLO)
    const lockfile = JSON.parse(readFileSync(join(clone, 'package-lock.json'), 'utf8'))
    lockfile.packages[''].devDependencies['left-pad'] = '1.3.0'
    lockfile.packages['node_modules/left-pad'] = { version: '1.3.0', dev: true }
    writeFileSync(join(clone, 'package-lock.json'), JSON.stringify(lockfile))
    const manifest = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8'))
    manifest.devDependencies['left-pad'] = '1.3.0'
    writeFileSync(join(clone, 'package.json'), JSON.stringify(manifest))
    const offline = {
      npm_config_registry: 'http://127.0.0.1:1',
      npm_config_fetch_retries: '0',
      npm_config_cache: join(clone, 'npm-cache'),
    }
    const { code, stderr } = await run(clone, ['start'], offline)
    expect(code).toBe(1)
    expect(stderr).toContain(
      'tickwire: dependencies could not be installed: the package registry could not be reached.\n'
        + 'Fix: check the network',
    )
    expect(existsSync(join(clone, '.cache', 'install.lock'))).toBe(false)
  })

  test('[REPO4] a lockfile that contradicts package.json is reported with cause and fix', async () => {
    const clone = freshClone(SAY_HELLO)
    writeFileSync(
      join(clone, 'package.json'),
      JSON.stringify({ name: 'clone', private: true, devDependencies: { 'left-pad': '1.3.0' } }),
    )
    const { code, stderr } = await run(clone, ['start'])
    expect(code).toBe(1)
    expect(stderr).toContain(
      'package.json and package-lock.json disagree.\nFix: run `npm install` and commit package-lock.json.',
    )
  })

  test('[REPO4] a Node that is too old is reported with cause and fix', async () => {
    const old = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.18.1'}})`
    const { code, stderr } = await outcomeOf(start(ROOT, ['start'], {}, ['--import', old]))
    expect(code).toBe(1)
    expect(stderr).toMatch(/^Tickwire needs Node 20\.19 or newer; this is v.*\nFix: install the current Node LTS/)
  })
})

describe('what passes through unchanged', () => {
  const clone = freshClone('')
  const command = (code: string): void => writeFileSync(join(clone, 'tools', 'commands', 'start.ts'), code)

  test('[REPO5] arguments and the exit code pass unchanged', async () => {
    command(`console.log(JSON.stringify(process.argv.slice(2)))\nprocess.exitCode = 7\n`)
    const { code, stdout } = await run(clone, ['start', 'a b', '--flag', '--', '*'])
    expect(code).toBe(7)
    expect(JSON.parse(stdout)).toEqual(['a b', '--flag', '--', '*'])
  })

  test.each(['SIGTERM', 'SIGINT'] as const)('[REPO5] %s reaches the command', async (signal) => {
    command(
      `process.on('${signal}', () => { console.log('bye'); process.exit(3) })\n`
        + `console.log('ready')\nsetInterval(() => {}, 1000)\n`,
    )
    const child = start(clone, ['start'])
    child.stdout?.on('data', (chunk) => { if (String(chunk).includes('ready')) child.kill(signal) })
    expect(await outcomeOf(child)).toMatchObject({ code: 3, stdout: 'ready\nbye\n' })
  })

  test('[REPO5] a command that dies of a signal gives 128 and the number of the signal', async () => {
    command(`process.kill(process.pid, 'SIGKILL')\n`)
    expect((await run(clone, ['start'])).code).toBe(128 + 9)
  })
})

describe('the commands', () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const names = readdirSync(join(ROOT, 'tools', 'commands')).map((name) => name.replace(/\.ts$/, '')).sort()

  test('[REPO6] package.json, tools/run.mjs and tools/commands agree on commands and Node version', async () => {
    const scripts = Object.entries(manifest.scripts).map(([name, script]) => [name, script])
    expect(scripts.sort()).toEqual(names.map((name) => [name, `node tools/run.mjs ${name}`]))
    const { code, stdout } = await run(ROOT, ['--help'])
    expect(code).toBe(0)
    expect([...stdout.matchAll(/^ {2}npm (?:run )?(\w+)/gm)].map((match) => match[1]).sort()).toEqual(names)
    expect(manifest.engines.node).toBe('>=20.19')
    expect(readFileSync(join(ROOT, 'tools', 'run.mjs'), 'utf8')).toContain('NODE_MIN = [20, 19]')
  })

  test.concurrent.each(names)('[REPO6] %s explains itself', async (name) => {
    const { code, stdout } = await run(ROOT, [name, '--help'])
    expect(code).toBe(0)
    expect(stdout).toContain(name === 'start' || name === 'test' ? `npm ${name}` : `npm run ${name}`)
  })

  test('[REPO6] an unknown command or option is refused', async () => {
    expect((await run(ROOT, ['frobnicate'])).code).toBe(2)
    for (const name of ['check', 'sim', 'fuzz']) {
      const { code, stderr } = await run(ROOT, [name, '--frobnicate'])
      expect(code).toBe(2)
      expect(stderr).toContain(`Unknown option '--frobnicate'`)
      expect(stderr).toContain(`npm run ${name}`)
    }
  })

  test('[REPO6] a game that takes no arguments refuses them, and names its server file', async () => {
    const { code, stdout, stderr } = await run(ROOT, ['start', 'hello', '--frobnicate'])
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: 'hello takes no arguments: its settings are in games/hello/server.ts.\n',
    })
    expect(await run(ROOT, ['start', 'hello', '--help'])).toEqual({ code: 0, stdout: stderr, stderr: '' })
  })
})
