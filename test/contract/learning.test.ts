/** A server that learns from its own match: real processes, real sockets, players who know the game by its text alone. */

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { bool, defineGame, entity, entropy, packed, u8 } from 'tickwire'
import { serve } from 'tickwire/node'
import type { LearningServer } from './learning-server-process.ts'
import { endPrograms, Program } from './program.ts'

const SERVER = new URL('./learning-server-process.ts', import.meta.url)
const TICKWIRE = new URL('../../packages/tickwire/src/cli/index.ts', import.meta.url)
const SLOW = { timeout: 240_000 }
/** It learns when the machine has nothing better to do, and tests run beside it. */
const LEARNT_MS_MAX = 90_000
/** Longer than any test. */
const NEVER = 1_000_000

let folder = ''
beforeEach(() => { folder = mkdtempSync(join(tmpdir(), 'tickwire-learning-')) })
afterEach(async () => {
  await endPrograms()
  rmSync(folder, { recursive: true, force: true })
})

/** A server, and so many players who stay until the end. */
async function start(windowMs: number, players: number, more: LearningServer = {}): Promise<Program> {
  const server = new Program(SERVER, [JSON.stringify({ folder, windowMs, ...more })])
  await addPlayers(server, players)
  return server
}

async function addPlayers(server: Program, players: number): Promise<void> {
  const [, url] = await server.says(/at (http:\/\/\S+)\n/)
  new Program(TICKWIRE, ['load', url!, '--players', `${players}`, '--seconds', '230'])
}

test('[LEARN2] learns while it plays, hands it to every player, keeps it, and the next start begins with it', SLOW, async () => {
  const server = await start(4000, 2)
  const [, percent] = await server.says(/info learnt: match is told in (\d+) % fewer bits from now on/, LEARNT_MS_MAX)
  expect(Number(percent)).toBeGreaterThan(10)
  await server.says(/versions 1,1\./)
  await new Promise((resolve) => setTimeout(resolve, 1000))
  expect(server.said, 'and both play on').toMatch(/versions 1,1\.\n$/)
  expect(Object.keys(JSON.parse(readFileSync(join(folder, 'match.json'), 'utf8')))).toEqual(['Boat'])
  server.child.kill('SIGINT')
  expect(await server.ended).toBe(0)

  const next = await start(NEVER, 1)
  await next.says(/versions 1\./)
  expect(next.said).not.toContain('learnt')
})

test('[LEARN2] a room that is made after something was learnt is told by it', SLOW, async () => {
  const server = await start(4000, 2, { hasRooms: true })
  await server.says(/info learnt: regatta is told in \d+ % fewer bits from now on/, LEARNT_MS_MAX)
  await server.says(/versions 1,1\./)
  // Two have room in one.
  await addPlayers(server, 2)
  await server.says(/versions 1,1;1,1\./)
  expect(server.said.match(/ learnt: /g), 'nothing was learnt anew for that').toHaveLength(1)
  expect(Object.keys(JSON.parse(readFileSync(join(folder, 'regatta.json'), 'utf8')))).toEqual(['Boat'])
})

/** What befalls a process that learns, and what is said of it. */
const DEATHS: readonly (readonly [fault: string, says: RegExp])[] = [
  ['process.kill(process.pid, "SIGKILL")', /the process that learns was ended by SIGKILL\./],
  ['console.error("no memory"); process.exit(3)', /the process that learns has ended with 3\. no memory/],
  ['process.prependListener("message", () => { throw new Error("torn asunder") })', /the process that learns has ended with 1\. [^]*torn asunder/],
  ['const { once } = process; process.once = (name, hear) => once.call(process, name, (task) => hear({ ...task, bytes: task.bytes.subarray(0, 20) }))', /what was recorded is of no use \(damaged-head\)/],
  ['no-argument', /no process could be started\. /],
  ['no-program', /the process that learns could not be started\. spawn .* ENOENT/],
]

const moduleOf = (fault: string): string => fault.startsWith('no-') ? fault : `data:text/javascript,${encodeURIComponent(fault)}`

test('[LEARN3] a study that dies, is handed half of a recording or cannot begin is a warning: the match goes on, nobody leaves, and the next one is begun', SLOW, async () => {
  const server = await start(2500, 2, { everyMs: 1, faults: DEATHS.map(([fault]) => moduleOf(fault)) })
  await server.says(/versions 0,0\./)
  for (const [fault, says] of DEATHS) {
    const before = server.said.length
    await server.says(new RegExp(`^[^]{${before}}[^]*warn learning-failed: nothing was learnt of match this time: ${says.source}`), LEARNT_MS_MAX)
    await server.says(new RegExp(`^[^]{${before}}[^]*play on in tick`))
    expect(server.said.slice(before), fault).not.toContain('versions')
  }
  const lines = [...server.said.matchAll(/(\d+) play on in tick (\d+)\./g)]
  expect(lines.map(([, players]) => players)).toEqual(DEATHS.map(() => '2'))
  const ticks = lines.map(([, , tick]) => Number(tick))
  expect(ticks.every((tick, at) => at === 0 || tick > ticks[at - 1]!), `the world goes on: ${ticks.join()}`).toBe(true)
  await server.says(/info learnt: match is told in \d+ % fewer bits/, LEARNT_MS_MAX)
  await server.says(/versions 1,1\./)
  server.child.kill('SIGINT')
  expect(await server.ended).toBe(0)
})

test('[LEARN3] a study that does not end is ended, though it does not listen, and the next one is begun', SLOW, async () => {
  const deaf = moduleOf('process.on("SIGTERM", () => {}); for (;;);')
  const server = await start(1000, 1, { everyMs: 1, studyMsMax: 1500, faults: [deaf, deaf] })
  await server.says(/(warn learning-failed: nothing was learnt of match this time: the process that learns took longer than 1500 ms\.\n1 play on in tick \d+\.\n[^]*){2}/, LEARNT_MS_MAX)
  // Nor does the server's end wait for it.
  server.child.kill('SIGINT')
  expect(await server.ended).toBe(0)
})

test('[LEARN3] what was kept and does not fit is named and left alone; so is a folder that cannot be', SLOW, async () => {
  const path = join(folder, 'match.json')
  writeFileSync(path, '{"Ship":{}}')
  const server = new Program(SERVER, [JSON.stringify({ folder, windowMs: NEVER })])
  await server.says(/at http/)
  expect(server.said).toContain(`warn learnt-unusable: ${path} is left alone, and learnt anew: codec: priors for "Ship"`)
  expect(readFileSync(path, 'utf8')).toBe('{"Ship":{}}')
  server.child.kill('SIGKILL')

  rmSync(path)
  writeFileSync(join(folder, 'file'), '')
  folder = join(folder, 'file')
  const other = await start(4000, 1)
  await other.says(/warn learnt-unwritten: /, LEARNT_MS_MAX)
  await other.says(/versions 1\./)
  expect(existsSync(join(folder, 'match.json'))).toBe(false)
  folder = join(folder, '..')
})

test('[LEARN3] a game without tables cannot learn, nor anybody in no time', async () => {
  const Lamp = entity({ hue: u8 })
  const define = (codec = packed): ReturnType<typeof defineGame> => defineGame({ tickRate: 30, input: { idle: bool }, entities: [Lamp], codec, step: () => {} })
  await expect(serve(define(), { port: 0, learn: true })).rejects.toThrow('learn: match is told by packed, which has no tables. Say codec: entropy(), or leave it out.')
  await expect(serve(define(entropy()), { port: 0, learn: { studyMsMax: -1 } })).rejects.toThrow('learn.studyMsMax: -1. Give milliseconds, more than none.')
  await expect(serve(define(), { port: 0, learn: { everyMs: 0 } })).rejects.toThrow('learn.everyMs: 0. Give milliseconds, more than none.')
})
