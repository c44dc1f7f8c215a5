/**
 * One room: a match, its seats, and what it says of itself.
 *
 * Made by a `RoomHost`, which also ticks and ends it. What a room's own code does (hooks, listeners, `step`) may throw: then this room is over
 * with `fault`, and no other.
 */

import { DurationHistogram } from './duration-histogram.ts'
import type { Millis, PeerId } from '../../base/time.ts'
import type { CloseReason, LeaveCode } from '../../connection/close-reason.ts'
import type { Connection } from '../../connection/connection.ts'
import type { Endpoint } from '../../endpoint/endpoint.ts'
import type { Peer } from '../define-game.ts'
import { Match } from '../match.ts'
import type { Metadata } from './join-body.ts'
import { encodeWorld, restoreWorld, type RoomImage } from './room-image.ts'
import type { CompleteRoomType, Member } from './room-type.ts'
import { Seats, type Seat } from './seats.ts'

/** What is told of a room to those who look for one. */
export interface RoomListing {
  readonly id: string
  readonly type: string
  readonly players: number
  readonly capacity: number
  readonly spectators: number
  readonly metadata: Metadata
  readonly isLocked: boolean
}

/** Who a room is. */
export interface RoomIdentity {
  /** What tickets call it. */
  readonly number: number
  readonly id: string
  /** What it is joined by when it is private; empty otherwise. */
  readonly code: string
  readonly typeName: string
  readonly seed: number
}

/** Somebody in a seat. */
interface Occupant {
  readonly seat: Seat
  readonly member: Member
  /** What his token said of him: who comes back must be the same. */
  readonly tokenUser: Uint8Array | undefined
  connection: Connection | undefined
  /** Why his line is gone, while it is. */
  lost: CloseReason
}

/** Nobody said that he goes: he may come back. */
function isHoldable(reason: CloseReason): boolean {
  return reason.by === 'network' && reason.code !== 'unreachable'
}

const KICKED: CloseReason = { by: 'local', code: 'kicked' }
const NOT_BACK: CloseReason = { by: 'network', code: 'timed-out' }

export class Room extends Match {
  readonly id: string
  readonly number: number
  /** What it is joined by when it is private; empty otherwise. */
  readonly code: string
  readonly typeName: string
  readonly type: CompleteRoomType
  readonly seats: Seats
  /** The one that all rooms share. */
  readonly endpoint: Endpoint
  /** What its ticks took. */
  readonly ticks: DurationHistogram = new DurationHistogram()
  metadata: Metadata
  /** Nobody is let in any more; who comes back is. */
  isLocked = false
  /** Why it is to end; undefined while it is not. */
  ending: LeaveCode | undefined = undefined
  /** Since when nobody is here and nobody is awaited; Infinity while somebody is. */
  emptySince: Millis = Infinity
  readonly #members = new Map<PeerId, Occupant>()

  constructor(identity: RoomIdentity, type: CompleteRoomType, endpoint: Endpoint, onFault: (room: Room, error: unknown) => void) {
    const { onSyncFault, onFault: onHandlerFault } = type
    super(type.game, identity.seed, {
      ...(type.interest && { interest: type.interest }),
      ...(type.bytesPerSecond !== undefined && { bytesPerSecond: type.bytesPerSecond }),
      ...(type.watching && { spectators: type.watching }),
      ...(type.syncTest !== undefined && { syncTest: type.syncTest }),
      ...(onSyncFault && { onSyncFault }),
      ...(onHandlerFault && { onFault: onHandlerFault }),
      onFlushFault: (error) => onFault(this, error),
      onJoined: ({ id }) => {
        const occupant = this.#members.get(id)
        if (occupant !== undefined) type.onJoin?.(this, occupant.member)
      },
    })
    this.id = identity.id
    this.number = identity.number
    this.code = identity.code
    this.typeName = identity.typeName
    this.type = type
    this.endpoint = endpoint
    this.metadata = type.metadata
    this.seats = new Seats(type.capacity, type.spectators)
  }

  get isPrivate(): boolean {
    return this.code !== ''
  }

  get listing(): RoomListing {
    const { id, typeName, seats: { players, capacity, spectators }, metadata, isLocked } = this
    return { id, type: typeName, players, capacity, spectators, metadata, isLocked }
  }

  /** Everyone who has a seat and has come, also while his line is gone. */
  get members(): readonly Member[] {
    return [...this.#members.values()].map(({ member }) => member)
  }

  member(peer: PeerId): Member | undefined {
    return this.#members.get(peer)?.member
  }

  /** What the token of whoever sits there said of him. */
  tokenUserOf(peer: PeerId): Uint8Array | undefined {
    return this.#members.get(peer)?.tokenUser
  }

  /** Ends the room for everyone, within the current turn of its host. */
  end(): void {
    this.ending ??= 'ended'
  }

  /** Sends somebody away, for good: his seat is free. */
  override kick(now: Millis, peer: Peer): void {
    const occupant = this.#members.get(peer.id)
    if (occupant === undefined) super.kick(now, peer)
    else if (occupant.connection !== undefined) occupant.connection.close(now, 'kicked')
    else this.#remove(occupant, KICKED)
  }

  /** As it stands between two ticks; undefined when it is too large. */
  image(): RoomImage | undefined {
    const { typeName, number, id, code, seed, metadata, isLocked, game: { fingerprint } } = this
    const world = encodeWorld(this.world)
    const members = [...this.#members.values()].map(({ seat: { peer, serial, isSpectator }, member: { user }, tokenUser }) => ({ peer, serial, isSpectator, user, tokenUser }))
    return world && { typeName, number, id, code, seed, metadata, isLocked, fingerprint, world, members }
  }

  /** Takes on what another was; everyone's seat is kept for him. False when that makes no sense here. */
  restore(now: Millis, image: RoomImage): boolean {
    if (!restoreWorld(this.world, image.world)) return false
    this.metadata = image.metadata
    this.isLocked = image.isLocked
    for (const { peer, serial, isSpectator, user, tokenUser } of image.members) {
      const seat = this.seats.restore(peer, serial, isSpectator, now + this.type.resumeMs)
      this.#members.set(peer, { seat, tokenUser, connection: undefined, lost: NOT_BACK, member: { id: peer, user, role: isSpectator ? 'spectator' : 'player' } })
      this.restorePlayer({ id: peer }, isSpectator)
    }
    return true
  }

  /** Whoever a seat was reserved for has come, by this connection. */
  seatNewcomer(seat: Seat, connection: Connection, user: unknown, tokenUser: Uint8Array | undefined): void {
    const { peer, isSpectator, serial } = seat
    this.seats.take(seat, serial)
    this.#members.set(peer, { seat, connection, tokenUser, lost: NOT_BACK, member: { id: peer, user, role: isSpectator ? 'spectator' : 'player' } })
    this.attach(connection, { id: peer }, isSpectator)
  }

  /** He is back in his seat; the connection he had before, if it lives, is to be closed. */
  seatAgain(seat: Seat, connection: Connection, serial: number): Connection | undefined {
    const occupant = this.#members.get(seat.peer)
    if (occupant === undefined) return undefined
    const before = occupant.connection
    occupant.connection = connection
    this.seats.take(seat, serial)
    this.detach(seat.peer)
    this.attach(connection, { id: seat.peer }, seat.isSpectator)
    return before
  }

  /** His first packets are here. */
  handleOpened(peer: PeerId, isBack: boolean): void {
    const occupant = this.#members.get(peer)
    if (occupant === undefined) return
    if (isBack) this.type.onBack?.(this, occupant.member)
    else if (occupant.seat.isSpectator) this.type.onJoin?.(this, occupant.member)
    else this.enter(peer)
  }

  /** A connection has ended: that of somebody who may come back, or of one who does not. */
  handleClosed(now: Millis, peer: PeerId, connection: Connection, reason: CloseReason): void {
    const occupant = this.#members.get(peer)
    // He came back by another one.
    if (occupant === undefined || occupant.connection !== connection) return
    occupant.connection = undefined
    const { resumeMs } = this.type
    if (!isHoldable(reason) || resumeMs === 0) return this.#remove(occupant, reason)
    occupant.lost = reason
    this.detach(peer)
    this.seats.lose(occupant.seat, now + resumeMs)
    this.type.onAway?.(this, occupant.member)
  }

  /** Frees the seats of those who did not come, or not come back, in time. */
  expireSeats(now: Millis): void {
    this.seats.expire(now, ({ peer }, was) => {
      const occupant = this.#members.get(peer)
      if (was === 'held' && occupant !== undefined) this.#remove(occupant, occupant.lost)
    })
    if (!this.seats.isEmpty) this.emptySince = Infinity
    else if (this.emptySince === Infinity) this.emptySince = now
  }

  /** Everyone is told that it is over. */
  closeAll(now: Millis, code: LeaveCode): void {
    for (const { connection } of this.#members.values()) connection?.close(now, code)
    for (const peer of this.#members.keys()) this.detach(peer)
    this.#members.clear()
  }

  #remove({ seat, member }: Occupant, reason: CloseReason): void {
    this.#members.delete(seat.peer)
    this.seats.release(seat)
    this.leave(seat.peer, reason)
    this.type.onLeave?.(this, member, reason)
  }
}
