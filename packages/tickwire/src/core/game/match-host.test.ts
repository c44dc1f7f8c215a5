import { describe, expect, test } from 'vitest'
import { Dice, StubCrypto } from 'tickwire/testing'
import type { CloseReason } from '../connection/close-reason.ts'
import { entity } from '../schema/definition.ts'
import { bool, fixed } from '../schema/field-kinds.ts'
import { createClientHost, type ClientHost } from './client-host.ts'
import { defineGame } from './define-game.ts'
import { createMatchHost, createRoomHost, type MatchHost, type MatchHostOptions } from './match-host.ts'

const Dot = entity({ x: fixed(0, 100, 1) }, { name: 'Dot' })
const game = defineGame({
  tickRate: 20,
  input: { go: bool },
  entities: [Dot],
  onJoin: (world, peer) => world.spawn(Dot, {}, peer),
  step() {},
})

interface Guest {
  readonly client: ClientHost
  closed: CloseReason | undefined
  /** Datagrams from the server, to be handed over. */
  readonly inbox: Uint8Array[]
}

/** A match and its clients, on cables without delay. */
class Stage {
  readonly match: MatchHost
  readonly guests: Guest[]
  now = 0

  constructor(count: number, options: Partial<MatchHostOptions>) {
    const security = { provider: new StubCrypto() }
    this.match = createMatchHost(game, { entropy: new Dice(1), security, ...options }) as unknown as MatchHost
    this.guests = Array.from({ length: count }, (_, index) => {
      const guest: Guest = {
        client: createClientHost(game, {
          entropy: new Dice(2 + index),
          security,
          onClosed: (reason) => { guest.closed = reason },
        }) as unknown as ClientHost,
        closed: undefined,
        inbox: [],
      }
      return guest
    })
  }

  run(ms: number): void {
    const { rooms } = this.match
    for (const end = this.now + ms; this.now < end; this.now += 10) {
      this.guests.forEach(({ client, inbox }, index) => {
        for (const bytes of inbox.splice(0)) client.handleDatagram(this.now, 'server', bytes, bytes.length)
        client.tick(this.now)
        client.drain(this.now, {
          send: (_to, bytes, length) => rooms.handleDatagram(this.now, String(index), bytes.slice(), length),
        })
      })
      rooms.tick(this.now)
      rooms.drain(this.now, {
        send: (to, bytes, length) => { this.guests[Number(to)]?.inbox.push(bytes.slice(0, length)) },
      })
    }
  }
}

describe('a single match', () => {
  test('[SEAT11] of two clients that race for the last seat, one gets it and the other is closed with `full`', () => {
    const stage = new Stage(2, { maxPlayers: 1, maxSpectators: 0 })
    for (const { client } of stage.guests) client.connect(0, 'server')
    stage.run(3000)
    expect(stage.match.host.peers).toHaveLength(1)
    expect(stage.guests.map(({ closed }) => closed?.code).sort()).toEqual(['full', undefined])
  })

  test('[SEAT3] gives a ticket, and the client resumes its seat with it', () => {
    const joined: number[] = []
    const stage = new Stage(2, { onJoined: ({ id }) => joined.push(id) })
    const [first, second] = stage.guests as [Guest, Guest]
    first.client.connect(0, 'server')
    stage.run(1000)
    const { ticket } = first.client.seat!
    second.client.connect(stage.now, 'server', {}, { resume: ticket })
    stage.run(1000)
    expect(second.client.seat?.isBack).toBe(true)
    expect([second.client.peer, first.closed?.code]).toEqual([first.client.peer, 'replaced'])
    expect(joined).toEqual([first.client.peer])
  })

  test('[SEAT4] holds the seat of a client that vanishes for `resumeMs`', () => {
    const left: string[] = []
    const stage = new Stage(1, { resumeMs: 2000, onLeft: (_peer, { code }) => left.push(code) })
    const [{ client }] = stage.guests as [Guest]
    client.connect(0, 'server')
    stage.run(1000)
    stage.guests.length = 0
    const { host } = stage.match
    const { timeoutMs } = game.net
    stage.run(timeoutMs + 1000)
    expect([host.peers.length, host.seats.players, left]).toEqual([1, 1, []])
    stage.run(2000)
    expect([host.peers.length, host.seats.players, left]).toEqual([0, 0, ['timed-out']])
  })

  test('[GAME9, SPEC5] options that no match can have are refused when the host is created', () => {
    const create = (options: Partial<MatchHostOptions>): unknown =>
      createMatchHost(game, { entropy: new Dice(1), ...options })
    expect(() => create({ bytesPerSecond: 0 })).toThrow('bytesPerSecond: invalid rate')
    expect(() => create({ spectators: { delayMs: 100 } })).toThrow('spectators.delayMs: too short')
    expect(() => createRoomHost({}, { entropy: new Dice(1) })).toThrow('rooms: no types of rooms')
  })
})
