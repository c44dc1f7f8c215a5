/**
 * Seats that are kept for clients which will come with a token: what a fleet asks a host for before it sends a client
 * there.
 *
 *   reserve ──▶ reserved ──use──▶ the client takes the seat
 *                  └──────expire──▶ free: the client did not come in time
 *
 * A client shows its reservation by the id of its token, which the host learns when the seat is reserved.
 *
 * Invariants: a request that is asked twice gets the same answer and reserves once. A reserved seat is given to no
 * other client. Both tables have a limit.
 */

import { GUEST_MS } from '../base/limits.ts'
import { RESERVATION_ANSWER_MS, RESERVATIONS_MAX } from '../base/limits-fleet.ts'
import type { Millis } from '../base/time.ts'
import { bytesToText } from '../crypto/token-text.ts'
import type { Refusal } from '../endpoint/endpoint-config.ts'
import type { HostedRoom } from './hosted-room.ts'
import type { Metadata } from './join-body.ts'

/** A request for seats. */
export interface SeatOrder {
  /** Names the request: asked twice, it is answered alike. */
  readonly id: string
  /** The ids of the tokens that the clients will show, as text: one for each client. */
  readonly tokens: readonly string[]
  /** The game of the clients: eight bytes. */
  readonly fingerprint: Uint8Array
  /** The type of room. Default: the first one of this game. */
  readonly type?: string
  /** The metadata that a room must have, or gets. Default: any. */
  readonly filter?: Metadata
  /** This room. Default: the fullest one that fits, or a new one. */
  readonly room?: string
  /** The private room with this code. */
  readonly code?: string
  /** The clients will create a room themselves, so no seat is kept: they only may come. Default: false. */
  readonly isNew?: boolean
  /** A new room for these clients alone: it is locked. Default: false. */
  readonly isFresh?: boolean
  /** The clients only watch, so no seat is kept. Default: false. */
  readonly isSpectator?: boolean
  /** How long the seats are kept. */
  readonly holdMs: Millis
}

/** The room of the seats; its id is empty when the clients create it. Otherwise the reason why there are none. */
export type SeatAnswer = { readonly room: string } | Refusal

/** One seat. `room` is undefined when the client creates it. */
export interface Reservation<R extends HostedRoom = HostedRoom> {
  readonly room: R | undefined
  /** Whether a seat of a player is kept. */
  readonly isKept: boolean
  until: Millis
  /** The limit up to which handshakes may extend that. */
  readonly untilMax: Millis
}

export class Reservations<R extends HostedRoom = HostedRoom> {
  /** Keyed by the id of the token, as text. */
  readonly #seats = new Map<string, Reservation<R>>()
  /** Keyed by the id of the request. */
  readonly #answers = new Map<string, { readonly answer: SeatAnswer; readonly until: Millis }>()
  /** No seat is due before. */
  #earliest: Millis = Infinity

  get count(): number {
    return this.#seats.size
  }

  /** Answers a request: as before if it was asked before, otherwise by `find`, which returns the room of the seats. */
  reserve(now: Millis, order: SeatOrder, find: () => R | undefined | Refusal): SeatAnswer {
    this.expire(now)
    const known = this.#answers.get(order.id)
    if (known !== undefined) return known.answer
    if (this.#seats.size + order.tokens.length > RESERVATIONS_MAX || this.#answers.size >= RESERVATIONS_MAX)
      return 'full'
    const answer = this.#keep(now + order.holdMs, order, find())
    this.#answers.set(order.id, { answer, until: now + RESERVATION_ANSWER_MS })
    return answer
  }

  /** The answer to a request that was asked before. */
  answerOf(id: string): SeatAnswer | undefined {
    return this.#answers.get(id)?.answer
  }

  /** The reservation of a client, by the id of its token. */
  of(tokenId: Uint8Array | undefined): Reservation<R> | undefined {
    return tokenId === undefined ? undefined : this.#seats.get(bytesToText(tokenId))
  }

  /** The client is on its way: its seat is kept during the handshake, but not forever. */
  extend(tokenId: Uint8Array | undefined, until: Millis): void {
    const seat = this.of(tokenId)
    if (seat !== undefined) seat.until = Math.min(Math.max(seat.until, until), seat.untilMax)
  }

  /** The client connects: its seat is free for it, now. */
  use(tokenId: Uint8Array): void {
    const key = bytesToText(tokenId)
    const seat = this.#seats.get(key)
    if (seat !== undefined) this.#remove(key, seat)
  }

  /** Frees the seats of clients that did not come in time. */
  expire(now: Millis): void {
    // All answers are remembered equally long, so the oldest are first.
    for (const [id, { until }] of this.#answers) {
      if (now < until) break
      this.#answers.delete(id)
    }
    if (now < this.#earliest) return
    this.#earliest = Infinity
    for (const [key, seat] of this.#seats) {
      if (now >= seat.until) this.#remove(key, seat)
      else this.#earliest = Math.min(this.#earliest, seat.until)
    }
  }

  #keep(until: Millis, { tokens, isNew, isSpectator }: SeatOrder, room: R | undefined | Refusal): SeatAnswer {
    if (typeof room === 'string') return room
    const isKept = room !== undefined && isNew !== true && isSpectator !== true
    if (isKept && !room.seats.reserve(tokens.length)) return 'full'
    for (const token of tokens) this.#seats.set(token, { room, isKept, until, untilMax: until + 2 * GUEST_MS })
    this.#earliest = Math.min(this.#earliest, until)
    return { room: room?.id ?? '' }
  }

  #remove(key: string, { room, isKept }: Reservation<R>): void {
    this.#seats.delete(key)
    if (isKept) room?.seats.unreserve()
  }
}
