/**
 * The crowd in Tickwire: one Replicator, a SnapshotSource for each client, and packets of 1,200 bytes that may be lost
 * one by one.
 *
 * Every packet is acknowledged `distance` ticks after it was sent. At 1, a delta is against the tick before, like the
 * patches of the rivals, which rely on their transport. 6 is a path of 100 ms. With 'real', each client has its own
 * connection (line-fates.ts). Some clients decode with a SnapshotSink, and their rows are compared with the
 * authority's, lane by lane.
 */

import type { Millis } from '../../packages/tickwire/src/core/base/time.ts'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { EntropyCoder } from '../../packages/tickwire/src/core/codec/entropy-coder.ts'
import { PackedCoder } from '../../packages/tickwire/src/core/codec/packed-coder.ts'
import type { RowCoder } from '../../packages/tickwire/src/core/codec/row-coder.ts'
import { BitAccount } from '../../packages/tickwire/src/core/bandwidth/bit-account.ts'
import { AllRelevant } from '../../packages/tickwire/src/core/replication/interest/all-relevant.ts'
import type { Relevance } from '../../packages/tickwire/src/core/replication/relevance.ts'
import { Replicator } from '../../packages/tickwire/src/core/replication/replicator.ts'
import { SnapshotSink } from '../../packages/tickwire/src/core/replication/snapshot-sink.ts'
import { SnapshotSource } from '../../packages/tickwire/src/core/replication/snapshot-source.ts'
import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import type { ObjectOf } from '../../packages/tickwire/src/core/world/handle.ts'
import type { Schema } from '../../packages/tickwire/src/core/schema/schema.ts'
import { Timeline } from '../../packages/tickwire/src/core/world/timeline.ts'
import { World } from '../../packages/tickwire/src/core/world/world.ts'
import { compileRows } from '../../packages/tickwire/src/node/compile-rows.ts'
import { FIELD_COUNT, FIELD_MIN, type Frame } from '../scenario.ts'
import { CROWD_SHAPE } from './crowd-rows.ts'
import { seesAll, type CrowdPeer, type Sees } from './crowd-peer.ts'
import { LineFates } from './line-fates.ts'

const TICK_RATE = 60
const WINDOW_TICKS = 64
const PACKET_BYTES = 1200
/** Clients that decode their packets, in addition to the first. */
const READERS = 4
/** Replication uses ticks, not time. */
const NOW = 0 as Millis

const Player = entity(CROWD_SHAPE, { name: 'Player' })

export type Codec = 'packed' | 'entropy'
/** The age of baselines: a number of ticks for all clients, or by connection (line-fates.ts). */
export type Distance = number | 'real'

/** The coder as on a server: with code generated for the entity. */
function makeCoder(schema: Schema, codec: Codec): RowCoder {
  const coder: RowCoder = codec === 'packed' ? new PackedCoder(schema) : new EntropyCoder(schema, TICK_RATE)
  coder.compile?.(compileRows)
  return coder
}

/** All players except those that are hidden from a client. The set of players does not change here. */
class MostRelevant implements Relevance {
  count = 0
  readonly indexes: Uint32Array
  readonly weights: Float32Array
  readonly sets: Uint8Array
  readonly version = 0
  readonly #ids: readonly number[]

  constructor(indexes: readonly number[]) {
    this.#ids = indexes
    this.count = indexes.length
    this.indexes = Uint32Array.from(indexes)
    this.weights = new Float32Array(indexes.length).fill(1)
    this.sets = new Uint8Array(indexes.length)
  }

  refresh(): void {
    this.count = this.#ids.length
  }
}

/** One client, and its packets that are neither acknowledged nor lost yet. */
interface Line {
  readonly source: SnapshotSource
  readonly sink: SnapshotSink | undefined
  readonly timeline: Timeline | undefined
  readonly fates: LineFates
  next: number
}

export class TickwireCrowd implements CrowdPeer {
  readonly name: string
  readonly #world = new World([Player])
  readonly #timeline = new Timeline(this.#world, WINDOW_TICKS)
  readonly #players: readonly ObjectOf<typeof Player>[]
  readonly #lines: Line[]
  readonly #sees: Sees
  /** Packets of this tick, for the clients that decode: the bytes, and the end of each. */
  readonly #kept: { readonly line: Line; readonly bytes: Uint8Array; length: number }[] = []
  #keptCount = 0
  readonly #bytes = new Uint8Array(PACKET_BYTES)
  readonly #out = new BitWriter(this.#bytes)
  readonly #reader = new BitReader(new Uint8Array(0))

  constructor(
    players: number,
    clients: number,
    options: {
      readonly codec: Codec
      readonly distance: Distance
      readonly sees: Sees
      readonly readers?: number
      /** Makes the coder of an entity. The default has built-in tables and compiled rows. */
      readonly coderOf?: (schema: Schema) => RowCoder
    },
  ) {
    const { codec, distance, sees, readers = READERS, coderOf = (schema) => makeCoder(schema, codec) } = options
    this.name = `tickwire ${codec}, ${distance === 'real' ? 'real lines' : `t-${distance}`}`
    this.#sees = sees
    const coders = (): readonly RowCoder[] => this.#world.stores.map(({ schema }) => coderOf(schema))
    this.#players = Array.from({ length: players }, () => this.#world.spawn(Player, {}))
    const replicator = new Replicator(this.#world, this.#timeline, { coders: coders() })
    // As on every host, the sent bits are counted.
    replicator.probe = new BitAccount(this.#world)
    const every = Math.max(1, Math.floor(clients / readers))
    this.#lines = Array.from({ length: clients }, (_, client) => {
      const source = new SnapshotSource(replicator, this.#relevanceOf(client), client + 1)
      const isReader = client % every === 0
      const world = isReader ? new World([Player], { isReadOnly: true }) : undefined
      const timeline = world && new Timeline(world, WINDOW_TICKS)
      const sink = world && timeline && new SnapshotSink(world, timeline, { coders: coders() })
      return { source, sink, timeline, fates: new LineFates(distance, client + 1), next: 0 }
    })
  }

  /** @hot */
  write(frame: Frame): void {
    const world = this.#world
    world.beginTick()
    for (let player = 0, at = 0; player < this.#players.length; player++, at += FIELD_COUNT) {
      const object = this.#players[player]!
      object.at.x = frame[at]! / 512
      object.at.y = frame[at + 1]! / 512
      object.at.z = frame[at + 2]! / 512
      object.speed.x = frame[at + 3]! / 64
      object.speed.y = frame[at + 4]! / 64
      object.speed.z = frame[at + 5]! / 64
      object.yaw = frame[at + 6]! * (Math.PI / 2048)
      object.pitch = frame[at + 7]!
      object.health = frame[at + 8]!
      object.flags = frame[at + 9]!
    }
    world.endTick()
  }

  /** Samples the tick, processes acknowledgements, and fills the packets of all clients. */
  send(): number {
    this.#timeline.sample()
    this.#keptCount = 0
    let bytes = 0
    for (let client = 0; client < this.#lines.length; client++) bytes += this.#serve(this.#lines[client]!)
    return bytes
  }

  receive(): void {
    for (const { fates } of this.#lines) fates.draw()
    for (let at = 0; at < this.#keptCount; at++) {
      const { line, bytes, length } = this.#kept[at]!
      this.#reader.reset(bytes, 0, length)
      if (line.sink!.accept(NOW, 0, this.#reader) !== 'ok') throw new Error(`${this.name}: a frame could not be read`)
    }
  }

  held(player: number, field: number): number {
    return this.#heldBy(this.#lines[0]!, player, field)
  }

  expected(frame: Frame, player: number, field: number): number {
    return frame[player * FIELD_COUNT + field]!
  }

  /** Throws if a row of any reader differs from the authority's row, or if a reader lacks a row. */
  verifyReaders(frame: Frame): void {
    this.#lines.forEach((line, client) => {
      if (line.sink === undefined) return
      for (let player = 0; player < this.#players.length; player++) {
        for (let field = 0; field < FIELD_COUNT; field++) {
          const [is, should] = [
            this.#heldBy(line, player, field),
            this.#sees(client, player) ? this.expected(frame, player, field) : NaN,
          ]
          if (!Object.is(is, should))
            throw new Error(
              `${this.name}: client ${client} holds ${is}, not ${should}, as field ${field} of player ${player}`,
            )
        }
      }
    })
  }

  #heldBy({ timeline }: Line, player: number, field: number): number {
    const at = timeline!.findLatest(0, this.#players[player]!.id)
    return at < 0 ? NaN : timeline!.pools[0]!.rows[at + field]! + FIELD_MIN[field]!
  }

  #relevanceOf(client: number): Relevance {
    if (this.#sees === seesAll) return new AllRelevant(this.#world, client + 1)
    return new MostRelevant(
      this.#players.flatMap(({ id }, player) => (this.#sees(client, player) ? [Math.floor(id / 65_536)] : [])),
    )
  }

  /** @hot */
  #serve(line: Line): number {
    const { source, fates } = line
    const { tick } = this.#world
    fates.report(tick, source)
    source.begin()
    let bytes = 0
    for (;;) {
      this.#out.reset(this.#bytes)
      if (!source.fill(NOW, line.next, this.#out)) return bytes
      const length = this.#out.finish()
      const isArriving = fates.send(tick, line.next)
      line.next++
      bytes += length
      if (isArriving && line.sink !== undefined) this.#keep(line, length)
    }
  }

  #keep(line: Line, length: number): void {
    let slot = this.#kept[this.#keptCount]
    if (slot === undefined || slot.line !== line) {
      slot = { line, bytes: new Uint8Array(PACKET_BYTES), length: 0 }
      this.#kept[this.#keptCount] = slot
    }
    slot.length = length
    slot.bytes.set(this.#bytes)
    this.#keptCount++
  }
}
