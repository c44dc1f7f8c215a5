import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { defineGame, type CloseReason, type JoinRequest } from 'tickwire'
import { createClientHost, type ClientHost, type DatagramPort } from 'tickwire/engine'
import {
  jsonLines, monotonicNow, openUdp, openWebSocket, resolveUdp, serve, serveRooms, systemEntropy, type RoomServerOptions,
  type Serving,
} from 'tickwire/node'
import { game, Notice, Player } from '../../docs/guide/examples/rooms/game.ts'
import { serveMembers } from '../../docs/guide/examples/rooms-auth.ts'

// Real sockets, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 })

const open: (() => void | Promise<void>)[] = []
const QUIET: RoomServerOptions = { port: 0, webtransport: false, webrtc: false, log: () => {} }

afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close()
})

type Input = typeof game extends { readonly input: infer I extends import('tickwire').Shape } ? I : never

interface Guest {
  readonly host: ClientHost<Input>
  closed: CloseReason | undefined
  readonly notices: string[]
  /** Closes the socket without a disconnect message. */
  vanish(): void
}

function play(port: DatagramPort, address: string, join?: JoinRequest): Guest {
  const host = createClientHost(game, { entropy: systemEntropy, onClosed: (reason) => { guest.closed = reason } })
  const timer = setInterval(() => pump(), 5)
  const guest: Guest = { host, closed: undefined, notices: [], vanish: () => { clearInterval(timer); port.close() } }
  const pump = (): void => {
    host.tick(monotonicNow())
    host.drain(monotonicNow(), port)
  }
  host.on(Notice, ({ text }) => guest.notices.push(text))
  port.onDatagram = (from, bytes, length) => { host.handleDatagram(monotonicNow(), from, bytes, length); pump() }
  host.connect(monotonicNow(), address, {}, join)
  open.push(guest.vanish)
  return guest
}

async function byWebSocket(url: string, join?: JoinRequest): Promise<Guest> {
  const address = `${url.replace('http', 'ws')}/tickwire`
  return play(await openWebSocket(address), address, join)
}

async function byUdp(port: number, join?: JoinRequest): Promise<Guest> {
  return play(await openUdp(), await resolveUdp('127.0.0.1', port), join)
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let tries = 0; !isTrue(); tries++) {
    if (tries > 3000) throw new Error(`never true: ${isTrue}`)
    await new Promise((resolve) => { setTimeout(resolve, 10) })
  }
}

async function read(
  url: string,
  headers: Record<string, string> = {},
): Promise<readonly [status: number, text: string]> {
  const response = await fetch(url, { headers })
  return [response.status, await response.text()]
}

describe('rooms on real sockets', () => {
  test('[ROOM7] rooms are served over all transports at once, and listed for pages', async () => {
    const serving = await serveRooms(
      { duel: { game, capacity: 2, metadata: { map: 'dust' } }, melee: { game, capacity: 16 } },
      QUIET,
    )
    open.push(() => serving.close())
    const room = serving.create('duel', { metadata: { map: 'ice' } })
    serving.create('duel', { isPrivate: true })
    const first = await byWebSocket(serving.url, { room: room.id })
    const second = await byUdp(serving.info.udp!.port, { quick: 'duel', filter: { map: 'ice' } })
    await until(() => [first, second].every(({ host }) => [...host.view.each(Player)].length === 2))
    const third = await byWebSocket(serving.url, { room: room.id })
    await until(() => third.closed !== undefined)
    expect(third.closed).toEqual({ by: 'protocol', code: 'full' })
    const listed = {
      id: room.id,
      type: 'duel',
      players: 2,
      capacity: 2,
      spectators: 0,
      metadata: { map: 'ice' },
      isLocked: false,
      hasPassword: false,
    }
    expect(JSON.parse((await read(`${serving.url}/tickwire/rooms`))[1])).toEqual([listed])
    expect(JSON.parse((await read(`${serving.url}/tickwire/rooms?type=duel&map=ice`))[1])).toEqual([listed])
    expect(JSON.parse((await read(`${serving.url}/tickwire/rooms?map=dust`))[1])).toEqual([])
    expect((await read(`${serving.url}/tickwire/rooms`, { origin: 'https://evil.example' }))[0]).toBe(403)
  })

  test('[SEAT8] a client that loses its WebSocket resumes by UDP: the same seat, the same objects', async () => {
    const serving = await serve(game, { ...QUIET, resumeMs: 120_000 })
    open.push(() => serving.close())
    const first = await byWebSocket(serving.url)
    await until(() => [...first.host.view.each(Player)].length === 1)
    first.host.sampleInput = () => ({ right: true })
    const x = (): number => [...serving.host.world.each(Player)][0]!.x
    await until(() => x() > 380)
    first.vanish()
    const again = await byUdp(serving.info.udp!.port, { resume: first.host.seat!.ticket })
    await until(() => again.host.peer !== 0)
    expect([again.host.peer, again.host.seat!.isBack, serving.host.peers.length, x() > 380]).toEqual([
      first.host.peer,
      true,
      1,
      true,
    ])
    const thief = await byUdp(serving.info.udp!.port, { resume: first.host.seat!.ticket })
    await until(() => thief.closed !== undefined)
    expect([thief.closed?.code, serving.rooms.door.tickets.spent]).toEqual(['ticket', 1])
  })

  test('[ROOM3] the ranked room of the guide asks its accounts, and refuses unknown players', async () => {
    const serving = await serveMembers({ find: async () => undefined }, 0)
    open.push(() => serving.close())
    const unknown = await byWebSocket(serving.url)
    await until(() => unknown.closed !== undefined)
    expect(unknown.closed).toEqual({ by: 'protocol', code: 'refused' })
  })

  test('[ROOM8] a match that throws is reported, logged and replaced; the process goes on', async () => {
    const lines: string[] = []
    let matches = 0
    const step: typeof game.step = (world, inputs) => {
      if (inputs.messages(Notice).some(({ values }) => values.text === 'break')) throw new Error('broken glass')
      game.step(world, inputs)
    }
    const serving = await serve(
      { ...game, step },
      {
        ...QUIET,
        log: jsonLines({ write: (line) => lines.push(line) }),
        onMatch: () => {
          matches++
        },
      },
    )
    open.push(() => serving.close())
    const first = await byWebSocket(serving.url)
    await until(() => first.host.peer !== 0)
    first.host.send(Notice, { text: 'break' })
    await until(() => first.closed !== undefined && matches === 2)
    expect(first.closed).toEqual({ by: 'peer', code: 'fault' })
    const entry = JSON.parse(lines.find((line) => line.includes('room-fault'))!) as Record<string, unknown>
    expect(entry).toMatchObject({
      level: 'error',
      event: 'room-fault',
      type: 'match',
      players: 1,
      time: expect.stringMatching(/^\d{4}-/),
    })
    expect(String(entry.message)).toContain('broken glass')
    const second = await byWebSocket(serving.url)
    await until(() => second.host.peer !== 0 && serving.host.peers.length === 1)
  })

  test('[GUARD1, GUARD3] a listener that throws is logged and counted, and ends no match', async () => {
    const events: string[] = []
    const faults: string[] = []
    const serving = await serve(game, {
      ...QUIET,
      log: ({ event, facts }) => {
        events.push(`${event} ${String(facts?.callback)}`)
        throw new Error('the disk is full')
      },
      onError: ({ callback, isFatal, peer }) => { faults.push(`${callback} ${isFatal} ${peer}`) },
      onMatch: (host) => { host.on(Notice, async () => { throw new Error('broken glass') }) },
      onLeft: () => { throw new Error('bad manners') },
    })
    open.push(() => serving.close())
    const [first, second] = [await byWebSocket(serving.url), await byWebSocket(serving.url)]
    await until(() => serving.host.peers.length === 2)
    const { peer } = first.host
    first.host.send(Notice, { text: 'hi' })
    await until(() => faults.length === 1)
    first.host.close(monotonicNow())
    await until(() => faults.length === 2)
    expect(faults).toEqual([`on(message) false ${peer}`, `onLeave false ${peer}`])
    expect(events).toEqual(['callback-fault on(message)', 'callback-fault onLeave'])
    expect((await read(`${serving.opsUrl}/metrics`))[1]).toContain(
      'tickwire_callback_faults_total{callback="onLeave"} 1',
    )
    expect([second.closed, serving.host.peers.length]).toEqual([undefined, 1])
  })
})

test('[ROOM10] rooms survive a restart with worlds, seats and tickets; a changed game starts over', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tickwire-keep-'))
  open.push(() => rmSync(folder, { recursive: true, force: true }))
  const keepRooms = join(folder, 'rooms.json')
  const first = await serve(game, { ...QUIET, keepRooms })
  const port = Number(new URL(first.url).port)
  const player = await byWebSocket(first.url)
  await until(() => [...player.host.view.each(Player)].length === 1)
  player.host.sampleInput = () => ({ right: true })
  const xOf = (serving: Serving<Input>): number => [...serving.host.world.each(Player)][0]!.x
  await until(() => xOf(first) > 400)
  const [{ tick }, x, id] = [first.host.world, xOf(first), first.host.id]
  player.vanish()
  await first.drain()
  expect(statSync(keepRooms).mode & 0o077).toBe(0)
  const second = await serve(game, { ...QUIET, port, keepRooms })
  open.push(() => second.close())
  expect([
    second.host.id,
    second.host.world.tick >= tick,
    xOf(second) >= x,
    second.info.identity,
    existsSync(keepRooms),
  ]).toEqual([id, true, true, first.info.identity, false])
  const again = await byWebSocket(second.url, { resume: player.host.seat!.ticket })
  await until(() => [...again.host.view.each(Player)].length === 1)
  expect([again.host.peer, again.host.seat!.isBack]).toEqual([player.host.peer, true])
  await second.drain()
  const other = defineGame({ ...game, tickRate: 60 })
  const lines: string[] = []
  const third = await serve(other, { ...QUIET, keepRooms, log: ({ message }) => void lines.push(message) })
  open.push(() => third.close())
  expect([third.rooms.rooms.length, third.host.id === id, third.host.peers]).toEqual([1, false, []])
  expect(lines).toContain(`room ${id} (match) of the previous process was not restored: the game has changed`)
})

test('[ROOM12] two bots of the guide are two bots after two restarts of a server', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tickwire-bots-'))
  open.push(() => rmSync(folder, { recursive: true, force: true }))
  const options = { ...QUIET, keepRooms: join(folder, 'rooms.json') }
  const counts: number[] = []
  for (let run = 0; run < 3; run++) {
    const serving = await serveRooms(
      {
        duel: {
          game,
          capacity: 4,
          emptyMs: Infinity,
          onCreate: (room) => {
            for (let bot = 0; bot < 2; bot++) room.addBot(() => ({ right: true }))
          },
        },
      },
      options,
    )
    open.push(() => serving.close())
    const room = run === 0 ? serving.create('duel') : serving.rooms.rooms[0]!
    const from = room.world.tick
    await until(() => room.world.tick > from + 5)
    counts.push(room.world.count(Player))
    await serving.drain()
  }
  expect(counts).toEqual([2, 2, 2])
})

test('[ROOM9] weather on a server affects every transport, for development', async () => {
  const serving = await serve(game, { ...QUIET, weather: { latencyMs: 40, jitterMs: 0, loss: 0.05 } })
  open.push(() => serving.close())
  const guests = [await byWebSocket(serving.url), await byUdp(serving.info.udp!.port)]
  await until(
    () =>
      serving.host.peers.length === 2
      && serving.host.peers.every((peer) => (serving.host.connectionOf(peer)?.rtt.samples ?? 0) > 10),
  )
  for (const peer of serving.host.peers) expect(serving.host.connectionOf(peer)!.rtt.smoothedMs).toBeGreaterThan(75)
  expect(guests.map(({ closed }) => closed)).toEqual([undefined, undefined])
})

describe('monitoring', () => {
  test('[OPS2] health, readiness, metrics and a page are on a loopback port that refuses other hosts', async () => {
    const serving = await serveRooms({ melee: { game, capacity: 16 } }, QUIET)
    open.push(() => serving.close())
    const room = serving.create('melee', { metadata: { name: '<script>alert(1)</script>' } })
    const guest = await byWebSocket(serving.url, { room: room.id })
    await until(() => guest.host.peer !== 0 && room.ticks.count > 10)
    const ops = serving.opsUrl!
    expect(ops).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(await read(`${ops}/healthz`)).toEqual([200, 'ok\n'])
    expect(await read(`${ops}/readyz`)).toEqual([200, 'ready\n'])
    const [status, metrics] = await read(`${ops}/metrics`)
    expect(status).toBe(200)
    for (const line of [
      'tickwire_rooms 1',
      'tickwire_players 1',
      'tickwire_joins_total{result="seated"} 1',
      'tickwire_endpoint_drops_total{reason="header"} 0',
    ]) {
      expect(metrics.split('\n')).toContain(line)
    }
    expect(metrics).toMatch(/^tickwire_tick_seconds\{quantile="0.99"\} [\d.e-]+$/m)
    for (const line of metrics.trim().split('\n'))
      expect(line).toMatch(/^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^"]*"\})? -?[\d.e+-]+)$/)
    const [, page] = await read(ops)
    expect(page).toContain(room.id)
    expect(page).not.toContain('<script>')
    expect((await read(`${ops}/secrets`))[0]).toBe(404)
    const { request } = await import('node:http')
    const rebound = await new Promise<number>((resolve) => {
      request(ops, { headers: { host: 'evil.example' } }, (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      }).end()
    })
    expect(rebound).toBe(421)
    serving.rooms.beginDrain(1000)
    expect(await read(`${ops}/readyz`)).toEqual([503, 'draining\n'])
    expect((await read(`${ops}/healthz`))[0]).toBe(200)
  })

  test('[OPS3] SIGTERM: no new players, notice and time for others, exit code 0; logs hold no secrets', async () => {
    const child: ChildProcess = spawn(process.execPath, [
      '--conditions=tickwire-source', '--import', 'tsx', 'docs/guide/examples/rooms/server.ts', '0',
    ], { stdio: ['ignore', 'pipe', 'inherit'] })
    open.push(() => void child.kill('SIGKILL'))
    let out = ''
    child.stdout!.on('data', (data: Buffer) => { out += data.toString() })
    const ended = new Promise<number | null>((resolve) => { child.on('exit', resolve) })
    await until(() => out.includes('rooms at'))
    const url = /rooms at (\S+),/.exec(out)![1]!
    const guest = await byWebSocket(url, { quick: 'melee' })
    await until(() => guest.notices.includes('player 1 is here'))
    child.kill('SIGTERM')
    await until(() => guest.notices.some((notice) => notice === 'this server closes in 5 s'))
    const late = await byWebSocket(url, { quick: 'melee' })
    await until(() => late.closed !== undefined)
    expect([late.closed, guest.closed]).toEqual([{ by: 'protocol', code: 'full' }, undefined])
    await until(() => guest.closed !== undefined)
    expect([guest.closed, await ended]).toEqual([{ by: 'peer', code: 'shutdown' }, 0])
    const entries = out
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { event: string })
    expect(entries.map(({ event }) => event).filter((event) => event !== 'transport-missing')).toEqual([
      'drain-begun',
      'client-refused',
      'closed',
    ])
  }, 120_000)
})
