/** A server that learns from its own match: real processes, real sockets, players who know the game by its text alone. */

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { bool, defineGame, entity, packed, u8 } from 'tickwire'
import { serve } from 'tickwire/node'
import { endPrograms, Program } from './program.ts'

const SERVER = new URL('./learning-server-process.ts', import.meta.url)
const TICKWIRE = new URL('../../packages/tickwire/src/cli/index.ts', import.meta.url)
const SLOW = { timeout: 240_000 }
/** It learns when the machine has nothing better to do, and tests run beside it. */
const LEARNT_MS_MAX = 90_000
/** Longer than any test. */
const NEVER = '1000000'

let folder = ''
beforeEach(() => { folder = mkdtempSync(join(tmpdir(), 'tickwire-learning-')) })
afterEach(async () => {
  await endPrograms()
  rmSync(folder, { recursive: true, force: true })
})

/** A server, and so many players who stay until the end. */
async function start(windowMs: string, players: number): Promise<Program> {
  const server = new Program(SERVER, [folder, windowMs])
  const [, url] = await server.says(/at (http:\/\/\S+)\n/)
  new Program(TICKWIRE, ['load', url!, '--players', `${players}`, '--seconds', '200'])
  return server
}

test('[LEARN2] learns while it plays, hands it to every player, keeps it, and the next start begins with it', SLOW, async () => {
  const server = await start('4000', 2)
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

test('[LEARN3] what was kept and does not fit is named and left alone; so is a folder that cannot be', SLOW, async () => {
  const path = join(folder, 'match.json')
  writeFileSync(path, '{"Ship":{}}')
  const server = new Program(SERVER, [folder, NEVER])
  await server.says(/at http/)
  expect(server.said).toContain(`warn learnt-unusable: ${path} is left alone, and learnt anew: codec: priors for "Ship"`)
  expect(readFileSync(path, 'utf8')).toBe('{"Ship":{}}')
  server.child.kill('SIGKILL')

  rmSync(path)
  writeFileSync(join(folder, 'file'), '')
  folder = join(folder, 'file')
  const other = await start('4000', 1)
  await other.says(/warn learnt-unwritten: /, LEARNT_MS_MAX)
  await other.says(/versions 1\./)
  expect(existsSync(join(folder, 'match.json'))).toBe(false)
  folder = join(folder, '..')
})

test('[LEARN3] a game without tables cannot learn, nor anybody in no time', async () => {
  const Lamp = entity({ hue: u8 })
  const define = (codec = packed): ReturnType<typeof defineGame> => defineGame({ tickRate: 30, input: { idle: bool }, entities: [Lamp], codec, step: () => {} })
  await expect(serve(define(), { port: 0, learn: true })).rejects.toThrow('learn: match is told by packed, which has no tables. Say codec: entropy(), or leave it out.')
  await expect(serve(define(), { port: 0, learn: { everyMs: 0 } })).rejects.toThrow('learn.everyMs: 0. Give milliseconds, more than none.')
})
