/**
 * Those who were given a seat and have not sat down: from the moment they ask until their connection is made.
 *
 * Keyed by the handle that the endpoint says their connection will have. Each carries the welcome it was let in with, so that who asks twice
 * hears the same; and an answer of `onAuth` that is still awaited.
 */

import type { Millis } from '../../base/time.ts'
import type { Room } from './room.ts'
import type { Seat } from './seats.ts'

/** A seat on its way to somebody. */
export interface Reservation {
  readonly room: Room
  readonly seat: Seat
  /** Of the ticket that was good when he asked: he comes back only if it still is. Undefined for who is new. */
  readonly usedSerial: number | undefined
  /** Of the ticket he is told. */
  readonly serial: number
  readonly tokenUser: Uint8Array | undefined
  readonly welcome: Uint8Array
  until: Millis
  /** What `onAuth` said of him. */
  user: unknown
  isAwaited: boolean
}

export class Reservations {
  readonly #byHandle = new Map<number, Reservation>()

  get count(): number {
    return this.#byHandle.size
  }

  of(handle: number): Reservation | undefined {
    return this.#byHandle.get(handle)
  }

  add(handle: number, reservation: Reservation): void {
    this.#byHandle.set(handle, reservation)
  }

  /** He has come, or will not. */
  remove(handle: number): Reservation | undefined {
    const reservation = this.#byHandle.get(handle)
    this.#byHandle.delete(handle)
    return reservation
  }

  /** Forgets who did not come in time. Their seats expire by themselves. */
  expire(now: Millis): void {
    for (const [handle, { until }] of this.#byHandle) if (now >= until) this.#byHandle.delete(handle)
  }

  forgetRoom(room: Room): void {
    for (const [handle, reservation] of this.#byHandle) if (reservation.room === room) this.#byHandle.delete(handle)
  }
}
