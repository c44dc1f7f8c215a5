/**
 * One allocation of a relay: which address may send to which, how much, and until when. `allocations.ts` has the table.
 */

import { RELAY_BURST_MS } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { RELAY_KEY_BYTES } from './relay-wire.ts'

const CHANNEL_FIRST = 0x4000
/** The bits of a channel that count. */
export const CHANNEL_MASK = 0x3fff

const NO_BINDINGS: readonly Binding[] = []

/** One direction of a pair of allocations. */
export class Binding {
  readonly peer: Allocation
  readonly channel: number
  /** The channel by which the peer knows this allocation; 0 while the peer has not bound it. */
  peerChannel: number = 0
  // The two newest connection ids that may pass, low and high halves, as signed integers: an array for four numbers
  // takes 230 bytes.
  #newLo: number = 0
  #newHi: number = 0
  #oldLo: number = 0
  #oldHi: number = 0

  constructor(peer: Allocation, channel: number) {
    this.peer = peer
    this.channel = channel
  }

  /** Lets packets of a connection pass. 0 means none. */
  learn(lo: number, hi: number): void {
    if ((lo | hi) === 0 || this.knows(lo, hi)) return
    this.#oldLo = this.#newLo
    this.#oldHi = this.#newHi
    this.#newLo = lo | 0
    this.#newHi = hi | 0
  }

  /** @hot */
  knows(lo: number, hi: number): boolean {
    const isNew = this.#newLo === (lo | 0) && this.#newHi === (hi | 0)
    return isNew || (this.#oldLo === (lo | 0) && this.#oldHi === (hi | 0))
  }
}

/** The numbers of all allocations of a table. Indexed by slot. As fields of objects they take three times that. */
export class AllocationColumns {
  readonly ids: Uint32Array
  readonly keys: Uint8Array
  readonly expiresAt: Float64Array
  readonly endsAt: Float64Array
  readonly transaction: Float64Array
  readonly kbitsPerSecond: Float64Array
  readonly packetsPerSecond: Float64Array
  readonly bytesLeft: Float64Array
  readonly bits: Float64Array
  readonly packets: Float64Array
  readonly filledAt: Float64Array
  readonly channelBase: Uint16Array

  constructor(count: number) {
    this.ids = new Uint32Array(2 * count)
    this.keys = new Uint8Array(RELAY_KEY_BYTES * count)
    this.expiresAt = new Float64Array(count)
    this.endsAt = new Float64Array(count)
    this.transaction = new Float64Array(count)
    this.kbitsPerSecond = new Float64Array(count)
    this.packetsPerSecond = new Float64Array(count)
    this.bytesLeft = new Float64Array(count)
    this.bits = new Float64Array(count)
    this.packets = new Float64Array(count)
    this.filledAt = new Float64Array(count)
    this.channelBase = new Uint16Array(count)
  }
}

/** One allocation. */
export class Allocation {
  /** The id of the token that it was made with: `nameOf`. */
  readonly token: string
  readonly session: RelaySession
  address: string
  origin: string
  /** The pairs. Channels of native peers count up from a random one, so that a stranger must guess it. */
  bindings: readonly Binding[] = NO_BINDINGS
  isGone: boolean = false
  /** The port of its virtual address, for clients of TURN; 0 for native peers. */
  readonly turnPort: number
  /** Whether a client of TURN has asked for data from its session. */
  isOpen: boolean = false
  /** The allocation whose quota it uses: the first one of its token. */
  readonly payer: Allocation
  /** How many allocations use the quota of this one. */
  users: number = 0
  readonly slot: number
  readonly #columns: AllocationColumns

  constructor(
    now: Millis, grant: AllocationGrant, session: RelaySession, payer: Allocation | undefined, place: AllocationPlace,
  ) {
    const { slot, columns } = place
    this.slot = slot
    this.#columns = columns
    this.token = grant.token
    this.session = session
    this.address = grant.address
    this.origin = grant.origin
    this.turnPort = place.turnPort
    this.payer = payer ?? this
    this.payer.users++
    columns.transaction[slot] = grant.transaction
    columns.expiresAt[slot] = now + grant.lifeMs
    columns.endsAt[slot] = now + grant.minutes * 60_000
    columns.kbitsPerSecond[slot] = grant.kbitsPerSecond
    columns.packetsPerSecond[slot] = grant.packetsPerSecond
    columns.bytesLeft[slot] = grant.mebibytes * 1_048_576
    columns.bits[slot] = grant.kbitsPerSecond * RELAY_BURST_MS
    columns.packets[slot] = (grant.packetsPerSecond * RELAY_BURST_MS) / 1000
    columns.filledAt[slot] = now
  }

  get idLo(): number {
    return this.#columns.ids[2 * this.slot]
  }

  get idHi(): number {
    return this.#columns.ids[2 * this.slot + 1]
  }

  /** A view. */
  get key(): Uint8Array {
    return this.#columns.keys.subarray(RELAY_KEY_BYTES * this.slot, RELAY_KEY_BYTES * (this.slot + 1))
  }

  get kbitsPerSecond(): number {
    return this.#columns.kbitsPerSecond[this.slot]
  }

  get endsAt(): Millis {
    return this.#columns.endsAt[this.slot]
  }

  get expiresAt(): Millis {
    return this.#columns.expiresAt[this.slot]
  }

  set expiresAt(at: Millis) {
    this.#columns.expiresAt[this.slot] = at
  }

  /** The highest transaction that was accepted: an older message is a replay. Of TURN, that of the Allocate request. */
  get transaction(): number {
    return this.#columns.transaction[this.slot]
  }

  set transaction(transaction: number) {
    this.#columns.transaction[this.slot] = transaction
  }

  /** When it last sent data. */
  get sentAt(): Millis {
    return this.#columns.filledAt[this.slot]
  }

  /** Takes `bytes` of its quota. False when it has used up its rate, its volume or its time. @hot */
  take(now: Millis, bytes: number): boolean {
    const columns = this.#columns
    const { slot } = this.payer
    if (this.payer !== this) columns.filledAt[this.slot] = now
    const passed = now - columns.filledAt[slot]
    columns.filledAt[slot] = now
    const kbits = columns.kbitsPerSecond[slot]
    const perSecond = columns.packetsPerSecond[slot]
    const bits = Math.min(kbits * RELAY_BURST_MS, columns.bits[slot] + passed * kbits)
    const packets = Math.min((perSecond * RELAY_BURST_MS) / 1000, columns.packets[slot] + (passed * perSecond) / 1000)
    const isOver = bits < 8 * bytes || packets < 1 || columns.bytesLeft[slot] < bytes || now >= columns.endsAt[slot]
    columns.bits[slot] = isOver ? bits : bits - 8 * bytes
    columns.packets[slot] = isOver ? packets : packets - 1
    if (!isOver) columns.bytesLeft[slot] -= bytes
    return !isOver
  }

  /** Puts a binding at an index, at most one after the last. A copy: an array that grows has room for 17. */
  setBinding(index: number, binding: Binding): void {
    const bindings = [...this.bindings]
    bindings[index] = binding
    this.bindings = bindings.slice()
  }

  /** Forgets all pairs. */
  clearBindings(): void {
    this.bindings = NO_BINDINGS
  }

  /** The channel of the binding with this index. */
  channelAt(index: number): number {
    return CHANNEL_FIRST + ((this.#columns.channelBase[this.slot] + index) & CHANNEL_MASK)
  }

  /** The binding of a channel of a native peer; undefined when there is none. @hot */
  bindingAt(channel: number): Binding | undefined {
    return this.bindings[(channel - CHANNEL_FIRST - this.#columns.channelBase[this.slot]) & CHANNEL_MASK]
  }

  /** The binding to a peer; undefined when there is none. @hot */
  bindingTo(peer: Allocation): Binding | undefined {
    for (let index = 0; index < this.bindings.length; index++)
      if (this.bindings[index].peer === peer) return this.bindings[index]
    return undefined
  }
}

/** A name of 16 bytes as eight characters: the shortest text that a map can have as a key. */
export function nameOf(bytes: Uint8Array): string {
  const at = (index: number): number => bytes[2 * index] | (bytes[2 * index + 1] << 8)
  return String.fromCharCode(at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7))
}

/** The allocations of one match. */
export interface RelaySession {
  readonly name: string
  members: readonly Allocation[]
}

/** The place of an allocation in its table. */
export interface AllocationPlace {
  readonly slot: number
  readonly columns: AllocationColumns
  readonly turnPort: number
}

/** The inputs of a new allocation. */
export interface AllocationGrant {
  readonly address: string
  readonly origin: string
  readonly token: string
  readonly session: Uint8Array
  readonly transaction: number
  /** How long it lives without a Refresh. */
  readonly lifeMs: number
  readonly kbitsPerSecond: number
  readonly packetsPerSecond: number
  readonly mebibytes: number
  readonly minutes: number
  /** Of clients of TURN: the key of their messages. Undefined for native peers, whose key is drawn. */
  readonly turnKey?: Uint8Array
}
