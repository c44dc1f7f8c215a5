/**
 * Counts the bits of snapshots as they are sent: by client, by entity, by object and by reason.
 *
 *   const account = new BitAccount(world)
 *   replicator.probe = account
 *   replicator.settle()              counts the entries that the bulk path copied in this tick
 *   account.report()                 since it was created, or since the last reset()
 *
 * It is cheap enough to leave on: an entry costs three additions into typed arrays, however many clients receive it in
 * a tick, and memory is allocated only for a new client or object. Fields are not counted here, because an entry does
 * not know them: `FieldMeter` measures them on request.
 */

import { CONNECTIONS_MAX } from '../base/limits.ts'
import type { PeerId, Tick } from '../base/time.ts'
import type { World } from '../world/world.ts'
import { REASON, type Probe } from '../replication/probe.ts'

/** Why an entry was sent. */
export type Reason = keyof typeof REASON

/** Bits, or entries, by the reason why they were sent. */
export type BitsByReason = { readonly [reason in Reason]: number }

export interface ClientBits {
  readonly peer: PeerId
  readonly frames: number
  readonly entryBits: number
  /** The ticks of frames, and the zeros that fill their last bytes. */
  readonly headBits: number
  /** All else sent to the client: headers, acknowledgements, seals, messages, timing. 0 where it is not known. */
  readonly otherBits: number
}

export interface EntityBits {
  readonly name: string
  readonly entries: number
  readonly bits: number
  readonly reasons: BitsByReason
}

export interface ObjectBits {
  /** The id of the object that is at that index now; 0 when there is none. */
  readonly id: number
  readonly index: number
  readonly entity: string
  readonly bits: number
}

/** The bits of snapshots that were sent, by client, entity, object and reason. */
export interface BandwidthReport {
  /** The first and last tick of the counted frames. */
  readonly firstTick: Tick
  /** The last tick of the counted frames. */
  readonly lastTick: Tick
  /** All bits of snapshots, to all clients. */
  readonly bits: number
  /** The ticks of frames, and the zeros that fill their last bytes, in bits. */
  readonly headBits: number
  /** All else that was sent: headers, acknowledgements, seals, messages. 0 where it is not known. */
  readonly otherBits: number
  /** The bits of entries, by the reason why they were sent. */
  readonly reasons: BitsByReason
  /** The number of entries, by the reason why they were sent. */
  readonly entries: BitsByReason
  /** The bits of each client. */
  readonly clients: readonly ClientBits[]
  /** The bits of each entity. */
  readonly entities: readonly EntityBits[]
  /** The most expensive objects first. */
  readonly objects: readonly ObjectBits[]
}

const REASONS = Object.keys(REASON) as Reason[]
const REASON_COUNT: number = REASONS.length
/** Per client: frames, head bits, entry bits. */
const CLIENT_CELLS = 3
const CLIENTS_FIRST = 64
const OBJECTS_SHOWN = 20

export class BitAccount implements Probe {
  readonly #world: World
  /** Indexed by type * REASON_COUNT + reason: bits, and entries. */
  readonly #bits: Float64Array
  readonly #entries: Float64Array
  /** Indexed by the client's value in `#placeOf`. */
  #clients = new Float64Array(CLIENTS_FIRST * CLIENT_CELLS)
  readonly #placeOf = new Map<PeerId, number>()
  #objects: Float64Array = new Float64Array(64)
  #firstTick: Tick = -1
  #lastTick: Tick = -1

  constructor(world: World) {
    this.#world = world
    this.#bits = new Float64Array(world.stores.length * REASON_COUNT)
    this.#entries = new Float64Array(world.stores.length * REASON_COUNT)
  }

  /** @hot */
  onEntry(_client: PeerId, index: number, type: number, reason: number, bits: number): void {
    this.onEntries(index, type, reason, 1, bits)
  }

  /** @hot */
  onEntries(index: number, type: number, reason: number, count: number, bits: number): void {
    const at = type * REASON_COUNT + reason
    this.#bits[at] += bits
    this.#entries[at] += count
    if (index >= this.#objects.length) this.#grow(index)
    this.#objects[index] += bits
  }

  /** @hot */
  onFrame(client: PeerId, tick: Tick, headBits: number, entryBits: number): void {
    const at = this.#placeOf.get(client) ?? this.#add(client)
    this.#clients[at]++
    this.#clients[at + 1] += headBits
    this.#clients[at + 2] += entryBits
    if (this.#firstTick < 0) this.#firstTick = tick
    this.#lastTick = tick
  }

  /** Sets all counts to 0. */
  reset(): void {
    this.#bits.fill(0)
    this.#entries.fill(0)
    this.#objects.fill(0)
    this.#clients.fill(0)
    this.#placeOf.clear()
    this.#firstTick = -1
    this.#lastTick = -1
  }

  /** Reports the counts. `sentBitsOf` gives the total bits sent to a client. Allocates. */
  report(sentBitsOf: (peer: PeerId) => number = () => 0): BandwidthReport {
    const clients = [...this.#placeOf].sort(([a], [b]) => a - b).map(([peer, at]): ClientBits => {
      const [frames, headBits, entryBits] = this.#clients.subarray(at, at + CLIENT_CELLS)
      return { peer, frames, entryBits, headBits, otherBits: Math.max(0, sentBitsOf(peer) - entryBits - headBits) }
    })
    const headBits = clients.reduce((sum, client) => sum + client.headBits, 0)
    const otherBits = clients.reduce((sum, client) => sum + client.otherBits, 0)
    const entities = this.#world.stores.map(({ schema }, type): EntityBits => {
      const reasons = this.#reasonsOf((reason) => this.#bits[type * REASON_COUNT + REASON[reason]])
      const entries = REASONS.reduce((sum, reason) => sum + this.#entries[type * REASON_COUNT + REASON[reason]], 0)
      return { name: schema.name, entries, bits: sumOf(reasons), reasons }
    })
    const reasons = this.#reasonsOf((reason) => entities.reduce((sum, entity) => sum + entity.reasons[reason], 0))
    const entries = this.#reasonsOf((reason) =>
      this.#world.stores.reduce((sum, _store, type) => sum + this.#entries[type * REASON_COUNT + REASON[reason]], 0),
    )
    return {
      firstTick: this.#firstTick,
      lastTick: this.#lastTick,
      bits: headBits + sumOf(reasons),
      headBits,
      otherBits,
      reasons,
      entries,
      clients,
      entities: entities.sort((a, b) => b.bits - a.bits),
      objects: this.#largest(),
    }
  }

  #largest(): ObjectBits[] {
    const { objects, stores } = this.#world
    const indexes = [...this.#objects.keys()].filter((index) => this.#objects[index] > 0)
    return indexes
      .sort((a, b) => this.#objects[b] - this.#objects[a])
      .slice(0, OBJECTS_SHOWN)
      .map((index) => {
        const store = index < objects.highWater ? stores[objects.typeAt(index)] : undefined
        return {
          index,
          id: store === undefined ? 0 : objects.idAt(index),
          entity: store?.schema.name ?? '',
          bits: this.#objects[index],
        }
      })
  }

  #reasonsOf(bitsOf: (reason: Reason) => number): BitsByReason {
    return Object.fromEntries(REASONS.map((reason) => [reason, bitsOf(reason)])) as BitsByReason
  }

  #add(client: PeerId): number {
    // Clients beyond CONNECTIONS_MAX share the last place.
    const at = Math.min(this.#placeOf.size, CONNECTIONS_MAX - 1) * CLIENT_CELLS
    this.#placeOf.set(client, at)
    if (at >= this.#clients.length) {
      const clients = this.#clients
      this.#clients = new Float64Array(clients.length * 2)
      this.#clients.set(clients)
    }
    return at
  }

  #grow(index: number): void {
    const objects = this.#objects
    let length = objects.length
    while (length <= index) length *= 2
    this.#objects = new Float64Array(length)
    this.#objects.set(objects)
  }
}

function sumOf(reasons: BitsByReason): number {
  return REASONS.reduce((sum, reason) => sum + reasons[reason], 0)
}
