/** Play by code between processes of Node, with a real rendezvous and a real relay on this machine. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { relay, type LockstepGame, type LockstepRoom } from 'tickwire/lockstep'
import { connect, ConnectError, host, openRelay, type HostedMatch, type RelayServer, type Room } from 'tickwire/node'
import { game, Player } from '../../games/hello/game.ts'
import { serveRendezvous, type ServingRendezvous } from '../../packages/services/src/index.ts'
import { Rendezvous } from '../../packages/tickwire/src/core/client/rendezvous.ts'
import { RendezvousSignaling } from '../../packages/tickwire/src/core/nat/rendezvous-signaling.ts'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'
import { game as lockstepGame, Spawn } from '../sim/lockstep-game.ts'
import { nodeRendezvous } from '../../packages/tickwire/src/node/rendezvous-machine.ts'

const issuer = new Uint8Array(32).fill(7)
const secretKey = new Uint8Array(32).fill(9)
const relays: RelayServer[] = []
let rendezvous: ServingRendezvous
let url = ''

async function startRendezvous(port: number): Promise<ServingRendezvous> {
  return await serveRendezvous({
    port, address: '127.0.0.1', issuer, secretKey, relays: relays.map(({ relayed }) => ({ address: relayed })),
  })
}

beforeAll(async () => {
  const { publicKey } = bestProvider().importSigning(issuer.slice())
  for (let index = 0; index < 2; index++)
    relays.push(await openRelay({ issuers: [publicKey], port: 0, address: '127.0.0.1', relayed: '127.0.0.1' }))
  rendezvous = await startRendezvous(0)
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

const quiet = { signals: false, log: () => {} } as const
const players = (room: Room): number => [...room.view.each(Player)].length

test('[HOST1, HOST3, PATH1] two guests join by code and by link, get a direct path, and learn the end', async () => {
  const hosted: HostedMatch = await host(game, { rendezvous: url, ...quiet })
  expect(hosted.code).toMatch(/^[A-Z]{3,8}-[0-9A-HJKMNP-TV-Z]{4}$/)
  expect(hosted.link).toBe(`${url}/#${hosted.code}-${hosted.link.slice(-16)}`)
  // Case, spaces and dashes do not matter. A link works like a code.
  const rooms = [
    await connect(game, hosted.code.toLowerCase().replace('-', ' '), { rendezvous: url }),
    await connect(game, hosted.link),
  ]
  await until(() => rooms.every((room) => players(room) === 2), () => rooms.map(players))
  await until(() => rooms.every(({ path }) => path === 'direct'), () => rooms.map(({ pathReason }) => pathReason))
  expect(rooms[0]!.pathReason).toBe('both routers let a direct path through')
  expect(rooms[0]!.security.identity).toBe('verified')
  await hosted.close()
  expect(await Promise.all(rooms.map(({ closed }) => closed))).toEqual([
    { by: 'peer', code: 'host-left' }, { by: 'peer', code: 'host-left' },
  ])
  const gone = await connect(game, hosted.code, { rendezvous: url }).catch((error: ConnectError) => error)
  expect(gone).toMatchObject({ code: 'no-such-code' })
}, 60_000)

test('[PATH2] relay-only hides addresses: data stays on the relay, and its end moves it to the standby', async () => {
  const hosted = await host(game, { rendezvous: url, path: 'relay-only', ...quiet })
  const room = await connect(game, hosted.code, { rendezvous: url, path: 'relay-only' })
  await until(() => players(room) === 1)
  expect([room.path, room.pathReason]).toEqual([
    'relay', `by the relay ${relays[0]!.relayed}: addresses are hidden by relay-only`,
  ])
  await relays[0]!.close()
  await until(() => room.pathReason.includes(relays[1]!.relayed), () => room.pathReason)
  const { tick } = room.view
  await until(() => room.view.tick > tick + 30)
  expect(room.isAway).toBe(false)
  room.leave()
  await hosted.close()
}, 60_000)

test('[CODE4, HOST2] a match goes on without the rendezvous; its code works again after a restart', async () => {
  const hosted = await host(game, { rendezvous: url, ...quiet })
  const { code } = hosted
  const room = await connect(game, code, { rendezvous: url })
  await until(() => players(room) === 1)
  const { port } = rendezvous
  await rendezvous.close()
  await until(() => !hosted.isListening)
  const unreachable = await connect(game, code, { rendezvous: url }).catch((error: ConnectError) => error)
  expect(unreachable).toMatchObject({ code: 'unreachable' })
  const { tick } = room.view
  await until(() => room.view.tick > tick + 60)
  expect(room.isAway).toBe(false)
  rendezvous = await startRendezvous(port)
  await until(() => hosted.isListening)
  expect(hosted.code).toBe(code)
  const late = await connect(game, code, { rendezvous: url })
  await until(() => players(late) === 2 && players(room) === 2)
  await hosted.close()
}, 60_000)

test('[HOST8] a lockstep match is hosted under a code: the order relay is on the machine of a player', async () => {
  const hosted = await host(lockstepGame as unknown as LockstepGame, { rendezvous: url, ...quiet })
  // Indexed by client, then by tick.
  const hashes: string[][] = [[], []]
  const enter = (each: number, where: string): Promise<LockstepRoom> =>
    connect(lockstepGame as unknown as LockstepGame, relay(where), {
      rendezvous: url, runner: { onTick: (tick, low, high) => { hashes[each]![tick] = `${high}.${low}` } },
    })
  const rooms = [await enter(0, hosted.url), await enter(1, hosted.code)]
  for (let round = 0; round < 5; round++) {
    expect(rooms[round % 2]!.order(Spawn, { count: 2 })).toBe('sent')
    await new Promise((resolve) => { setTimeout(resolve, 50) })
  }
  await until(() => rooms.every(({ tick }) => tick >= 20))
  const last = Math.min(...rooms.map(({ tick }) => tick))
  expect(hashes[0]!.slice(1, last + 1)).toEqual(hashes[1]!.slice(1, last + 1))
  await hosted.close()
  const ends = await Promise.all(rooms.map(({ closed }) => closed))
  expect(ends.map(({ code }) => code)).toEqual(['host-left', 'host-left'])
})

test('[CODE2, CODE5] wrong codes are limited, and a member that floods is disconnected', async () => {
  const ask = async (code: string): Promise<number> => {
    const body = JSON.stringify({ code })
    const headers = { 'content-type': 'application/json' }
    return (await fetch(`${url}/v1/joins`, { method: 'POST', body, headers })).status
  }
  const hosted = await host(game, { rendezvous: url, ...quiet })
  expect(await ask(hosted.code)).toBe(200)
  const statuses: number[] = []
  for (let round = 0; round < 8; round++) statuses.push(await ask('IRON-0000'))
  expect(statuses.slice(-3)).toEqual([429, 429, 429])
  // Now a correct code gets the same answer as a wrong one.
  expect(await ask(hosted.code)).toBe(429)
  const client = new Rendezvous(url, nodeRendezvous)
  const own = await client.create({ fingerprint: '00'.repeat(8), identity: '00'.repeat(32), capacity: 4 }, true)
  expect(own.code).toMatch(/^[A-Z]+-[A-Z]+-.{4}$/)
  const { session, code, key, secret } = own
  const signals = new RendezvousSignaling(await client.openSignals(), { session, code, key, secret })
  await new Promise<void>((resolve) => { signals.onWelcome = resolve })
  const lost = new Promise<void>((resolve) => { signals.onLost = resolve })
  for (let round = 0; round < 100; round++) signals.send('g1', { kind: 'reject', reason: 'flood' })
  await lost
  const foreign = await fetch(`${url}/v1/joins`, { method: 'POST', headers: { origin: 'https://evil.example' } })
  expect(foreign.status).toBe(403)
  await hosted.close()
})
