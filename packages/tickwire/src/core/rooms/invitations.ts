/**
 * Clients that were admitted but whose connection does not exist yet.
 *
 * Keyed by the connection handle that the endpoint has reserved. An invitation takes no seat and creates no room. It
 * stores the welcome that was sent to the client, with the peer id and the ticket in it, and the state of an `onAuth`
 * call that is still pending. A client that repeats its request receives the same welcome.
 *
 * Invariant: there are at most `INVITATIONS_MAX`. When the table is full, the oldest invitation is removed.
 */

import { INVITATIONS_MAX } from '../base/limits.ts'
import type { Millis, PeerId } from '../base/time.ts'
import type { HostedRoom, RoomIdentity } from './hosted-room.ts'
import type { Metadata } from './join-body.ts'

/** A room that is opened when the first invited client connects. */
export interface RoomPlan<R extends HostedRoom = HostedRoom> {
  readonly identity: RoomIdentity & { readonly metadata: Metadata }
  readonly type: R['type']
  /** The last peer id that was given out for this room. */
  lastPeer: PeerId
  /** Set once the room is open. */
  room: R | undefined
}

/** The seat that a client takes when it connects. */
export interface Invitation<R extends HostedRoom = HostedRoom> {
  readonly site: R | RoomPlan<R>
  readonly peer: PeerId
  readonly isSpectator: boolean
  /**
   * The serial of the seat when the client asked to resume it. The resume fails if it has changed by the time the
   * client connects. Undefined for a new client.
   */
  readonly usedSerial: number | undefined
  /** The serial of the ticket that is sent to the client. */
  readonly serial: number
  readonly tokenUser: Uint8Array | undefined
  /** The id of the token that a seat was reserved for. Undefined: none was. */
  readonly reservation: Uint8Array | undefined
  readonly welcome: Uint8Array
  until: Millis
  /** The join data of the client. Empty for a client that resumes. */
  readonly data: object
  /** The value that `onAuth` returned for this client. */
  user: unknown
  isAwaited: boolean
}

export class Invitations<R extends HostedRoom = HostedRoom> {
  readonly #byHandle = new Map<number, Invitation<R>>()
  /** Keyed by room number, open or planned: the number of invited new clients that have not connected yet. */
  readonly #newcomers = new Map<number, { readonly site: R | RoomPlan<R>; count: number }>()

  get count(): number {
    return this.#byHandle.size
  }

  of(handle: number): Invitation<R> | undefined {
    return this.#byHandle.get(handle)
  }

  /**
   * New clients that are invited to a room but not connected. They hold no seat; the count only spreads quick joins
   * over rooms.
   */
  newcomersTo(site: R | RoomPlan<R>): number {
    return this.#newcomers.get(numberOf(site))?.count ?? 0
  }

  /** The first planned room that is not open yet and passes `isFit`. */
  findPlan(isFit: (plan: RoomPlan<R>) => boolean): RoomPlan<R> | undefined {
    for (const { site } of this.#newcomers.values())
      if ('identity' in site && site.room === undefined && isFit(site)) return site
    return undefined
  }

  add(handle: number, invitation: Invitation<R>): void {
    if (this.#byHandle.size >= INVITATIONS_MAX) {
      const [oldest] = this.#byHandle.keys()
      if (oldest !== undefined) this.remove(oldest)
    }
    this.#byHandle.set(handle, invitation)
    this.#count(invitation, 1)
  }

  /** Call this when the client has connected, or will not. */
  remove(handle: number): Invitation<R> | undefined {
    const invitation = this.#byHandle.get(handle)
    if (invitation === undefined) return undefined
    this.#byHandle.delete(handle)
    this.#count(invitation, -1)
    return invitation
  }

  /** Removes the invitations of clients that did not connect in time. */
  expire(now: Millis): void {
    for (const [handle, { until }] of this.#byHandle) if (now >= until) this.remove(handle)
  }

  #count({ site, usedSerial }: Invitation<R>, more: number): void {
    if (usedSerial !== undefined) return
    const number = numberOf(site)
    const known = this.#newcomers.get(number) ?? { site, count: 0 }
    known.count += more
    if (known.count > 0) this.#newcomers.set(number, known)
    else this.#newcomers.delete(number)
  }
}

/** An opened room keeps the number that it was planned with. */
function numberOf(site: HostedRoom | RoomPlan): number {
  return 'identity' in site ? site.identity.number : site.number
}
