/** Rooms that a client creates with options and a password: from `connect` to `room.options`, and over a restart. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, expect, test } from 'vitest'
import { bool, bytes, ConfigError, defineGame, text, u8 } from 'tickwire'
import { connect, serveRooms } from 'tickwire/node'
import { encodeJoin } from '../../packages/tickwire/src/core/rooms/join-body.ts'
import { createRoom, enterRoom, start } from '../../docs/guide/examples/room-options.ts'

const folder = mkdtempSync(join(tmpdir(), 'tickwire-options-'))
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

const base = { tickRate: 30, input: {}, entities: [], step() {} }
const game = defineGame({
  ...base,
  join: { name: text(16) },
  roomOptions: { map: u8.initially(1), isRanked: bool },
})

const QUIET = { port: 0, log: () => {}, ops: false, signals: false } as const

test('[ROOM14] options reach onAuth, onCreate and room.options, and stay over a restart', async () => {
  const calls: string[] = []
  const options = { ...QUIET, keepRooms: join(folder, 'options.json') }
  const types = {
    duel: {
      game,
      resumeMs: 60_000,
      onAuth: ({ options: { map }, data: { name } }: { options: { map: number }; data: { name: string } }) => {
        calls.push(`auth ${name} ${map}`)
        return map !== 9
      },
      onCreate: (room: { options: { map: number; isRanked: boolean } }) =>
        void calls.push(`create ${room.options.map} ${room.options.isRanked}`),
    },
  }
  const serving = await serveRooms(types, options)
  open.push(() => serving.close())
  const made = await connect(game, serving.url, {
    data: { name: 'Ada' },
    join: { create: 'duel', options: { map: 7, isRanked: true }, isPrivate: true },
  })
  open.push(() => made.leave())
  await until(() => calls.length === 2)
  expect(calls).toEqual(['auth Ada 7', 'create 7 true'])
  expect(serving.rooms.rooms[0]!.members[0]!.data).toEqual({ name: 'Ada' })
  const quick = await connect(game, serving.url)
  open.push(() => quick.leave())
  await until(() => calls.length === 4)
  expect(calls.slice(2), 'a quick seat opens a room with the initial values').toEqual(['auth  1', 'create 1 false'])
  expect(serving.create('duel', { options: { map: 3 } }).options).toEqual({ map: 3, isRanked: false })
  expect(JSON.stringify(serving.list()), 'options are not in the list').not.toContain('isRanked')
  await expect(connect(game, serving.url, { join: { create: 'duel', options: { map: 9 } } }))
    .rejects.toMatchObject({ code: 'refused' })

  await serving.drain()
  const again = await serveRooms(types, { ...options, port: Number(new URL(serving.url).port) })
  open.push(() => again.close())
  expect(again.rooms.rooms.map((room) => room.options)).toContainEqual({ map: 7, isRanked: true })
})

test('[ROOM14] invalid options cost one counter, and too large a schema is refused by defineGame', async () => {
  let asked = 0
  const serving = await serveRooms({ duel: { game, onAuth: () => ++asked } }, QUIET)
  open.push(() => serving.close())
  const hostile = { ...game.optionsCodec, encode: () => new Uint8Array(20).fill(0xff) }
  const forged = { ...game, optionsCodec: hostile as unknown as typeof game.optionsCodec }
  await expect(connect(forged, serving.url, { join: { create: 'duel', options: { map: 1 } } }))
    .rejects.toMatchObject({ code: 'refused' })
  expect([serving.rooms.door.counts.data, asked, serving.rooms.rooms.length]).toEqual([1, 0, 0])
  expect(() => defineGame({ ...base, roomOptions: { blob: bytes(200) } })).toThrow(ConfigError)
  expect(() => defineGame({ ...base, join: { blob: bytes(1000) }, roomOptions: { blob: bytes(100) } }))
    .toThrow('roomOptions: too large')
})

test('[ROOM15] a room with a password: wrong and missing ones are refused, and a resume needs none', async () => {
  const seen: object[] = []
  const logged: unknown[] = []
  const options = {
    ...QUIET, keepRooms: join(folder, 'password.json'), log: (entry: unknown) => void logged.push(entry),
  }
  const types = { duel: { game, resumeMs: 60_000, onAuth: (asking: object) => seen.push(asking) } }
  const serving = await serveRooms(types, options)
  open.push(() => serving.close())
  const made = await connect(game, serving.url, { join: { create: 'duel', password: 'xyzzy-ç' } })
  open.push(() => made.leave())
  await until(() => serving.list().length === 1)
  const { id, hasPassword } = serving.list()[0]!
  expect(hasPassword).toBe(true)
  for (const password of ['xyzzy', 'xyzzy-çç', 'XYZZY-ç', undefined]) {
    const asked = connect(game, serving.url, { join: { room: id, ...(password !== undefined && { password }) } })
    await expect(asked).rejects.toMatchObject({ code: 'password' })
    await expect(asked).rejects.toThrow('the room has a password')
  }
  expect(serving.rooms.door.counts.password).toBe(4)
  const friend = await connect(game, serving.url, { join: { room: id, password: 'xyzzy-ç' } })
  open.push(() => friend.leave())
  const quick = await connect(game, serving.url)
  open.push(() => quick.leave())
  await until(() => serving.list().length === 2)
  expect(serving.list().map((each) => [each.players, each.hasPassword])).toEqual([[2, true], [1, false]])

  const turns: string[] = []
  made.onBack((seat) => turns.push(seat))
  await serving.drain()
  expect(readFileSync(options.keepRooms, 'utf8')).not.toContain('xyzzy')
  const again = await serveRooms(types, { ...options, port: Number(new URL(serving.url).port) })
  open.push(() => again.close())
  await until(() => turns.length === 1, 30_000)
  expect(turns).toEqual(['same'])
  await expect(connect(game, again.url, { join: { room: id, password: 'no' } }))
    .rejects.toThrow('the room has a password')
  const late = await connect(game, again.url, { join: { room: id, password: 'xyzzy-ç' } })
  open.push(() => late.leave())
  expect(JSON.stringify([seen.map((asking) => ({ ...asking, token: 0 })), logged, again.list()])).not.toContain('xyzzy')
})

test('[ROOM15] a password of a wrong length is an error of connect and create, which does not show it', async () => {
  const serving = await serveRooms({ duel: { game } }, QUIET)
  open.push(() => serving.close())
  for (const password of ['', 'q'.repeat(33)]) {
    const asked = connect(game, serving.url, { join: { create: 'duel', password } })
    await expect(asked).rejects.toThrow('password: wrong length (expected 1 to 32 bytes')
    await expect(asked).rejects.not.toThrow('qqq')
    expect(() => serving.create('duel', { password })).toThrow('password: wrong length')
  }
})

test('[ROOM16] after ten tries from one origin, the right password is refused too', async () => {
  const limits = { areLocalExempt: false, handshakes: 1000, challenges: 1000, connections: 50 }
  const serving = await serveRooms({ duel: { game } }, { ...QUIET, limits })
  open.push(() => serving.close())
  const { id } = serving.create('duel', { password: '1234' })
  for (let count = 0; count < 10; count++)
    await expect(connect(game, serving.url, { join: { room: id, password: `000${count}` } }))
      .rejects.toMatchObject({ code: 'password' })
  await expect(connect(game, serving.url, { join: { room: id, password: '1234' } }))
    .rejects.toMatchObject({ code: 'password' })
})

test('[ROOM14, ROOM15] the guide: a client creates a room with a map and a password, a friend enters', async () => {
  const serving = await start(0)
  open.push(() => serving.close())
  const made = await createRoom(serving.url, 2, 'open sesame')
  open.push(() => made.leave())
  await until(() => serving.list().length === 1)
  expect(serving.list()[0]).toMatchObject({ metadata: { map: '2' }, hasPassword: true })
  const answers = ['sesame', 'open sesame']
  const friend = await enterRoom(serving.url, serving.list()[0]!.id, () => answers.shift() ?? '')
  open.push(() => friend.leave())
  await until(() => serving.list()[0]!.players === 2)
})

test('[ROOM14, ROOM15] the example of docs/wire/ROOMS.md', () => {
  const { optionsCodec, text: lines } = defineGame({ ...base, roomOptions: { map: u8, isRanked: bool } })
  const hex = (sent: Uint8Array): string => Buffer.from(sent).toString('hex')
  expect(hex(optionsCodec.encode({ map: 2, isRanked: true }))).toBe('0280')
  expect(hex(encodeJoin({ create: 'duel', password: 'abc', optionsSize: 2 }))).toBe('03060361626302046475656c')
  expect(lines.endsWith('\nroomOptions {map:int(0,255);isRanked:bool}')).toBe(true)
})

/** Compiled, and never run: what does not compile is marked. */
export async function types(): Promise<void> {
  // @ts-expect-error reason: the game has no such option
  await connect(game, 'http://localhost', { join: { create: 'duel', options: { mapp: 1 } } })
  await serveRooms({
    duel: {
      game,
      onCreate({ options }) {
        options.map.toFixed()
        // @ts-expect-error reason: the game has no such option
        void options.mapp
      },
    },
  })
}
