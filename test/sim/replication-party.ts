/**
 * One authority and some receivers, connected by bad links: replication without a network around it.
 *
 * Every receiver has its own link: packets are lost, late, reordered, duplicated; acknowledgements too. Time is ticks.
 * After every packet all rows in it are compared with what the authority had at that tick, in the field set that the
 * receiver had at that tick: any difference is an error, whatever the weather.
 */

import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import { SENT_PACKETS_MAX } from '../../packages/tickwire/src/core/base/limits.ts'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { readVarint } from '../../packages/tickwire/src/core/bits/varint.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import type { RowCoder } from '../../packages/tickwire/src/core/codec/row-coder.ts'
import { Replicator } from '../../packages/tickwire/src/core/replication/replicator.ts'
import type { Relevance } from '../../packages/tickwire/src/core/replication/relevance.ts'
import { SnapshotSink } from '../../packages/tickwire/src/core/replication/snapshot-sink.ts'
import {
  SnapshotSource, type SnapshotSourceOptions,
} from '../../packages/tickwire/src/core/replication/snapshot-source.ts'
import { wantedSink } from '../../packages/tickwire/src/core/replication/receive/wanted-rows.ts'
import type { Entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { indexOf, NO_TYPE } from '../../packages/tickwire/src/core/world/object-table.ts'
import { Timeline } from '../../packages/tickwire/src/core/world/timeline.ts'
import { World } from '../../packages/tickwire/src/core/world/world.ts'

export interface Line {
  /** Of packets, and of acknowledgements: 0..1. */
  loss: number
  ackLoss: number
  twice: number
  /** Ticks in flight: at least, and by chance more. */
  delay: number
  jitter: number
  /** Ticks after which a packet without an acknowledgement is given up. */
  patience: number
  packetBytes: number
  packetsPerTick: number
}

export const CLEAR: Line = {
  loss: 0,
  ackLoss: 0,
  twice: 0,
  delay: 2,
  jitter: 0,
  patience: 20,
  packetBytes: 1150,
  packetsPerTick: 32,
}

/** Every this many ticks all remembered rows are compared with the authority's. */
const CHECK_ALL_TICKS = 16

/** The view of a receiver, as a function of index and tick: -1 for not in view, else the field set. */
export type Sees = (index: number, id: number, tick: number) => number

/** A relevance that asks a function. */
class AskedRelevance implements Relevance {
  count = 0
  indexes = new Uint32Array(64)
  weights = new Float32Array(64)
  sets = new Uint8Array(64)
  version = 0
  /** By tick: what was seen, index to set. */
  readonly seen = new Map<number, Map<number, number>>()
  sees: Sees
  readonly #world: World

  constructor(world: World, sees: Sees) {
    this.#world = world
    this.sees = sees
  }

  refresh(tick: number): void {
    const { objects } = this.#world
    if (objects.highWater > this.indexes.length) {
      this.indexes = new Uint32Array(objects.highWater * 2)
      this.weights = new Float32Array(objects.highWater * 2)
      this.sets = new Uint8Array(objects.highWater * 2)
    }
    const seen = new Map<number, number>()
    const before = [...this.indexes.subarray(0, this.count), ...this.sets.subarray(0, this.count)].join()
    this.count = 0
    for (let index = 0; index < objects.highWater; index++) {
      const set = objects.typeAt(index) === NO_TYPE ? -1 : this.sees(index, objects.idAt(index), tick)
      if (set < 0) continue
      this.indexes[this.count] = index
      this.weights[this.count] = 1 + (index % 7)
      this.sets[this.count++] = set
      seen.set(index, set)
    }
    if ([...this.indexes.subarray(0, this.count), ...this.sets.subarray(0, this.count)].join() !== before)
      this.version++
    this.seen.set(tick, seen)
    this.seen.delete(tick - 4000)
  }
}

interface Flight {
  readonly sequence: number
  readonly bytes: Uint8Array
  readonly at: number
  /** It begins with the version of its tables. */
  readonly isRetrained: boolean
}

/** One receiver and its link. */
export class Receiver {
  readonly world: World
  readonly timeline: Timeline
  readonly sink: SnapshotSink
  readonly source: SnapshotSource
  readonly relevance: AskedRelevance
  line: Line = { ...CLEAR }
  bytesSent = 0
  framesSent = 0
  notAcked = 0
  /** Plaintext of everything sent, when kept. */
  log: Uint8Array[] | undefined = undefined
  readonly #party: Party
  readonly #dice: Prng
  readonly #buffer = new Uint8Array(2048)
  readonly #out = new BitWriter(this.#buffer)
  readonly #reader = new BitReader(new Uint8Array(0))
  /** By version: the tables that it was sent while the game ran. */
  readonly #tables = new Map<number, readonly RowCoder[]>()
  #isRetrained = false
  #sequence = 0
  /** The tick of the last snapshot. */
  #begun = -1
  #flights: Flight[] = []
  #acks: { readonly sequence: number; readonly at: number }[] = []
  #requests: { readonly bytes: Uint8Array; readonly at: number }[] = []
  readonly #waiting = new Map<number, number>()
  readonly #got = new Set<number>()

  constructor(party: Party, entities: readonly Entity[], peer: number, sees: Sees, options: SnapshotSourceOptions) {
    this.#party = party
    this.#dice = new Prng(party.seed * 31 + peer)
    this.world = new World(entities, { isReadOnly: true })
    this.timeline = new Timeline(this.world, party.timeline.windowTicks)
    this.sink = new SnapshotSink(this.world, this.timeline, {
      strideTicks: party.strideTicks,
      ...(party.makeCoders === undefined ? {} : { coders: party.makeCoders() }),
    })
    this.relevance = new AskedRelevance(party.world, sees)
    this.source = new SnapshotSource(party.replicator, this.relevance, peer, options)
  }

  /** From now on rows are sent with other tables, which the receiver holds: `coders` are its own. */
  retrain(replicator: Replicator, version: number, coders: readonly RowCoder[]): void {
    this.#tables.set(version, coders)
    this.#isRetrained = true
    this.source.retrain(replicator, version)
  }

  /** One tick of the link: sends, carries, receives. */
  run(now: number): void {
    // Like PacedSource: in a tick of the grid, or in the first tick after one that a stalled host passed.
    if (now - now % this.#party.strideTicks > this.#begun) this.#send(now)
    const flights = this.#flights
    this.#flights = []
    for (const flight of flights) {
      if (flight.at > now) this.#flights.push(flight)
      else this.#receive(now, flight)
    }
    for (const ack of this.#acks.filter(({ at }) => at <= now)) this.#settle(now, ack.sequence, true)
    this.#acks = this.#acks.filter(({ at }) => at > now)
    const wanted = wantedSink((id) => this.source.handleWanted(id))
    for (const { bytes } of this.#requests.filter(({ at }) => at <= now)) wanted.accept(now, 0, new BitReader(bytes))
    this.#requests = this.#requests.filter(({ at }) => at > now)
    for (const [sequence, sentAt] of [...this.#waiting])
      if (now - sentAt > this.line.patience) this.#settle(now, sequence, false)
  }

  #send(now: number): void {
    const { source, line } = this
    this.#begun = now
    source.begin()
    for (let packets = 0; packets < line.packetsPerTick && source.wantsAt(now) <= now; packets++) {
      const sequence = this.#sequence + 1
      const oldest = [...this.#waiting.keys()][0] ?? sequence
      if (oldest <= sequence - SENT_PACKETS_MAX) return
      this.#out.reset(this.#buffer, 0, line.packetBytes)
      const isFilled = source.fill(now, sequence, this.#out)
      if (!isFilled) return
      this.#sequence = sequence
      const bytes = this.#buffer.slice(0, this.#out.finish())
      this.#waiting.set(sequence, now)
      this.bytesSent += bytes.length
      this.framesSent++
      this.log?.push(bytes)
      const copies = this.#chance(line.twice) ? 2 : 1
      for (let copy = 0; copy < copies; copy++) {
        if (!this.#chance(line.loss))
          this.#flights.push({ sequence, bytes, at: now + this.#way(), isRetrained: this.#isRetrained })
      }
    }
  }

  #receive(now: number, { sequence, bytes, isRetrained }: Flight): void {
    if (this.#got.has(sequence)) return
    this.#got.add(sequence)
    this.#reader.reset(bytes)
    const coders = isRetrained ? this.#tables.get(readVarint(this.#reader)) : undefined
    const at = this.#reader.bitPosition / 8
    const verdict = this.sink.accept(now, sequence, this.#reader, coders)
    if (verdict === 'broken') throw new Error(`seed ${this.#party.seed}, tick ${now}: an honest frame is called broken`)
    this.#check(bytes.subarray(at))
    if (verdict === 'no-ack') {
      this.notAcked++
      this.#ask(now)
    } else if (!this.#chance(this.line.ackLoss)) {
      this.#acks.push({ sequence, at: now + this.#way() })
    }
  }

  #ask(now: number): void {
    const { wanted } = this.sink
    this.#out.reset(this.#buffer, 0, 1000)
    if (!wanted.fill(now, now, this.#out)) return
    if (!this.#chance(this.line.ackLoss))
      this.#requests.push({ bytes: this.#buffer.slice(0, this.#out.finish()), at: now + this.#way() })
    wanted.onLost(now, now)
  }

  #settle(now: number, sequence: number, isDelivered: boolean): void {
    if (!this.#waiting.delete(sequence)) return
    if (isDelivered) this.source.onDelivered(now, sequence)
    else this.source.onLost(now, sequence)
  }

  /** Compares every row received for the frame's tick, and for the one before, with the authority's. */
  #check(bytes: Uint8Array): void {
    let tick = 0
    for (let at = 0, unit = 1; ; at++, unit *= 128) {
      tick += (bytes[at]! & 127) * unit
      if (bytes[at]! < 128) break
    }
    for (const each of [tick, tick - 1]) this.#checkTick(each)
    // Baselines, too, are remembered at the ticks that name them.
    if (tick % CHECK_ALL_TICKS === 0)
      for (let each = Math.max(0, tick - this.timeline.windowTicks + 1); each < tick; each++) this.#checkTick(each)
  }

  #checkTick(tick: number): void {
    const references = this.timeline.references(tick)
    // Relevance was not asked in a tick that was skipped or not sent; an object that rested in it was in view before
    // and after.
    let asked = tick
    while (asked < tick + this.#party.strideTicks && !this.relevance.seen.has(asked)) asked++
    const seen = this.relevance.seen.get(asked)
    for (let index = 0; index < references.length; index++) {
      const reference = references[index]!
      if (reference === 0) continue
      const type = reference >>> 24
      const pool = this.timeline.pools[type]!
      const row = reference & 0xff_ffff
      const set = seen?.get(index)
      if (set === undefined)
        throw new Error(`seed ${this.#party.seed}: index ${index} was sent for tick ${tick}, when it was not in view`)
      const received = this.#party.plain(this.world, type, pool.rows, row * pool.laneCount, 2)
      const truth = this.#party.truth(tick, index, set)
      const is = `${pool.ids[row]} of ${pool.owners[row]}: ${received}`
      if (is !== truth)
        throw new Error(
          `seed ${this.#party.seed}, tick ${tick}, index ${index}, set ${set}:\n  sent ${is}\n true ${truth}`,
        )
    }
  }

  /** What is wrong with the rows held now, if the newest tick had been sent whole; undefined when nothing is. */
  whyNotCurrent(): string | undefined {
    const { held } = this.sink
    const seen = this.relevance.seen.get(this.#party.timeline.newest) ?? new Map<number, number>()
    for (const [index, set] of seen) {
      if ((held.ids[index] ?? 0) === 0) return `index ${index} is in view and not held`
      const type = held.types[index]!
      const at = this.timeline.findLatest(type, held.ids[index]!)
      const pool = this.timeline.pools[type]!
      const is = `${held.ids[index]} of ${held.owners[index]}: ${this.#party.plain(this.world, type, pool.rows, at, 2)}`
      const truth = this.#party.truth(this.#party.timeline.newest, index, set)
      if (is !== truth) return `index ${index}: held ${is}, true ${truth}`
    }
    return held.count === seen.size ? undefined : `${held.count} are held, ${seen.size} are in view`
  }

  #way(): number {
    return this.line.delay + (this.line.jitter > 0 ? this.#dice.nextInt(0, this.line.jitter) : 0)
  }

  #chance(probability: number): boolean {
    return probability > 0 && this.#dice.nextFloat() < probability
  }
}

/** The authority and all receivers. */
export class Party {
  readonly seed: number
  readonly world: World
  readonly timeline: Timeline
  readonly replicator: Replicator
  readonly receivers: Receiver[] = []
  readonly makeCoders: (() => readonly RowCoder[]) | undefined
  /** Ticks from one snapshot to the next. */
  readonly strideTicks: number
  readonly #entities: readonly Entity[]
  readonly #truths = new Map<string, string>()

  constructor(
    seed: number,
    entities: readonly Entity[],
    windowTicks: number,
    makeCoders?: () => readonly RowCoder[],
    strideTicks = 1,
  ) {
    this.seed = seed
    this.strideTicks = strideTicks
    this.makeCoders = makeCoders
    this.#entities = entities
    this.world = new World(entities)
    this.timeline = new Timeline(this.world, windowTicks)
    this.replicator = new Replicator(this.world, this.timeline, {
      strideTicks,
      ...(makeCoders === undefined ? {} : { coders: makeCoders() }),
    })
  }

  join(peer: number, sees: Sees, options: SnapshotSourceOptions = {}): Receiver {
    const receiver = new Receiver(this, this.#entities, peer, sees, options)
    this.receivers.push(receiver)
    return receiver
  }

  /**
   * One tick: the game moves, then every receiver is sent what it must know; or not, where a stalled host runs several
   * ticks at once.
   */
  tick(step: () => void, isAsleep: boolean = false): void {
    this.world.beginTick()
    step()
    this.world.endTick()
    this.timeline.sample()
    this.#write()
    if (!isAsleep) for (const receiver of this.receivers) receiver.run(this.world.tick)
  }

  /** What the authority had at a tick, in a field set, for an object that was there. */
  truth(tick: number, index: number, set: number): string {
    return this.#truths.get(`${tick} ${index} ${set}`) ?? 'no object'
  }

  /** A row as text: lanes outside the set are left initial. */
  plain(world: World, type: number, rows: Int32Array, at: number, set: 0 | 1 | 2): string {
    const { schema, heap } = world.stores[type]!
    const row = schema.initialRow.slice()
    for (const { lane, laneCount } of schema.masks[set].members) {
      for (let each = lane; each < lane + laneCount; each++) row[each] = rows[at + each]!
    }
    const heaps = schema.heapLeaves.map((leaf) => {
      const handle = row[leaf.lane]!
      row[leaf.lane] = 0
      return JSON.stringify(heap.get(leaf, handle))
    })
    return `${row.join(' ')} ${heaps.join(' ')}`
  }

  #write(): void {
    const { objects } = this.world
    const { newest } = this.timeline
    for (let index = 0; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      if (type === NO_TYPE) continue
      const id = objects.idAt(index)
      const at = this.timeline.find(type, id, newest)
      if (indexOf(id) !== index || at < 0) throw new Error('the Timeline does not know a living object')
      for (const set of [0, 1, 2] as const) {
        const row = this.plain(this.world, type, this.timeline.pools[type]!.rows, at, set)
        this.#truths.set(`${newest} ${index} ${set}`, `${id} of ${objects.ownerAt(index)}: ${row}`)
      }
    }
  }
}
