/** Join data, which a client sends with its request, from `connect` to `onAuth`, `onJoin` and a resume. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, afterEach, expect, test } from 'vitest'
import { bool, bytes, ConfigError, defineGame, entity, fixed, list, text, u8, type Peer } from 'tickwire'
import { createClientHost } from 'tickwire/engine'
import { connect, monotonicNow, openUdp, resolveUdp, serve, serveRooms, systemEntropy, watchRooms } from 'tickwire/node'
import { Seat } from '../../games/arena/definitions.ts'
import { game as arena } from '../../games/arena/game.ts'
import { game as jwtGame, Player, signJwt, start } from '../../docs/guide/examples/jwt.ts'

const folder = mkdtempSync(join(tmpdir(), 'tickwire-join-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close()
})

async function until(isTrue: () => boolean, msMax = 20_000): Promise<void> {
  for (const deadline = performance.now() + msMax; !isTrue();) {
    if (performance.now() > deadline) throw new Error(`still not true after ${msMax} ms: ${isTrue}`)
    await sleep(10)
  }
}

const Walker = entity({ x: fixed(0, 1000, 0.1), name: text(16) }, { name: 'Walker' })
const joined: string[] = []

const game = defineGame({
  tickRate: 30,
  input: { right: bool },
  join: { name: text(16).initially('bot'), team: u8 },
  entities: [Walker],
  onJoin(world, peer, { name, team }) {
    joined.push(`${name} of team ${team}`)
    world.spawn(Walker, { name }, peer)
  },
  step() {},
})

const QUIET = { port: 0, log: () => {}, ops: false, signals: false } as const

test('[JOIN1, JOIN2] a name reaches onAuth, both onJoin, and stays over a resume and a restart', async () => {
  const calls: string[] = []
  const types = {
    duel: {
      game,
      resumeMs: 60_000,
      onAuth: ({ data }: { data: { name: string } }) => data.name !== 'Mallory' && `account of ${data.name}`,
      onCreate: (room: { addBot(think: () => object): Peer; isRestored: boolean }) => void room.addBot(() => ({})),
    },
  }
  const options = { ...QUIET, keepRooms: join(folder, 'rooms.json') }
  const serving = await serveRooms({
    duel: {
      ...types.duel,
      onJoin: (_room, { data, user }) => calls.push(`join ${data.name} ${data.team} ${user}`),
    },
  }, options)
  open.push(() => serving.close())
  const room = await connect(game, serving.url, { data: { name: 'Ada', team: 2 } })
  open.push(() => room.leave())
  await until(() => calls.length === 1)
  expect(calls).toEqual(['join Ada 2 account of Ada'])
  expect(joined).toEqual(['bot of team 0', 'Ada of team 2'])
  await until(() => [...room.view.each(Walker)].some(({ name, owner }) => name === 'Ada' && owner === room.peer))
  await expect(connect(game, serving.url, { data: { name: 'Mallory' } })).rejects.toThrow('the server refused')

  const turns: string[] = []
  room.onBack((seat) => turns.push(seat))
  await serving.drain()
  const again = await serveRooms(types, { ...options, port: Number(new URL(serving.url).port) })
  open.push(() => again.close())
  await until(() => turns.length === 1, 30_000)
  expect(turns).toEqual(['same'])
  expect(again.rooms.rooms[0]!.members.map(({ data }) => data)).toEqual([{ name: 'Ada', team: 2 }])
  expect(joined, 'the game has known the player and the bot').toHaveLength(2)
})

test('[JOIN3] invalid data costs one counter, and reaches no code of the game', async () => {
  let asked = 0
  const serving = await serveRooms({ duel: { game, onAuth: () => ++asked } }, QUIET)
  open.push(() => serving.close())
  const port = await openUdp()
  open.push(() => port.close())
  const address = await resolveUdp('localhost', serving.info.udp!.port)
  let reason = ''
  const host = createClientHost(game, { entropy: systemEntropy, onClosed: ({ code }) => { reason = code } })
  port.onDatagram = (from, datagram, length) => host.handleDatagram(monotonicNow(), from, datagram, length)
  host.connect(monotonicNow(), address, { data: new Uint8Array(1000).fill(0xff) })
  await until(() => {
    host.drain(monotonicNow(), port)
    return reason !== ''
  })
  expect([reason, asked]).toEqual(['refused', 0])
  // On a busy machine the client repeats its request before it has the answer. Each request counts once.
  const { data, refused } = serving.rooms.door.counts
  expect([data > 0, refused]).toEqual([true, 0])
})

test('[JOIN3] any bytes decode to values of the schema or to nothing, and values have one encoding', () => {
  const wide = defineGame({
    tickRate: 30, input: {}, entities: [], step() {},
    join: { name: text(16), team: u8, keys: list(u8, 4), blob: bytes(20) },
  })
  const { joinCodec } = wide
  fc.assert(fc.property(fc.uint8Array({ maxLength: 60 }), (random) => {
    const values = joinCodec.decode(random)
    if (values !== undefined && random.length > 0) expect(joinCodec.encode(values)).toEqual(random)
  }), { numRuns: 2000 })
  expect(joinCodec.decode(joinCodec.encode({ name: 'Ada' }))).toMatchObject({ name: 'Ada', team: 0 })
  const named = defineGame({ tickRate: 30, input: {}, entities: [], step() {}, join: { name: text(16) } })
  expect(Buffer.from(named.joinCodec.encode({ name: 'Ada' })).toString('hex'), 'as docs/wire/ROOMS.md').toBe('03416461')
  expect(named.text.endsWith('\njoin {name:text(16)}')).toBe(true)
})

test('[JOIN4] too large a schema is refused by defineGame, and too much beside a token by connect', async () => {
  const base = { tickRate: 30, input: {}, entities: [], step() {} }
  expect(() => defineGame({ ...base, join: { blob: bytes(1100) } })).toThrow(ConfigError)
  const large = defineGame({ ...base, join: { blob: bytes(1000) } })
  const serving = await serveRooms({ one: { game: large } }, QUIET)
  open.push(() => serving.close())
  const room = await connect(large, serving.url, { data: { blob: new Uint8Array(1000).fill(7) } })
  open.push(() => room.leave())
  await until(() => serving.rooms.rooms[0]?.members.length === 1)
  expect((serving.rooms.rooms[0]!.members[0]!.data as { blob: Uint8Array }).blob).toEqual(new Uint8Array(1000).fill(7))
})

test('[JOIN1] the guide: a JSON web token lets an account in, and a forged or expired one does not', async () => {
  const serving = await start('a secret', 0)
  open.push(() => serving.close())
  const soon = Math.floor(Date.now() / 1000) + 60
  const jwt = signJwt({ sub: 'account 7', exp: soon }, 'a secret')
  const room = await connect(jwtGame, serving.url, { data: { name: 'Ada', jwt } })
  open.push(() => room.leave())
  await until(() => [...room.view.each(Player)].some(({ name }) => name === 'Ada'))
  expect(serving.rooms.rooms[0]!.members.map(({ user }) => user)).toEqual(['account 7'])
  for (const bad of [
    signJwt({ sub: 'account 7', exp: soon }, 'another secret'),
    signJwt({ sub: 'account 7', exp: soon - 120 }, 'a secret'),
    'nonsense',
    '',
  ])
    await expect(connect(jwtGame, serving.url, { data: { jwt: bad } }), bad).rejects.toThrow('the server refused')
})

test('[ROOM13] a lobby follows the room list: rooms that open, fill, are locked and end', async () => {
  const serving = await serveRooms({ duel: { game, capacity: 2 } }, QUIET)
  open.push(() => serving.close())
  const seen: string[] = []
  open.push(watchRooms(serving.url, (rooms) => {
    seen.push(rooms.map(({ players, isLocked }) => `${players}${isLocked ? ' locked' : ''}`).join(', '))
  }, { type: 'duel' }))
  await until(() => seen.length === 1)
  const room = serving.create('duel')
  await until(() => seen.at(-1) === '0')
  const client = await connect(game, serving.url, { join: { room: room.id } })
  open.push(() => client.leave())
  await until(() => seen.at(-1) === '1')
  room.isLocked = true
  await until(() => seen.at(-1) === '1 locked')
  room.end()
  await until(() => seen.at(-1) === '')
  expect(seen).toEqual(['', '0', '1', '1 locked', ''])
})

/** Compiled, and never run: what does not compile is marked. */
export async function types(): Promise<void> {
  // @ts-expect-error reason: the game has no such join data
  await connect(game, 'http://localhost', { data: { nam: 'Ada' } })
  await serveRooms({
    duel: {
      game,
      onCreate(room) {
        room.addBot(() => ({ right: true }))
        // @ts-expect-error reason: the input has no such field
        room.addBot(() => ({ rihgt: true }))
      },
      onJoin(_room, { data }) {
        data.name.trim()
        // @ts-expect-error reason: the join data has no such field
        void data.nam
      },
    },
  })
}

test('[JOIN1] the arena seats a player under its name, clean, from the first tick', async () => {
  const names: (string | undefined)[] = []
  const onJoined = ({ id }: Peer): void => {
    names.push([...serving.host.world.each(Seat)].find(({ owner }) => owner === id)?.name)
  }
  const serving = await serve(arena, { ...QUIET, onJoined })
  open.push(() => serving.close())
  const room = await connect(arena, serving.url, { data: { name: ' Ann\n' } })
  open.push(() => room.leave())
  await until(() => names.length === 1)
  expect(names).toEqual(['Ann'])
})
