/**
 * A relay process is killed, or asked to end, in the middle of a match over UDP and WebSocket: the match goes on at the
 * next one.
 */

import { afterEach, expect, test } from 'vitest'
import { relay, type LockstepRoom } from 'tickwire/lockstep'
import { connect } from 'tickwire/node'
import { game as guideGame } from '../../docs/guide/examples/lockstep/game.ts'
import { showHandover } from '../../docs/guide/examples/relay-group.ts'
import { game, Spawn, Unit } from '../sim/lockstep-game.ts'
import { endPrograms, Program } from './program.ts'
import { freePort, startGroup } from './relay-group.ts'

const ends: (() => unknown)[] = []
afterEach(async () => { for (const end of ends.splice(0)) await end() })

async function until(isTrue: () => boolean, msMax = 20_000): Promise<void> {
  for (const deadline = performance.now() + msMax; !isTrue();) {
    if (performance.now() > deadline) throw new Error(`still not true after ${msMax} ms: ${isTrue}`)
    await new Promise((resolve) => { setTimeout(resolve, 10) })
  }
}

interface Player {
  readonly room: LockstepRoom
  readonly hashes: Map<number, string>
  readonly continued: number[]
}

async function enter(url: string): Promise<Player> {
  const hashes = new Map<number, string>()
  const onTick = (tick: number, low: number, high: number): void => { hashes.set(tick, `${high}.${low}`) }
  const room = await connect(game, relay(url), { runner: { onTick } }) as unknown as LockstepRoom
  const continued: number[] = []
  room.onContinued((tick) => { continued.push(tick) })
  ends.push(() => room.leave())
  return { room, hashes, continued }
}

test('[HAND10] after SIGKILL to the relay, clients over UDP and WebSocket play on at the next one', async () => {
  const group = await startGroup(2)
  for (const { child } of group) ends.push(() => child.kill('SIGKILL'))
  const [first] = group as [typeof group[0]]
  const players = [await enter(first.url), await enter(first.udp), await enter(first.udp)]
  await until(() => players.every(({ room }) => room.players.length === 3 && room.tick > 80))
  expect(players.map(({ room }) => room.transport)).toEqual(['websocket', 'udp', 'udp'])
  for (const { room } of players) expect(room.order(Spawn, { count: 1 })).toBe('sent')
  first.child.removeAllListeners('exit')
  first.child.kill('SIGKILL')
  await until(() => players.every(({ continued }) => continued.length === 1))
  const [tick] = players[0]!.continued as [number]
  for (const { room, continued } of players) {
    expect(continued).toEqual([tick])
    expect(tick).toBeGreaterThan(80)
    await until(() => room.isContinued && !room.isAway)
  }
  // Orders given before the kill are executed, and new ones too.
  const count = (): number => [...players[1]!.room.world.seen(Unit)].length
  await until(() => count() >= 3 * 6 + 3)
  for (const { room } of players) await until(() => room.order(Spawn, { count: 1 }) === 'sent')
  await until(() => count() >= 3 * 6 + 6)
  await until(() => players.every(({ room }) => room.tick > tick + 60))
  const last = Math.min(...players.map(({ room }) => room.tick))
  for (let each = 1; each <= last; each++)
    expect(new Set(players.map(({ hashes }) => hashes.get(each))).size, `tick ${each}`).toBe(1)
}, 60_000)

test('[HAND13] after SIGTERM to the relay, clients over UDP and WebSocket play on at once; it ends', async () => {
  const group = await startGroup(2)
  for (const { child } of group) ends.push(() => child.kill('SIGKILL'))
  const [first] = group as [typeof group[0]]
  const players = [await enter(first.url), await enter(first.udp), await enter(first.udp)]
  await until(() => players.every(({ room }) => room.players.length === 3 && room.tick > 80))
  for (const { room } of players) expect(room.order(Spawn, { count: 1 })).toBe('sent')
  first.child.removeAllListeners('exit')
  const ended = new Promise((resolve) => { first.child.once('exit', resolve) })
  const askedAt = performance.now()
  first.child.kill('SIGTERM')
  await until(() => players.every(({ room, continued }) => continued.length === 1 && room.tick > continued[0]!))
  // A crash costs more than twice that: a client without a connection to close learns of it after 1.2 s of silence.
  expect(performance.now() - askedAt).toBeLessThan(2000)
  expect(await ended).toBe(0)
  const [tick] = players[0]!.continued as [number]
  expect(players.map(({ continued }) => continued)).toEqual([[tick], [tick], [tick]])
  const count = (): number => [...players[1]!.room.world.seen(Unit)].length
  await until(() => count() >= 3 * 6 + 3)
  await until(() => players.every(({ room }) => room.tick > tick + 60))
  const last = Math.min(...players.map(({ room }) => room.tick))
  for (let each = 1; each <= last; each++)
    expect(new Set(players.map(({ hashes }) => hashes.get(each))).size, `tick ${each}`).toBe(1)
}, 60_000)

test('[HAND10] the group of the guide: a match goes on at the next relay, and its clients can show it', async () => {
  const ports = [String(await freePort()), String(await freePort())]
  const file = new URL('group-guide-process.ts', import.meta.url)
  const group = ports.map((_, number) => new Program(file, [String(number), ...ports]))
  ends.push(endPrograms)
  for (const program of group) await program.says(/ready/)
  const url = `http://127.0.0.1:${ports[0]}`
  const rooms = [await connect(guideGame, relay(url)), await connect(guideGame, relay(url))]
  const shown: string[] = []
  for (const room of rooms) {
    ends.push(() => room.leave())
    showHandover(room, (text) => { shown.push(text) })
  }
  await until(() => rooms.every(({ tick }) => tick > 40))
  group[0]!.child.kill('SIGKILL')
  await until(() => shown.length === 2)
  expect(shown[0]).toMatch(/^The relay was lost\. The match goes on from tick \d+\.$/)
  const { tick } = rooms[0]!
  await until(() => rooms.every((room) => room.isContinued && room.tick > tick + 10))
}, 60_000)
