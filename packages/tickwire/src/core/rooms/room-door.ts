/**
 * Admission to rooms: from the bytes of a Response to an invitation, or a reason for the refusal.
 *
 * ```
 * join body ─▶ room (found or planned) ─▶ onAuth ─▶ welcome and ticket ─▶ first sealed packet: room opened, seat taken
 *                                           └── a promise: 'later', settled by `takeAnswers`
 * ```
 *
 * An invitation takes no seat and creates no room: an abandoned handshake costs one entry in a bounded table. So
 * several clients may be invited to the last seat. The first one to connect gets it. The others are closed with `full`.
 *
 * A request reaches this module only after the client's address is proven, its first sealed bytes have been opened and
 * its token, if any, is valid: `endpoint/admission.ts`.
 */

import { GUEST_MS } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { isPromise, refusePromise, type UserCode } from '../base/user-code.ts'
import type { ConnectRequest, Refusal, Verdict } from '../endpoint/endpoint-config.ts'
import type { HostedRoom } from './hosted-room.ts'
import { Invitations, type Invitation, type RoomPlan } from './invitations.ts'
import { decodeJoin, type SentRequest } from './join-body.ts'
import type { Reservation, Reservations, SeatOrder } from './reservations.ts'
import type { TicketMint } from './resume-ticket.ts'
import type { Seat } from './seats.ts'
import type { PasswordHasher } from './room-password.ts'
import type { Asking } from './room-rules.ts'
import type { SeatSpans } from './seat-spans.ts'
import type { SeatClaim } from './room-host-options.ts'
import { isBuild, RoomSearch, type RoomSearchOptions } from './room-search.ts'
import { dataOf, factsOf, isSame, withoutPassword } from './request-parts.ts'
import { encodeWelcome } from './welcome.ts'

/** Counts of refused tickets, by reason. */
export interface TicketRefusals {
  /** The MAC does not match. */
  forged: number
  /** The ticket was used before, so a second client has a copy. */
  spent: number
  /** The seat is no longer held. */
  expired: number
  /** The client's token names a different user than the one the ticket was issued to. */
  stolen: number
}

/** Counts of requests, by outcome. */
export interface DoorCounts {
  seated: number
  resumed: number
  full: number
  refused: number
  'no-room': number
  locked: number
  ticket: number
  /** A password that is missing, wrong, or one guess too many. */
  password: number
  /** Join data or room options that are invalid. The client gets `refused`. */
  data: number
  /** The room of the client is in another process now. */
  moved: number
}

/** What the door needs from the room host. */
export interface RoomDoorOptions<R extends HostedRoom> extends RoomSearchOptions<R> {
  readonly mint: TicketMint
  /** Seats that are kept for clients with a token. */
  readonly reservations: Reservations<R>
  /** Whether new clients need a reserved seat. */
  readonly needsReservation: boolean
  /** Whether the room with this number has moved to another process. */
  hasMoved(number: number): boolean
  /** Opens a planned room. */
  openPlan(plan: RoomPlan<R>): R | Refusal
  /** Opens the room of a match that began at another server. */
  openClaimed(claim: SeatClaim<R>): R | Refusal
  readClaim(fingerprint: Uint8Array, data: Uint8Array): SeatClaim<R> | undefined
  readonly passwords: PasswordHasher
  /** Counts a guess of a password from this address. False when there were too many. */
  mayGuess(from: string): boolean
  /** Counts and reports what `onAuth` throws. The client is then refused. */
  readonly guard: UserCode
  /** An asynchronous `onAuth` has finished: call `drain` soon. */
  onAnswer(): void
  now(): Millis
  /** The spans of clients that sent one. Undefined: nothing is traced. */
  readonly spans: SeatSpans<R> | undefined
}

/** The result of an asynchronous `onAuth`. */
interface LateAnswer {
  readonly handle: number
  readonly user: unknown
}

/** From the request to taking the seat: as long as a client keeps trying. */
const INVITATION_MS = 2 * GUEST_MS

export class RoomDoor<R extends HostedRoom = HostedRoom> {
  readonly tickets: TicketRefusals = { forged: 0, spent: 0, expired: 0, stolen: 0 }
  readonly counts: DoorCounts = {
    seated: 0, resumed: 0, full: 0, refused: 0, 'no-room': 0, locked: 0, ticket: 0, password: 0, data: 0,
    moved: 0,
  }
  readonly invitations: Invitations<R> = new Invitations()
  readonly #search: RoomSearch<R>
  readonly #options: RoomDoorOptions<R>
  #answers: LateAnswer[] = []

  constructor(options: RoomDoorOptions<R>) {
    this.#options = options
    this.#search = new RoomSearch(options, this.invitations)
  }

  admit(request: ConnectRequest): Verdict | 'later' {
    const known = this.invitations.of(request.connection)
    if (known !== undefined) return known.isAwaited ? 'later' : known.welcome
    const sent = decodeJoin(request.user)
    if (sent?.trace !== undefined) this.#options.spans?.begin(request.connection, sent.trace)
    const verdict = sent === undefined ? 'refused' : 'resume' in sent ? this.#resume(request, sent.resume)
      : 'claim' in sent ? this.#claim(request) : this.#seat(request, sent)
    if (typeof verdict === 'string' && verdict !== 'later') {
      this.counts[verdict]++
      this.#options.spans?.refuse(request.connection, verdict)
    }
    return verdict === 'data' ? 'refused' : verdict
  }

  /** Settles the requests whose `onAuth` has finished since the last call. */
  takeAnswers(settle: (handle: number, verdict: Verdict) => boolean): void {
    const answers = this.#answers
    if (answers.length === 0) return
    this.#answers = []
    for (const { handle, user } of answers) {
      const invitation = this.invitations.of(handle)
      const isLetIn = user !== false && invitation !== undefined
      if (isLetIn) this.#confirm(invitation, user)
      else {
        this.counts.refused++
        this.#options.spans?.refuse(handle, 'refused')
      }
      if (settle(handle, isLetIn ? invitation.welcome : 'refused') && isLetIn) continue
      // The client was refused, or has gone in the meantime.
      this.invitations.remove(handle)
    }
  }

  #seat(request: ConnectRequest, sent: SentRequest): Verdict | 'later' | 'data' {
    const { connection, from, token } = request
    const { reservations, needsReservation, mint, now } = this.#options
    const isSpectator = sent.role === 'spectator'
    const reserved = reservations.of(token?.id)
    if (needsReservation && reserved === undefined) return 'refused'
    const site = reserved?.room ?? this.#search.forClient(sent, request, isSpectator)
    if (typeof site === 'string') return site
    const { password, join } = withoutPassword(sent)
    const closed = this.#refusalAt(site, reserved, isSpectator, password, from)
    if (closed !== undefined) return closed
    const { type } = site
    const data = dataOf(type.game, request.data.subarray(sent.optionsSize ?? 0))
    if (data === undefined) return 'data'
    const asking = { from, token, join, data, ...factsOf(site) }
    const refusal = this.#askAdmit(type, asking)
    if (refusal !== undefined) return refusal
    const serial = mint.drawSerial()
    const peer = 'identity' in site ? ++site.lastPeer : site.seats.drawPeer()
    const until = now() + INVITATION_MS
    const invitation: Invitation<R> = {
      site, peer, isSpectator, serial, until, usedSerial: undefined, isAwaited: false, tokenUser: token?.user,
      reservation: reserved && token?.id, user: token?.user, data, welcome: this.#welcome(site, peer, serial, false),
    }
    this.invitations.add(connection, invitation)
    const verdict = this.#authorise(connection, type, asking, invitation)
    if (verdict === 'refused') this.invitations.remove(connection)
    else if (reserved !== undefined) reservations.extend(token?.id, until)
    return verdict
  }

  /** Why a new client gets no seat there. Undefined: it may get one. */
  #refusalAt(
    site: R | RoomPlan<R>, reserved: Reservation<R> | undefined, isSpectator: boolean, password: string | undefined,
    from: string,
  ): Refusal | undefined {
    // The client that creates a room knows its password.
    if ('identity' in site) return isSpectator && site.type.spectators === 0 ? 'full' : undefined
    if (site.isFrozen || site.ending === 'moved') return 'moved'
    if (site.passwordHash !== undefined && !this.#isPassword(site.passwordHash, password, from)) return 'password'
    if (reserved?.room === undefined && site.isLocked) return 'locked'
    // A seat that was reserved for a spectator is no seat for a player.
    if (reserved?.room !== undefined && !isSpectator) return reserved.isKept ? undefined : 'refused'
    return site.seats.hasRoom(isSpectator) ? undefined : 'full'
  }

  /** Whether the password is right. A missing one does not count as a guess. */
  #isPassword(hash: Uint8Array, password: string | undefined, from: string): boolean {
    const { mayGuess, passwords } = this.#options
    return password !== undefined && mayGuess(from) && passwords.isMatch(hash, password)
  }

  /** Asks the room type's `admit`. Refuses the client if it throws. */
  #askAdmit(type: R['type'], asking: Asking): Refusal | undefined {
    if (type.admit === undefined) return undefined
    const answer = this.#options.guard.run('admit', 0, () => {
      const refusal = type.admit?.(asking)
      refusePromise('admit', refusal)
      return { refusal }
    })
    return answer === undefined ? 'refused' : answer.refusal
  }

  #authorise(
    connection: number, type: R['type'], asking: Asking, invitation: Invitation<R>,
  ): Uint8Array | 'refused' | 'later' {
    if (type.onAuth === undefined) return invitation.welcome
    const answer = (user: unknown): void => {
      this.#answers.push({ handle: connection, user })
      this.#options.onAnswer()
    }
    const { guard } = this.#options
    try {
      const user = type.onAuth(asking)
      if (user === false) return 'refused'
      if (!isPromise(user)) {
        this.#confirm(invitation, user)
        return invitation.welcome
      }
      invitation.isAwaited = true
      user.then(answer, (error: unknown) => {
        guard.report('onAuth', error)
        answer(false)
      })
      return 'later'
    } catch (error) {
      guard.report('onAuth', error)
      return 'refused'
    }
  }

  #confirm(invitation: Invitation<R>, user: unknown): void {
    invitation.user = user
    invitation.isAwaited = false
    invitation.until = this.#options.now() + INVITATION_MS
  }

  #resume({ connection, fingerprint, token }: ConnectRequest, bytes: Uint8Array): Verdict {
    const { mint, directory } = this.#options
    const ticket = mint.read(bytes)
    const room = ticket === undefined ? undefined : directory.byNumber(ticket.room)
    const seat = ticket === undefined ? undefined : room?.seats.of(ticket.peer)
    if (ticket === undefined) this.tickets.forged++
    else if (room?.isFrozen === true || (room === undefined && this.#options.hasMoved(ticket.room))) return 'moved'
    else if (room === undefined || seat === undefined || !isBuild(room.type, fingerprint))
      this.tickets.expired++
    else if (!room.seats.accepts(seat, ticket.serial)) this.tickets.spent++
    else if (!this.#isOwner(room.tokenUserOf(seat.peer), token)) this.tickets.stolen++
    else return this.#inviteBack(connection, room, seat, token?.user)
    return 'ticket'
  }

  /** The seat of a match that began at another server: it is held here from the first claim on. */
  #claim({ connection, fingerprint, data, token }: ConnectRequest): Verdict {
    const { mint, directory, readClaim, openClaimed } = this.#options
    const claim = readClaim(fingerprint, data)
    if (claim === undefined) return 'ticket'
    const { match, peer, isSpectator } = claim
    const known = [...directory.rooms].find(({ matchName }) => matchName === match)
    const room = known ?? openClaimed(claim)
    if (typeof room === 'string') return room
    // A match that began here: its seats are resumed by tickets.
    if (room.ending !== undefined || room.id !== match) return 'ticket'
    if (room.seats.of(peer) === undefined) {
      const isHeld = room.isOpenToClaims && room.holdSeat(peer, mint.drawSerial(), isSpectator, token?.user)
      if (!isHeld) return 'full'
    }
    const seat = room.seats.of(peer)
    if (seat === undefined || seat.isSpectator !== isSpectator) return 'ticket'
    claim.note(room)
    return this.#inviteBack(connection, room, seat, token?.user)
  }

  /** Invites a client to the seat that is its own. */
  #inviteBack(connection: number, room: R, seat: Seat, tokenUser: Uint8Array | undefined): Uint8Array {
    // Drawn per request: if two clients show the same ticket, only the client that takes the seat gets a valid next
    // ticket.
    const serial = this.#options.mint.drawSerial()
    room.seats.promise(seat, serial)
    const welcome = this.#welcome(room, seat.peer, serial, true)
    const until = this.#options.now() + INVITATION_MS
    // Keep the seat during the handshake. `untilMax` bounds this, so repeated handshakes cannot hold the seat
    // forever.
    if (seat.state === 'held') seat.until = Math.min(Math.max(seat.until, until), seat.untilMax)
    const { peer, isSpectator } = seat
    this.invitations.add(connection, {
      site: room, peer, isSpectator, serial, until, usedSerial: seat.serial, isAwaited: false, tokenUser,
      reservation: undefined, user: undefined, data: {}, welcome,
    })
    return welcome
  }

  /** The room for reserved seats, which is opened now if it is new. Undefined: the clients create it. */
  findReserved(order: SeatOrder): R | undefined | Refusal {
    const site = this.#search.forOrder(order)
    if (site === undefined || typeof site === 'string' || !('identity' in site)) return site
    const room = this.#options.openPlan(site)
    if (order.isFresh === true && typeof room !== 'string') room.isLocked = true
    return room
  }

  /**
   * Whether a ticket is shown by its own client. In a fleet a ticket without a token is enough: the earlier token named
   * another server, or the issuer does not answer.
   */
  #isOwner(user: Uint8Array | undefined, token: ConnectRequest['token']): boolean {
    return (this.#options.needsReservation && token === undefined) || isSame(user, token?.user)
  }

  #welcome(site: R | RoomPlan<R>, peer: number, serial: number, isBack: boolean): Uint8Array {
    const { number, id, seed } = 'identity' in site ? site.identity : site
    const ticket = this.#options.mint.make({ room: number, peer, serial })
    return encodeWelcome({ peer, seed, seat: { room: id, ticket, isBack } })
  }
}

/** The room of an invitation, if it is open. */
export function openRoom<R extends HostedRoom>(site: R | RoomPlan<R>): R | undefined {
  return 'identity' in site ? site.room : site
}
