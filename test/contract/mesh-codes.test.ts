/** Meshes that form by a code, between processes of Node on this machine: real sockets, rendezvous and relays. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { mesh, type LockstepGame, type LockstepPlace, type LockstepRoom } from 'tickwire/lockstep'
import { connect, host, openRelay, type ConnectError, type RelayServer } from 'tickwire/node'
import { begin, join } from '../../docs/guide/examples/together/mesh.ts'
import { serveRendezvous, type ServingRendezvous } from '../../packages/services/src/index.ts'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'
import { game, Spawn } from '../sim/lockstep-game.ts'

const issuer = new Uint8Array(32).fill(7)
const relays: RelayServer[] = []
let rendezvous: ServingRendezvous
let url = ''

beforeAll(async () => {
  const { publicKey } = bestProvider().importSigning(issuer.slice())
  for (let index = 0; index < 2; index++)
    relays.push(await openRelay({ issuers: [publicKey], port: 0, address: '127.0.0.1', relayed: '127.0.0.1' }))
  rendezvous = await serveRendezvous({
    port: 0, address: '127.0.0.1', issuer, relays: relays.map(({ relayed }) => ({ address: relayed })),
  })
  url = `http://127.0.0.1:${rendezvous.port}`
})

afterAll(async () => {
  await rendezvous.close()
  for (const relay of relays) await relay.close()
})

async function until(isTrue: () => boolean, what: () => unknown = () => isTrue, msMax = 15_000): Promise<void> {
  for (const deadline = performance.now() + msMax; !isTrue();) {
    if (performance.now() > deadline) throw new Error(`still not true after ${msMax} ms: ${what()}`)
    await new Promise((resolve) => { setTimeout(resolve, 10) })
  }
}

interface Player {
  readonly room: LockstepRoom
  /** Indexed by tick. */
  readonly hashes: string[]
}

async function enter(where: LockstepPlace, options: object = {}): Promise<Player> {
  const hashes: string[] = []
  const runner = { onTick: (tick: number, low: number, high: number) => { hashes[tick] = `${high}.${low}` } }
  const room = await connect(game as unknown as LockstepGame, where, { rendezvous: url, runner, ...options })
  return { room, hashes }
}

/** All give orders, and have the same hash in every tick. */
async function play(players: readonly Player[]): Promise<void> {
  for (let round = 0; round < 6; round++) {
    expect(players[round % players.length]!.room.order(Spawn, { count: 2 })).toBe('sent')
    await new Promise((resolve) => { setTimeout(resolve, 40) })
  }
  const last = Math.max(...players.map(({ room }) => room.tick)) + 10
  await until(() => players.every(({ room }) => room.tick >= last), () => players.map(({ room }) => room.tick))
  const [first, ...others] = players.map(({ hashes }) => hashes.slice(1, last))
  for (const hashes of others) expect(hashes).toEqual(first)
}

const paths = (players: readonly Player[]): string[] => players.map(({ room }) => room.path)

test('[HOST9] three players meet by code and by link, directly, and go on without host and rendezvous', async () => {
  const hosted = await host(game as unknown as LockstepGame, { rendezvous: url, mesh: 3 })
  expect(hosted.code).toMatch(/^[A-Z]{3,8}-[0-9A-HJKMNP-TV-Z]{4}$/)
  const places = [mesh(hosted, { seed: 9 }), mesh(hosted.code), mesh(hosted.link)]
  const players = await Promise.all(places.map((where) => enter(where)))
  expect(players.map(({ room }) => room.player).toSorted()).toEqual([1, 2, 3])
  expect(players.map(({ room }) => room.runner.feed.seed)).toEqual([9, 9, 9])
  await play(players)
  await until(() => paths(players).every((path) => path === 'direct'), () => paths(players))
  expect(players[1]!.room.pathReason).toBe('both routers let a direct path through')
  // A fourth player has no place.
  await expect(enter(mesh(hosted.code), { retryMs: 3000 })).rejects.toMatchObject({ code: 'full' })
  players[0]!.room.leave()
  await until(() => players.slice(1).every(({ room }) => room.players.length === 2))
  await play(players.slice(1))
  for (const { room } of players) room.leave()
  await until(() => players.every(({ room }) => room.isOver))
  const gone = await enter(mesh(hosted.code)).catch((error: ConnectError) => error)
  expect(gone).toMatchObject({ code: 'no-such-code' })
}, 60_000)

test('[HOST9, PATH2] by relay only, and the end of the relay in use is not noticed', async () => {
  const options = { path: 'relay-only' } as const
  const hosted = await host(game as unknown as LockstepGame, { rendezvous: url, mesh: 2, ...options })
  const players = await Promise.all([enter(mesh(hosted), options), enter(mesh(hosted.code), options)])
  await play(players)
  expect(paths(players)).toEqual(['relay', 'relay'])
  await relays.shift()!.close()
  await until(() => players.every(({ room }) => room.pathReason.includes(relays[0]!.relayed)))
  await play(players)
  for (const { room } of players) room.leave()
  await until(() => players.every(({ room }) => room.isOver))
}, 60_000)

test('[HOST10] the place of a player that left before the start is free; wrong numbers are refused', async () => {
  const hosted = await host(game as unknown as LockstepGame, { rendezvous: url, mesh: 3 })
  const first = enter(mesh(hosted))
  await expect(enter(mesh(hosted.code), { retryMs: 400 })).rejects.toMatchObject({ code: 'unreachable' })
  await until(() => hosted.players === 1)
  const players = await Promise.all([first, enter(mesh(hosted.code)), enter(mesh(hosted.code))])
  await play(players)
  for (const { room } of players) room.leave()
  await expect(host(game as unknown as LockstepGame, { rendezvous: url, mesh: 4 })).rejects.toThrow(/host\.mesh: .*Fix/)
}, 60_000)

test('[HOST7, HOST9] the code of the guide: two players meet', async () => {
  const plain = game as unknown as LockstepGame
  const rooms = await new Promise<LockstepRoom[]>((resolve, reject) => {
    let second: Promise<LockstepRoom> | undefined
    begin(plain, url, (code) => { second = join(plain, url, code) })
      .then(async (first) => resolve([first, await second!]), reject)
  })
  expect(rooms.map(({ player }) => player)).toEqual([1, 2])
  await until(() => rooms.every(({ tick }) => tick > 10))
  for (const room of rooms) room.leave()
})
