/** A lockstep match over real sockets: a relay in a process of its own, and clients by UDP and WebSocket. */

import { afterAll, expect, test } from 'vitest'
import { connect } from 'tickwire/node'
import { local, relay, replay, type LockstepPlace, type LockstepRoom } from 'tickwire/lockstep'
import { game, Spawn, Take } from '../sim/lockstep-game.ts'
import { endPrograms, Program } from './program.ts'

afterAll(endPrograms)

interface Player {
  readonly room: LockstepRoom
  /** Indexed by tick. */
  readonly hashes: string[]
}

async function enter(where: LockstepPlace, join?: { readonly quick: string }): Promise<Player> {
  const hashes: string[] = []
  const onTick = (tick: number, low: number, high: number): void => { hashes[tick] = `${high}.${low}` }
  const room = await connect(game, where, { runner: { onTick }, ...(join && { join }) })
  return { room: room as unknown as LockstepRoom, hashes }
}

async function until(isTrue: () => boolean, msMax = 20_000): Promise<void> {
  for (const deadline = performance.now() + msMax; !isTrue();) {
    if (performance.now() > deadline) throw new Error(`still not true after ${msMax} ms: ${isTrue}`)
    await new Promise((resolve) => { setTimeout(resolve, 10) })
  }
}

async function startServer(): Promise<{ readonly http: string; readonly udp: string; readonly program: Program }> {
  const program = new Program(new URL('./lockstep-server-process.ts', import.meta.url), [])
  const [, http = '', udp = ''] = await program.says(/http (\S+) udp (\S+)/)
  return { http, udp, program }
}

test('[LOCK28] clients by UDP and WebSocket have equal hashes at every tick, and so have the replays', async () => {
  const { http, udp } = await startServer()
  const players = [await enter(relay(udp)), await enter(relay(http)), await enter(relay(udp))]
  expect(new Set(players.map(({ room }) => room.player)).size).toBe(3)
  for (let round = 0; round < 30; round++) {
    const { room } = players[round % 3]!
    expect(room.order(Spawn, { count: 1 + (round % 3) })).toBe('sent')
    room.order(Take, { crate: round })
    await new Promise((resolve) => { setTimeout(resolve, 50) })
  }
  await until(() => players.every(({ room }) => room.tick >= 60))
  const last = Math.min(...players.map(({ room }) => room.tick))
  const [first, ...others] = players.map(({ hashes }) => hashes.slice(1, last + 1))
  expect(first).toHaveLength(last)
  for (const hashes of others) expect(hashes).toEqual(first)
  expect(new Set(first).size).toBeGreaterThan(last / 2)
  for (const { room } of players) expect(room.runner.skipped).toBe(0)
  expect(players[0]!.room.world.count(game.entities[0]!)).toBeGreaterThan(18 + 30)

  const again = await enter(replay(players[1]!.room.played()!, { speed: Infinity }))
  // At its end a replay waits: the viewer may go back.
  await until(() => again.room.tick >= last)
  expect(again.hashes.slice(1, last + 1)).toEqual(first)
  again.room.leave()
  for (const { room } of players) room.leave()
  await until(() => players.every(({ room }) => room.isOver))
}, 60_000)

test('[LOCK28] the same code plays a local match: connect takes another value', async () => {
  const { room, hashes } = await enter(local({ seed: 7 }))
  const states: string[] = []
  room.onOrder(Spawn, (_values, state) => { states.push(state) })
  expect(room.order(Spawn, { count: 2 })).toBe('sent')
  await until(() => room.tick >= 5)
  expect(states).toEqual(['issued', 'executed'])
  const again = await enter(replay(room.played()!, { speed: Infinity }))
  await until(() => again.room.tick >= 5)
  expect(again.hashes.slice(1, 6)).toEqual(hashes.slice(1, 6))
  again.room.leave()
  room.leave()
  expect([room.isOver, room.order(Spawn, { count: 1 })]).toEqual([true, 'closed'])
})
