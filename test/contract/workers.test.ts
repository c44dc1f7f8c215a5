/** Rooms in several processes behind one port: real processes, sockets and clients. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import type { JoinRequest } from 'tickwire'
import { connect, type Room } from 'tickwire/node'
import { game, Player } from '../../docs/guide/examples/rooms/game.ts'
import { makeCertificate } from '../../packages/tickwire/src/node/certificate.ts'
import { endPrograms, Program } from './program.ts'

// Real processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 })

/** The server as one file: workers run the file that the first process was started with. */
const SERVER = new URL('../../.cache/test/workers-server.mjs', import.meta.url)
const rooms: Room[] = []
const folders: string[] = []

beforeAll(async () => {
  await build({
    entryPoints: [fileURLToPath(new URL('workers-server-process.ts', import.meta.url))],
    outfile: fileURLToPath(SERVER),
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['tickwire-source'],
    external: ['ws', 'sodium-native', '@matrixai/*', 'node-datachannel', 'werift'],
    logLevel: 'error',
  })
})

afterEach(async () => {
  for (const room of rooms.splice(0)) room.leave()
  await endPrograms()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

interface Started {
  readonly program: Program
  readonly url: string
  readonly ops: string
}

interface WorkerListing {
  readonly pid: number | undefined
  readonly rooms: number
  readonly players: number
}

async function start(options: object): Promise<Started> {
  const program = new Program(SERVER, [JSON.stringify(options)])
  const [, url = '', ops = ''] = await program.says(/at (\S+) ops (\S+) \./)
  return { program, url, ops }
}

async function enter(url: string, join?: JoinRequest, transport: 'websocket' | 'udp' = 'websocket'): Promise<Room> {
  const room = await connect(game, url, { transport, ...(join && { join }) }) as Room
  rooms.push(room)
  return room
}

/** The workers, as the server lists them. */
async function workersOf({ program }: Started): Promise<readonly WorkerListing[]> {
  program.said = ''
  program.child.stdin.write('workers\n')
  const [, text = '[]'] = await program.says(/workers (\[.*\])\./)
  return JSON.parse(text) as readonly WorkerListing[]
}

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isTrue()); tries++) {
    if (tries > 1500) throw new Error(`never true: ${isTrue}`)
    await new Promise((resolve) => { setTimeout(resolve, 20) })
  }
}

async function list(url: string): Promise<readonly { readonly id: string; readonly players: number }[]> {
  return await (await fetch(`${url}/tickwire/rooms`)).json() as readonly { id: string; players: number }[]
}

test('[WORK1] [WORK2] rooms of all workers are one list; clients find them by id, quick match and UDP', async () => {
  const started = await start({ workers: 2 })
  const { url, ops, program } = started
  const first = await enter(url, { create: 'duel' })
  await until(async () => (await list(url)).length === 1)
  const second = await enter(url, { create: 'duel' })
  await until(async () => (await list(url)).length === 2)
  expect((await workersOf(started)).map((worker) => worker.rooms)).toEqual([1, 1])
  // By id, over WebSocket and UDP, whichever worker has the room.
  const guest = await enter(url, { room: first.id })
  const other = await enter(url, { room: second.id }, 'udp')
  expect([guest.id, other.id, other.transport]).toEqual([first.id, second.id, 'udp'])
  await until(() => [...other.view.each(Player)].length === 2)
  // Both duels are full: two players that request a quick seat at the same time share a third room.
  const pair = await Promise.all([enter(url, { quick: 'duel' }), enter(url, { quick: 'duel' })])
  expect(pair[0].id).toBe(pair[1].id)
  // A private room by its code, and a room that the first process makes.
  const secret = await enter(url, { create: 'duel', isPrivate: true })
  expect((await list(url)).map(({ id }) => id)).not.toContain(secret.id)
  program.child.stdin.write('create {"metadata":{"map":"dust"}}\n')
  const [, made = ''] = await program.says(/made (\w+)\./)
  await until(async () => (await list(url)).some(({ id }) => id === made))
  const dust = await enter(url, { quick: 'duel', filter: { map: 'dust' } })
  expect(dust.id).toBe(made)
  // One set of metrics, and one status page.
  await until(async () => (await (await fetch(`${ops}/metrics`)).text()).includes('tickwire_players 8\n'))
  const metrics = await (await fetch(`${ops}/metrics`)).text()
  expect(metrics).toContain('tickwire_workers 2\n')
  expect(metrics).toContain('tickwire_rooms 5\n')
  expect(metrics.match(/# TYPE tickwire_tick_seconds/g)).toHaveLength(1)
  expect(await (await fetch(ops)).text()).toContain(made)
  expect((await fetch(`${url}/tickwire/game`)).status).toBe(200)
})

test('[WORK3] [WORK4] a killed worker takes only its rooms, and starts again with them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tickwire-workers-'))
  folders.push(folder)
  const started = await start({ workers: 2, keepRooms: join(folder, 'rooms.json') })
  const { url, ops, program } = started
  const [one, two] = [await enter(url, { create: 'duel' }), await enter(url, { create: 'duel' }, 'udp')]
  await until(async () => (await workersOf(started)).every((worker) => worker.players === 1))
  const away: string[] = []
  one.onAway(() => away.push('one'))
  two.onAway(() => away.push('two'))
  const back = new Promise<string>((resolve) => { one.onBack((seat) => resolve(seat)) })
  one.play({ input: () => ({ right: true }) })
  const xOf = (): number => [...one.view.each(Player)][0]?.x ?? 0
  await until(() => xOf() > 400)
  // Rooms are saved every two seconds.
  await new Promise((resolve) => { setTimeout(resolve, 2500) })
  await (await fetch(`${ops}/metrics`)).text()
  const workers = await workersOf(started)
  const index = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'.indexOf(one.id[0]!) % 2
  program.said = ''
  process.kill(workers[index]!.pid!, 'SIGKILL')
  await program.says(/worker-died: worker \d died \(SIGKILL\) with 1 rooms and 1 players/)
  expect(await back).toBe('same')
  await until(() => xOf() > 320)
  expect(away).toEqual(['one'])
  const metrics = await (await fetch(`${ops}/metrics`)).text()
  expect(metrics).toContain('tickwire_workers_total{what="died"} 1\n')
  expect(Number(/tickwire_joins_total{result="seated"} (\d+)/.exec(metrics)![1])).toBe(2)
  expect((await workersOf(started)).map((worker) => worker.players)).toEqual([1, 1])
  // All processes end cleanly, and the next ones continue the matches.
  const before = one.view.tick
  program.child.kill('SIGTERM')
  expect(await program.ended).toBe(0)
  const port = Number(new URL(url).port)
  const again = await start({ workers: 2, keepRooms: join(folder, 'rooms.json'), port })
  await until(async () => (await workersOf(again)).every((worker) => worker.players === 1))
  await until(() => one.view.tick > before)
  again.program.child.stdin.write('close\n')
  expect(await again.program.ended).toBe(0)
})

test('[WORK5] `serve` has a match in each worker, and fills one after the other', async () => {
  const { url } = await start({ workers: 2, isSingle: true })
  const three = [await enter(url), await enter(url), await enter(url)]
  expect(three[0]!.id).toBe(three[1]!.id)
  expect(three[2]!.id).not.toBe(three[0]!.id)
  const listed = await list(url)
  expect(listed).toHaveLength(2)
})

test('[WORK7] over TLS the first process decrypts, and the worker serves', async () => {
  // The certificate of this test is its own.
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  const { url } = await start({ workers: 2, tls: makeCertificate(Date.now()) })
  expect(new URL(url).protocol).toBe('https:')
  const [one, two] = [await enter(url, { create: 'duel' }), await enter(url, { create: 'duel' })]
  await until(async () => (await list(url)).length === 2)
  const guest = await enter(url, { room: two.id })
  expect([guest.id, one.id === two.id]).toEqual([two.id, false])
  await until(() => [...guest.view.each(Player)].length === 2)
  vi.unstubAllEnvs()
})
