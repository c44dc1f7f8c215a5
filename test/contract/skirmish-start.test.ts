/** Skirmish as a command: what it prints and refuses, and its two relays. Real processes, real ports. */

import { createServer, type AddressInfo, type Server } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { readArguments } from '../../games/skirmish/arguments.ts'
import { STANDBY_ABOVE } from '../../games/skirmish/serve-group.ts'
import { freePair } from '../free-pair.ts'
import { endPrograms, Program } from './program.ts'

const SERVER = new URL('../../games/skirmish/server.ts', import.meta.url)
const FOLDER = fileURLToPath(new URL('../../games/skirmish', import.meta.url))
const SLOW = { timeout: 180_000 }
const servers: Server[] = []

afterEach(async () => {
  for (const server of servers.splice(0)) server.close()
  await endPrograms()
})

function start(...args: readonly string[]): Program {
  return new Program(SERVER, args, FOLDER)
}

async function occupy(port: number): Promise<number> {
  const server = createServer()
  servers.push(server)
  await new Promise<void>((resolve) => { server.listen(port, resolve) })
  return (server.address() as AddressInfo).port
}

/** The status of POST /kill at a standby, as a page of `origin` sends it. */
async function kill(port: number, origin: string): Promise<number> {
  const url = `http://localhost:${port + STANDBY_ABOVE}/kill`
  const { status } = await fetch(url, { method: 'POST', headers: { origin } })
  return status
}

test('[SKIRM30] the command line has defaults, and refuses what it does not know by name', () => {
  expect(readArguments([])).toEqual({ port: 4000, observers: 8, fog: false })
  expect(readArguments(['--port', '0', '--observers=2', '--replays', 'there']))
    .toEqual({ port: 0, observers: 2, fog: false, replays: 'there' })
  expect(readArguments(['--fog'])).toMatchObject({ fog: true })
  expect(readArguments(['--standby'])).toEqual({ problem: "Unknown option '--standby'" })
  expect(readArguments(['--port', '99999']))
    .toEqual({ problem: '--port takes a whole number from 0 to 65535, not "99999"' })
  expect(readArguments(['--observers', '65']))
    .toEqual({ problem: '--observers takes a whole number from 0 to 64, not "65"' })
  expect(readArguments(['--fog', '--replays', 'there']))
    .toEqual({ problem: expect.stringContaining('Leave out --fog') })
})

test('[SKIRM30] --help explains; an unknown option ends with 2', SLOW, async () => {
  const [help, wrong] = [start('--help'), start('--speed', '9')]
  expect(await help.ended).toBe(0)
  for (const flag of ['npm start -- skirmish', '--port', '--observers', '--replays', '--fog'])
    expect(help.said).toContain(flag)
  expect(await wrong.ended).toBe(2)
  expect(wrong.said).toBe(`Unknown option '--speed'\n\n${help.said}`)
})

test('[SKIRM26] [SKIRM30] two relays are served, and a page of the first one kills it', SLOW, async () => {
  const port = await freePair()
  const program = start('--port', String(port))
  const [, url] = await program.says(/\n {2}(http:\S+)\n/)
  await program.says(/Ctrl-C ends it/)
  expect(url).toBe(`http://localhost:${port}/?standby=${port + STANDBY_ABOVE}`)
  const page = `http://localhost:${port}`
  expect(await (await fetch(url!)).text()).toContain('<title>Skirmish')
  for (const each of [port, port + STANDBY_ABOVE])
    expect(await (await fetch(`http://localhost:${each}/tickwire/info`)).json()).toHaveProperty('identity')
  expect(await kill(port, 'http://game.example')).toBe(404)
  expect((await fetch(`http://localhost:${port + STANDBY_ABOVE}/kill`)).status).toBe(404)
  expect((await fetch(page)).status).toBe(200)
  expect(await kill(port, page)).toBe(204)
  const isServed = async (): Promise<boolean> => await fetch(page).then(() => true, () => false)
  await expect.poll(isServed, { timeout: 10_000 }).toBe(false)
  // For new matches it starts again.
  await expect.poll(isServed, { timeout: 60_000 }).toBe(true)
  program.child.kill('SIGINT')
  expect(await program.ended).toBe(0)
  await expect.poll(isServed, { timeout: 10_000 }).toBe(false)
})

test('[SKIRM30] a port in use is reported; without the second port there is one relay', SLOW, async () => {
  const taken = await freePair()
  await occupy(taken)
  const port = await freePair()
  await occupy(port + STANDBY_ABOVE)
  const [refused, alone, any] = [start('--port', `${taken}`), start('--port', `${port}`), start('--port', '0')]
  expect(await refused.ended).toBe(1)
  expect(refused.said).toContain(`port: ${taken} is in use`)
  expect(refused.said).not.toContain('    at ')
  await alone.says(/Ctrl-C ends it/)
  expect(alone.said).toContain(`  http://localhost:${port}\n`)
  expect(alone.said).toMatch(/There is one relay only: .*in use/)
  await any.says(/There is one relay only: two relays need --port\./)
})

test('[SKIRM30] --fog serves matches that the server steps', SLOW, async () => {
  const program = start('--port', '0', '--fog')
  const [, url] = await program.says(/\n {2}(http:\S+\/\?fog)\n/)
  await program.says(/This server steps the matches: a page receives what its team sees\./)
  expect(await (await fetch(url!)).text()).toContain('<title>Skirmish')
  // The schema of a served game is there; a relay has none.
  expect((await fetch(new URL('/tickwire/game', url))).status).toBe(200)
  program.child.kill('SIGINT')
  expect(await program.ended).toBe(0)
})
