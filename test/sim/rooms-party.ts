/**
 * Rooms and those who come to them, in one process: the real hosts, cables without length, time that is handed out.
 */

import {
  createClientHost, createRoomHost, type ClientHost, type CloseReason, type ConnectPass, type Game, type JoinRequest, type RoomHost, type RoomHostOptions,
  type RoomType, type Shape,
} from 'tickwire'
import { Dice, StubCrypto } from 'tickwire/testing'

interface Flying {
  readonly to: string
  readonly from: string
  readonly bytes: Uint8Array
}

const STEP_MS = 5

/** One player, at an address of his own. */
export class Guest<I extends Shape = Shape> {
  readonly host: ClientHost<I>
  closed: CloseReason | undefined
  isUnplugged = false
  address: string

  constructor(game: Game<I>, address: string, seed: number) {
    this.address = address
    this.host = createClientHost(game, {
      entropy: new Dice(seed), security: { provider: new StubCrypto() }, onClosed: (reason) => { this.closed = reason },
    })
  }

  get peer(): number {
    return this.host.peer
  }
}

export class Party {
  readonly host: RoomHost
  readonly faults: string[] = []
  now = 1000
  readonly #guests = new Map<string, Guest>()
  #flying: Flying[] = []
  #count = 0

  constructor(types: { readonly [name: string]: RoomType }, options: Partial<RoomHostOptions> = {}) {
    this.host = createRoomHost(types, {
      entropy: new Dice(99), security: { provider: new StubCrypto() },
      onRoomFault: (room, error) => this.faults.push(`${room.typeName}: ${String(error)}`), ...options,
    })
  }

  /** Somebody asks for a seat. */
  ask<I extends Shape>(game: Game<I>, join: JoinRequest = {}, pass: ConnectPass = {}): Guest<I> {
    const guest = new Guest(game, `10.0.${this.#count >> 8}.${this.#count & 255}:1`, 1000 + this.#count++)
    this.#guests.set(guest.address, guest as unknown as Guest)
    guest.host.connect(this.now, 'server', pass, join)
    return guest
  }

  /** He pulls the plug; what he says goes nowhere. */
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
      if (to === 'server') this.host.handleDatagram(now, from, bytes, bytes.length)
      else if (this.#guests.get(to)?.isUnplugged === false) this.#guests.get(to)?.host.handleDatagram(now, 'server', bytes, bytes.length)
    }
    this.host.tick(now)
    this.host.drain(now, { send: (to, bytes, length) => this.#flying.push({ to, from: 'server', bytes: bytes.slice(0, length) }) })
    for (const guest of this.#guests.values()) {
      guest.host.tick(now)
      guest.host.drain(now, {
        send: (_to, bytes, length) => {
          if (!guest.isUnplugged) this.#flying.push({ to: 'server', from: guest.address, bytes: bytes.slice(0, length) })
        },
      })
    }
  }
}
