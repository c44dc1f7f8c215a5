/** Rooms in several game servers behind one fleet: seats, tokens, builds, moves, and what goes on without the fleet. */

import { connect as connectTcp } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { connect, findSeats, fleet, signFleetRequest, type ConnectError } from 'tickwire/node'
import { game, newerGame, Stage, steps, until, urlOf } from './fleet-stage.ts'

let stage = new Stage()
afterEach(async () => {
  await stage.close()
  stage = new Stage()
})

const ID = '0123456789abcdef0123456789abcdef'
const fingerprint = Buffer.from(game.fingerprint).toString('hex')

async function post(url: string, body: object, secret?: string): Promise<{ status: number; body: unknown }> {
  const text = JSON.stringify(body)
  const response = await fetch(url, {
    method: 'POST', body: text,
    headers: { 'content-type': 'application/json', ...signFleetRequest(secret, new URL(url).pathname, text) },
  })
  return { status: response.status, body: await response.json() as unknown }
}

test('[FLEET1] a client gets a seat in the fullest room, by UDP, on a server whose identity is proven', async () => {
  const at = await stage.fleet()
  const servers = [await stage.server(at), await stage.server(at)]
  const rooms = []
  for (let count = 0; count < 4; count++) rooms.push(await stage.join(at))
  // The list is as new as the last report.
  await until(() => servers.some((server) => server.rooms.players === 4))
  await new Promise((resolve) => { setTimeout(resolve, 500) })
  rooms.push(await stage.join(at))
  expect(new Set(rooms.slice(0, 4).map(({ id }) => id)).size).toBe(1)
  expect(rooms[4]!.id).not.toBe(rooms[0]!.id)
  expect(rooms.map(({ security }) => security.identity)).toEqual(rooms.map(() => 'verified'))
  expect(rooms[0]!.transport).toBe('udp')
  // The second room is on the other server, which had no players.
  const players = (): string => servers.map((server) => server.rooms.players).toSorted().join()
  await until(() => players() === '1,4', players)
  const list = await (await fetch(`${urlOf(at)}/rooms`)).json() as { rooms: { players: number }[] }
  expect(list.rooms.map((room) => room.players).toSorted()).toEqual([1, 4])
})

test('[FLEET1] the newest version gets new players; rooms are found by id and code, and created', async () => {
  const at = await stage.fleet()
  const old = await stage.server(at, { version: '1.9.0' })
  const first = await stage.join(at)
  const newer = await stage.server(at, { version: '1.10.0' })
  const second = await stage.join(at)
  expect([old.rooms.rooms.length, newer.rooms.rooms.length]).toEqual([1, 1])
  const third = await stage.join(at, { join: { room: first.id } })
  expect([third.id, second.id === first.id]).toEqual([first.id, false])
  const own = await stage.join(at, { join: { create: 'melee', isPrivate: true, password: 'sesame' } })
  await until(() => newer.rooms.room(own.id) !== undefined)
  const { code } = newer.rooms.room(own.id)!
  await until(() => at.servers.all.some(({ rooms }) => rooms.some((room) => room.code === code)))
  await expect(stage.join(at, { join: { code } })).rejects.toMatchObject({ code: 'password' })
  expect((await stage.join(at, { join: { code, password: 'sesame' } })).id).toBe(own.id)
  await expect(stage.join(at, { join: { room: 'NOSUCHROOM' } })).rejects.toMatchObject({ code: 'no-room' })
})

test('[FLEET2] a client without a reserved seat is refused, a token is good once, a party sits together', async () => {
  const at = await stage.fleet()
  const server = await stage.server(at)
  const direct = urlOf({ port: Number(new URL(server.url).port) })
  await expect(connect(game, direct)).rejects.toMatchObject({ code: 'refused' })
  const party = await findSeats(game, urlOf(at), { party: 3 })
  expect(new Set(party.map(({ room }) => room)).size).toBe(1)
  const [seat] = party
  const room = await connect(game, fleet(urlOf(at), seat))
  expect(room.id).toBe(seat!.room)
  await expect(connect(game, seat!.url, { token: seat!.token })).rejects.toMatchObject({ code: 'token' })
  room.leave()
})

test('[FLEET3] the same request gets the same seats; after its deadline it is refused', async () => {
  const at = await stage.fleet()
  const servers = [await stage.server(at), await stage.server(at)]
  const ask = (): Promise<{ status: number; body: unknown }> =>
    post(`${urlOf(at)}/rooms/quick`, { id: ID, fingerprint, deadlineMs: 1000 })
  const answers = await Promise.all(Array.from({ length: 20 }, ask))
  const rooms = answers.map(({ body }) => (body as { room: string }).room)
  expect(new Set(rooms).size).toBe(1)
  expect(servers.reduce((sum, { rooms: { reservations } }) => sum + reservations.count, 0)).toBe(1)
  // A server that stood still reads a request that waited: it is late, and no room opens.
  const { port } = new URL(servers[1]!.url)
  const body = JSON.stringify({ id: 'late', tokens: ['x'], fingerprint, deadlineMs: 200 })
  const socket = connectTcp(Number(port), '127.0.0.1')
  await new Promise((resolve) => { socket.once('connect', resolve) })
  const head = `POST /tickwire/fleet/reserve HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: ${body.length}`
  socket.write(`${head}\r\n\r\n${body}`)
  for (const end = performance.now() + 500; performance.now() < end;);
  const answer = await new Promise<string>((resolve) => { socket.once('data', (bytes) => resolve(String(bytes))) })
  socket.destroy()
  expect(answer).toContain('{"refused":"late"}')
})

test('[FLEET4] an old client finds an old server while both builds run, and learns that it is gone', async () => {
  const at = await stage.fleet()
  const old = await stage.server(at, { version: '1' })
  const newer = await stage.server(at, { version: '2', of: newerGame })
  await stage.join(at)
  await stage.join(at, {}, newerGame)
  await until(() => old.rooms.players === 1 && newer.rooms.players === 1)
  await old.close()
  await expect(stage.join(at, { retryMs: 0 })).rejects.toMatchObject({ code: 'schema' } satisfies Partial<ConnectError>)
})

test('[FLEET5, FLEET7] I21: a drained server hands its rooms on: same seats, same world, a gap below 2 s', async () => {
  const at = await stage.fleet()
  const first = await stage.server(at)
  const players = [await stage.join(at), await stage.join(at), await stage.join(at, { transport: 'websocket' })]
  await until(() => players.every((room) => steps(room) > 20))
  const peers = players.map(({ peer }) => peer)
  const { id } = players[0]!
  const backs: string[] = []
  for (const room of players) room.onBack((seat) => backs.push(seat))
  const second = await stage.server(at)
  const gaps = players.map((room) => longestGap(() => room.view.tick))
  const before = Math.max(...players.map(steps))
  await first.drain()
  await until(() => backs.length === 3, () => backs)
  await until(() => players.every((room) => steps(room) > before + 10), () => players.map(steps))
  expect(backs).toEqual(['same', 'same', 'same'])
  expect(players.map(({ peer }) => peer)).toEqual(peers)
  expect(players.map((room) => room.id)).toEqual([id, id, id])
  expect(second.rooms.rooms.map((room) => room.id)).toEqual([id])
  expect(Math.max(...gaps.map((stop) => stop()))).toBeLessThan(2000)
})

test('[FLEET6] a server that does not answer decides nothing: the room goes on in one of the two', async () => {
  const at = await stage.fleet()
  const first = await stage.server(at)
  const player = await stage.join(at)
  await until(() => steps(player) > 5)
  // It takes the room, and its answer is lost. Then it never answers, and does not take the room.
  for (const isTaken of [true, false]) {
    const move = isTaken ? ID : ID.replaceAll('0', 'f')
    const claim = (server: string): Promise<unknown> =>
      post(`${urlOf(at)}/fleet/claims`, { move, server }).then(({ body }) => (body as { owner: string }).owner)
    const [here, there] = ['a'.repeat(32), 'b'.repeat(32)] as const
    if (isTaken) expect(await claim(there)).toBe(there)
    expect(await claim(here)).toBe(isTaken ? there : here)
    expect(await claim(there)).toBe(isTaken ? there : here)
  }
  // Nothing takes the room of a server that is alone: it stays where it is until the server ends.
  const drained = first.drain(600)
  await until(() => first.rooms.rooms[0]?.isFrozen === false)
  expect(player.isAway).toBe(false)
  await drained
  expect(await player.closed).toEqual({ by: 'peer', code: 'shutdown' })
})

test('[FLEET8] matches and ways back go on without the fleet; it lists its servers again after a restart', async () => {
  const at = await stage.fleet()
  const server = await stage.server(at)
  const player = await stage.join(at)
  await until(() => steps(player) > 5)
  await at.close()
  const before = steps(player)
  await until(() => steps(player) > before + 20)
  expect(player.isAway).toBe(false)
  const again = await stage.fleet({ port: at.port })
  await until(() => again.servers.all.length === 1 && server.isListed, () => again.servers.all)
  // The new service signs with a new key, which the server has learned.
  expect((await stage.join(again)).id).toBe(player.id)
})

test('[FLEET11] requests between processes are signed, and without a secret only this machine may ask', async () => {
  const secret = 'a secret of the fleet'
  const at = await stage.fleet({ secret })
  await expect(stage.server(at, { secret: 'another' }).then(({ isListed }) => isListed)).resolves.toBe(false)
  const server = await stage.server(at, { secret })
  expect(server.isListed).toBe(true)
  const reserve = `${urlOf({ port: Number(new URL(server.url).port) })}/tickwire/fleet/reserve`
  const order = { id: 'x', tokens: ['x'], fingerprint, deadlineMs: 1000 }
  expect((await post(reserve, order)).status).toBe(403)
  expect((await post(reserve, order, 'another')).status).toBe(403)
  expect((await post(reserve, order, secret)).status).toBe(200)
  expect((await post(`${urlOf(at)}/fleet/claims`, { move: ID, server: ID })).status).toBe(403)
  const users = { id: ID, fingerprint, deadlineMs: 1000, users: ['ada'] }
  expect((await post(`${urlOf(at)}/rooms/quick`, users)).status).toBe(403)
  expect((await post(`${urlOf(at)}/rooms/quick`, users, secret)).status).toBe(200)
  expect((await stage.join(at)).id).not.toBe('')
  // A proxy on this machine carries requests of others.
  const open = await stage.fleet()
  const proxied = await fetch(`${urlOf(open)}/fleet/claims`, {
    method: 'POST', body: JSON.stringify({ move: ID, server: ID }),
    headers: { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.9' },
  })
  expect(proxied.status).toBe(403)
  // Everyone can compute what follows from an empty secret.
  const keyOf = async (fleet: { readonly port: number }): Promise<unknown> =>
    await (await fetch(`${urlOf(fleet)}/fleet/key`)).json()
  const empty = await stage.fleet({ secret: '' })
  expect(await keyOf(empty)).not.toEqual(await keyOf(await stage.fleet({ secret: '' })))
})

/** The longest time without a change, until the returned function is called. */
function longestGap(read: () => number): () => number {
  let [value, at, longest] = [read(), performance.now(), 0]
  const timer = setInterval(() => {
    const now = performance.now()
    longest = Math.max(longest, now - at)
    if (read() !== value) [value, at] = [read(), now]
  }, 5)
  return () => {
    clearInterval(timer)
    return longest
  }
}
