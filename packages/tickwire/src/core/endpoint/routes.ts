/**
 * Whose packet is this? Finds the connection, or the guest about to become one, by the id in the header.
 *
 * Accepted connections live in slots; the low 12 bits of a connection id are its slot, the other 52 are drawn by
 * chance. So finding one is an index and a comparison: no hash that an attacker could crowd. Connections that we
 * asked for carry an id of the other side's making; they are few, and found by address and id.
 *
 * It does not decide who is let in.
 */

import type { Entropy } from '../base/entropy.ts'
import { CONNECTIONS_MAX, GUEST_EVICT_MS, GUEST_MS } from '../base/limits.ts'
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
  /** What he was told, sealed once: repeated as it is. */
  readonly accepted: Uint8Array
  /** When he last asked. */
  heardAt: Millis
  /** The handle its connection will have. */
  readonly handle: number
}

const SLOT_MASK = CONNECTIONS_MAX - 1

/** Slots of one endpoint. */
export class Routes {
  readonly outgoing: Connection[] = []
  #connections: (Connection | undefined)[]
  #guests: (Guest | undefined)[]
  #entropy: Entropy
  #draw: Uint8Array = new Uint8Array(8)

  constructor(slots: number, entropy: Entropy) {
    this.#connections = new Array<Connection | undefined>(slots).fill(undefined)
    this.#guests = new Array<Guest | undefined>(slots).fill(undefined)
    this.#entropy = entropy
  }

  /** A slot that nobody holds at `now`; if there is none, that of the guest who has been silent longest, and too long; or -1. */
  freeSlot(now: Millis): number {
    let evicted = -1
    let silentSince = now - GUEST_EVICT_MS
    for (let slot = 0; slot < this.#connections.length; slot++) {
      if (this.#connections[slot] !== undefined) continue
      const guest = this.#guests[slot]
      if (guest === undefined || isGone(guest, now)) return slot
      if (guest.heardAt > silentSince) continue
      evicted = slot
      silentSince = guest.heardAt
    }
    return evicted
  }

  slotOf(guest: Guest): number {
    return guest.idLo & SLOT_MASK
  }

  /** Where everyone is who has a seat at `now`. */
  *addresses(now: Millis): Generator<string> {
    for (let slot = 0; slot < this.#connections.length; slot++) {
      const guest = this.#guests[slot]
      const connection = this.#connections[slot]
      if (connection !== undefined) yield connection.address
      else if (guest !== undefined && !isGone(guest, now)) yield guest.address
    }
  }

  /** Draws an id for `slot`: its low and high half. */
  drawId(slot: number): readonly [lo: number, hi: number] {
    this.#entropy.fill(this.#draw)
    const lo = ((readUint32(this.#draw, 0) & ~SLOT_MASK) | slot) >>> 0
    // 0 means "no id yet", so the high half is never 0.
    return [lo, readUint32(this.#draw, 4) || 1]
  }

  /** The guest or connection from `address` that asked with this key: a response that was repeated. */
  findAsking(address: string, clientKey: Uint8Array, now: Millis): Guest | Connection | undefined {
    for (let slot = 0; slot < this.#connections.length; slot++) {
      const party = this.#connections[slot] ?? this.#guests[slot]
      if (party === undefined || party.address !== address || !isEqualConstantTime(party.clientKey, clientKey)) continue
      if (party instanceof Connection || !isGone(party, now)) return party
    }
    return undefined
  }

  /** The connection of ours to `address` that asked with this salt. */
  findAsked(address: string, saltLo: number, saltHi: number): Connection | undefined {
    return this.outgoing.find((asked) => asked.address === address && asked.hasAsked(saltLo, saltHi))
  }

  /** @hot */
  findConnection(address: string, idLo: number, idHi: number): Connection | undefined {
    const accepted = this.#connections[idLo & SLOT_MASK]
    if (accepted !== undefined && accepted.idLo === idLo && accepted.idHi === idHi) return accepted
    for (let index = 0; index < this.outgoing.length; index++) {
      const connection = this.outgoing[index]
      if (connection.idLo === idLo && connection.idHi === idHi && connection.address === address) return connection
    }
    return undefined
  }

  findGuest(address: string, idLo: number, idHi: number, now: Millis): Guest | undefined {
    const guest = this.#guests[idLo & SLOT_MASK]
    if (guest === undefined || guest.idLo !== idLo || guest.idHi !== idHi) return undefined
    return guest.address === address && !isGone(guest, now) ? guest : undefined
  }

  /** Keeps a slot for a guest; whoever had it before is forgotten, and his keys with him. */
  holdGuest(guest: Guest): void {
    const slot = this.slotOf(guest)
    this.#guests[slot]?.keys.wipe()
    this.#guests[slot] = guest
  }

  /** The guest has shown that he has the keys: its slot is now the connection's. */
  settleGuest(connection: Connection): void {
    this.#guests[connection.idLo & SLOT_MASK] = undefined
    this.#connections[connection.idLo & SLOT_MASK] = connection
  }

  remove(connection: Connection): void {
    if (connection.isInitiator) {
      const index = this.outgoing.indexOf(connection)
      if (index >= 0) this.outgoing.splice(index, 1)
    } else if (this.#connections[connection.idLo & SLOT_MASK] === connection) {
      this.#connections[connection.idLo & SLOT_MASK] = undefined
    }
  }
}

function isGone(guest: Guest, now: Millis): boolean {
  return now >= guest.heardAt + GUEST_MS
}
