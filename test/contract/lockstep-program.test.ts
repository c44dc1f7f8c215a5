/** The program `tickwire lockstep` as a process: many matches of several games, and none of their code. */

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { defineLockstep, encodeCard, decodeCard, relay, type LockstepGame, type LockstepRoom } from 'tickwire/lockstep'
import { bestProvider, connect, type ConnectError } from 'tickwire/node'
import { startTickwire } from '../../packages/tickwire/src/cli/run.ts'
import { keyToText } from '../../packages/tickwire/src/core/crypto/token-text.ts'
import { END_REASONS } from '../../packages/tickwire/src/core/order/tick-event.ts'
import { readPrometheus } from '../../packages/tickwire/src/node/metrics.ts'
import { bundlePrograms } from '../bundle-programs.ts'
import { Crate, game, Spawn } from '../sim/lockstep-game.ts'
import { endPrograms, Program } from './program.ts'
import { freePort } from './relay-group.ts'

const other = defineLockstep({ tickRate: 20, players: [1, 2], orders: [Spawn], entities: [Crate], step: () => {} })
const folder = mkdtempSync(join(tmpdir(), 'tickwire-lockstep-'))
const cards = [['skirmish', game], ['duel', other]].map(([name, each]) => {
  const file = join(folder, `${name as string}.card.json`)
  writeFileSync(file, encodeCard(each as LockstepGame))
  return file
})
const bundle = await bundlePrograms({ tickwire: 'packages/services/src/cli/index.ts' })
const CLI = pathToFileURL(join(bundle.folder, 'tickwire.mjs'))

afterAll(async () => {
  await endPrograms()
  bundle.remove()
  rmSync(folder, { recursive: true, force: true })
})

async function until(isTrue: () => boolean, msMax = 20_000): Promise<void> {
  for (const deadline = performance.now() + msMax; !isTrue();) {
    if (performance.now() > deadline) throw new Error(`still not true after ${msMax} ms: ${isTrue}`)
    await new Promise((resolve) => { setTimeout(resolve, 10) })
  }
}

test('[LOCK30] the program relays matches of several games, reports them, and drains at SIGTERM', async () => {
  const args = cards.flatMap((file) => ['--card', file])
  const program = new Program(CLI, [
    'lockstep', '--port', '0', '--address', '127.0.0.1', '--max-games', '3', '--ops', '0', '--drain', '1', ...args,
  ])
  const [, http = '', udp = ''] = await program.says(/lockstep: http:\/\/localhost:(\d+), UDP (\d+), 2 games/)
  const [, status = ''] = await program.says(/status: (\S+)\/metrics/)
  expect(await (await fetch(`${status}/healthz`)).text()).toBe('ok\n')

  // Indexed by client, then by tick.
  const hashes: string[][] = [[], [], []]
  const places = [relay(`udp://127.0.0.1:${udp}`), relay(`http://127.0.0.1:${http}`)]
  const enter = async (each: number, wanted: LockstepGame, request: object): Promise<LockstepRoom> =>
    await connect(wanted, places[each % 2]!, {
      join: request as never,
      runner: { onTick: (tick, low, high) => { hashes[each]![tick] = `${high}.${low}` } },
    })
  const any = game as unknown as LockstepGame
  const rooms = [
    await enter(0, any, { quick: 'skirmish' }),
    await enter(1, any, { quick: 'skirmish' }),
    await enter(2, other as unknown as LockstepGame, { create: 'duel' }),
  ]
  for (let round = 0; round < 10; round++) {
    expect(rooms[round % 2]!.order(Spawn, { count: 2 })).toBe('sent')
    await new Promise((resolve) => { setTimeout(resolve, 50) })
  }
  await until(() => rooms.every(({ tick }) => tick >= 20))
  const last = Math.min(rooms[0]!.tick, rooms[1]!.tick)
  expect(hashes[0]!.slice(1, last + 1)).toEqual(hashes[1]!.slice(1, last + 1))
  expect([rooms[0]!.players.length, rooms[2]!.players.length]).toEqual([2, 1])

  const metrics = readPrometheus(await (await fetch(`${status}/metrics`)).text())
  expect(metrics.get('tickwire_lockstep_games')).toBe(2)
  expect(metrics.get('tickwire_lockstep_players')).toBe(3)
  expect(metrics.get('tickwire_lockstep_orders{what="placed"}')).toBe(10)
  for (const what of ['up_ms', 'draw_ms', 'step_ms', 'behind_ticks'])
    expect(metrics.get(`tickwire_lockstep_slowest{what="${what}"}`)).toBeGreaterThanOrEqual(0)
  expect(metrics.get('tickwire_lockstep_slowest{what="behind_ticks"}')).toBeLessThan(60)
  await enter(0, any, { create: 'skirmish' })
  const refused = await enter(1, any, { create: 'skirmish' }).catch((error: ConnectError) => error.code)
  expect(refused).toBe('full')

  program.child.kill('SIGTERM')
  await until(() => program.said !== '' && rooms.every(({ isOver }) => isOver))
  const ends = await Promise.all(rooms.map(({ closed }) => closed))
  expect(ends.map(({ code }) => code)).toEqual(['shutdown', 'shutdown', 'shutdown'])
  expect(await program.ended).toBe(0)
}, 60_000)

/** Two processes of the program as a group, both with their recordings in one folder. */
async function startTwo(name: string, ...options: string[]): Promise<{
  programs: [Program, Program]; ports: number[]; keys: string[]; replays: string
}> {
  const ports = [await freePort(), await freePort()]
  const keys = [21, 22].map((byte) => {
    const identity = new Uint8Array(32).fill(byte)
    const file = join(folder, `relay-${byte}.key`)
    writeFileSync(file, keyToText('server-secret', identity))
    return { file, text: keyToText('server-public', bestProvider().importSigning(identity).publicKey) }
  })
  const list = keys.map(({ text }, each) => `http://127.0.0.1:${ports[each]}#${text}`).join(',')
  const replays = join(folder, name)
  const programs = keys.map(({ file }, each) => new Program(CLI, [
    'lockstep', '--port', String(ports[each]), '--address', '127.0.0.1', '--ops', '0', '--drain', '1',
    '--card', cards[0]!, '--identity', file, '--relays', list, '--replays', replays, ...options,
  ])) as [Program, Program]
  for (const program of programs) await program.says(/lockstep: http/)
  return { programs, ports, keys: keys.map(({ text }) => text), replays }
}

/** Two players in one match. `continued`: the ticks after which it went on elsewhere. `reasons`: why it ended. */
async function enterTwo(
  port: number,
): Promise<{ rooms: LockstepRoom[]; continued: number[]; reasons: (string | undefined)[] }> {
  const rooms: LockstepRoom[] = []
  const continued: number[] = []
  const reasons: (string | undefined)[] = []
  for (let each = 0; each < 2; each++) {
    const room = await connect(game, relay(`http://127.0.0.1:${port}`), {
      join: { quick: 'skirmish' },
      runner: { onEvent: ({ name, value }) => { if (name === 'end') reasons.push(END_REASONS[value]) } },
    })
    room.onContinued((tick) => { continued.push(tick) })
    rooms.push(room as unknown as LockstepRoom)
  }
  await until(() => rooms.every(({ tick }) => tick > 40))
  return { rooms, continued, reasons }
}

/** What `tickwire verify` says of a recording. */
async function verified(file: string, keys: readonly string[]): Promise<string> {
  const said: string[] = []
  const print = (line: string): void => { said.push(line) }
  const args = ['verify', file, ...keys.flatMap((text) => ['--key', text])]
  const world = { print, complain: print, nowSeconds: () => 0, entropy: { fill: () => {} } }
  expect([await startTickwire(args, world), said.at(-1)]).toEqual([0, 'genuine'])
  return said.join('\n')
}

test('[HAND10, HAND12] two processes are a group: a match goes on, and its recording verifies', async () => {
  const { programs: [first, second], ports, keys, replays } = await startTwo('replays')
  const { rooms, continued } = await enterTwo(ports[0]!)
  first.child.kill('SIGKILL')
  await until(() => continued.length === 2)
  const [tick = 0] = continued
  expect(continued).toEqual([tick, tick])
  await until(() => rooms.every((room) => !room.isAway && room.tick > tick + 20))
  for (const room of rooms) room.leave()
  second.child.kill('SIGTERM')
  expect(await second.ended).toBe(0)
  const file = readdirSync(replays).find((name) => name.endsWith(`_${tick}.twr`))
  expect(readdirSync(replays).length).toBe(2)
  expect(await verified(join(replays, file!), keys)).toContain(`relay ${keys[1]} continued from tick ${tick + 1} on`)
}, 60_000)

test('[HAND13] SIGTERM to one of two processes: its matches go on at the other; recordings verify', async () => {
  const { programs: [first, second], ports, keys, replays } = await startTwo('moved')
  const { rooms, continued } = await enterTwo(ports[0]!)
  first.child.kill('SIGTERM')
  await until(() => continued.length === 2)
  expect(await first.ended).toBe(0)
  const [tick = 0] = continued
  await until(() => rooms.every((room) => !room.isAway && room.tick > tick + 20))
  for (const room of rooms) room.leave()
  second.child.kill('SIGTERM')
  expect(await second.ended).toBe(0)
  const files = readdirSync(replays)
  const later = files.find((name) => name.endsWith(`_${tick}.twr`))!
  // The first relay has signed every tick that was taken over.
  expect(await verified(join(replays, later), keys)).toContain(`ticks 1 to ${tick}`)
  const [earlier] = files.filter((name) => name !== later)
  await verified(join(replays, earlier!), [keys[0]!])
}, 60_000)

test('[HAND14] SIGTERM to a process with a ranked match: it is played on, and void after the drain', async () => {
  const { programs: [first, second], ports } = await startTwo('ranked', '--ranked')
  const { rooms, continued, reasons } = await enterTwo(ports[0]!)
  first.child.kill('SIGTERM')
  const { tick } = rooms[0]!
  const ends = await Promise.all(rooms.map(({ closed }) => closed))
  expect(await first.ended).toBe(0)
  expect([ends.map(({ code }) => code), continued]).toEqual([['ended', 'ended'], []])
  expect(reasons).toEqual(['relay-lost', 'relay-lost'])
  // It was played on for most of a second.
  for (const room of rooms) expect(room.tick).toBeGreaterThan(tick + 15)
  second.child.kill('SIGTERM')
  expect(await second.ended).toBe(0)
}, 60_000)

test('[LOCK30] a card has the fingerprint of its game; a wrong card is refused with the reason', async () => {
  const card = decodeCard(encodeCard(game))
  expect(card).toEqual({ fingerprint: game.fingerprint, tickRate: 30, players: [1, 8], text: game.text })
  for (const bad of ['', '[]', '{"text":1}', '{"text":"lockstep 0","players":[1,2]}', '{"text":"lockstep 30"}',
    '{"text":"lockstep 30","players":[2,1]}', `"${'x'.repeat(20_000)}"`]) expect(decodeCard(bad)).toBeTypeOf('string')
  const file = join(folder, 'broken.json')
  writeFileSync(file, '{}')
  for (const [args, expected] of [
    [['lockstep'], /--card: missing\. Fix/],
    [['lockstep', '--card', file], /no text of a game\. Fix/],
    [['lockstep', '--card', join(folder, 'none')], /cannot be read\. Fix/],
    [['lockstep', '--card', cards[0]!, '--card', cards[0]!], /two files with one name/],
    [['lockstep', '--card', cards[0]!, '--max-games', 'many'], /--max-games many: not a number/],
  ] as const) {
    const said: string[] = []
    const world = {
      print: () => {}, complain: (line: string) => said.push(line), nowSeconds: () => 0, entropy: { fill: () => {} },
    }
    expect(await startTickwire(args, world)).toBe(2)
    expect(said.join('\n')).toMatch(expected)
  }
})
