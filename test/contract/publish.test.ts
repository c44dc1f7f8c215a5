/** From a server to a player: `serve` publishes, trackers list, `browse` merges and checks, `connect` joins. */

import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { afterAll, describe, expect, test } from 'vitest'
import { defineGame, entity, u32 } from 'tickwire'
import { browse, connect, host, isRequiredMod, missingMods, serve, type RequiredMod } from 'tickwire/node'
import { serveAll, serveTracker, type ServingTracker } from '../../packages/services/src/index.ts'
import { ask, TestHost, until } from './tracker-stage.ts'

const Thing = entity({ age: u32 })
const game = defineGame({ tickRate: 20, input: {}, entities: [Thing], step() {} })
const QUIET = { port: 0, webtransport: false, webrtc: false, udp: false, ops: false, signals: false } as const
const closing: (() => unknown)[] = []
afterAll(async () => {
  for (const close of closing.toReversed()) await close()
})

const openTracker = async (port: number = 0): Promise<ServingTracker> =>
  await serveTracker({ port, address: '127.0.0.1', publish: 'local', heartbeatTtlMs: 12_000 })
const urlOf = ({ port }: ServingTracker): string => `http://127.0.0.1:${port}/`

describe('a published server', () => {
  test('[TRACK8] serve publishes itself, a player finds and joins it, and it is gone after close', async () => {
    const tracker = await openTracker()
    closing.push(() => tracker.close())
    const publish = { trackers: [urlOf(tracker)], game: 'publish-test', name: 'Ada', region: 'eu' }
    const serving = await serve(game, { ...QUIET, maxPlayers: 3, publish })
    const find = async () => (await browse({ trackers: [urlOf(tracker)], game: 'publish-test' })).games
    await until(async () => (await find()).length === 1)
    const [found] = await find()
    expect(found).toMatchObject({
      badge: 'community', isUnknownHost: true,
      listing: { name: 'Ada', engine: 'tickwire', region: 'eu', players: 0, capacity: 3, status: 'waiting' },
    })
    // The client pins the identity of the listing: another server at that address learns nothing about the player.
    const address = new URL(found!.url!)
    address.hostname = '127.0.0.1'
    const room = await connect(game, address, { server: found!.server! })
    await until(async () => (await find())[0]?.listing?.players === 1)
    expect((await find())[0]?.listing?.status).toBe('in_progress')
    room.leave()
    await serving.close()
    await until(async () => (await find()).length === 0, 3000)
  })

  test('[TRACK8] a tracker that was restarted has the listing again within a heartbeat', async () => {
    const first = await openTracker()
    const { port } = first
    const serving = await serve(game, { ...QUIET, publish: { trackers: [urlOf(first)], game: 'back' } })
    closing.push(() => serving.close())
    const isListed = async (): Promise<boolean> =>
      (await browse({ trackers: [`http://127.0.0.1:${port}`] })).games.some(({ listing }) => listing?.game === 'back')
    await until(isListed)
    await first.close()
    expect((await browse({ trackers: [`http://127.0.0.1:${port}`] })).trackers).toMatchObject([{ state: 'down' }])
    const second = await openTracker(port)
    closing.push(() => second.close())
    const restartedAt = performance.now()
    await until(isListed)
    expect(performance.now() - restartedAt).toBeLessThan(11_000)
  })

  test('[TRACK8, TRACK12] a hosted match is found with its code and its mods, and joined by that code', async () => {
    const all = await serveAll({ port: 0, relayPort: 0, address: '127.0.0.1', publicAddress: '127.0.0.1' })
    closing.push(() => all.close())
    const url = `http://127.0.0.1:${all.port}/`
    const bytes = new TextEncoder().encode('a mod')
    const mod: RequiredMod = { id: 'ada/snow', version: '>=1', bytes: bytes.length, sha256: hashOf(bytes) }
    const hosted = await host(game, {
      rendezvous: url, signals: false, log: () => {},
      publish: { trackers: [url], game: 'hosted-test', name: 'Snow', requiredMods: [mod] },
    })
    closing.push(() => hosted.close())
    const find = async () => (await browse({ trackers: [url], game: 'hosted-test' })).games
    await until(async () => (await find()).length === 1)
    const { listing } = (await find())[0]!
    expect(listing!.host).toMatchObject({ code: hosted.code, rendezvous: url })
    // The player is asked for this mod. A download that is not this mod does not count as having it.
    expect(missingMods(listing!, new Map())).toEqual([mod])
    const altered = bytes.map((byte) => byte ^ 1)
    expect(isRequiredMod(mod, altered)).toBe(false)
    expect(missingMods(listing!, new Map([[mod.id, hashOf(altered)]]))).toEqual([mod])
    expect(isRequiredMod(mod, bytes)).toBe(true)
    expect(missingMods(listing!, new Map([[mod.id, hashOf(bytes)]]))).toEqual([])
    const { code, rendezvous } = listing!.host
    const room = await connect(game, code!, { rendezvous: rendezvous! })
    await until(async () => (await find())[0]?.listing?.players === 1)
    room.leave()
    await hosted.close()
    await until(async () => (await find()).length === 0, 3000)
  })
})

describe('browsing several trackers', () => {
  test('[TRACK9] lists are merged: one entry for a host and a game, the newest, with the best badge', async () => {
    const [host, other] = [new TestHost(1), new TestHost(2)]
    const [older, newer] = [host.sign({ players: 1 }, Date.now() - 5000), host.sign({ players: 2 })]
    const own = await openList({ listings: [older, other.sign({ game: 'race' })] })
    const theirs = await openList({ listings: [newer, { ...other.sign(), players: 8 }, host.sign({}, 0), null, 5] })
    const result = await browse({
      trackers: [{ url: own, badge: 'verified' }, theirs, 'http://127.0.0.1:1/'], known: [other.identity],
    })
    expect(result.games.map(({ listing, badge, sources, isUnknownHost }) =>
      [listing?.game, listing?.players, badge, sources.length, isUnknownHost])).toEqual([
      ['arena', 2, 'verified', 2, false], ['race', 1, 'verified', 1, false],
    ])
    // Altered, too old, and no listings at all.
    expect(result.trackers).toEqual([
      { url: own, state: 'ok', dropped: 0 }, { url: theirs, state: 'ok', dropped: 4 },
      { url: 'http://127.0.0.1:1/', state: 'down', dropped: 0 },
    ])
    const first = await browse({ trackers: [own], game: 'race' })
    expect(first.games).toMatchObject([{ badge: 'community', isUnknownHost: true }])
  })

  test('[TRACK10] at most 10 trackers, by https except on this machine', async () => {
    const eleven = Array.from({ length: 11 }, (_, at) => `https://t${at}.example/`)
    await expect(browse({ trackers: eleven })).rejects.toThrow(/at most 10, got 11/)
    for (const url of ['http://example.com', 'ftp://localhost', 'http://localhost.example.com', 'http://127.0.0.1@x.y'])
      await expect(browse({ trackers: [url] })).rejects.toThrow(/not an https address/)
    await expect(serveTracker({ port: 0, federate: eleven })).rejects.toThrow(/at most 10/)
    await expect(serve(game, { ...QUIET, publish: eleven })).rejects.toThrow(/at most 10/)
  })

  test('[TRACK11] the list of an OpenRA master server is shown, tagged, and cannot be joined', async () => {
    const server = {
      id: 1, name: 'Friday\u0007 skirmish', address: '203.0.113.5:1234', state: 1, ttl: 200, mod: 'ra',
      version: 'release-20250330', map: 'abc', players: 2, maxplayers: 4, bots: 1, spectators: 0, protected: true,
      location: 'Germany', clients: [{ name: 'ada', isbot: false }, { name: 'Turtle AI', isbot: true }],
    }
    const list = await openList([server, { ...server, state: 2 }, { ...server, state: 3 }, { name: 5 }, null, 'x'])
    const { games, trackers } = await browse({ trackers: [{ url: list, form: 'openra', badge: 'verified' }] })
    expect(trackers).toEqual([{ url: list, state: 'ok', dropped: 4 }])
    expect(games).toMatchObject([
      {
        badge: 'unverified', url: undefined, server: undefined,
        foreign: {
          engine: 'openra', game: 'ra', name: 'Friday skirmish', region: 'Germany', players: 2, capacity: 4,
          status: 'waiting', hasPassword: true, names: ['ada'],
        },
      },
      { foreign: { status: 'in_progress' } },
    ])
    expect(JSON.stringify(games)).not.toContain('203.0.113.5')
    const tracker = await serveTracker({ port: 0, address: '127.0.0.1', federate: [{ url: list, form: 'openra' }] })
    closing.push(() => tracker.close())
    const { body: html } = await ask('GET', `${urlOf(tracker)}games`)
    expect(html).toContain('ra (openra)')
    expect(html).toContain('other engine')
    expect(html).not.toContain('class="join"')
  })
})

test('[TRACK12] a required mod is used only if its bytes have the checksum of the listing', () => {
  const bytes = new TextEncoder().encode('a mod')
  const mod: RequiredMod = {
    id: 'ada/snow', version: '>=1', bytes: bytes.length,
    sha256: 'a'.repeat(64),
  }
  const listing = new TestHost(3).sign({ requiredMods: [mod] })
  expect(missingMods(listing, new Map())).toEqual([mod])
  expect(missingMods(listing, new Map([['ada/snow', '0'.repeat(64)]]))).toEqual([mod])
  expect(missingMods(listing, new Map([['ada/snow', mod.sha256]]))).toEqual([])
  expect(isRequiredMod(mod, bytes)).toBe(false)
  const right = { ...mod, sha256: hashOf(bytes) }
  expect(isRequiredMod(right, bytes)).toBe(true)
  for (let at = 0; at < bytes.length; at++)
    expect(isRequiredMod(right, bytes.map((byte, index) => byte ^ (index === at ? 1 : 0)))).toBe(false)
  expect(isRequiredMod({ ...right, bytes: 4 }, bytes)).toBe(false)
})

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Answers every path with this JSON. */
async function openList(value: unknown): Promise<string> {
  const server: Server = createServer((_request, response) => response.end(JSON.stringify(value)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/`
}
