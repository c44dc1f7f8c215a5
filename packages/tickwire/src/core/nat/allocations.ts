/**
 * The allocations of a relay: which address may send to which, how much, and until when.
 *
 * An allocation belongs to one proven address and to one session. Peers bind pairs of allocations. There is no socket
 * for an allocation: data goes from one entry of this table to another, inside the process, so nothing outside of the
 * table can be reached.
 *
 * Invariants: an address has at most one allocation; a token has at most one, or a few of one browser; the sizes of all
 * maps are bounded by RELAY_ALLOCATIONS_MAX.
 */

import type { Entropy } from '../base/entropy.ts'
import {
  RELAY_ALLOCATIONS_MAX, RELAY_LIFE_MS, RELAY_SESSION_MEMBERS_MAX, TURN_PORTS_MAX,
} from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { readUint32 } from '../packet/header.ts'
import {
  Allocation, AllocationColumns, type AllocationGrant, CHANNEL_MASK, type RelaySession, nameOf,
} from './allocation.ts'
import { RELAY_KEY_BYTES } from './relay-wire.ts'

/** Clients refuse lower ports of a peer. */
const TURN_PORT_MIN = 1024

/** The table. */
export class Allocations {
  readonly #entropy: Entropy
  readonly #countMax: number
  readonly #perOriginMax: number
  readonly #columns: AllocationColumns
  /** Free slots, as a stack. */
  readonly #free: Uint32Array
  #freeCount: number
  #byAddress: Map<string, Allocation> = new Map()
  #byId: Map<number, Allocation> = new Map()
  /** The first allocation of each token. It stays as long as another one uses its quota. */
  #byToken: Map<string, Allocation> = new Map()
  #byPort: Map<number, Allocation> = new Map()
  #sessions: Map<string, RelaySession> = new Map()
  #origins: Map<string, number> = new Map()
  #drawn: Uint8Array = new Uint8Array(8 + RELAY_KEY_BYTES + 2)

  constructor(entropy: Entropy, countMax: number = RELAY_ALLOCATIONS_MAX, perOriginMax: number = Infinity) {
    this.#entropy = entropy
    this.#countMax = countMax
    this.#perOriginMax = perOriginMax
    this.#columns = new AllocationColumns(countMax)
    this.#free = Uint32Array.from({ length: countMax }, (_, index) => countMax - 1 - index)
    this.#freeCount = countMax
  }

  get count(): number {
    return this.#byAddress.size
  }

  get countMax(): number {
    return this.#countMax
  }

  /** All of them, in the order of creation. */
  values(): IterableIterator<Allocation> {
    return this.#byAddress.values()
  }

  /** @hot */
  ofAddress(address: string): Allocation | undefined {
    return this.#byAddress.get(address)
  }

  ofId(lo: number, hi: number): Allocation | undefined {
    const found = this.#byId.get(lo | 0)
    return found !== undefined && found.idHi === hi ? found : undefined
  }

  /** The first allocation of a token, which others of it may still use when it is gone. */
  ofToken(token: string): Allocation | undefined {
    return this.#byToken.get(token)
  }

  /** The allocation with a virtual port; undefined when there is none. @hot */
  ofPort(port: number): Allocation | undefined {
    return this.#byPort.get(port)
  }

  /** Makes an allocation. `origin` '' is not counted. An older one of the same address is freed. */
  add(now: Millis, grant: AllocationGrant): Allocation | 'full' | 'quota' {
    const name = nameOf(grant.session)
    const older = this.#byAddress.get(grant.address)
    if (older !== undefined) this.remove(older)
    // A slot stays taken while another allocation uses the quota in it.
    if (this.count >= this.#countMax || this.#freeCount === 0) return 'full'
    if (grant.turnKey !== undefined && this.#byPort.size >= TURN_PORTS_MAX) return 'full'
    if (grant.origin !== '' && (this.#origins.get(grant.origin) ?? 0) >= this.#perOriginMax) return 'quota'
    const session = this.#sessions.get(name) ?? { name, members: [] }
    if (session.members.length >= RELAY_SESSION_MEMBERS_MAX) return 'full'
    const slot = this.#free[--this.#freeCount]
    const turnPort = grant.turnKey === undefined ? 0 : this.#drawPort()
    const place = { slot, columns: this.#columns, turnPort }
    const allocation = new Allocation(now, grant, session, this.#byToken.get(grant.token), place)
    this.#drawIds(slot, grant.turnKey)
    this.#sessions.set(name, session)
    session.members = [...session.members, allocation]
    this.#byAddress.set(allocation.address, allocation)
    // A client of TURN has no id: native messages cannot name it.
    if (turnPort === 0) this.#byId.set(allocation.idLo | 0, allocation)
    else this.#byPort.set(turnPort, allocation)
    if (allocation.payer === allocation) this.#byToken.set(allocation.token, allocation)
    this.#countOrigin(grant.origin, 1)
    return allocation
  }

  /** Frees an allocation. */
  remove(allocation: Allocation): void {
    if (allocation.isGone) return
    const { session, payer } = allocation
    allocation.isGone = true
    this.#byAddress.delete(allocation.address)
    if (allocation.turnPort === 0) this.#byId.delete(allocation.idLo | 0)
    else this.#byPort.delete(allocation.turnPort)
    session.members = session.members.filter((member) => member !== allocation)
    if (session.members.length === 0) this.#sessions.delete(session.name)
    this.#countOrigin(allocation.origin, -1)
    // Peers keep their channel numbers, and drop what they send there.
    allocation.clearBindings()
    payer.users--
    if (allocation !== payer) this.#free[this.#freeCount++] = allocation.slot
    if (payer.users > 0) return
    this.#byToken.delete(payer.token)
    this.#free[this.#freeCount++] = payer.slot
  }

  /** Gives an allocation another address, which is proven. An allocation that was at that address is freed. */
  move(allocation: Allocation, address: string, origin: string): void {
    const other = this.#byAddress.get(address)
    if (other !== undefined && other !== allocation) this.remove(other)
    this.#byAddress.delete(allocation.address)
    this.#countOrigin(allocation.origin, -1)
    allocation.address = address
    allocation.origin = origin
    this.#byAddress.set(address, allocation)
    this.#countOrigin(origin, 1)
  }

  /** Frees expired allocations. Returns how many. */
  sweep(now: Millis): number {
    let count = 0
    for (const allocation of this.#byAddress.values()) {
      if (now < allocation.expiresAt && now < allocation.endsAt) continue
      this.remove(allocation)
      count++
    }
    return count
  }

  /** Frees the allocations of TURN clients at an origin that have sent nothing for RELAY_LIFE_MS: pages that closed. */
  freeSilent(now: Millis, origin: string): void {
    for (const allocation of this.#byAddress.values()) {
      const isSilent = allocation.turnPort !== 0 && now - allocation.sentAt >= RELAY_LIFE_MS
      if (isSilent && allocation.origin === origin) this.remove(allocation)
    }
  }

  /** A random id whose low half is not in use, a random key, and a random first channel. */
  #drawIds(slot: number, turnKey: Uint8Array | undefined): void {
    const drawn = this.#drawn
    const { ids, keys, channelBase } = this.#columns
    do this.#entropy.fill(drawn)
    while (readUint32(drawn, 0) === 0 || this.#byId.has(readUint32(drawn, 0) | 0))
    ids[2 * slot] = readUint32(drawn, 0)
    ids[2 * slot + 1] = readUint32(drawn, 4)
    keys.set(turnKey ?? drawn.subarray(8, 8 + RELAY_KEY_BYTES), RELAY_KEY_BYTES * slot)
    channelBase[slot] = (drawn[drawn.length - 2] | (drawn[drawn.length - 1] << 8)) & CHANNEL_MASK
  }

  /** A random even port that is not in use, as clients may ask for one (EVEN-PORT). At most half of them are in use. */
  #drawPort(): number {
    for (;;) {
      this.#entropy.fill(this.#drawn)
      const port = (this.#drawn[0] & 0xfe) | (this.#drawn[1] << 8)
      if (port >= TURN_PORT_MIN && !this.#byPort.has(port)) return port
    }
  }

  #countOrigin(origin: string, by: number): void {
    if (origin === '') return
    const count = (this.#origins.get(origin) ?? 0) + by
    if (count > 0) this.#origins.set(origin, count)
    else this.#origins.delete(origin)
  }
}
