/** A match without a world behind a room host: what an order relay would be. */

import { describe, expect, test } from 'vitest'
import { Dice, StubCrypto } from 'tickwire/testing'
import type { Millis, PeerId } from '../base/time.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import type { Connection } from '../connection/connection.ts'
import { drain } from '../endpoint/drain.ts'
import { createEndpoint, type Endpoint, type EndpointEvent } from '../endpoint/endpoint.ts'
import { issueToken } from '../crypto/connect-token.ts'
import { SpentTokens } from '../crypto/spent-tokens.ts'
import { bytesToText } from '../crypto/token-text.ts'
import { HostedRoom } from './hosted-room.ts'
import { encodeJoin, type JoinRequest } from './join-body.ts'
import type { SeatOrder } from './reservations.ts'
import { RoomHost } from './room-host.ts'
import type { MatchImage } from './room-image.ts'
import type { PacketTap } from './room-match.ts'
import type { Member, RoomRules } from './room-rules.ts'
import { decodeWelcome, type Welcome } from './welcome.ts'

const TICK_MS = 50
const fingerprint = new Uint8Array(8).fill(7)

class Relay extends HostedRoom {
  readonly watch: PacketTap = { hasPacketRecorders: false, handleDatagram: () => {}, tap: (port) => port }
  readonly calls: string[] = []
  #nextAt: Millis = 0
  #entered: PeerId[] = []

  attach(_connection: Connection, { id, role }: Member): void {
    this.calls.push(`attach ${role} ${id}`)
  }

  enter(peer: PeerId): void {
    this.#entered.push(peer)
  }

  detach(peer: PeerId): void {
    this.calls.push(`detach ${peer}`)
  }

  leave(peer: PeerId, { code }: CloseReason): void {
    this.calls.push(`leave ${peer} ${code}`)
  }

  tick(): number {
    this.#nextAt = this.now() + TICK_MS
    for (const peer of this.#entered.splice(0)) this.handleJoined(peer)
    return 1
  }

  nextAt(): Millis {
    return this.#nextAt
  }

  receive(): void {}

  saveMatch(): MatchImage | undefined {
    return { world: new Uint8Array(0), bots: [] }
  }

  restoreMatch(): string {
    return 'restored'
  }

  restorePlayer({ id }: Member): void {
    this.calls.push(`restore ${id}`)
  }

  dropUnclaimed(): void {}
}

const identity = new Uint8Array(32).fill(3)
const issuer = new StubCrypto().importSigning(new Uint8Array(32).fill(5))

/** A host of a fleet, which admits clients with tokens of `issuer`. */
function createFleetHost(seed = 1, rules: Partial<RoomRules> = {}): RoomHost<Relay> {
  const provider = new StubCrypto()
  const spent = new SpentTokens(0)
  const tokens = { issuers: [issuer.publicKey], audience: 'game', spent, wallSeconds: () => 100, isOptional: true }
  const types = { relay: { game: { fingerprint }, capacity: 2, ...rules } }
  return new RoomHost<Relay>(types, {
    entropy: new Dice(seed), security: { provider, identity: identity.slice(), tokens }, isInFleet: true,
  }, { endpoint: { tickRate: 20 }, build: (names, type, wiring) => new Relay(names, type, wiring) })
}

function createRelayHost(rules: Partial<RoomRules> = {}, ticketKey?: Uint8Array): RoomHost<Relay> {
  const types = { relay: { game: { fingerprint }, ...rules } }
  const security = { provider: new StubCrypto() }
  return new RoomHost<Relay>(types, { entropy: new Dice(1), security, ...(ticketKey && { ticketKey }) }, {
    endpoint: { tickRate: 20 },
    build: (identity, type, wiring) => new Relay(identity, type, wiring),
  })
}

/** Clients of a host, on cables without delay. */
class Clients {
  host: RoomHost<Relay>
  readonly events: EndpointEvent[] = []
  #now = 0
  readonly #endpoints: Endpoint[] = []
  readonly #inboxes: Uint8Array[][] = []

  constructor(host: RoomHost<Relay>) {
    this.host = host
  }

  /** Connects a client and lets a second pass. Undefined when it was not admitted. */
  join(join: JoinRequest, tokenId?: Uint8Array): Welcome | undefined {
    const index = this.#endpoints.length
    const security = { provider: new StubCrypto() }
    const endpoint = createEndpoint({ fingerprint, entropy: new Dice(9 + index), security, assemble: () => {} })
    this.#endpoints.push(endpoint)
    this.#inboxes.push([])
    const token = tokenId && issueToken(new StubCrypto(), issuer, {
      server: new StubCrypto().importSigning(identity.slice()).publicKey, id: tokenId, issuedAt: 90, expiresAt: 200,
      audience: 'game', user: new Uint8Array(0),
    })
    endpoint.connect(this.#now, 'server', encodeJoin(join), token && { token })
    this.events.length = 0
    this.run(1000)
    const opened = this.events.find((event) => event.type === 'opened')
    return opened?.type === 'opened' ? decodeWelcome(opened.welcome) : undefined
  }

  leave(index: number): void {
    this.#endpoints[index]!.close(this.#now, 'left')
    this.run(1000)
  }

  run(ms: number): void {
    for (const end = this.#now + ms; this.#now < end; this.#now += 10) {
      this.#endpoints.forEach((endpoint, index) => {
        for (const bytes of this.#inboxes[index]!.splice(0))
          endpoint.handleDatagram(this.#now, 'server', bytes, bytes.length)
        const port = {
          send: (_to: string, bytes: Uint8Array, length: number) =>
            this.host.handleDatagram(this.#now, String(index), bytes.slice(), length),
        }
        drain(endpoint, this.#now, port, (event) => this.events.push(event))
      })
      this.host.tick(this.#now)
      this.host.drain(this.#now, {
        send: (to, bytes, length) => { this.#inboxes[Number(to)]?.push(bytes.slice(0, length)) },
      })
    }
  }
}

describe('a match without a world', () => {
  test('[ROOM4] gets its clients with their roles, and calls its hooks once for each', () => {
    const joined: string[] = []
    const host = createRelayHost({ spectators: 1, onJoin: (_room, { id, role }) => joined.push(`${role} ${id}`) })
    const clients = new Clients(host)
    const player = clients.join({ create: 'relay' })!
    const spectator = clients.join({ room: player.seat!.room, role: 'spectator' })!
    const [room] = host.rooms
    expect(room!.calls).toEqual([`attach player ${player.peer}`, `attach spectator ${spectator.peer}`])
    expect(joined).toEqual([`player ${player.peer}`, `spectator ${spectator.peer}`])
    clients.leave(0)
    expect(room!.calls.at(-1)).toBe(`leave ${player.peer} left`)
  })

  test('[SEAT3] is attached again when a client resumes with its ticket', () => {
    const clients = new Clients(createRelayHost())
    const first = clients.join({ create: 'relay' })!
    const second = clients.join({ resume: first.seat!.ticket })!
    expect([second.peer, second.seat!.isBack]).toEqual([first.peer, true])
    const attached = `attach player ${first.peer}`
    expect(clients.host.rooms[0]!.calls).toEqual([attached, `detach ${first.peer}`, attached])
  })

  test('[ROOM10] is saved and restored with its seats', () => {
    const before = createRelayHost()
    const clients = new Clients(before)
    const { peer, seat } = clients.join({ create: 'relay' })!
    const { ticketKey, rooms } = before.images()
    const after = createRelayHost({}, ticketKey)
    expect(after.restore(0, rooms)[0]!.calls).toEqual([`restore ${peer}`])
    expect(new Clients(after).join({ resume: seat!.ticket })?.peer).toBe(peer)
  })

  test('[SEAT7] a host that drains admits no new client', () => {
    const clients = new Clients(createRelayHost())
    clients.host.beginDrain(1000)
    expect(clients.join({ create: 'relay' })).toBe(undefined)
    expect(clients.host.rooms).toEqual([])
  })

  test('[SPEC6] `admit` refuses a client with a reason', () => {
    const clients = new Clients(createRelayHost({ admit: ({ join }) => 'create' in join ? 'locked' : undefined }))
    expect(clients.join({ create: 'relay' })).toBe(undefined)
    expect(clients.events).toMatchObject([{ type: 'closed', reason: { code: 'locked' } }])
    expect(clients.host.door.counts.locked).toBe(1)
    expect(clients.join({})).toBeDefined()
  })
})

describe('a host of a fleet', () => {
  const idOf = (number: number): Uint8Array => new Uint8Array(16).fill(number)
  const order = (id: string, numbers: readonly number[], more: object = {}): SeatOrder => (
    { id, tokens: numbers.map((number) => bytesToText(idOf(number))), fingerprint, holdMs: 5000, ...more }
  )

  test('[FLEET2] a new client needs a reserved seat, which no other client gets, for a while', () => {
    const host = createFleetHost()
    const clients = new Clients(host)
    expect(clients.join({})).toBe(undefined)
    expect(host.reserve(0, order('a', [1, 2]))).toEqual({ room: host.rooms[0]!.id })
    expect(host.rooms[0]!.seats.free).toBe(0)
    // The room has no third seat, so another one opens.
    expect(host.reserve(0, order('b', [3]))).toEqual({ room: host.rooms[1]!.id })
    expect(host.reserve(0, order('c', [4], { room: host.rooms[0]!.id }))).toBe('full')
    expect(clients.join({}, idOf(1))?.seat?.room).toBe(host.rooms[0]!.id)
    expect(clients.join({ create: 'relay' }, idOf(3))?.seat?.room).toBe(host.rooms[1]!.id)
    expect(clients.join({}, idOf(9))).toBe(undefined)
    clients.run(5000)
    expect(host.rooms[0]!.seats.free).toBe(1)
    expect(clients.join({}, idOf(2))).toBe(undefined)
  })

  test('[FLEET3] a request that is asked twice is answered alike, and reserves once', () => {
    const host = createFleetHost()
    const first = host.reserve(0, order('a', [1]))
    for (let count = 0; count < 1000; count++) expect(host.reserve(0, order('a', [1]))).toEqual(first)
    expect([host.rooms.length, host.rooms[0]!.seats.reserved, host.reservations.count]).toEqual([1, 1, 1])
    expect(host.reserve(0, order('f', [2], { isFresh: true }))).toEqual({ room: host.rooms[1]!.id })
    expect(host.rooms[1]!.isLocked).toBe(true)
  })

  test('[FLEET3] the limit of reservations holds, and a full host says so', () => {
    const host = createFleetHost(1, { capacity: 255 })
    let refused = 0
    for (let count = 0; count < 5000; count++) {
      const token = bytesToText(Uint8Array.from({ length: 16 }, (_, at) => at < 2 ? count >> (8 * at) & 255 : 0))
      if (host.reserve(0, { ...order(`${count}`, []), tokens: [token] }) === 'full') refused++
    }
    expect([host.reservations.count, refused]).toEqual([4096, 904])
  })

  test('[FLEET2] a seat to watch from is no seat to play at, also in a room that was locked meanwhile', () => {
    const host = createFleetHost(1, { spectators: 2 })
    const room = host.create('relay')
    const clients = new Clients(host)
    expect(host.reserve(0, order('w', [1, 2], { room: room.id, isSpectator: true }))).toEqual({ room: room.id })
    room.isLocked = true
    expect(clients.join({}, idOf(1))).toBe(undefined)
    expect(clients.join({ role: 'spectator' }, idOf(2))?.seat?.room).toBe(room.id)
    expect([room.seats.players, room.seats.spectators]).toEqual([0, 1])
    expect(host.reserve(0, order('l', [3], { room: room.id }))).toBe('locked')
  })

  test('[FLEET2] a seat is kept during a slow handshake, but not forever', () => {
    const host = createFleetHost()
    host.reserve(0, order('a', [1, 2]))
    const key = idOf(1)
    host.reservations.extend(key, 11_000)
    host.reservations.extend(key, 99_000)
    host.drain(5001, { send: () => true })
    expect([host.reservations.of(key)?.until, host.reservations.of(idOf(2))]).toEqual([15_000, undefined])
    host.drain(15_000, { send: () => true })
    expect([host.reservations.count, host.rooms[0]!.seats.free]).toEqual([0, 2])
  })

  test('[FLEET5] a room moves: its tickets are valid on the other host, and its clients get `moved` here', () => {
    const here = createFleetHost(1)
    const there = createFleetHost(2)
    here.reserve(0, order('a', [1]))
    const clients = new Clients(here)
    const { peer, seat } = clients.join({}, idOf(1))!
    const [room] = here.rooms
    const frozen = here.freeze(1000, room!)!
    expect(here.freeze(1000, room!)).toBe(undefined)
    const ticks = room!.calls.length
    // A client that comes meanwhile is sent on, and the state stays as it was saved.
    expect(clients.join({ resume: seat!.ticket })).toBe(undefined)
    expect(clients.events).toMatchObject([{ reason: { code: 'moved' } }])
    expect(room!.calls.length).toBe(ticks)
    const moved = there.thaw(1000, frozen, 20_000)
    expect(moved).toMatchObject({ id: room!.id, isRestored: true })
    expect(there.thaw(1000, frozen, 20_000)).toBe('taken')
    clients.events.length = 0
    here.release(2000, room!)
    clients.run(500)
    expect(clients.events).toContainEqual(expect.objectContaining({ reason: { by: 'protocol', code: 'moved' } }))
    expect([here.rooms.length, here.counts.moved, here.counts.ended]).toEqual([0, 1, 0])
    expect(clients.join({ resume: seat!.ticket })).toBe(undefined)
    expect(here.door.counts.moved).toBe(2)
    expect(new Clients(there).join({ resume: seat!.ticket })?.peer).toBe(peer)
  })

  test('[FLEET5] a room that no other host takes goes on', () => {
    const host = createFleetHost()
    host.reserve(0, order('a', [1]))
    const clients = new Clients(host)
    const { peer, seat } = clients.join({}, idOf(1))!
    expect(host.freeze(1000, host.rooms[0]!)).toBeDefined()
    host.unfreeze(host.rooms[0]!)
    expect(clients.join({ resume: seat!.ticket })?.peer).toBe(peer)
  })
})
