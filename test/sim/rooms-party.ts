/**
 * Rooms and their clients, in one process: the real hosts, cables without latency, simulated time.
 */

import type { CloseReason, Game, JoinRequest, Match, RoomType, Shape } from 'tickwire'
import {
  createClientHost, createRoomHost, type ClientHost, type ClientHostOptions, type ConnectPass, type RoomHost,
  type RoomHostOptions,
} from 'tickwire/engine'
import { Dice, StubCrypto } from 'tickwire/testing'
import { PACKET_TYPE, PacketHeader, readHeader } from '../../packages/tickwire/src/core/packet/header.ts'

interface Flying {
  readonly to: string
  readonly from: string
  readonly bytes: Uint8Array
}

const STEP_MS = 5
const header = new PacketHeader()

function isSealed(bytes: Uint8Array, length: number): boolean {
  return (
    readHeader(bytes, length, header) === 'ok'
    && header.type !== PACKET_TYPE.handshake
    && header.type !== PACKET_TYPE.challengeResponse
  )
}

/** One player, at an address of its own. */
export class Guest<I extends Shape = Shape> {
  readonly host: ClientHost<I>
  closed: CloseReason | undefined
  isUnplugged = false
  /** The client sends requests and responses, and nothing under the agreed keys. */
  isHalfWay = false
  address: string

  constructor(game: Game<I>, address: string, seed: number, options: Partial<ClientHostOptions>) {
    this.address = address
    this.host = createClientHost(game, {
      entropy: new Dice(seed),
      security: { provider: new StubCrypto() },
      onClosed: (reason) => {
        this.closed = reason
      },
      ...options,
    })
  }

  get peer(): number {
    return this.host.peer
  }
}

export class Party {
  readonly host: RoomHost<Match>
  readonly faults: string[] = []
  now = 1000
  /** The server's process stalls: datagrams to it wait in its socket. */
  isStalled = false
  readonly #guests = new Map<string, Guest>()
  #flying: Flying[] = []
  #count = 0

  constructor(types: { readonly [name: string]: RoomType }, options: Partial<RoomHostOptions> = {}) {
    this.host = createRoomHost(types, {
      entropy: new Dice(99),
      security: { provider: new StubCrypto() },
      onError: ({ error, isFatal }, room) =>
        this.faults.push(`${room?.typeName}${isFatal ? '' : ' goes on'}: ${String(error)}`),
      ...options,
    })
  }

  /** A client asks for a seat. */
  ask<I extends Shape>(
    game: Game<I>,
    join: JoinRequest = {},
    pass: ConnectPass = {},
    options: Partial<ClientHostOptions> = {},
  ): Guest<I> {
    const guest = new Guest(game, `10.0.${this.#count >> 8}.${this.#count & 255}:1`, 1000 + this.#count++, options)
    this.#guests.set(guest.address, guest as unknown as Guest)
    guest.host.connect(this.now, 'server', pass, join)
    return guest
  }

  /** The client loses its connection: nothing that it sends arrives. */
  unplug(guest: Guest<never>): void {
    guest.isUnplugged = true
  }

  run(ms: number): void {
    for (const until = this.now + ms; this.now < until; this.now += STEP_MS) this.#step()
  }

  /** Runs, and lets promises settle in between. */
  async runAsync(ms: number): Promise<void> {
    for (const until = this.now + ms; this.now < until; this.now += STEP_MS) {
      this.#step()
      await Promise.resolve()
    }
  }

  #step(): void {
    const { now } = this
    const flying = this.#flying
    this.#flying = []
    for (const { to, from, bytes } of flying) {
      if (to === 'server' && this.isStalled) this.#flying.push({ to, from, bytes })
      else if (to === 'server') this.host.handleDatagram(now, from, bytes, bytes.length)
      else if (this.#guests.get(to)?.isUnplugged === false)
        this.#guests.get(to)?.host.handleDatagram(now, 'server', bytes, bytes.length)
    }
    if (!this.isStalled) this.#drainServer(now)
    for (const guest of this.#guests.values()) {
      guest.host.tick(now)
      guest.host.drain(now, {
        send: (_to, bytes, length) => {
          if (!guest.isUnplugged && !(guest.isHalfWay && isSealed(bytes, length)))
            this.#flying.push({ to: 'server', from: guest.address, bytes: bytes.slice(0, length) })
        },
      })
    }
  }

  #drainServer(now: number): void {
    this.host.tick(now)
    this.host.drain(now, {
      send: (to, bytes, length) => this.#flying.push({ to, from: 'server', bytes: bytes.slice(0, length) }),
    })
  }
}
