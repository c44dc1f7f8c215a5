/**
 * The seats of one room: which are taken, which are held for a disconnected player, and for how long.
 *
 * ```
 *     sit ──▶ taken ──lose──▶ held ──▶ free      the time is up, or the player left
 *              ▲ │              │
 *              └─┴─────take─────┘      the player resumes on another connection
 * ```
 *
 * A seat is taken when a client connects. A handshake takes no seat.
 *
 * Invariant: players and spectators never exceed their capacities, whatever the order of calls.
 *
 * This module has no clock (the caller passes the time), no network and no game.
 */

import { assert } from '../base/assert.ts'
import { GUEST_MS, SEAT_TICKETS_MAX } from '../base/limits.ts'
import type { Millis, PeerId } from '../base/time.ts'

export type SeatState = 'taken' | 'held' | 'free'

/** One seat, from when it is taken until it is free. A freed seat object is never reused. */
export interface Seat {
  /** The id of the player. It stays the same when the player resumes and is never reused in this room. */
  readonly peer: PeerId
  readonly isSpectator: boolean
  state: SeatState
  /** While held: when the seat expires, and the limit up to which handshakes may extend that. */
  until: Millis
  untilMax: Millis
  /** The serial of the ticket of the client that has the seat. */
  serial: number
  /** Serials of tickets that were sent to clients which resume, and have not taken the seat yet. */
  promised: number[]
}

/** The allowed state transitions. */
const STEPS: { readonly [from in SeatState]: readonly SeatState[] } = {
  taken: ['taken', 'held', 'free'],
  held: ['taken', 'free'],
  free: [],
}

export class Seats {
  readonly capacity: number
  readonly spectatorCapacity: number
  readonly #seats = new Map<PeerId, Seat>()
  #players = 0
  #reserved = 0
  #spectators = 0
  #lastPeer: PeerId = 0
  #earliest: Millis = Infinity

  constructor(capacity: number, spectatorCapacity = 0) {
    this.capacity = capacity
    this.spectatorCapacity = spectatorCapacity
  }

  /** Seats that are taken or held, by players and by spectators. */
  get players(): number {
    return this.#players
  }

  get spectators(): number {
    return this.#spectators
  }

  /** Seats of players that are kept for clients which have not connected yet. */
  get reserved(): number {
    return this.#reserved
  }

  get isEmpty(): boolean {
    return this.#seats.size === 0 && this.#reserved === 0
  }

  /** When `expire` next has something to do. */
  get nextAt(): Millis {
    return this.#earliest
  }

  of(peer: PeerId): Seat | undefined {
    return this.#seats.get(peer)
  }

  hasRoom(isSpectator: boolean): boolean {
    return isSpectator ? this.#spectators < this.spectatorCapacity : this.free > 0
  }

  /** Seats of players that are neither taken, held nor reserved. */
  get free(): number {
    return this.capacity - this.#players - this.#reserved
  }

  /** Keeps seats of players for clients that will connect. False when there are not so many. */
  reserve(count: number): boolean {
    if (count > this.free) return false
    this.#reserved += count
    return true
  }

  /** Gives a reserved seat up: its client connects now, or did not in time. */
  unreserve(): void {
    assert(this.#reserved > 0, 'only a reserved seat is given up')
    this.#reserved--
  }

  values(): Iterable<Seat> {
    return this.#seats.values()
  }

  /** A peer id that no player of this room has had. */
  drawPeer(): PeerId {
    return ++this.#lastPeer
  }

  /** Marks peer ids up to this one as used. They were given out before the room was open. */
  skipTo(peer: PeerId): void {
    this.#lastPeer = Math.max(this.#lastPeer, peer)
  }

  /** Takes a seat for a client that has connected. Undefined when none is free. */
  sit(peer: PeerId, serial: number, isSpectator = false): Seat | undefined {
    if (!this.hasRoom(isSpectator)) return undefined
    const seat: Seat = {
      peer, isSpectator, state: 'taken', until: Infinity, untilMax: Infinity, serial, promised: [],
    }
    this.#seats.set(seat.peer, seat)
    if (isSpectator) this.#spectators++
    else this.#players++
    assert(this.#players <= this.capacity && this.#spectators <= this.spectatorCapacity, 'seats are never sold twice')
    return seat
  }

  /** Holds a seat from the previous process for its player. */
  restore(
    { peer, serial, isSpectator, promised }: Pick<Seat, 'peer' | 'serial' | 'isSpectator'> & {
      readonly promised: readonly number[]
    },
    until: Millis,
  ): Seat {
    const seat: Seat = {
      peer, isSpectator, state: 'held', until, untilMax: until + GUEST_MS, serial, promised: [...promised],
    }
    this.#seats.set(peer, seat)
    if (isSpectator) this.#spectators++
    else this.#players++
    this.#lastPeer = Math.max(this.#lastPeer, peer)
    this.#earliest = Math.min(this.#earliest, until)
    return seat
  }

  /**
   * Whether a ticket with this serial is valid. If the first packets of a client that resumes are lost, it has a new
   * ticket, and the server does not know whether it arrived. Both are valid until a client takes the seat.
   */
  accepts({ serial, promised }: Seat, shown: number): boolean {
    return shown === serial || promised.includes(shown)
  }

  /** A ticket with this serial is sent to a client that resumes. */
  promise({ promised }: Seat, serial: number): void {
    if (promised.push(serial) > SEAT_TICKETS_MAX) promised.shift()
  }

  /** The client resumes its seat. From now on, only the ticket with this serial is valid. */
  take(seat: Seat, serial: number): void {
    seat.promised.length = 0
    this.#step(seat, 'taken')
    seat.until = Infinity
    seat.serial = serial
  }

  /** The connection is lost, and the seat is held for its player. */
  lose(seat: Seat, until: Millis): void {
    this.#step(seat, 'held')
    seat.until = until
    seat.untilMax = until + GUEST_MS
    this.#earliest = Math.min(this.#earliest, until)
  }

  release(seat: Seat): void {
    if (seat.state === 'free') return
    this.#step(seat, 'free')
    this.#seats.delete(seat.peer)
    if (seat.isSpectator) this.#spectators--
    else this.#players--
  }

  /** Frees the held seats whose time is up, and calls `each` with every one of them. */
  expire(now: Millis, each: (seat: Seat) => void): void {
    if (now < this.#earliest) return
    this.#earliest = Infinity
    for (const seat of this.#seats.values()) {
      if (seat.state === 'taken') continue
      if (now < seat.until) {
        this.#earliest = Math.min(this.#earliest, seat.until)
        continue
      }
      this.release(seat)
      each(seat)
    }
  }

  #step(seat: Seat, to: SeatState): void {
    assert(STEPS[seat.state].includes(to), 'a seat goes the ways of its table')
    seat.state = to
  }
}
