/**
 * Who is let into which room: from the bytes of a Response to a reserved seat, or the reason why not.
 *
 * ```
 * join body ─▶ room (found or made) ─▶ seat reserved ─▶ onAuth ─▶ welcome, with a ticket
 *                                           │             └── awaited: 'later', and `answers` when it is known
 *                                           └── all in one turn: nothing is awaited before a seat is reserved
 * ```
 *
 * He is asked after only once his address is proven, his first sealed word has opened and his token, if any, is good: `endpoint/admission.ts`.
 */

import { GUEST_MS } from '../../base/limits.ts'
import type { Millis } from '../../base/time.ts'
import { isEqualConstantTime } from '../../crypto/constant-time.ts'
import type { ConnectRequest, Refusal, Verdict } from '../../endpoint/endpoint-config.ts'
import { encodeWelcome } from '../welcome.ts'
import { decodeJoin, type JoinRequest, type Metadata } from './join-body.ts'
import { Reservations, type Reservation } from './reservations.ts'
import type { TicketMint } from './resume-ticket.ts'
import type { RoomDirectory } from './room-directory.ts'
import type { CompleteRoomType } from './room-type.ts'
import type { Room } from './room.ts'

/** Tickets that were shown and not good. */
export interface TicketRefusals {
  /** Not made here, or touched. */
  forged: number
  /** Used before: somebody else has it too. */
  spent: number
  /** The seat is not kept any more. */
  expired: number
  /** Shown by another than it was given to, as the tokens say. */
  stolen: number
}

/** Everyone who asked, by what became of it. */
export interface DoorCounts {
  seated: number
  resumed: number
  full: number
  refused: number
  'no-room': number
  locked: number
  ticket: number
}

/** What the door asks of the house. */
export interface RoomDoorOptions {
  readonly types: ReadonlyMap<string, CompleteRoomType>
  readonly directory: RoomDirectory
  readonly mint: TicketMint
  /** Makes a room, or says why not. */
  createRoom(type: string, metadata: Metadata, isPrivate: boolean): Room | Refusal
  /** `onAuth` threw this. He who asked is refused. */
  onAuthFault(error: unknown): void
  /** An answer that was awaited is here: time to drain. */
  onAnswer(): void
  now(): Millis
}

/** An answer of `onAuth` that took a while. */
interface LateAnswer {
  readonly handle: number
  readonly user: unknown
}

/** From when he asks to when he sits: as long as a client tries. */
const RESERVATION_MS = 2 * GUEST_MS

export class RoomDoor {
  readonly tickets: TicketRefusals = { forged: 0, spent: 0, expired: 0, stolen: 0 }
  readonly counts: DoorCounts = { seated: 0, resumed: 0, full: 0, refused: 0, 'no-room': 0, locked: 0, ticket: 0 }
  readonly reservations: Reservations = new Reservations()
  readonly #options: RoomDoorOptions
  #answers: LateAnswer[] = []

  constructor(options: RoomDoorOptions) {
    this.#options = options
  }

  admit(request: ConnectRequest): Verdict | 'later' {
    const known = this.reservations.of(request.connection)
    if (known !== undefined) return known.isAwaited ? 'later' : known.welcome
    const join = decodeJoin(request.user)
    const verdict = join === undefined ? 'refused' : 'resume' in join ? this.#resume(request, join.resume) : this.#seat(request, join)
    if (typeof verdict === 'string' && verdict !== 'later') this.counts[verdict]++
    return verdict
  }

  /** Hands out the answers that have come since the last call. */
  takeAnswers(settle: (handle: number, verdict: Verdict) => boolean): void {
    const answers = this.#answers
    if (answers.length === 0) return
    this.#answers = []
    for (const { handle, user } of answers) {
      const reservation = this.reservations.of(handle)
      const isLetIn = user !== false && reservation !== undefined
      if (isLetIn) this.#confirm(reservation, user)
      else this.counts.refused++
      if (settle(handle, isLetIn ? reservation.welcome : 'refused') && isLetIn) continue
      // Refused, or gone meanwhile.
      this.reservations.remove(handle)
      if (reservation !== undefined) reservation.room.seats.release(reservation.seat)
    }
  }

  #seat(request: ConnectRequest, join: JoinRequest): Verdict | 'later' {
    const isSpectator = join.role === 'spectator'
    const room = this.#findRoom(join, request.fingerprint, isSpectator)
    if (typeof room === 'string') return room
    if (room.isLocked) return 'locked'
    const { mint } = this.#options
    const until = this.#options.now() + RESERVATION_MS
    const serial = mint.drawSerial()
    const seat = room.seats.reserve(until, serial, isSpectator)
    if (seat === undefined) return 'full'
    const reservation: Reservation = {
      room, seat, serial, until, usedSerial: undefined, isAwaited: false, tokenUser: request.token?.user, user: request.token?.user,
      welcome: this.#welcome(room, seat.peer, serial, false),
    }
    this.reservations.add(request.connection, reservation)
    const verdict = this.#authorise(request, join, reservation)
    if (verdict === 'refused') {
      this.reservations.remove(request.connection)
      room.seats.release(seat)
    }
    return verdict
  }

  #authorise({ connection, from, token }: ConnectRequest, join: JoinRequest, reservation: Reservation): Uint8Array | 'refused' | 'later' {
    const { room } = reservation
    if (room.type.onAuth === undefined) {
      this.counts.seated++
      return reservation.welcome
    }
    const answer = (user: unknown): void => {
      this.#answers.push({ handle: connection, user })
      this.#options.onAnswer()
    }
    try {
      const user = room.type.onAuth({ from, token, join, room })
      if (user === false) return 'refused'
      if (!(user instanceof Promise)) {
        this.#confirm(reservation, user)
        return reservation.welcome
      }
      reservation.isAwaited = true
      user.then(answer, (error: unknown) => {
        this.#options.onAuthFault(error)
        answer(false)
      })
      return 'later'
    } catch (error) {
      this.#options.onAuthFault(error)
      return 'refused'
    }
  }

  #confirm(reservation: Reservation, user: unknown): void {
    reservation.user = user
    reservation.isAwaited = false
    reservation.until = this.#options.now() + RESERVATION_MS
    if (reservation.seat.state === 'reserved') reservation.seat.until = reservation.until
    this.counts.seated++
  }

  #resume({ connection, fingerprint, token }: ConnectRequest, bytes: Uint8Array): Verdict {
    const { mint, directory, now } = this.#options
    const ticket = mint.read(bytes)
    const room = ticket === undefined ? undefined : directory.byNumber(ticket.room)
    const seat = ticket === undefined ? undefined : room?.seats.of(ticket.peer)
    if (ticket === undefined) this.tickets.forged++
    else if (room === undefined || seat === undefined || seat.state === 'reserved' || !isEqualConstantTime(room.game.fingerprint, fingerprint)) this.tickets.expired++
    else if (seat.serial !== ticket.serial) this.tickets.spent++
    else if (!isSame(room.tokenUserOf(seat.peer), token?.user)) this.tickets.stolen++
    else {
      // Drawn for each who asks: of two with one ticket only the one who sits down has the next.
      const serial = mint.drawSerial()
      const welcome = this.#welcome(room, seat.peer, serial, true)
      const until = now() + RESERVATION_MS
      // He is on his way: the seat is not given up while he shakes hands.
      if (seat.state === 'held') seat.until = Math.max(seat.until, until)
      this.reservations.add(connection, { room, seat, serial, until, usedSerial: ticket.serial, isAwaited: false, tokenUser: token?.user, user: undefined, welcome })
      return welcome
    }
    return 'ticket'
  }

  #findRoom(join: JoinRequest, fingerprint: Uint8Array, isSpectator: boolean): Room | Refusal {
    const { directory, types } = this.#options
    const isOurs = ({ game }: { readonly game: { readonly fingerprint: Uint8Array } }): boolean => isEqualConstantTime(game.fingerprint, fingerprint)
    const named = 'room' in join ? directory.byId(join.room) : 'code' in join ? directory.byCode(join.code) : undefined
    if ('room' in join || 'code' in join) return named !== undefined && named.ending === undefined && isOurs(named) ? named : 'no-room'
    const asked = 'create' in join ? join.create : 'quick' in join ? join.quick : undefined
    const name = asked ?? [...types].find(([, type]) => isOurs(type))?.[0] ?? ''
    const type = types.get(name)
    if (type === undefined || !isOurs(type)) return 'no-room'
    if ('create' in join) return type.mayCreate ? this.#options.createRoom(name, { ...type.metadata, ...join.metadata }, join.isPrivate === true) : 'refused'
    const filter = 'filter' in join ? join.filter ?? {} : {}
    const found = directory.findSeat(name, filter, isSpectator)
    if (found !== undefined) return found
    return type.mayCreate && !isSpectator ? this.#options.createRoom(name, { ...type.metadata, ...filter }, false) : 'full'
  }

  #welcome(room: Room, peer: number, serial: number, isBack: boolean): Uint8Array {
    const ticket = this.#options.mint.make({ room: room.number, peer, serial })
    return encodeWelcome({ peer, seed: room.seed, seat: { room: room.id, ticket, isBack } })
  }
}

function isSame(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a === undefined || b === undefined ? a === b : isEqualConstantTime(a, b)
}
