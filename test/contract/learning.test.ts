/**
 * A server that learns from its own match: real processes, real sockets, players that know the game by its text alone.
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test, type TestContext } from 'vitest'
import { bool, defineGame, entity, entropy, packed, u8 } from 'tickwire'
import { serve } from 'tickwire/node'
import type { LearningServer } from './learning-server-process.ts'
import { bundlePrograms, type ProgramBundle } from '../bundle-programs.ts'
import { Program } from './program.ts'

/** As in the package, the training program is beside the server program. */
const PROGRAMS = {
  server: 'test/contract/learning-server-process.ts',
  'learning-process': 'packages/tickwire/src/node/learning-process.ts',
  tickwire: 'packages/tickwire/src/cli/index.ts',
}
/** Each mostly waits for its own server. */
const SLOW = { timeout: 240_000, concurrent: true }
/** Training has a low priority, and other tests run at the same time. */
const LEARNT_MS_MAX = 90_000
/** How much of a match is recorded before a study begins. One study is enough then, also on a busy machine. */
const WINDOW_MS = 4000
/** May be too short to learn anything: for servers that study again and again. */
const SHORT_WINDOW_MS = 1000
/** Longer than any test. */
const NEVER = 1_000_000

let bundle: ProgramBundle
beforeAll(async () => { bundle = await bundlePrograms(PROGRAMS) })
afterAll(() => bundle.remove())

/** The server of one test, its players, and the folder in which it keeps tables. All of it goes when the test ends. */
class Stage {
  readonly folder = mkdtempSync(join(tmpdir(), 'tickwire-learning-'))
  readonly #programs: Program[] = []

  constructor({ onTestFinished }: TestContext) {
    onTestFinished(async () => {
      for (const { child } of this.#programs) child.kill('SIGKILL')
      await Promise.all(this.#programs.map(({ ended }) => ended))
      rmSync(this.folder, { recursive: true, force: true })
    })
  }

  /** Starts a server, and players that stay until the end. */
  async start(windowMs: number, players: number, more: LearningServer = {}): Promise<Program> {
    const server = this.serve({ windowMs, ...more })
    await this.addPlayers(server, players)
    return server
  }

  serve(options: LearningServer): Program {
    return this.#run('server', JSON.stringify({ folder: this.folder, ...options }))
  }

  async addPlayers(server: Program, players: number): Promise<void> {
    const [, url] = await server.says(/at (http:\/\/\S+)\n/)
    this.#run('tickwire', 'load', url!, '--players', `${players}`, '--seconds', '230')
  }

  #run(name: keyof typeof PROGRAMS, ...args: string[]): Program {
    const program = new Program(pathToFileURL(join(bundle.folder, `${name}.mjs`)), args)
    this.#programs.push(program)
    return program
  }
}

test(
  '[LEARN2] learns while it plays, sends the tables to every player, keeps them for the next start',
  SLOW,
  async (context) => {
    const stage = new Stage(context)
    const server = await stage.start(WINDOW_MS, 2)
    const [, percent] = await server.says(/info learnt: match is sent in (\d+) % fewer bits from now on/, LEARNT_MS_MAX)
    expect(Number(percent)).toBeGreaterThan(10)
    await server.says(/versions 1,1\./)
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect(server.said, 'and both play on').toMatch(/versions 1,1\.\n$/)
    expect(Object.keys(JSON.parse(readFileSync(join(stage.folder, 'match.json'), 'utf8')))).toEqual(['Boat'])
    server.child.kill('SIGINT')
    expect(await server.ended).toBe(0)

    const next = await stage.start(NEVER, 1)
    await next.says(/versions 1\./)
    expect(next.said).not.toContain('learnt')
  },
)

test('[LEARN2] a room that is created after something was learnt uses the new tables', SLOW, async (context) => {
  const stage = new Stage(context)
  const server = await stage.start(WINDOW_MS, 2, { hasRooms: true })
  await server.says(/info learnt: regatta is sent in \d+ % fewer bits from now on/, LEARNT_MS_MAX)
  await server.says(/versions 1,1\./)
  // A room has two seats.
  await stage.addPlayers(server, 2)
  await server.says(/versions 1,1;1,1\./)
  expect(server.said.match(/ learnt: /g), 'no second training was needed').toHaveLength(1)
  expect(Object.keys(JSON.parse(readFileSync(join(stage.folder, 'regatta.json'), 'utf8')))).toEqual(['Boat'])
})

/** The fault of a learning process, and the warning it causes. */
const DEATHS: readonly (readonly [fault: string, says: RegExp])[] = [
  ['process.kill(process.pid, "SIGKILL")', /the training process was ended by SIGKILL\./],
  ['console.error("no memory"); process.exit(3)', /the training process has ended with 3\. no memory/],
  [
    'process.prependListener("message", () => { throw new Error("torn asunder") })',
    /the training process has ended with 1\. [^]*torn asunder/,
  ],
  [
    'const { once } = process; process.once = (name, listener) => '
      + 'once.call(process, name, (task) => listener({ ...task, bytes: task.bytes.subarray(0, 20) }))',
    /the recording cannot be used \(damaged-head\)/,
  ],
  ['no-argument', /no process could be started\. /],
  ['no-program', /the training process could not be started\. spawn .* ENOENT/],
]

const moduleOf = (fault: string): string =>
  fault.startsWith('no-') ? fault : `data:text/javascript,${encodeURIComponent(fault)}`

test(
  '[LEARN3] a study that dies, gets half a recording or cannot start is a warning, and the match goes on',
  SLOW,
  async (context) => {
    const stage = new Stage(context)
    const faults = DEATHS.map(([fault]) => moduleOf(fault))
    const server = await stage.start(SHORT_WINDOW_MS, 2, { everyMs: 1, faults })
    await server.says(/versions 0,0\./)
    for (const [fault, says] of DEATHS) {
      const before = server.said.length
      await server.says(
        new RegExp(`^[^]{${before}}[^]*warn learning-failed: training for match failed this time: ${says.source}`),
        LEARNT_MS_MAX,
      )
      await server.says(new RegExp(`^[^]{${before}}[^]*play on in tick`))
      expect(server.said.slice(before), fault).not.toContain('versions')
    }
    const lines = [...server.said.matchAll(/(\d+) play on in tick (\d+)\./g)]
    expect(lines.map(([, players]) => players)).toEqual(DEATHS.map(() => '2'))
    const ticks = lines.map(([, , tick]) => Number(tick))
    expect(
      ticks.every((tick, at) => at === 0 || tick > ticks[at - 1]!),
      `the world goes on: ${ticks.join()}`,
    ).toBe(true)
    await server.says(/info learnt: match is sent in \d+ % fewer bits/, LEARNT_MS_MAX)
    await server.says(/versions 1,1\./)
    server.child.kill('SIGINT')
    expect(await server.ended).toBe(0)
  },
)

test(
  '[LEARN3] a study that does not end is killed, and the next one starts',
  SLOW,
  async (context) => {
    const stage = new Stage(context)
    const deaf = moduleOf('process.on("SIGTERM", () => {}); for (;;);')
    const server = await stage.start(300, 1, { everyMs: 1, studyMsMax: 700, faults: [deaf, deaf] })
    const warning =
      'warn learning-failed: training for match failed this time: '
      + 'the training process took longer than 700 ms\\.\n1 play on in tick \\d+\\.\n[^]*'
    await server.says(new RegExp(`(${warning}){2}`), LEARNT_MS_MAX)
    // The server does not wait for the training process at its end.
    server.child.kill('SIGINT')
    expect(await server.ended).toBe(0)
  },
)

test(
  '[LEARN3] learnt tables and folders that cannot be used are reported, and are not changed',
  SLOW,
  async (context) => {
    const stage = new Stage(context)
    const path = join(stage.folder, 'match.json')
    writeFileSync(path, '{"Ship":{}}')
    const server = stage.serve({ windowMs: NEVER })
    await server.says(/at http/)
    expect(server.said).toContain(
      `warn learnt-unusable: ${path} cannot be used, and is not changed: codec: priors for "Ship"`,
    )
    expect(readFileSync(path, 'utf8')).toBe('{"Ship":{}}')

    const file = join(stage.folder, 'file')
    writeFileSync(file, '')
    const other = await stage.start(SHORT_WINDOW_MS, 1, { folder: file, everyMs: 1 })
    await other.says(/warn learnt-unwritten: /, LEARNT_MS_MAX)
    await other.says(/versions [1-9]\d*\./)
    expect(readFileSync(file, 'utf8')).toBe('')
  },
)

test('[LEARN3] `learn` is refused for a codec without tables, and with a time that is not above 0', async () => {
  const Lamp = entity({ hue: u8 })
  const define = (codec = packed): ReturnType<typeof defineGame> =>
    defineGame({ tickRate: 30, input: { idle: bool }, entities: [Lamp], codec, step: () => {} })
  await expect(serve(define(), { port: 0, learn: true })).rejects.toThrow(
    'learn: match uses the codec packed, which has no tables. Fix: write codec: entropy(), or leave `learn` out.',
  )
  await expect(serve(define(entropy()), { port: 0, learn: { studyMsMax: -1 } })).rejects.toThrow(
    'learn.studyMsMax: invalid time (expected above 0 ms, got -1). Fix: give milliseconds above 0.',
  )
  await expect(serve(define(), { port: 0, learn: { everyMs: 0 } })).rejects.toThrow(
    'learn.everyMs: invalid time (expected above 0 ms, got 0). Fix: give milliseconds above 0.',
  )
})
