/**
 * The seats of one room: who has one, for whom one is kept, and for how long.
 *
 * ```
 *            ┌──────────── free ◀───────────┐
 *   reserve  ▼                              │ time is up, or he left
 *        reserved ──take──▶ taken ──lose──▶ held
 *            │                ▲  │            │
 *            └── time is up   │  └─take─┐     │
 *                             └─────────┴─take┘      he comes back, by another connection
 * ```
 *
 * A seat is reserved before anything else is asked or awaited, and all is decided in one turn: so seats cannot be sold twice.
 *
 * Invariant: players and spectators are never more than their capacities, whatever the order of calls.
 *
 * It knows no time but what it is handed, no network and no game.
 */

import { assert } from '../../base/assert.ts'
import type { Millis, PeerId } from '../../base/time.ts'

export type SeatState = 'reserved' | 'taken' | 'held' | 'free'

/** One seat, from its reservation until it is free again; then it is never used any more. */
export interface Seat {
  /** Who sits there: the same number however often he comes back, and never another's in this room. */
  readonly peer: PeerId
  readonly isSpectator: boolean
  state: SeatState
  /** While reserved or held: until when. */
  until: Millis
  /** Of the one ticket that is good for it. */
  serial: number
}

/** What may become of a seat. */
const STEPS: { readonly [from in SeatState]: readonly SeatState[] } = {
  reserved: ['taken', 'free'],
  taken: ['taken', 'held', 'free'],
  held: ['taken', 'free'],
  free: [],
}

export class Seats {
  readonly capacity: number
  readonly spectatorCapacity: number
  readonly #seats = new Map<PeerId, Seat>()
  #players = 0
  #spectators = 0
  #lastPeer: PeerId = 0
  #earliest: Millis = Infinity

  constructor(capacity: number, spectatorCapacity = 0) {
    this.capacity = capacity
    this.spectatorCapacity = spectatorCapacity
  }

  /** Seats that are not free, of players and of spectators. */
  get players(): number {
    return this.#players
  }

  get spectators(): number {
    return this.#spectators
  }

  get isEmpty(): boolean {
    return this.#seats.size === 0
  }

  /** When `expire` next has something to do. */
  get nextAt(): Millis {
    return this.#earliest
  }

  of(peer: PeerId): Seat | undefined {
    return this.#seats.get(peer)
  }

  hasRoom(isSpectator: boolean): boolean {
    return isSpectator ? this.#spectators < this.spectatorCapacity : this.#players < this.capacity
  }

  values(): Iterable<Seat> {
    return this.#seats.values()
  }

  /** A seat for somebody who is about to come; undefined when there is none left. */
  reserve(until: Millis, serial: number, isSpectator = false): Seat | undefined {
    if (!this.hasRoom(isSpectator)) return undefined
    const seat: Seat = { peer: ++this.#lastPeer, isSpectator, state: 'reserved', until, serial }
    this.#seats.set(seat.peer, seat)
    if (isSpectator) this.#spectators++
    else this.#players++
    this.#earliest = Math.min(this.#earliest, until)
    assert(this.#players <= this.capacity && this.#spectators <= this.spectatorCapacity, 'seats are never sold twice')
    return seat
  }

  /** A seat of before, kept for who had it. */
  restore(peer: PeerId, serial: number, isSpectator: boolean, until: Millis): Seat {
    const seat: Seat = { peer, isSpectator, state: 'held', until, serial }
    this.#seats.set(peer, seat)
    if (isSpectator) this.#spectators++
    else this.#players++
    this.#lastPeer = Math.max(this.#lastPeer, peer)
    this.#earliest = Math.min(this.#earliest, until)
    return seat
  }

  /** He has come, or come back; from now on only the ticket with this serial is good. */
  take(seat: Seat, serial: number): void {
    this.#step(seat, 'taken')
    seat.until = Infinity
    seat.serial = serial
  }

  /** His line is gone; the seat is kept for him. */
  lose(seat: Seat, until: Millis): void {
    this.#step(seat, 'held')
    seat.until = until
    this.#earliest = Math.min(this.#earliest, until)
  }

  release(seat: Seat): void {
    if (seat.state === 'free') return
    this.#step(seat, 'free')
    this.#seats.delete(seat.peer)
    if (seat.isSpectator) this.#spectators--
    else this.#players--
  }

  /** Frees what was kept long enough, and says whose that was. */
  expire(now: Millis, each: (seat: Seat, was: SeatState) => void): void {
    if (now < this.#earliest) return
    this.#earliest = Infinity
    for (const seat of this.#seats.values()) {
      const { state } = seat
      if (state === 'taken') continue
      if (now < seat.until) {
        this.#earliest = Math.min(this.#earliest, seat.until)
        continue
      }
      this.release(seat)
      each(seat, state)
    }
  }

  #step(seat: Seat, to: SeatState): void {
    assert(STEPS[seat.state].includes(to), 'a seat goes the ways of its table')
    seat.state = to
  }
}
