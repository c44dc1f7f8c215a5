/** Sockets of members at one instance of a rendezvous, whose session lives at another one. The Redis is real. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { serveRendezvous, type ServingRendezvous } from '../../packages/services/src/index.ts'
import { hasRedis, RedisServer } from './redis-server.ts'
import { ask, until } from './tracker-stage.ts'

const FACTS = { fingerprint: '00'.repeat(8), identity: '00'.repeat(32), capacity: 16 }
const secretKey = new Uint8Array(32).fill(9)
/** How often instances ask for each socket. */
const PING_MS = 15_000
/** The most bytes that a message of a member may have. */
const SIGNAL_BYTES_MAX = 40_000
let redis: RedisServer
let home: ServingRendezvous
let away: ServingRendezvous
const members: Member[] = []

/** A member of a session. */
class Member {
  name = ''
  readonly received: Record<string, string>[] = []
  isClosed = false
  readonly socket: WebSocket

  private constructor({ port }: ServingRendezvous, pass: object) {
    this.socket = new WebSocket(`ws://127.0.0.1:${port}/v1/signal`)
    this.socket.on('open', () => this.socket.send(JSON.stringify(pass)))
    this.socket.on('error', () => {})
    this.socket.on('close', () => { this.isClosed = true })
    this.socket.on('message', (data) => {
      const text = JSON.parse(String(data)) as Record<string, string>
      if (text['kind'] === 'welcome') this.name = text['name']!
      else this.received.push(text)
    })
    members.push(this)
  }

  /** Enters at an instance, and waits for its welcome. */
  static async enter(at: ServingRendezvous, pass: object): Promise<Member> {
    const member = new Member(at, pass)
    await until(async () => member.name !== '' || member.isClosed)
    expect(member.isClosed).toBe(false)
    return member
  }

  /** Whether the rendezvous has said that another member left. */
  sawLeave(name: string): boolean {
    return this.received.some(({ kind, guest }) => kind === 'left' && guest === name)
  }
}

/** A session at `home`. Its host and its guests enter at any instance. */
class Match {
  readonly #own: Record<string, string>

  private constructor(own: Record<string, string>) {
    this.#own = own
  }

  static async make(): Promise<Match> {
    const { status, body } = await ask('POST', `http://127.0.0.1:${home.port}/v1/sessions`, FACTS)
    expect(status).toBe(201)
    return new Match(body)
  }

  async host(at: ServingRendezvous): Promise<Member> {
    const { session, code, key, secret } = this.#own
    return await Member.enter(at, { session, code, key, secret })
  }

  async guest(at: ServingRendezvous): Promise<Member> {
    const { status, body } = await ask('POST', `http://127.0.0.1:${at.port}/v1/joins`, { code: this.#own['code'] })
    expect(status).toBe(200)
    return await Member.enter(at, { session: body.session, ticket: body.ticket })
  }
}

/** Runs what is due at every ping, until something is true. Members answer pings in the meantime. */
async function pingUntil(isTrue: () => boolean): Promise<void> {
  await until(async () => {
    if (isTrue()) return true
    vi.advanceTimersByTime(PING_MS)
    await new Promise((resolve) => { setTimeout(resolve, 200) })
    return isTrue()
  })
}

beforeAll(async () => {
  // Only the timers of rounds: Redis and sockets take the time that they take.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  if (hasRedis) redis = await RedisServer.start()
})
afterAll(async () => {
  vi.useRealTimers()
  await redis?.kill()
})

beforeEach(async () => {
  if (!hasRedis) return
  const start = async (): Promise<ServingRendezvous> =>
    await serveRendezvous({ port: 0, address: '127.0.0.1', secretKey, store: redis.url })
  home = await start()
  away = await start()
})

afterEach(async () => {
  if (!hasRedis) return
  for (const { socket } of members.splice(0)) socket.terminate()
  await home.close()
  await away.close()
})

test.skipIf(!hasRedis)('[CODE8] a signal that JSON makes twice as long passes between instances', async () => {
  const match = await Match.make()
  const host = await match.host(away)
  const guest = await match.guest(home)
  const rest = JSON.stringify({ to: guest.name, signal: '' }).length
  const signal = '"'.repeat((SIGNAL_BYTES_MAX - rest) / 2)
  guest.socket.send(JSON.stringify({ to: 'host', signal }))
  guest.socket.send(JSON.stringify({ to: 'host', signal: 'after it' }))
  await until(async () => host.received.some((each) => each['signal'] === 'after it'))
  expect(host.received.filter(({ from }) => from === guest.name).map((each) => each['signal']))
    .toEqual([signal, 'after it'])
  // Its texts reach the guest too: the home has not taken the host for one that has gone.
  const text = JSON.stringify({ to: guest.name, signal })
  expect(SIGNAL_BYTES_MAX - text.length).toBeLessThan(2)
  host.socket.send(text)
  await until(async () => guest.received.some((each) => each['signal'] === signal))
  expect(guest.sawLeave('host')).toBe(false)
})

test.skipIf(!hasRedis)('[CODE8] a guest that is disconnected for its many messages has left at its home', async () => {
  const match = await Match.make()
  const host = await match.host(home)
  const guest = await match.guest(away)
  for (let message = 0; message < 200; message++) guest.socket.send(JSON.stringify({ to: 'host', signal: 'flood' }))
  await until(() => host.sawLeave(guest.name))
  await until(() => guest.isClosed)
})

test.skipIf(!hasRedis)('[CODE8] a guest that goes while the store is away has left when it is back', async () => {
  const match = await Match.make()
  const host = await match.host(home)
  const [guest, other] = [await match.guest(away), await match.guest(away)]
  await redis.kill()
  guest.socket.terminate()
  // Each is longer than a call waits for the store: the text that says so is lost, and both instances listen again.
  await new Promise((resolve) => { setTimeout(resolve, 600) })
  await redis.restart()
  await new Promise((resolve) => { setTimeout(resolve, 600) })
  await pingUntil(() => host.sawLeave(guest.name))
  expect([host.isClosed, other.isClosed, host.sawLeave(other.name)]).toEqual([false, false, false])
})

test.skipIf(!hasRedis)('[CODE8] a host that its session has lost is disconnected, and comes back', async () => {
  const match = await Match.make()
  const host = await match.host(away)
  const guest = await match.guest(home)
  // The home gets no answer of the other instance in the moment in which that connects to Redis again.
  await until(async () => {
    await redis.ask('CLIENT KILL TYPE pubsub')
    for (let tries = 0; tries < 20 && !guest.sawLeave('host'); tries++) {
      guest.socket.send(JSON.stringify({ to: 'host', signal: 'are you there?' }))
      await new Promise((resolve) => { setTimeout(resolve, 1) })
    }
    await new Promise((resolve) => { setTimeout(resolve, 1000) })
    return guest.sawLeave('host')
  })
  expect(host.isClosed).toBe(false)
  await pingUntil(() => host.isClosed)
  expect((await match.host(away)).name).toBe('host')
})

test.skipIf(!hasRedis).each(['home', 'away'])('[CODE8] a host at %s that does not read is ended', async (at) => {
  const match = await Match.make()
  const host = await match.host(at === 'home' ? home : away)
  const guests = await Promise.all(Array.from({ length: 10 }, async () => await match.guest(home)))
  host.socket.pause()
  // More than the buffers of the system between both: 24 MB.
  for (const guest of guests)
    for (let message = 0; message < 60; message++)
      guest.socket.send(JSON.stringify({ to: 'host', signal: 'x'.repeat(SIGNAL_BYTES_MAX - 100) }))
  await until(() => guests.every((guest) => guest.sawLeave('host')))
  expect(guests.some(({ isClosed }) => isClosed)).toBe(false)
})
