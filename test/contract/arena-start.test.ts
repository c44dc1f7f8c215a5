/**
 * The arena as a command: what it prints, what it refuses and how it goes on, and how it ends. Real processes, real
 * ports.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { createClientHost, createMatchHost } from 'tickwire/engine'
import {
  bestProvider, connect, monotonicNow as now, openRecordingFile, openUdp, systemEntropy, type UdpPort,
} from 'tickwire/node'
import { readArguments } from '../../games/arena/arguments.ts'
import { Fighter, Seat } from '../../games/arena/definitions.ts'
import { arenaGame } from '../../games/arena/game.ts'
import { greeting, type Greeted } from '../../games/arena/greeting.ts'
import { parseWeather } from '../../games/arena/weather.ts'
import { readQrText } from '../qr-reader.ts'
import { endPrograms, Program } from './program.ts'

const SERVER = new URL('../../games/arena/server.ts', import.meta.url)
const SLOW = { timeout: 120_000 }

afterEach(endPrograms)

test(
  '[ARENA15] prints its address, transports and tick rate, serves its page, and Ctrl-C ends it with 0',
  SLOW,
  async () => {
    const program = new Program(SERVER, ['--port', '0', '--bots', '3', '--tick', '64', '--weather', '100ms,20ms,5%'])
    const [, url] = await program.says(/Arena +(http:\/\/localhost:\d+)\n/)
    await program.says(/Ctrl-C ends it/)
    expect(program.said).toContain('64 ticks a second, 3 gentle bots, up to 24 players and 8 spectators')
    expect(program.said).toContain('100 ms each way, 20 ms of jitter, 5 % lost')
    expect(program.said).toMatch(/transports +.*websocket, udp/)
    expect(program.said).toMatch(/on the net +http:\/\/[\d.]+:\d+[^]*Join from a phone[^]*█|no network/)
    expect(await (await fetch(`${url}/`)).text()).toContain('<title>Arena')
    expect(await (await fetch(`${url}/tickwire/game`)).text()).toMatch(/^tickRate 64$/m)
    program.child.kill('SIGINT')
    expect(await program.ended).toBe(0)
  },
)

test('[ARENA15] --help explains; invalid arguments are refused with valid ones', SLOW, async () => {
  const help = new Program(SERVER, ['--help'])
  expect(await help.ended).toBe(0)
  for (const flag of [
    '--port',
    '--bots',
    '--level',
    '--tick',
    '--weather',
    '--record',
    '--learn',
    '--host',
    '--rendezvous',
    '--local',
    '--help',
  ])
    expect(help.said).toContain(flag)
  const wrong = new Program(SERVER, ['--port', '99999'])
  expect(await wrong.ended).toBe(2)
  expect(wrong.said).toContain('--port takes a whole number from 0 to 65535, not "99999"')
  expect(readArguments(['--weather', 'stormy'])).toEqual({
    problem: expect.stringContaining('--weather takes something like 100ms,20ms,5%'),
  })
  expect(readArguments(['--speed', '9'])).toEqual({ problem: "Unknown option '--speed'" })
  expect(readArguments(['--local', '--host'])).toEqual({ problem: expect.stringContaining('choose one') })
  expect(readArguments(['--bots', '3', '--host'])).toMatchObject({
    bots: 3,
    port: 4000,
    tickRate: 128,
    isHosting: true,
  })
})

test('[ARENA15] a port in use is reported, with a command that works', SLOW, async () => {
  const other = createServer()
  await new Promise<void>((resolve) => { other.listen(0, resolve) })
  const { port } = other.address() as AddressInfo
  const program = new Program(SERVER, ['--port', `${port}`])
  expect(await program.ended).toBe(1)
  other.close()
  const { said } = program
  expect(said).toContain(`${port} is in use by another program`)
  expect(said).toContain(`npm start -- --port ${port + 10}`)
})

test(
  '[ARENA15] --record writes the match to a file, or says why it cannot, and ends',
  SLOW,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tickwire-arena-'))
    try {
      const path = join(folder, 'match.twr')
      const program = new Program(SERVER, ['--port', '0', '--record', path])
      await program.says(/Ctrl-C ends it/)
      expect(program.said).toContain(`recorded      ${path}`)
      program.child.kill('SIGINT')
      expect(await program.ended).toBe(0)
      expect(program.said).toMatch(/recorded +\S+match\.twr, \d+\.\d MB\s+npx tickwire inspect \S+match\.twr --open/)
      const opened = openRecordingFile(path)
      if (typeof opened === 'string') throw new Error(opened)
      expect(opened.recording.end).toBe('closed')
      opened.close()
      const wrong = new Program(SERVER, ['--port', '0', '--record', folder])
      expect(await wrong.ended).toBe(1)
      expect(wrong.said).toContain(folder)
    } finally {
      rmSync(folder, { recursive: true })
    }
    vi.stubEnv('INIT_CWD', '/some/place')
    expect(readArguments(['--record', 'match.twr'])).toMatchObject({ recordPath: resolve('/some/place/match.twr') })
    vi.unstubAllEnvs()
    expect(readArguments(['--local', '--record', 'match.twr'])).toEqual({
      problem: expect.stringContaining('choose one'),
    })
    expect(readArguments(['--local', '--learn'])).toEqual({ problem: expect.stringContaining('choose one') })
  },
)

test('[ARENA15] --local is for this machine, without a network', SLOW, async () => {
  const program = new Program(SERVER, ['--port', '0', '--local'])
  await program.says(/Arena +http:\/\/localhost:\d+\/\?local\n/)
  await program.says(/Ctrl-C ends it/)
  expect(program.said).not.toContain('on the net')
  program.child.kill('SIGTERM')
  expect(await program.ended).toBe(0)
})

test('[ARENA15] without a network or a provider it goes on, and says what is missing', () => {
  const facts: Greeted = {
    url: 'http://localhost:4000',
    addresses: [],
    transports: ['websocket', 'udp'],
    missing: { webtransport: 'no provider is installed', webrtc: 'no provider is installed' },
    seats: { players: 24, spectators: 8 },
    tickRate: 128,
    bots: 5,
    isLocal: false,
    weather: undefined,
  }
  const said = greeting(facts)
  expect(said).toContain('no network    others cannot join; on this machine everything works')
  expect(said).toContain('without       webtransport: no provider is installed')
  expect(said).not.toContain('█')
  expect(greeting({ ...facts, addresses: ['192.168.1.20'] })).toContain('http://192.168.1.20:4000')
  const hosted = { code: 'IRON-7K3M', link: 'http://192.168.1.20:4000/#IRON-7K3M-0123456789ABCDEF' }
  expect(greeting({ ...facts, hosted })).toMatch(/IRON-7K3M\n.*#IRON-7K3M-0123[^]*you host it[^]*█/)
  expect(parseWeather('100ms, 20ms, 5%')).toEqual({ latencyMs: 100, jitterMs: 20, loss: 0.05 })
  expect(parseWeather('100')).toEqual({ latencyMs: 100, jitterMs: 0, loss: 0 })
  for (const nonsense of ['', 'ms', '100%', '10ms,5ms,100%', '9999']) expect(parseWeather(nonsense)).toBeUndefined()
})

test("[ARENA16] the host plays in the server's own process, and two others join over UDP", SLOW, async () => {
  const security = { provider: bestProvider() }
  const { rooms, host } = createMatchHost(arenaGame(), {
    role: 'listen',
    entropy: systemEntropy,
    security,
  })
  const door = await openUdp({ address: '127.0.0.1' })
  door.onDatagram = (from, bytes, length) => rooms.handleDatagram(now(), from, bytes, length)
  const own = host.join(() => ({ ahead: 8 }))
  const guests = await Promise.all([0, 1].map(async () => {
    const port: UdpPort = await openUdp({ address: '127.0.0.1' })
    const guest = createClientHost(arenaGame(), { entropy: systemEntropy, security })
    port.onDatagram = (from, bytes, length) => guest.handleDatagram(now(), from, bytes, length)
    guest.connect(now(), door.localAddress)
    return { guest, port }
  }))
  const pump = setInterval(() => {
    for (const { guest, port } of guests) {
      guest.tick(now())
      guest.drain(now(), port)
    }
    rooms.tick(now())
    rooms.drain(now(), door)
  }, 2)
  const isPlayed = (): boolean =>
    guests.every(({ guest }) => [...guest.draw(now()).each(Fighter)].length === 3)
    && [...host.draw().each(Seat)].length === 3
    && [...host.draw().each(Fighter)].some(
      ({ owner, speed }) => owner === own.id && Math.hypot(speed.x, speed.z) > 5,
    )
  for (const deadline = Date.now() + 30_000; !isPlayed() && Date.now() < deadline;)
    await new Promise((resolve) => setTimeout(resolve, 20))
  expect(isPlayed()).toBe(true)
  expect(host.endpoint.connections).toHaveLength(2)
  clearInterval(pump)
  for (const { port } of guests) port.close()
  door.close()
})

test('[ARENA16] --host prints code, link and QR code, and ends with 0 when the host has left', SLOW, async () => {
  // Instead of a browser: a program that ends at once.
  process.env.BROWSER = 'true'
  const program = new Program(SERVER, ['--port', '0', '--bots', '1', '--host'])
  const [, code = '', link = ''] = await program.says(/Arena +([A-Z]+-\w{4})\n +link +(\S+)\n/)
  await program.says(/you host it[^]*█[^]*Ctrl-C ends it/)
  expect(readQrText(program.said)).toBe(link)
  expect(await (await fetch(link)).text()).toContain('<title>Arena')
  const room = await connect(arenaGame(), code, { rendezvous: link })
  // A bot has joined to play with the host.
  const isPlayed = (): boolean => [...room.view.each(Fighter)].length === 2
  for (const deadline = Date.now() + 30_000; !isPlayed() && Date.now() < deadline;)
    await new Promise((resolve) => setTimeout(resolve, 20))
  expect(isPlayed()).toBe(true)
  room.leave()
  expect(await program.ended).toBe(0)
})
