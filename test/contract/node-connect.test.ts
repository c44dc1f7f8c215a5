/** `connect` in Node: the room of a page, over UDP and WebSocket, with the same errors. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { bool, ConfigError, defineGame, entity, fixed, message, rpc, text, u8 } from 'tickwire'
import { connect, ConnectError, serve, type ConnectOptions, type Room, type Serving } from 'tickwire/node'
import { Buy, game as shopGame, shop, Wave } from '../../docs/guide/examples/calls-page.ts'
import { startBot } from '../../docs/guide/examples/bot.ts'
import { game as guideGame } from '../../docs/guide/examples/rooms/game.ts'
import { UdpRelay } from '../browser/udp-relay.ts'
import { openPathProxy } from './path-proxy.ts'

const Walker = entity({ x: fixed(0, 1000, 0.1) }, { name: 'Walker' })
const Chat = message({ text: text(40) }, 'Chat')
const Ask = rpc({ number: u8 }, { to: 'server', reply: { twice: u8 }, name: 'Ask' })

const game = defineGame({
  tickRate: 30,
  input: { right: bool },
  entities: [Walker],
  messages: [Chat],
  rpcs: [Ask],
  onJoin: (world, peer) => world.spawn(Walker, { x: 10 }, peer),
  step(world, inputs) {
    for (const walker of world.each(Walker)) if (inputs.of(walker.owner).right) walker.x += 1
  },
})
const otherBuild = defineGame({ tickRate: 20, input: { right: bool }, entities: [Walker], step() {} })

const folder = mkdtempSync(join(tmpdir(), 'tickwire-node-connect-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close()
})

const QUIET = { port: 0, log: () => {}, ops: false, signals: false } as const

async function start(options: object = {}): Promise<Serving<typeof game.input>> {
  const serving = await serve(game, { ...QUIET, ...options })
  open.push(() => serving.close())
  return serving
}

async function enter(url: string, options: ConnectOptions = {}): Promise<Room<typeof game.input>> {
  const room = await connect(game, url, options)
  open.push(() => room.leave())
  return room
}

async function until(isTrue: () => boolean, msMax = 20_000): Promise<void> {
  for (const deadline = performance.now() + msMax; !isTrue();) {
    if (performance.now() > deadline) throw new Error(`still not true after ${msMax} ms: ${isTrue}`)
    await sleep(10)
  }
}

async function whyNot(url: string, options: ConnectOptions = {}): Promise<ConnectError> {
  const error = await connect(game, url, { retryMs: 0, ...options }).then(() => undefined, (thrown: unknown) => thrown)
  if (error instanceof ConnectError) return error
  throw error
}

describe('a room in Node', () => {
  test.each(['udp', 'ws', 'http'] as const)('[NODE1] plays, calls and talks by %s://', async (scheme) => {
    const serving = await start()
    serving.host.handle(Ask, ({ number }) => ({ twice: 2 * number }))
    const port = scheme === 'udp' ? serving.info.udp!.port : new URL(serving.url).port
    const room = await enter(`${scheme}://localhost:${port}`)
    expect(room.transport).toBe(scheme === 'udp' ? 'udp' : 'websocket')
    const texts: string[] = []
    room.on(Chat, (values) => texts.push(values.text))
    let draws = 0
    room.play({ input: () => ({ right: true }), draw: () => draws++ })
    expect(await room.request(Ask, { number: 21 })).toEqual({ isOk: true, values: { twice: 42 } })
    serving.host.broadcast(Chat, { text: 'hello' })
    await until(() => texts.length === 1 && draws > 2)
    await until(() => [...serving.host.world.each(Walker)].some(({ x }) => x > 20))
    await until(() => [...room.view.each(Walker)].some(({ x, owner }) => x > 20 && owner === room.peer))
    room.leave()
    expect(await room.closed).toEqual({ by: 'local', code: 'left' })
  })

  test.each(['duel/', 'duel/play.html'])('[NODE1] the path of a URL counts, as in a link: %s', async (path) => {
    const serving = await start()
    const proxy = await openPathProxy('/duel/', Number(new URL(serving.url).port))
    open.push(() => proxy.close())
    const room = await enter(`${proxy.origin}/${path}`)
    room.play({ input: () => ({ right: true }) })
    await until(() => [...serving.host.world.each(Walker)].some(({ x }) => x > 12))
    expect((await whyNot(proxy.origin)).code).toBe('other-service')
  })

  test('[NODE1] the bot of the guide walks, by UDP and by WebSocket', async () => {
    const serving = await serve(guideGame, QUIET)
    open.push(() => serving.close())
    const bots = await Promise.all([startBot(`udp://localhost:${serving.info.udp!.port}`), startBot(serving.url)])
    open.push(() => bots.forEach((bot) => bot.leave()))
    await until(() => serving.host.peers.length === 2)
  })

  test('[NODE1, RPC12] the shop of the guide sells to a room without a clock', async () => {
    const serving = await serve(shopGame, QUIET)
    open.push(() => serving.close())
    let waves = 0
    serving.host.handle(Wave, ({ times }) => { waves += times })
    serving.host.handle(Buy, ({ item }) => ({ isSold: item === 'axe', left: 8 }))
    const room = await connect(shopGame, serving.url)
    open.push(() => room.leave())
    expect([await shop(room), waves]).toEqual(['8 gold left', 2])
  })

  test('[NODE2, BACK3] the reasons of failure are those of a page', async () => {
    const serving = await start({ maxPlayers: 1 })
    await enter(serving.url)
    const full = await whyNot(serving.url)
    expect([full.code, full.message]).toEqual([
      'full', `Could not join the match at ${serving.url}: all seats are taken. Try again later.`,
    ])
    const stranger = createServer((_request, response) => response.writeHead(404).end('another service'))
    await new Promise<void>((resolve) => stranger.listen(0, resolve))
    open.push(() => stranger.close())
    expect((await whyNot(`http://localhost:${(stranger.address() as AddressInfo).port}`)).code).toBe('other-service')
    expect((await whyNot('http://localhost:1')).message).toContain('no server answers there. Is the server running?')
    const other = await serve(otherBuild, QUIET)
    open.push(() => other.close())
    const build = await whyNot(other.url)
    expect([build.code, build.older]).toEqual(['schema', 'client'])
    expect(build.message).toContain('different builds of the game. The client is older.')
    await expect(connect(game, 'localhost')).rejects.toThrow(ConfigError)
    await expect(connect(game, 'localhost:4001')).rejects.toThrow('Fix: write udp://localhost:4001.')
  })

  test('[NODE2, BACK5] the server logs and counts a full match and another build once', async () => {
    const log: string[] = []
    const serving = await start({ maxPlayers: 1, log: ({ message }: { message: string }) => log.push(message) })
    await enter(serving.url)
    for (let attempt = 0; attempt < 3; attempt++) await whyNot(serving.url)
    await connect(otherBuild, serving.url, { retryMs: 0 }).catch(() => {})
    expect(serving.refusals.counts).toMatchObject({ full: 1, schema: 1, token: 0 })
    expect(log).toEqual([
      'a client was refused: all seats are taken',
      'a client was refused: it has another build of the game. Fix: reload the page, or restart the server',
    ])
  })

  test('[BACK6] a client that leaves while it is away repeats its Disconnect', async () => {
    const serving = await start({ udp: { port: 0 }, resumeMs: 60_000 })
    const relay = await UdpRelay.open(serving.info.udp!.port)
    open.push(() => relay.close())
    const room = await connect(game, `udp://localhost:${relay.port}`)
    let isAway = false
    room.onAway(() => { isAway = true })
    await until(() => serving.host.members.length === 1)
    relay.isCut = true
    await until(() => isAway)
    // The first copy is lost.
    relay.isCut = false
    relay.losses = 1
    room.leave()
    expect(await room.closed).toEqual({ by: 'local', code: 'left' })
    await until(() => serving.host.members.length === 0, 5000)
  })

  test.each(['udp', 'http'] as const)('[NODE1, BACK1, BACK2] returns to a server by %s://', async (scheme) => {
    const keepRooms = join(folder, `${scheme}.json`)
    const first = await start({ keepRooms, udp: { port: 0 } })
    const port = Number(new URL(first.url).port)
    const udpPort = first.info.udp!.port
    const room = await enter(`${scheme}://localhost:${scheme === 'udp' ? udpPort : port}`)
    const turns: string[] = []
    const texts: string[] = []
    room.on(Chat, (values) => texts.push(values.text))
    room.onAway(() => turns.push('away'))
    room.onBack((seat) => turns.push(seat))
    const lostAt = performance.now()
    await first.drain()
    await until(() => turns.length === 1)
    expect(performance.now() - lostAt).toBeLessThan(1500)
    const second = await start({ port, udp: { port: udpPort } })
    await until(() => turns.length === 2, 30_000)
    expect(turns).toEqual(['away', 'new'])
    await until(() => second.host.peers.length === 1)
    second.host.broadcast(Chat, { text: 'again' })
    await until(() => texts.length === 1)
  })
})
