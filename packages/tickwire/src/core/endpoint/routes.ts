/**
 * Whose packet is this? Finds the connection, or the guest about to become one, by the id in the header.
 *
 * Both live in places; the low 13 bits of a connection id are its place, the other 51 are drawn by chance. So finding
 * one is an index and a comparison: no hash that an attacker could crowd. Connections that we asked for carry an id of
 * the other side's making; they are few, and found by address and id.
 *
 * There are more places than seats, for a guest takes a place and no seat: whoever asks and never uses his keys can
 * fill what is left over, and then pushes out who has been silent longest, but nobody who plays.
 *
 * Invariant: there are never more connections than seats.
 *
 * It does not decide who is let in.
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

/** Accepted, but not heard under the keys that were agreed. */
export interface Guest extends ConnectionPeer {
  readonly keys: KeyRing
  /** The challenge he answered. */
  readonly cookie: Uint8Array
  /** When the newest was given that he ever answered: a late copy of an older answer does not make him older. */
  readonly bucket: number
  /** What he was told, sealed once: repeated as it is. */
  readonly accepted: Uint8Array
  /** When he last asked. */
  heardAt: Millis
  /** The handle its connection will have. */
  readonly handle: number
}

/** Places of all seats there can be, and of as many guests: a power of two. */
const PLACE_MASK = 2 * CONNECTIONS_MAX - 1

/** Places of one endpoint. */
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

  /** Whether one more may become a connection. */
  hasSeat(): boolean {
    return this.#seated < this.#seats
  }

  /** A place that nobody holds at `now`; if there is none, that of the guest who has been silent longest. */
  freePlace(now: Millis): number {
    let evicted = -1
    let silentSince = Infinity
    for (let place = 0; place < this.#connections.length; place++) {
      if (this.#connections[place] !== undefined) continue
      const guest = this.#guests[place]
      if (guest === undefined || isGone(guest, now)) return place
      if (guest.heardAt >= silentSince) continue
      evicted = place
      silentSince = guest.heardAt
    }
    assert(evicted >= 0, 'there are more places than seats')
    return evicted
  }

  placeOf(guest: Guest): number {
    return guest.idLo & PLACE_MASK
  }

  /** Where everyone is who has a place at `now`. */
  *addresses(now: Millis): Generator<string> {
    for (const connection of this.#connections) if (connection !== undefined) yield connection.address
    yield* this.guestAddresses(now)
  }

  /** Where those are who were accepted and have not used their keys. */
  *guestAddresses(now: Millis): Generator<string> {
    for (const guest of this.#guests) if (guest !== undefined && !isGone(guest, now)) yield guest.address
  }

  /** Draws an id for `place`: its low and high half. */
  drawId(place: number): readonly [lo: number, hi: number] {
    this.#entropy.fill(this.#draw)
    const lo = ((readUint32(this.#draw, 0) & ~PLACE_MASK) | place) >>> 0
    // 0 means "no id yet", so the high half is never 0.
    return [lo, readUint32(this.#draw, 4) || 1]
  }

  /** The guest or connection from `address` that asked with this key: a response that was repeated. */
  findAsking(address: string, clientKey: Uint8Array, now: Millis): Guest | Connection | undefined {
    for (let place = 0; place < this.#connections.length; place++) {
      const party = this.#connections[place] ?? this.#guests[place]
      if (party === undefined || party.address !== address || !isEqualConstantTime(party.clientKey, clientKey)) continue
      if (party instanceof Connection || !isGone(party, now)) return party
    }
    return undefined
  }

  /** Of the guests from `address` who answered an older challenge than one of `bucket` the one of the oldest, if any. */
  findOlderGuest(address: string, bucket: number, now: Millis): Guest | undefined {
    let oldest: Guest | undefined = undefined
    for (const guest of this.#guests) {
      if (guest === undefined || guest.address !== address || isGone(guest, now)) continue
      if (guest.bucket < (oldest?.bucket ?? bucket)) oldest = guest
    }
    return oldest
  }

  /** The connection of ours to `address` that asked with this salt. */
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

  /** By his id alone, as a connection is: his address may have changed since he asked, as a page's does that climbs to a better transport. */
  findGuest(idLo: number, idHi: number, now: Millis): Guest | undefined {
    const guest = this.#guests[idLo & PLACE_MASK]
    if (guest === undefined || guest.idLo !== idLo || guest.idHi !== idHi) return undefined
    return isGone(guest, now) ? undefined : guest
  }

  /** Keeps a place for a guest; whoever had it before is forgotten, and his keys with him. */
  holdGuest(guest: Guest): void {
    const place = this.placeOf(guest)
    this.#guests[place]?.keys.wipe()
    this.#guests[place] = guest
  }

  /** The guest has shown that he has the keys: he takes a seat, and his place is now the connection's. */
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
  return now >= guest.heardAt + GUEST_MS
}
