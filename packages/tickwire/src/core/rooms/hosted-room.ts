/**
 * One room: a match with its seats, names and metadata.
 *
 * This class has the seats and the members. The match itself is a subclass that implements `RoomMatch`, such as
 * `game/match.ts`. A `RoomHost` creates, ticks and ends the room. Game code that throws ends at most this room
 * (`base/user-code.ts`).
 */

import type { Millis, PeerId } from '../base/time.ts'
import { UserCode, type CodeFault } from '../base/user-code.ts'
import type { CloseReason, LeaveCode } from '../connection/close-reason.ts'
import type { Connection } from '../connection/connection.ts'
import type { FragmentPool } from '../delivery/fragment-pool.ts'
import type { Endpoint } from '../endpoint/endpoint.ts'
import { DurationHistogram } from './duration-histogram.ts'
import type { Invitation } from './invitations.ts'
import type { Metadata } from './join-body.ts'
import type { MatchImage, MemberImage, RoomImage } from './room-image.ts'
import type { PacketTap, RoomMatch } from './room-match.ts'
import type { Complete, Member, RoomRules } from './room-rules.ts'
import { Seats, type Seat } from './seats.ts'

/** The public description of a room. */
export interface RoomListing {
  /** The id of the room. */
  readonly id: string
  /** The name of its room type. */
  readonly type: string
  /** Player seats that are taken or held. */
  readonly players: number
  /** The maximum number of players. */
  readonly capacity: number
  /** Spectator seats that are taken or held. */
  readonly spectators: number
  /** Its metadata, chosen by the game. */
  readonly metadata: Metadata
  /** Whether new clients are refused. */
  readonly isLocked: boolean
  /** Whether clients need a password. */
  readonly hasPassword: boolean
}

/** The names of a room. */
export interface RoomIdentity {
  /** The number that tickets refer to. */
  readonly number: number
  /** The id of the room. */
  readonly id: string
  /** The join code of a private room. Empty for a public room. */
  readonly code: string
  /** The name of its room type. */
  readonly typeName: string
  /** The seed of all random numbers in the match, 32 bits. */
  readonly seed: number
  /** Its options. Default: the initial values of the schema `roomOptions`. */
  readonly options?: object
  /** A salted hash of its password. Default: it has none. */
  readonly passwordHash?: Uint8Array | undefined
  /** Its match began at another server, and its members claim their seats. Default: it begins here. */
  readonly isClaimed?: boolean
}

/** What the rooms of one host share. */
export interface RoomWiring {
  /** The endpoint of the host. */
  readonly endpoint: Endpoint
  /** The memory for incomplete large messages. */
  readonly fragments: FragmentPool
  /** The time of the current call of the host, or of its last one. */
  now(): Millis
  /** Code of the room threw. */
  onFault(fault: CodeFault, room: HostedRoom): void
}

/** The occupant of a seat. */
interface Occupant {
  readonly seat: Seat
  readonly member: Member
  /** The user data of the client's token. A client that resumes the seat must have the same. */
  readonly tokenUser: Uint8Array | undefined
  connection: Connection | undefined
  /** Why the connection was lost, while the seat is held. */
  lost: CloseReason
}

/** Whether the connection was lost without an intentional leave, so that the client may resume. */
function isHoldable(reason: CloseReason): boolean {
  return reason.by === 'network' && reason.code !== 'unreachable'
}

const KICKED: CloseReason = { by: 'local', code: 'kicked' }
const LEFT: CloseReason = { by: 'local', code: 'left' }
const NOT_BACK: CloseReason = { by: 'network', code: 'timed-out' }

const NO_BYTES = new Uint8Array(0)
/** Seats that may be claimed, as a multiple of the seats of the room. */
const CLAIMED_SEATS_FACTOR = 2

/** The options of a room that was created without any. */
export function initialOptions({ game }: Pick<RoomRules, 'game'>): object {
  return game.optionsCodec?.decode(NO_BYTES) ?? {}
}

/** A room: seats, members, and the match in it. */
export abstract class HostedRoom<T extends RoomRules = RoomRules> implements RoomMatch {
  /** The id of the room. */
  readonly id: string
  /** The number that tickets refer to. */
  readonly number: number
  /** The join code of a private room. Empty for a public room. */
  readonly code: string
  /** The name of its room type. */
  readonly typeName: string
  /** The rules of its room type, with all defaults filled in. */
  readonly type: Complete<T>
  /** The seed of all random numbers in the match, 32 bits. */
  readonly seed: number
  /** What the client that created the room chose, by the schema `roomOptions` of the game. */
  readonly options: object
  /** A salted hash of the password. Undefined for a room without one. */
  readonly passwordHash: Uint8Array | undefined
  /** Its seats: taken, held and free. */
  readonly seats: Seats
  /** The endpoint, shared by all rooms. */
  readonly endpoint: Endpoint
  /** The time of the current call of the host, or of its last one. */
  protected readonly now: () => Millis
  /** Calls the code of the room's game and counts what it throws. */
  readonly guard: UserCode
  /** Durations of this room's ticks. */
  readonly ticks: DurationHistogram = new DurationHistogram()
  metadata: Metadata
  /** While locked, new clients are refused. Clients that resume are still admitted. */
  isLocked = false
  /** Why the room is about to end. Undefined while it is not. */
  ending: LeaveCode | 'moved' | undefined = undefined
  /** Since when no seat is taken or held. Infinity while one is. */
  emptySince: Millis = Infinity
  /** The room was restored from another process (`keepRooms`): its world already has all objects. */
  isRestored = false
  /** The room is moving to another process: it has no ticks, and no client is seated. */
  isFrozen = false
  /** The name of the match, if other servers may take it over. */
  readonly matchName: string | undefined = undefined
  /** Recorders of datagrams. */
  abstract readonly watch: PacketTap
  readonly #members = new Map<PeerId, Occupant>()
  /** When restored players that were not taken over leave. */
  #unclaimedUntil: Millis = Infinity

  constructor(identity: RoomIdentity, type: Complete<T>, wiring: RoomWiring) {
    this.id = identity.id
    this.number = identity.number
    this.code = identity.code
    this.typeName = identity.typeName
    this.seed = identity.seed
    this.options = identity.options ?? initialOptions(type)
    this.passwordHash = identity.passwordHash
    this.type = type
    this.endpoint = wiring.endpoint
    this.now = wiring.now
    this.metadata = type.metadata
    this.seats = new Seats(type.capacity, type.spectators)
    this.guard = new UserCode((fault) => {
      if (fault.isFatal) this.ending = 'fault'
      wiring.onFault(fault, this)
    })
  }

  abstract attach(connection: Connection, member: Member): void
  abstract enter(peer: PeerId): void
  abstract detach(peer: PeerId): void
  abstract leave(peer: PeerId, reason: CloseReason): void
  abstract tick(): number
  abstract nextAt(): Millis
  abstract receive(): void
  abstract saveMatch(): MatchImage | undefined
  abstract restoreMatch(image: MatchImage): string
  abstract restorePlayer(member: Member): void
  abstract dropUnclaimed(reason: CloseReason): void

  /** Whether it is missing from the public list and joined by its code. */
  get isPrivate(): boolean {
    return this.code !== ''
  }

  /** Whether new clients need a password. Clients that resume do not. */
  get hasPassword(): boolean {
    return this.passwordHash !== undefined
  }

  /** The public description of the room. */
  get listing(): RoomListing {
    const { id, typeName, seats: { players, capacity, spectators }, metadata, isLocked, hasPassword } = this
    return { id, type: typeName, players, capacity, spectators, metadata, isLocked, hasPassword }
  }

  /** All clients with a seat, including disconnected ones whose seat is held. */
  get members(): readonly Member[] {
    return [...this.#members.values()].map(({ member }) => member)
  }

  /** The member with this id. Undefined if no member has it. */
  member(peer: PeerId): Member | undefined {
    return this.#members.get(peer)?.member
  }

  /** The user data of the token that the member of this seat joined with. */
  tokenUserOf(peer: PeerId): Uint8Array | undefined {
    return this.#members.get(peer)?.tokenUser
  }

  /** Ends the room for all members, within the current call to its host. */
  end(): void {
    this.ending ??= 'ended'
  }

  /** Removes a member for good and frees its seat. Also removes a bot. */
  kick(peer: { readonly id: PeerId }): void {
    const occupant = this.#members.get(peer.id)
    if (occupant === undefined) this.leave(peer.id, LEFT)
    else if (occupant.connection !== undefined) occupant.connection.close(this.now(), 'kicked')
    else this.#remove(occupant, KICKED)
  }

  /** The state between two ticks. Undefined when it is too large. */
  image(): RoomImage | undefined {
    const { typeName, number, id, code, seed, metadata, options, passwordHash, isLocked } = this
    const { fingerprint } = this.type.game
    const match = this.saveMatch()
    if (match === undefined) return undefined
    const members = [...this.#members.values()].map(
      ({ seat: { peer, serial, promised, isSpectator }, member: { user, data }, tokenUser }) => (
        { peer, serial, promised: [...promised], isSpectator, user, data, tokenUser }
      ),
    )
    return {
      typeName, number, id, code, seed, metadata, options, passwordHash, isLocked, fingerprint, members, ...match,
    }
  }

  /**
   * Takes over the state of an image and holds its members' seats, for `resumeMs` and at least `holdMs`. The room is
   * usable only after 'restored'.
   */
  restore(image: RoomImage, holdMs: Millis = 0): string {
    const verdict = this.restoreMatch(image)
    if (verdict !== 'restored') return verdict
    const until = this.now() + Math.max(this.type.resumeMs, holdMs)
    this.isRestored = true
    this.metadata = image.metadata
    this.isLocked = image.isLocked
    this.#unclaimedUntil = until
    for (const { peer, serial, promised = [], isSpectator, user, data, tokenUser } of image.members) {
      const seat = this.seats.restore({ peer, serial, promised, isSpectator }, until)
      this.restorePlayer(this.#addMember(seat, undefined, { user, data, tokenUser }))
    }
    return verdict
  }

  /** Gives a new client a seat. False when no seat is free. */
  seatNewcomer(connection: Connection, { peer, isSpectator, serial, user, data, tokenUser }: Invitation): boolean {
    const seat = this.seats.sit(peer, serial, isSpectator)
    if (seat === undefined) return false
    this.attach(connection, this.#addMember(seat, connection, { user, data, tokenUser }))
    return true
  }

  /** Whether a seat may be claimed that is not held yet. */
  get isOpenToClaims(): boolean {
    return false
  }

  /** Holds a seat of a match that began at another server. False when there are too many. */
  holdSeat(peer: PeerId, serial: number, isSpectator: boolean, tokenUser?: Uint8Array): boolean {
    // Members that have left there may claim a seat too, until it is known who is in the match.
    const most = CLAIMED_SEATS_FACTOR * (isSpectator ? this.seats.spectatorCapacity : this.seats.capacity)
    if ((isSpectator ? this.seats.spectators : this.seats.players) >= most) return false
    const seat = this.seats.restore({ peer, serial, isSpectator, promised: [] }, this.now() + this.type.resumeMs)
    this.#addMember(seat, undefined, { user: tokenUser, data: {}, tokenUser })
    return true
  }

  /** Gives the seat to the new connection. Returns the previous connection if it still exists; the caller closes it. */
  seatAgain(seat: Seat, connection: Connection, serial: number): Connection | undefined {
    const occupant = this.#members.get(seat.peer)
    if (occupant === undefined) return undefined
    const before = occupant.connection
    occupant.connection = connection
    this.seats.take(seat, serial)
    this.detach(seat.peer)
    this.attach(connection, occupant.member)
    return before
  }

  /** The first packets of the client have arrived. */
  handleOpened(peer: PeerId, isBack: boolean): void {
    const occupant = this.#members.get(peer)
    if (occupant === undefined) return
    if (isBack) this.#hook('onBack', occupant.member)
    else if (occupant.seat.isSpectator) this.#hook('onJoin', occupant.member)
    else this.enter(peer)
  }

  /** A connection has ended. If the client may resume, its seat is held; otherwise the client is removed. */
  handleClosed(peer: PeerId, connection: Connection, reason: CloseReason): void {
    const occupant = this.#members.get(peer)
    // The client has already resumed on another connection.
    if (occupant === undefined || occupant.connection !== connection) return
    occupant.connection = undefined
    const { resumeMs } = this.type
    if (!isHoldable(reason) || resumeMs === 0) return this.#remove(occupant, reason)
    occupant.lost = reason
    this.detach(peer)
    this.seats.lose(occupant.seat, this.now() + resumeMs)
    this.#hook('onAway', occupant.member)
  }

  /** Frees the seats of players, and drops restored players, that did not return in time. */
  expireSeats(): void {
    const now = this.now()
    this.seats.expire(now, ({ peer }) => {
      const occupant = this.#members.get(peer)
      if (occupant !== undefined) this.#remove(occupant, occupant.lost)
    })
    if (now >= this.#unclaimedUntil) {
      this.#unclaimedUntil = Infinity
      this.dropUnclaimed(NOT_BACK)
    }
    if (!this.seats.isEmpty) this.emptySince = Infinity
    else if (this.emptySince === Infinity) this.emptySince = now
  }

  /** Closes all connections with the given code. */
  closeAll(code: LeaveCode | 'moved'): void {
    const now = this.now()
    for (const { connection } of this.#members.values()) connection?.close(now, code)
    for (const peer of this.#members.keys()) this.detach(peer)
    this.#members.clear()
  }

  /** A member has joined, in a tick of the match. The subclass calls it. */
  protected handleJoined(peer: PeerId): void {
    const occupant = this.#members.get(peer)
    if (occupant !== undefined) this.#hook('onJoin', occupant.member)
  }

  #addMember(
    seat: Seat,
    connection: Connection | undefined,
    { user, data, tokenUser }: Pick<MemberImage, 'user' | 'data' | 'tokenUser'>,
  ): Member {
    const member: Member = { id: seat.peer, data, user, role: seat.isSpectator ? 'spectator' : 'player' }
    this.#members.set(seat.peer, { seat, member, tokenUser, connection, lost: NOT_BACK })
    return member
  }

  #remove({ seat, member }: Occupant, reason: CloseReason): void {
    this.#members.delete(seat.peer)
    this.seats.release(seat)
    this.leave(seat.peer, reason)
    this.guard.run('onLeave', member.id, () => this.type.onLeave?.(this, member, reason))
  }

  #hook(name: 'onJoin' | 'onAway' | 'onBack', member: Member): void {
    this.guard.run(name, member.id, () => this.type[name]?.(this, member))
  }
}
