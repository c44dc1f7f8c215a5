/**
 * The allocations of a relay: which address may send to which, how much, and until when.
 *
 * An allocation belongs to one proven address and to one session. Peers bind pairs of allocations. There is no socket
 * for an allocation: data goes from one entry of this table to another, inside the process, so nothing outside of the
 * table can be reached.
 *
 * Invariants: an address has at most one allocation; a token has at most one; the sizes of all maps are bounded by
 * RELAY_ALLOCATIONS_MAX.
 */

import type { Entropy } from '../base/entropy.ts'
import {
  RELAY_ALLOCATIONS_MAX, RELAY_BURST_MS, RELAY_LIFE_MS, RELAY_SESSION_MEMBERS_MAX,
} from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { bytesToText } from '../crypto/token-text.ts'
import { readUint32 } from '../packet/header.ts'
import { RELAY_KEY_BYTES } from './relay-wire.ts'

const CHANNEL_FIRST = 0x4000
const CHANNEL_MASK = 0x3fff

/** One direction of a pair of allocations. */
export class Binding {
  readonly peer: Allocation
  readonly channel: number
  /** The channel by which the peer knows this allocation; 0 while the peer has not bound it. */
  peerChannel: number = 0
  /** The two newest connection ids that may pass, low and high halves. */
  readonly ids: Uint32Array = new Uint32Array(4)
  #next: number = 0

  constructor(peer: Allocation, channel: number) {
    this.peer = peer
    this.channel = channel
  }

  /** Lets packets of a connection pass. 0 is no connection. */
  learn(lo: number, hi: number): void {
    if ((lo | hi) === 0 || this.knows(lo, hi)) return
    this.ids[2 * this.#next] = lo
    this.ids[2 * this.#next + 1] = hi
    this.#next = 1 - this.#next
  }

  /** @hot */
  knows(lo: number, hi: number): boolean {
    const { ids } = this
    return (ids[0] === lo && ids[1] === hi) || (ids[2] === lo && ids[3] === hi)
  }
}

/** One allocation. */
export class Allocation {
  readonly idLo: number
  readonly idHi: number
  /** The token that it was made with, as text. */
  readonly token: string
  readonly session: RelaySession
  readonly key: Uint8Array
  address: string
  origin: string
  /** The pairs. Their channels count up from a random one, so that a stranger must guess it. */
  readonly bindings: Binding[] = []
  readonly #channelBase: number
  expiresAt: Millis
  readonly endsAt: Millis
  /** The highest transaction that was accepted: an older message is a replay. */
  transaction: number
  isGone: boolean = false
  readonly kbitsPerSecond: number
  #packetsPerSecond: number
  #bytesLeft: number
  #bits: number
  #packets: number
  #filledAt: Millis

  constructor(now: Millis, grant: AllocationGrant, ids: Uint8Array, session: RelaySession) {
    this.idLo = readUint32(ids, 0)
    this.idHi = readUint32(ids, 4)
    this.key = ids.slice(8, 8 + RELAY_KEY_BYTES)
    this.#channelBase = (ids[ids.length - 2] | (ids[ids.length - 1] << 8)) & CHANNEL_MASK
    this.token = grant.token
    this.session = session
    this.address = grant.address
    this.origin = grant.origin
    this.transaction = grant.transaction
    this.expiresAt = now + RELAY_LIFE_MS
    this.endsAt = now + grant.minutes * 60_000
    this.kbitsPerSecond = grant.kbitsPerSecond
    this.#packetsPerSecond = grant.packetsPerSecond
    this.#bytesLeft = grant.mebibytes * 1_048_576
    this.#bits = this.kbitsPerSecond * RELAY_BURST_MS
    this.#packets = (this.#packetsPerSecond * RELAY_BURST_MS) / 1000
    this.#filledAt = now
  }

  /** Takes `bytes` of its quota. False when it has used up its rate, its volume or its time. @hot */
  take(now: Millis, bytes: number): boolean {
    const passed = now - this.#filledAt
    this.#filledAt = now
    this.#bits = Math.min(this.kbitsPerSecond * RELAY_BURST_MS, this.#bits + passed * this.kbitsPerSecond)
    const packetsMax = (this.#packetsPerSecond * RELAY_BURST_MS) / 1000
    this.#packets = Math.min(packetsMax, this.#packets + (passed * this.#packetsPerSecond) / 1000)
    if (this.#bits < 8 * bytes || this.#packets < 1 || this.#bytesLeft < bytes || now >= this.endsAt) return false
    this.#bits -= 8 * bytes
    this.#packets--
    this.#bytesLeft -= bytes
    return true
  }

  /** The channel of the binding with this index. */
  channelAt(index: number): number {
    return CHANNEL_FIRST + ((this.#channelBase + index) & CHANNEL_MASK)
  }

  /** The binding of a channel; undefined when there is none. @hot */
  bindingAt(channel: number): Binding | undefined {
    return this.bindings[(channel - CHANNEL_FIRST - this.#channelBase) & CHANNEL_MASK]
  }

  /** The binding to a peer; undefined when there is none. */
  bindingTo(peer: Allocation): Binding | undefined {
    return this.bindings.find((binding) => binding.peer === peer)
  }
}

/** The allocations of one match. */
export interface RelaySession {
  readonly name: string
  readonly members: Set<Allocation>
}

/** What an allocation is made from. */
export interface AllocationGrant {
  readonly address: string
  readonly origin: string
  readonly token: string
  readonly session: Uint8Array
  readonly transaction: number
  readonly kbitsPerSecond: number
  readonly packetsPerSecond: number
  readonly mebibytes: number
  readonly minutes: number
}

/** The table. */
export class Allocations {
  readonly #entropy: Entropy
  readonly #countMax: number
  readonly #perOriginMax: number
  #byAddress: Map<string, Allocation> = new Map()
  #byId: Map<number, Allocation> = new Map()
  #byToken: Map<string, Allocation> = new Map()
  #sessions: Map<string, RelaySession> = new Map()
  #origins: Map<string, number> = new Map()
  #drawn: Uint8Array = new Uint8Array(8 + RELAY_KEY_BYTES + 2)

  constructor(entropy: Entropy, countMax: number = RELAY_ALLOCATIONS_MAX, perOriginMax: number = Infinity) {
    this.#entropy = entropy
    this.#countMax = countMax
    this.#perOriginMax = perOriginMax
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
    const found = this.#byId.get(lo)
    return found !== undefined && found.idHi === hi ? found : undefined
  }

  ofToken(token: string): Allocation | undefined {
    return this.#byToken.get(token)
  }

  /** Makes an allocation. `origin` '' is not counted. An older one of the same address is freed. */
  add(now: Millis, grant: AllocationGrant): Allocation | 'full' | 'quota' {
    const name = bytesToText(grant.session)
    const older = this.#byAddress.get(grant.address)
    if (older !== undefined) this.remove(older)
    if (this.count >= this.#countMax) return 'full'
    if (grant.origin !== '' && (this.#origins.get(grant.origin) ?? 0) >= this.#perOriginMax) return 'quota'
    const session = this.#sessions.get(name) ?? { name, members: new Set() }
    if (session.members.size >= RELAY_SESSION_MEMBERS_MAX) return 'full'
    const allocation = new Allocation(now, grant, this.#drawIds(), session)
    this.#sessions.set(name, session)
    session.members.add(allocation)
    this.#byAddress.set(allocation.address, allocation)
    this.#byId.set(allocation.idLo, allocation)
    this.#byToken.set(allocation.token, allocation)
    this.#countOrigin(grant.origin, 1)
    return allocation
  }

  /** Frees an allocation. */
  remove(allocation: Allocation): void {
    if (allocation.isGone) return
    allocation.isGone = true
    this.#byAddress.delete(allocation.address)
    this.#byId.delete(allocation.idLo)
    this.#byToken.delete(allocation.token)
    allocation.session.members.delete(allocation)
    if (allocation.session.members.size === 0) this.#sessions.delete(allocation.session.name)
    this.#countOrigin(allocation.origin, -1)
    // Peers keep their channel numbers, and drop what they send there.
    allocation.bindings.length = 0
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

  /** A random id whose low half is not in use, and a random key. */
  #drawIds(): Uint8Array {
    do this.#entropy.fill(this.#drawn)
    while (readUint32(this.#drawn, 0) === 0 || this.#byId.has(readUint32(this.#drawn, 0)))
    return this.#drawn
  }

  #countOrigin(origin: string, by: number): void {
    if (origin === '') return
    const count = (this.#origins.get(origin) ?? 0) + by
    if (count > 0) this.#origins.set(origin, count)
    else this.#origins.delete(origin)
  }
}
