/** One match at every place that `connect` knows: the same code, the same orders, the same hashes. */

import { MessageChannel } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { connect, openUdp, serveLockstep, type ConnectError } from 'tickwire/node'
import { hosting, local, mesh, relay, replay, type LockstepPlace, type LockstepRoom } from 'tickwire/lockstep'
import { Account, Add, sums } from '../sim/sums-game.ts'

const ORDERS = 12
const SEED = 5
/** All orders were executed long before it. */
const SEEN_TICK = 120
const NO_MATCH = { tickRate: 30, seed: 1, bytes: new Uint8Array(0), ticks: 0 }

interface Player {
  readonly room: LockstepRoom<typeof sums.orders>
  /** Indexed by tick. */
  readonly hashes: string[]
  ended: string
}

async function enter(where: LockstepPlace, options: object = {}): Promise<Player> {
  const hashes: string[] = []
  const onTick = (tick: number, low: number, high: number): void => { hashes[tick] = `${high}.${low}` }
  const room = await connect(sums, where, { runner: { onTick }, ...options })
  const player: Player = { room, hashes, ended: '' }
  void room.closed.then(({ code }) => { player.ended = code })
  return player
}

async function until(isTrue: () => boolean, msMax = 20_000): Promise<void> {
  for (const deadline = performance.now() + msMax; !isTrue();) {
    if (performance.now() > deadline) throw new Error(`still not true after ${msMax} ms: ${isTrue}`)
    await new Promise((resolve) => { setTimeout(resolve, 10) })
  }
}

/** What the page of the game does, whatever the place. */
async function playOrders({ room }: Player): Promise<void> {
  let executed = 0
  room.onOrder(Add, (_values, state) => { if (state === 'executed') executed++ })
  for (let number = 1; number <= ORDERS; number++) {
    await until(() => room.players.length === 3)
    expect(room.order(Add, { amount: number * number })).toBe('sent')
    await new Promise((resolve) => { setTimeout(resolve, 15) })
  }
  await until(() => executed === ORDERS)
}

function counted({ room }: Player): number {
  return [...room.world.seen(Account)].reduce((sum, { count }) => sum + count, 0)
}

/** Waits until all players have executed all orders, and returns the hash of one tick, which all must have. */
async function settle(players: readonly Player[]): Promise<string> {
  await until(() => players.every((player) => counted(player) === ORDERS && player.room.tick >= SEEN_TICK))
  const last = Math.min(...players.map(({ room }) => room.tick))
  const [first, ...others] = players.map(({ hashes }) => hashes.slice(0, last + 1))
  expect(first).toHaveLength(last + 1)
  for (const hashes of others) expect(hashes).toEqual(first)
  return first![SEEN_TICK]!
}

async function playLocal(): Promise<string> {
  const player = await enter(local({ players: 3, seed: SEED }))
  await playOrders(player)
  const hash = await settle([player])
  const again = await enter(replay(player.room.played()!, { speed: Infinity }))
  player.room.leave()
  // At its end a replay waits: the viewer may go back.
  await until(() => again.room.tick >= SEEN_TICK)
  expect(again.hashes[SEEN_TICK]).toBe(hash)
  again.room.leave()
  return hash
}

async function playHosted(): Promise<string> {
  const host = hosting({ port: 0, address: '127.0.0.1', seed: SEED })
  const players = [await enter(host)]
  expect(host.urls.map((url) => url.split(':')[0])).toEqual(['udp', 'http'])
  for (const url of host.urls) players.push(await enter(relay(url)))
  await playOrders(players[0]!)
  const hash = await settle(players)
  // The host takes the relay with it, and the guests know why the match is over.
  players[0]!.room.leave()
  await until(() => players.every(({ room }) => room.isOver))
  expect(players.map(({ ended }) => ended)).toEqual(['left', 'shutdown', 'shutdown'])
  expect(host.urls).toEqual([])
  return hash
}

async function playRelayed(): Promise<string> {
  const serving = await serveLockstep(
    { match: { game: sums } },
    { port: 0, address: '127.0.0.1', webrtc: false, webtransport: false, signals: false },
  )
  serving.rooms.create('match', { seed: SEED })
  const urls = [`udp://127.0.0.1:${serving.info.udp?.port}`, `http://127.0.0.1:${new URL(serving.url).port}`]
  const players: Player[] = []
  for (let player = 0; player < 3; player++) players.push(await enter(relay(urls[player % 2]!)))
  await playOrders(players[0]!)
  const hash = await settle(players)
  for (const { room } of players) room.leave()
  await serving.close()
  return hash
}

/** Addresses of this machine that are free now. */
async function freePeers(count: number): Promise<string[]> {
  const sockets = await Promise.all(Array.from({ length: count }, () => openUdp({ address: '127.0.0.1' })))
  for (const socket of sockets) socket.close()
  await Promise.all(sockets.map(({ closed }) => closed))
  return sockets.map(({ localAddress }) => `udp://${localAddress}`)
}

async function playMesh(): Promise<string> {
  const peers = await freePeers(3)
  const enterAs = (player: number): Promise<Player> => enter(mesh({ peers, player, seed: SEED, secret: 'word' }))
  const players = await Promise.all([1, 2, 3].map(enterAs))
  await playOrders(players[0]!)
  const hash = await settle(players)
  players[0]!.room.leave()
  await until(() => players.slice(1).every(({ room }) => room.players.length === 2))
  for (const { room } of players) room.leave()
  await until(() => players.every(({ room }) => room.isOver))
  expect(players.map(({ ended }) => ended)).toEqual(['left', 'left', 'left'])
  return hash
}

test('[LOCK60] the same orders have the same hash at every place, chosen by one value', async () => {
  const [first, ...others] = await Promise.all([playLocal(), playHosted(), playRelayed(), playMesh()])
  expect(first).toMatch(/^\d+\.\d+$/)
  for (const hash of others) expect(hash).toBe(first)
}, 60_000)

test('[LOCK61] a hosted match has its player at a MessagePort, and takes guests at other ports', async () => {
  const host = hosting({ port: 0, address: '127.0.0.1' })
  expect(() => host.invite()).toThrow(/hosting\.invite: .*Fix/)
  const players = [await enter(host)]
  for (let guest = 0; guest < 2; guest++) players.push(await enter(relay(host.invite())))
  expect(players.map(({ room }) => room.player)).toEqual([1, 2, 3])
  await playOrders(players[2]!)
  await settle(players)
  const full = await enter(relay(host.invite())).catch((error: ConnectError) => error.code)
  expect(full).toBe('full')
  players[0]!.room.leave()
  await until(() => players.every(({ room }) => room.isOver))
}, 60_000)

test('[LOCK69] a peer of a mesh with another secret, and one whose list is too long, are refused', async () => {
  const [first = '', second = '', third = ''] = await freePeers(3)
  const peers = [first, second, third]
  const retryMs = 1500
  const one = enter(mesh({ peers, player: 1, secret: 'word' }), { retryMs }).catch((error: ConnectError) => error.code)
  const two = enter(mesh({ peers, player: 2, secret: 'other' }), { retryMs }).catch((error: ConnectError) => error.code)
  expect(await Promise.all([one, two])).toEqual(['unreachable', 'refused'])
  const wrong = [
    [{ peers: [...peers, first], player: 1 }, /mesh\.peers: .*Fix: use host/],
    [{ peers: [first, second], player: 1 }, /mesh\.peers: the game has other/],
    [{ peers, player: 4 }, /mesh\.player: /],
  ] as const
  for (const [options, text] of wrong) await expect(connect(sums, mesh(options))).rejects.toThrow(text)
}, 60_000)

test('[LOCK62] only a dedicated relay takes a ranked match', async () => {
  const { port1 } = new MessageChannel()
  const two = mesh({ peers: ['udp://127.0.0.1:1', 'udp://127.0.0.1:2', 'udp://127.0.0.1:3'], player: 1 })
  const places = [local(), hosting({ port: 0 }), relay(port1 as never), replay(NO_MATCH), two]
  for (const place of places)
    await expect(connect(sums, place, { ranked: true })).rejects.toThrow(/connect\.ranked: .* cannot be ranked/)
  port1.close()
})
