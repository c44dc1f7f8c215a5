/**
 * Finds the connection of a packet, or the guest that may become a connection, by the id in the header.
 *
 * Both are stored in places. The low 13 bits of a connection id are its place, the other 51 bits are random. So a
 * lookup is an index and a comparison, without a hash table that an attacker could fill with collisions. The ids of
 * outgoing connections were chosen by the other side. Outgoing connections are few and are found by address and id.
 *
 * There are more places than seats. A guest takes a place but no seat. Clients that ask and never use their keys can
 * fill the remaining places. After that each new guest replaces the guest that has been silent longest, never a
 * connection.
 *
 * Invariant: there are never more connections than seats.
 *
 * This file does not decide which clients are admitted.
 */

import { assert } from '../base/assert.ts'
import type { Entropy } from '../base/entropy.ts'
import { CONNECTIONS_MAX, GUESTS_MAX, GUEST_MS } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { ConnectionPeer } from '../connection/connection-peer.ts'
import { Connection } from '../connection/connection.ts'
import { isEqualConstantTime } from '../crypto/constant-time.ts'
import type { KeyRing } from '../crypto/key-ring.ts'
import { readUint32 } from '../packet/header.ts'

/** An accepted client that has not sent a packet under the agreed keys yet. */
export interface Guest extends ConnectionPeer {
  readonly keys: KeyRing
  /** The cookie of the challenge that the client answered. */
  readonly cookie: Uint8Array
  /** Time bucket of the newest challenge that the client answered. A late copy of an older answer does not lower it. */
  readonly bucket: number
  /** Id of the token that the guest was accepted with. */
  readonly tokenId: Uint8Array | undefined
  /** The sealed Accepted packet. It is repeated unchanged. */
  readonly accepted: Uint8Array
  /** When the last response of the guest arrived. */
  receivedAt: Millis
  /** The handle that its connection will have. */
  readonly handle: number
}

/** Room for all possible seats and as many guests: a power of two. */
const PLACE_MASK = 2 * CONNECTIONS_MAX - 1

/** Places of one endpoint. Arrays are indexed by place. */
export class Routes {
  readonly outgoing: Connection[] = []
  #seats: number
  #seated: number = 0
  #connections: (Connection | undefined)[]
  #guests: (Guest | undefined)[]
  #entropy: Entropy
  #draw: Uint8Array = new Uint8Array(8)

  constructor(seats: number, entropy: Entropy) {
    assert(seats + GUESTS_MAX <= PLACE_MASK + 1, 'an id can name every place')
    const places = seats > 0 ? seats + GUESTS_MAX : 0
    this.#seats = seats
    this.#connections = new Array<Connection | undefined>(places).fill(undefined)
    this.#guests = new Array<Guest | undefined>(places).fill(undefined)
    this.#entropy = entropy
  }

  /** Whether one more guest may become a connection. */
  hasSeat(): boolean {
    return this.#seated < this.#seats
  }

  /** A place that is free at `now`. If there is none, the place of the guest that has been silent longest. */
  freePlace(now: Millis): number {
    let evicted = -1
    let silentSince = Infinity
    for (let place = 0; place < this.#connections.length; place++) {
      if (this.#connections[place] !== undefined) continue
      const guest = this.#guests[place]
      if (guest === undefined || isGone(guest, now)) return place
      if (guest.receivedAt >= silentSince) continue
      evicted = place
      silentSince = guest.receivedAt
    }
    assert(evicted >= 0, 'there are more places than seats')
    return evicted
  }

  placeOf(guest: Guest): number {
    return guest.idLo & PLACE_MASK
  }

  /** The addresses of all connections, and of all guests that have a place at `now`. */
  *addresses(now: Millis): Generator<string> {
    for (const connection of this.#connections) if (connection !== undefined) yield connection.address
    yield* this.guestAddresses(now)
  }

  /** The addresses of all guests that have a place at `now`. */
  *guestAddresses(now: Millis): Generator<string> {
    for (const guest of this.#guests) if (guest !== undefined && !isGone(guest, now)) yield guest.address
  }

  /** Draws a random id for `place`: its low and high half. */
  drawId(place: number): readonly [lo: number, hi: number] {
    this.#entropy.fill(this.#draw)
    const lo = ((readUint32(this.#draw, 0) & ~PLACE_MASK) | place) >>> 0
    // 0 means "no id yet", so the high half is never 0.
    return [lo, readUint32(this.#draw, 4) || 1]
  }

  /** The guest or connection at `address` with this client key. Found when a response is repeated. */
  findAsking(address: string, clientKey: Uint8Array, now: Millis): Guest | Connection | undefined {
    for (let place = 0; place < this.#connections.length; place++) {
      const party = this.#connections[place] ?? this.#guests[place]
      if (party === undefined || party.address !== address || !isEqualConstantTime(party.clientKey, clientKey)) continue
      if (party instanceof Connection || !isGone(party, now)) return party
    }
    return undefined
  }

  /** The guest with this client key, at any address. */
  findGuestOf(clientKey: Uint8Array): Guest | undefined {
    return this.#guests.find((guest) => guest !== undefined && isEqualConstantTime(guest.clientKey, clientKey))
  }

  /** Of the guests at `address` whose challenge is older than `bucket`, the one with the oldest challenge, if any. */
  findOlderGuest(address: string, bucket: number, now: Millis): Guest | undefined {
    let oldest: Guest | undefined = undefined
    for (const guest of this.#guests) {
      if (guest === undefined || guest.address !== address || isGone(guest, now)) continue
      if (guest.bucket < (oldest?.bucket ?? bucket)) oldest = guest
    }
    return oldest
  }

  /** The outgoing connection to `address` whose request had this salt. */
  findAsked(address: string, saltLo: number, saltHi: number): Connection | undefined {
    return this.outgoing.find((asked) => asked.address === address && asked.hasAsked(saltLo, saltHi))
  }

  /** @hot */
  findConnection(address: string, idLo: number, idHi: number): Connection | undefined {
    const accepted = this.#connections[idLo & PLACE_MASK]
    if (accepted !== undefined && accepted.idLo === idLo && accepted.idHi === idHi) return accepted
    for (let index = 0; index < this.outgoing.length; index++) {
      const connection = this.outgoing[index]
      if (connection.idLo === idLo && connection.idHi === idHi && connection.address === address) return connection
    }
    return undefined
  }

  /**
   * Finds a guest by its id alone, like a connection. Its address may have changed since its response, for example when
   * a browser page changes to a better transport.
   */
  findGuest(idLo: number, idHi: number, now: Millis): Guest | undefined {
    const guest = this.#guests[idLo & PLACE_MASK]
    if (guest === undefined || guest.idLo !== idLo || guest.idHi !== idHi) return undefined
    return isGone(guest, now) ? undefined : guest
  }

  /** Stores a guest at its place. A previous guest at that place is discarded and its keys are wiped. */
  holdGuest(guest: Guest): void {
    const place = this.placeOf(guest)
    this.#guests[place]?.keys.wipe()
    this.#guests[place] = guest
  }

  /** The guest has proven that it has the keys. It takes a seat, and its place now belongs to the connection. */
  settleGuest(connection: Connection): void {
    assert(this.hasSeat(), 'there are never more connections than seats')
    this.#seated++
    this.#guests[connection.idLo & PLACE_MASK] = undefined
    this.#connections[connection.idLo & PLACE_MASK] = connection
  }

  /** The guest will not become a connection. */
  forgetGuest(guest: Guest): void {
    guest.keys.wipe()
    this.#guests[this.placeOf(guest)] = undefined
  }

  remove(connection: Connection): void {
    if (connection.isInitiator) {
      const index = this.outgoing.indexOf(connection)
      if (index >= 0) this.outgoing.splice(index, 1)
    } else if (this.#connections[connection.idLo & PLACE_MASK] === connection) {
      this.#connections[connection.idLo & PLACE_MASK] = undefined
      this.#seated--
    }
  }
}

function isGone(guest: Guest, now: Millis): boolean {
  return now >= guest.receivedAt + GUEST_MS
}
