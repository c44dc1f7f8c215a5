/** A lockstep client on a real transport whose seat is gone when its line is back: it plays on in a new one. */

import { connect as connectTcp, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { relay, type LockstepRoom } from 'tickwire/lockstep'
import { connect, serveLockstep, type ServingLockstep } from 'tickwire/node'
import { game, Spawn, Unit } from '../sim/lockstep-game.ts'

/** A stretch of TCP that a test can cut. */
class Line {
  isCut = false
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  constructor(target: () => number) {
    this.#server = createServer((socket) => {
      if (this.isCut) return void socket.destroy()
      const other = connectTcp(target(), '127.0.0.1')
      for (const [from, to] of [[socket, other], [other, socket]] as const) {
        this.#sockets.add(from)
        from.on('error', () => {}).on('close', () => to.destroy()).pipe(to)
      }
    })
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => { this.#server.listen(0, '127.0.0.1', resolve) })
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  cut(): void {
    this.isCut = true
    for (const socket of this.#sockets) socket.destroy()
    this.#sockets.clear()
  }

  close(): void {
    this.cut()
    this.#server.close()
  }
}

const ends: (() => unknown)[] = []
afterEach(async () => { for (const end of ends.splice(0)) await end() })

async function serveMatch(resumeMs: number): Promise<ServingLockstep> {
  const serving = await serveLockstep(
    { match: { game, resumeMs, emptyMs: Infinity } },
    { port: 0, address: '127.0.0.1', webrtc: false, webtransport: false, signals: false },
  )
  ends.push(() => serving.close())
  return serving
}

async function until(isTrue: () => boolean, msMax = 30_000): Promise<void> {
  for (const deadline = performance.now() + msMax; !isTrue();) {
    if (performance.now() > deadline) throw new Error(`still not true after ${msMax} ms: ${isTrue}`)
    await new Promise((resolve) => { setTimeout(resolve, 10) })
  }
}

const portOf = (serving: ServingLockstep): number => Number(new URL(serving.url).port)

/** Gives three orders, and waits until they are executed. */
async function playOn(room: LockstepRoom): Promise<void> {
  await until(() => room.players.includes(room.player))
  const before = [...room.world.seen(Unit)].filter(({ owner }) => owner === room.player).length
  for (let order = 0; order < 3; order++) expect(room.order(Spawn, { count: 1 })).toBe('sent')
  await until(() => [...room.world.seen(Unit)].filter(({ owner }) => owner === room.player).length >= before + 3)
}

interface Player {
  readonly room: LockstepRoom
  readonly hashes: Map<number, string>
  readonly returns: string[]
}

async function enter(url: string): Promise<Player> {
  const hashes = new Map<number, string>()
  const onTick = (tick: number, low: number, high: number): void => { hashes.set(tick, `${high}.${low}`) }
  const room = await connect(game, relay(url), { runner: { onTick } }) as unknown as LockstepRoom
  const returns: string[] = []
  room.onBack((seat) => { returns.push(seat) })
  ends.push(() => room.leave())
  return { room, hashes, returns }
}

test('[LOCK29] a client whose seat has expired gets a new one, and its orders are executed', async () => {
  const serving = await serveMatch(200)
  const line = new Line(() => portOf(serving))
  ends.push(() => line.close())
  const other = await enter(serving.url)
  const lost = await enter(await line.open())
  // The listener stays for the new seat.
  let executed = 0
  lost.room.onOrder(Spawn, (_values, state) => { if (state === 'executed') executed++ })
  await playOn(lost.room)
  expect(executed).toBe(3)
  const before = lost.room.player
  line.cut()
  await until(() => lost.room.isAway && !other.room.players.includes(before))
  line.isCut = false
  await until(() => lost.returns.length > 0)
  expect(lost.returns).toEqual(['new'])
  expect(lost.room.player).not.toBe(before)
  await playOn(lost.room)
  expect(executed).toBe(6)
  await playOn(other.room)
  const last = Math.min(lost.room.tick, other.room.tick)
  expect(lost.hashes.get(last)).toBe(other.hashes.get(last))
  for (const [tick, hash] of lost.hashes) if (tick <= last) expect(hash).toBe(other.hashes.get(tick))
}, 60_000)

test('[LOCK29] a client whose relay was restarted gets a seat in a new match', async () => {
  let serving = await serveMatch(5000)
  const line = new Line(() => portOf(serving))
  ends.push(() => line.close())
  const { room, returns, hashes } = await enter(await line.open())
  await playOn(room)
  await until(() => room.tick > 20)
  line.cut()
  await until(() => room.isAway)
  hashes.clear()
  serving = await serveMatch(5000)
  line.isCut = false
  await until(() => returns.length > 0)
  expect(returns).toEqual(['new'])
  await playOn(room)
  expect([...hashes.keys()][0]).toBe(1)
}, 60_000)
