/**
 * The standard crowd as a whole match: a server's host, clients' hosts and their connections, in simulated time; and a
 * codec that records the baseline of each row.
 */

import type { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import type { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { RowPair, type FieldSet, type RowCoder } from '../../packages/tickwire/src/core/codec/row-coder.ts'
import { entropy, type SnapshotCodec } from '../../packages/tickwire/src/core/codec/snapshot-codec.ts'
import { defineGame, type Game } from '../../packages/tickwire/src/core/game/define-game.ts'
import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { bool } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import type { ValueStore } from '../../packages/tickwire/src/core/schema/values.ts'
import type { ObjectOf } from '../../packages/tickwire/src/core/world/handle.ts'
import { simulate } from '../../packages/tickwire/src/testing/simulate.ts'
import { CROWD_SHAPE } from '../scenario/crowd-rows.ts'
import { FIELD_COUNT, FIELD_MIN, makeCrowd, type Frame } from '../scenario.ts'

export const TICK_RATE = 60

const Walker = entity(CROWD_SHAPE, { name: 'Walker' })

/**
 * A row that a client decoded: its object, its tick, the tick of its baseline, whether the row before the baseline was
 * used, and its number of bits.
 */
export interface SentRow {
  readonly index: number
  readonly tick: number
  readonly age: number
  readonly hasOlder: boolean
  readonly bits: number
}

/** The statistics of a match. */
export interface Account {
  /** Rows whose baseline is of an object that moved. */
  readonly sent: readonly SentRow[]
  readonly restedCount: number
  readonly fullCount: number
  /** Baselines for which the server encoded bits, by tick and object. Each counts once. */
  readonly made: readonly { readonly index: number; readonly tick: number; readonly base: number }[]
  readonly bytesPerClientTick: number
  /** Rows of every tick, as lanes. */
  readonly rows: readonly Int32Array[]
}

export interface MatchOptions {
  readonly players: number
  readonly clients: number
  readonly ticks: number
  readonly seed: number
  readonly roundTripMs: number
  readonly loss: number
  readonly bytesPerSecond: number
  readonly snapshotRate: number
}

/** Warm-up: all clients have joined and have all objects. */
const WARM_MS = 2000

/** Encodes as the codec does, and records the baseline of each row. */
class NotingCoder implements RowCoder {
  readonly usesOlder = true
  readonly #coder: RowCoder
  readonly #onWrite: (pair: RowPair) => void
  readonly #onRead: (pair: RowPair, bits: number) => void

  constructor(coder: RowCoder, onWrite: (pair: RowPair) => void, onRead: (pair: RowPair, bits: number) => void) {
    this.#coder = coder
    this.#onWrite = onWrite
    this.#onRead = onRead
  }

  write(out: BitWriter, set: FieldSet, pair: RowPair, heap: ValueStore): boolean {
    this.#onWrite(pair)
    return this.#coder.write(out, set, pair, heap)
  }

  read(reader: BitReader, set: FieldSet, pair: RowPair, heap: ValueStore): void {
    const before = reader.bitsLeft
    this.#coder.read(reader, set, pair, heap)
    this.#onRead(pair, before - reader.bitsLeft)
  }
}

const laneText = (rows: Int32Array, at: number): string => rows.subarray(at, at + FIELD_COUNT).join()

/** Plays a crowd to its clients, over lines of different lengths around the one given. */
export function playMatch(options: MatchOptions): Account {
  const frames = makeCrowd(options.players, options.ticks + (WARM_MS * TICK_RATE) / 1000 + 120, options.seed)
  const rows = frames.map((frame) => frame.map((value, at) => value - FIELD_MIN[at % FIELD_COUNT]!))
  const places = new Map<string, { readonly index: number; readonly tick: number }[]>()
  rows.forEach((row, tick) => {
    for (let index = 0; index < options.players; index++) {
      const text = laneText(row, index * FIELD_COUNT)
      const known = places.get(text)
      if (known === undefined) places.set(text, [{ index, tick }])
      else known.push({ index, tick })
    }
  })
  let [isCounting, now, restedCount, fullCount] = [false, 0, 0, 0]
  // An object at rest has the same row at many ticks. The latest of these ticks counts.
  const placeOf = (pair: RowPair): { readonly index: number; readonly tick: number } | undefined =>
    places.get(laneText(pair.rows, pair.at))?.findLast(({ tick }) => tick <= now)
  const sent: SentRow[] = []
  const made: { index: number; tick: number; base: number }[] = []
  const isRested = ({ baseRows, baseAt, olderRows, olderAt }: RowPair): boolean =>
    olderAt === baseAt && olderRows === baseRows
  const onWrite = (pair: RowPair): void => {
    const place = isCounting && pair.age > 0 && !isRested(pair) ? placeOf(pair) : undefined
    if (place !== undefined) made.push({ ...place, base: place.tick - pair.age })
  }
  const onRead = (pair: RowPair, bits: number): void => {
    if (!isCounting) return
    if (pair.age === 0) fullCount++
    else if (isRested(pair)) restedCount++
    else {
      const place = placeOf(pair)
      if (place !== undefined) sent.push({ ...place, age: pair.age, hasOlder: pair.olderAt >= 0, bits })
    }
  }
  const sim = simulate(
    gameOf(frames, options.players, noting(entropy(), onWrite, onRead), options.snapshotRate, (tick) => {
      now = tick
    }),
    {
      seed: options.seed,
      clients: options.clients,
      server: { bytesPerSecond: options.bytesPerSecond },
      // From the first packet on. A path whose delay grows later looks like a path with a full buffer.
      link: (client) => ({
        latencyMs: (options.roundTripMs / 2) * (0.6 + (0.8 * client) / Math.max(1, options.clients - 1)),
        jitterMs: 10,
        loss: options.loss,
      }),
    },
  )
  sim.run(WARM_MS)
  isCounting = true
  const before = sim.host.bandwidth().bits
  sim.run((options.ticks * 1000) / TICK_RATE)
  const bytes = (sim.host.bandwidth().bits - before) / 8
  return { sent, restedCount, fullCount, made, bytesPerClientTick: bytes / options.clients / options.ticks, rows }
}

function noting(
  codec: SnapshotCodec,
  onWrite: (pair: RowPair) => void,
  onRead: (pair: RowPair, bits: number) => void,
): SnapshotCodec {
  return { ...codec, make: (schema, rate) => new NotingCoder(codec.make(schema, rate), onWrite, onRead) }
}

function gameOf(
  frames: readonly Frame[],
  players: number,
  codec: SnapshotCodec,
  snapshotRate: number,
  onTick: (tick: number) => void,
): Game<{ readonly idle: typeof bool }> {
  const walkers: ObjectOf<typeof Walker>[] = []
  return defineGame({
    tickRate: TICK_RATE, input: { idle: bool }, entities: [Walker], predict: 'none', codec, net: { snapshotRate },
    step(world) {
      while (walkers.length < players) walkers.push(world.spawn(Walker, {}) as ObjectOf<typeof Walker>)
      const frame = frames[world.tick]
      if (frame === undefined) return
      onTick(world.tick)
      walkers.forEach((walker, index) => {
        const at = index * FIELD_COUNT
        Object.assign(walker.at, { x: frame[at]! / 512, y: frame[at + 1]! / 512, z: frame[at + 2]! / 512 })
        Object.assign(walker.speed, { x: frame[at + 3]! / 64, y: frame[at + 4]! / 64, z: frame[at + 5]! / 64 })
        Object.assign(walker, {
          yaw: frame[at + 6]! * (Math.PI / 2048),
          pitch: frame[at + 7]!,
          health: frame[at + 8]!,
          flags: frame[at + 9]!,
        })
      })
    },
  })
}
