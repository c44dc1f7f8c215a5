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
import { CONNECTIONS_MAX } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { Connection, ConnectionPeer } from '../connection/connection.ts'
import { readUint32 } from '../packet/header.ts'

/** Accepted, but its address is not proven until it uses the id it was given. */
export interface Guest extends ConnectionPeer {
  /** Moves on with every repetition of the request. */
  expiresAt: Millis
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

  /** A slot that nobody holds at `now`, or -1. */
  freeSlot(now: Millis): number {
    for (let slot = 0; slot < this.#connections.length; slot++) {
      if (this.#connections[slot] !== undefined) continue
      const guest = this.#guests[slot]
      if (guest === undefined || now >= guest.expiresAt) return slot
    }
    return -1
  }

  /** Draws an id for `slot`: its low and high half. */
  drawId(slot: number): readonly [lo: number, hi: number] {
    this.#entropy.fill(this.#draw)
    const lo = ((readUint32(this.#draw, 0) & ~SLOT_MASK) | slot) >>> 0
    // 0 means "no id yet", so the high half is never 0.
    return [lo, readUint32(this.#draw, 4) || 1]
  }

  /** The guest or connection from `address` that asked with this salt: a request that was repeated. */
  findAsking(address: string, saltLo: number, saltHi: number, now: Millis): Guest | Connection | undefined {
    for (let slot = 0; slot < this.#connections.length; slot++) {
      const party = this.#connections[slot] ?? this.#guests[slot]
      if (party === undefined || party.saltLo !== saltLo || party.saltHi !== saltHi) continue
      if (party.address === address && !('expiresAt' in party && now >= party.expiresAt)) return party
    }
    return undefined
  }

  /** The connection of ours to `address` that asked with this salt. */
  findAsked(address: string, saltLo: number, saltHi: number): Connection | undefined {
    return this.outgoing.find(
      (asked) => asked.saltLo === saltLo && asked.saltHi === saltHi && asked.address === address,
    )
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
    return guest.address === address && now < guest.expiresAt ? guest : undefined
  }

  holdGuest(guest: Guest): void {
    this.#guests[guest.idLo & SLOT_MASK] = guest
  }

  /** The guest has proven its address: its slot is now the connection's. */
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
