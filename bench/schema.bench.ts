/**
 * A crowd packed and unpacked by its schema, beside msgpackr, protobufjs, avsc and @colyseus/schema: bytes and time per
 * tick, in turns in one process. In the first pass, every field of every player is compared after every tick.
 *
 * Tickwire runs twice: with whole rows, like the first three, and with deltas against the tick before, like
 * @colyseus/schema. Rows are the form in the Timeline; quantising live numbers into rows is timed separately.
 */

import { parseArgs } from 'node:util'
import { BitReader } from '../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../packages/tickwire/src/core/bits/bit-writer.ts'
import { dequantizeRow, quantizeCells } from '../packages/tickwire/src/core/schema/cells.ts'
import { int } from '../packages/tickwire/src/core/schema/field-kinds.ts'
import { readRow, writeRow } from '../packages/tickwire/src/core/schema/row-codec.ts'
import { readDelta, writeDelta } from '../packages/tickwire/src/core/schema/row-delta.ts'
import { isClose } from '../packages/tickwire/src/core/schema/row-equality.ts'
import { compileSchema, type Schema } from '../packages/tickwire/src/core/schema/schema.ts'
import { ValueHeap } from '../packages/tickwire/src/core/schema/value-heap.ts'
import {
  allocatedBytes, interleave, ratio, type Bench, type BenchResult, type Contender, type Figure, type Table, type Timing,
} from './harness.ts'
import { FIELD_BITS, FIELD_COUNT, FIELD_MIN, FIELDS, makeCrowd, type Frame } from './scenario.ts'
import { makePeers, type Packer } from './schema-peers.ts'
import { variantRuns } from './schema-variant-runs.ts'
import { closures, generated, type Variant } from './schema-variants.ts'

/** Each packer with its version, and the maximum ratio of our bytes, packing time and unpacking time to its own. */
const PEERS: {
  readonly [peer: string]: {
    readonly version: string
    readonly bytes: number
    readonly pack: number
    readonly unpack: number
  }
} = {
  msgpackr: { version: 'msgpackr 2.1.3, records', bytes: 0.7, pack: 0.4, unpack: 1 },
  protobufjs: { version: 'protobufjs 8.8.1', bytes: 0.7, pack: 0.4, unpack: 0.7 },
  // Its decoder is code made from text, and reads whole bytes.
  avsc: { version: 'avsc 5.7.9', bytes: 0.9, pack: 0.5, unpack: 1.4 },
  '@colyseus/schema': { version: '@colyseus/schema 5.0.34, patches', bytes: 0.55, pack: 0.1, unpack: 0.2 },
}

/** Ticks over which allocation is measured. The crowd is smaller there, so that it takes a second and not a minute. */
const ALLOCATION_TICKS = 10_000
const ALLOCATION_PLAYERS = 40

export const bench: Bench = {
  name: 'schema',
  summary: 'a crowd packed by its schema: bytes and time, beside msgpackr, protobufjs, avsc and @colyseus/schema',
  options: [
    '--players N    how large a crowd (default 200)',
    '--ticks N      ticks a round (default 60)',
    '--rounds N     timed rounds (default 15)',
  ],
  run: async (args) => {
    const { values } = parseArgs({
      args: [...args],
      options: {
        players: { type: 'string', default: '200' },
        ticks: { type: 'string', default: '60' },
        rounds: { type: 'string', default: '15' },
      },
    })
    return run(Number(values.players), Number(values.ticks), Number(values.rounds))
  },
}

function run(players: number, ticks: number, rounds: number): BenchResult {
  const frames = makeCrowd(players, ticks)
  const schema = crowdSchema()
  const packers = [wholeRows(schema, frames, players), deltas(schema, frames, players), ...makePeers(frames, players)]
  const bytes = new Map(packers.map((packer) => [packer.name, verifiedBytes(packer, frames, players)]))
  const timings = interleave(
    packers.flatMap((packer) => timed(packer, ticks)),
    rounds,
  )
  const variants = interleave(variantRivals(schema, frames, players), rounds)
  const loops = interleave(loopRivals(schema, frames, players), rounds)
  return {
    tables: [
      packersTable(players, packers, bytes, timings),
      usTable('the same bits by three kinds of codec, us a tick', variants),
      usTable('other loops over rows, us a tick', loops),
    ],
    figures: [...figuresOf(packers, bytes, timings), ...variantFigures(variants), allocationFigure(schema)],
  }
}

function crowdSchema(): Schema {
  return compileSchema(
    'Player',
    Object.fromEntries(
      FIELDS.map((name, field) => [name, int(FIELD_MIN[field]!, FIELD_MIN[field]! + 2 ** FIELD_BITS[field]! - 1)]),
    ),
  )
}

/** The frames as rows: every value is counted from the minimum of its field. */
function rowsOf(frames: readonly Frame[]): Int32Array[] {
  return frames.map((frame) => frame.map((value, at) => value - FIELD_MIN[at % FIELD_COUNT]!))
}

const ROOM_BYTES = 1 << 18

function wholeRows(schema: Schema, frames: readonly Frame[], players: number): Packer {
  const rows = rowsOf(frames)
  const held = new Int32Array(players * FIELD_COUNT)
  const heap = new ValueHeap()
  const writer = new BitWriter(new Uint8Array(ROOM_BYTES))
  const reader = new BitReader(writer.bytes)
  return {
    name: 'tickwire, whole rows',
    pack(tick) {
      writer.reset(writer.bytes)
      for (let player = 0; player < players; player++) writeRow(writer, schema, rows[tick]!, player * FIELD_COUNT, heap)
      return writer.bytes.slice(0, writer.finish())
    },
    unpack(bytes) {
      reader.reset(bytes)
      for (let player = 0; player < players; player++) readRow(reader, schema, held, player * FIELD_COUNT, heap)
    },
    held: (player, field) => held[player * FIELD_COUNT + field]! + FIELD_MIN[field]!,
  }
}

function deltas(schema: Schema, frames: readonly Frame[], players: number): Packer {
  const rows = rowsOf(frames)
  const heap = new ValueHeap()
  const [mask] = schema.masks
  const writer = new BitWriter(new Uint8Array(ROOM_BYTES))
  const reader = new BitReader(writer.bytes)
  const fresh = new Int32Array(players * FIELD_COUNT)
  for (let player = 0; player < players; player++) fresh.set(schema.initialRow, player * FIELD_COUNT)
  const held = [fresh.slice(), fresh.slice()]
  let newest = 0
  return {
    name: 'tickwire, deltas',
    pack(tick) {
      const base = tick === 0 ? fresh : rows[tick - 1]!
      writer.reset(writer.bytes)
      for (let player = 0; player < players; player++)
        writeDelta(writer, schema, mask, rows[tick]!, player * FIELD_COUNT, base, player * FIELD_COUNT, heap)
      return writer.bytes.slice(0, writer.finish())
    },
    unpack(bytes, tick) {
      const base = tick === 0 ? fresh : held[newest]!
      newest ^= 1
      reader.reset(bytes)
      for (let player = 0; player < players; player++)
        readDelta(reader, schema, mask, held[newest]!, player * FIELD_COUNT, base, player * FIELD_COUNT, heap)
      if (reader.failed) throw new Error('a delta was refused')
    },
    held: (player, field) => held[newest]![player * FIELD_COUNT + field]! + FIELD_MIN[field]!,
  }
}

/** Packs and unpacks every tick, compares every field, and returns the mean bytes of all ticks but the first. */
function verifiedBytes(packer: Packer, frames: readonly Frame[], players: number): number {
  let sum = 0
  frames.forEach((frame, tick) => {
    const bytes = packer.pack(tick)
    packer.unpack(bytes, tick)
    if (tick > 0) sum += bytes.length
    for (let at = 0; at < players * FIELD_COUNT; at++) {
      if (packer.held(Math.floor(at / FIELD_COUNT), at % FIELD_COUNT) !== frame[at])
        throw new Error(`${packer.name} lost ${FIELDS[at % FIELD_COUNT]} at tick ${tick}`)
    }
  })
  return sum / (frames.length - 1)
}

function timed(packer: Packer, ticks: number): Contender[] {
  const packed = Array.from({ length: ticks }, (_, tick) => packer.pack(tick))
  return [
    {
      name: `pack: ${packer.name}`,
      ops: ticks,
      run() {
        for (let tick = 0; tick < ticks; tick++) packed[tick] = packer.pack(tick)
      },
    },
    {
      name: `unpack: ${packer.name}`,
      ops: ticks,
      run() {
        for (let tick = 0; tick < ticks; tick++) packer.unpack(packed[tick]!, tick)
      },
    },
  ]
}

function variantRivals(schema: Schema, frames: readonly Frame[], players: number): Contender[] {
  const rows = rowsOf(frames)
  const heap = new ValueHeap()
  const [mask] = schema.masks
  const tables: Variant = {
    name: 'tables',
    writeRow: (writer, all, at) => writeRow(writer, schema, all, at, heap),
    readRow: (reader, all, at) => readRow(reader, schema, all, at, heap),
    writeDelta: (writer, all, at, base, baseAt) => writeDelta(writer, schema, mask, all, at, base, baseAt, heap),
    readDelta: (reader, all, at, base, baseAt) => readDelta(reader, schema, mask, all, at, base, baseAt, heap),
  }
  const rivals = [tables, closures(schema), generated(schema)].map((variant) => variantRuns(variant, rows, players))
  return rivals[0]!.map((_, index) => rivals.map((runs) => runs[index]!)).flat()
}

function loopRivals(schema: Schema, frames: readonly Frame[], players: number): Contender[] {
  const ops = frames.length
  const rows = rowsOf(frames)
  const cells = frames.map((frame) => Float64Array.from(frame, (value) => value + 0.25))
  const row = new Int32Array(players * FIELD_COUNT)
  const live = new Float64Array(players * FIELD_COUNT)
  const loop = (name: string, body: (tick: number, at: number) => void): Contender => ({
    name,
    ops,
    run() {
      for (let tick = 0; tick < ops; tick++)
        for (let player = 0; player < players; player++) body(tick, player * FIELD_COUNT)
    },
  })
  return [
    loop('quantise cells', (tick, at) => quantizeCells(schema, cells[tick]!, at, row, at)),
    loop('dequantise rows', (tick, at) => dequantizeRow(schema, rows[tick]!, at, live, at)),
    loop('compare to prediction', (tick, at) => {
      sink ^= isClose(schema, rows[tick]!, at, rows[tick]!, at) ? 1 : 0
    }),
  ]
}

/** Results are stored here, so that no loop is optimised away. */
let sink = 0

/** Bytes on the heap left by packing and unpacking a tick of deltas, quantising included. */
function allocationFigure(schema: Schema): Figure {
  const players = ALLOCATION_PLAYERS
  const frames = makeCrowd(players, 100)
  const cells = frames.map((frame) => Float64Array.from(frame))
  const heap = new ValueHeap()
  const [mask] = schema.masks
  const writer = new BitWriter(new Uint8Array(ROOM_BYTES))
  const reader = new BitReader(writer.bytes)
  const [sent, held] = [0, 1].map(() => [
    new Int32Array(players * FIELD_COUNT),
    new Int32Array(players * FIELD_COUNT),
  ]) as [Int32Array[], Int32Array[]]
  let tick = 0
  const value = allocatedBytes(() => {
    for (let count = 0; count < ALLOCATION_TICKS; count++) {
      const live = cells[tick % 100]!
      const newer = tick & 1
      const now = sent[newer]!
      const before = sent[newer ^ 1]!
      const got = held[newer]!
      const had = held[newer ^ 1]!
      tick++
      writer.reset(writer.bytes)
      for (let at = 0; at < now.length; at += FIELD_COUNT) {
        quantizeCells(schema, live, at, now, at)
        writeDelta(writer, schema, mask, now, at, before, at, heap)
      }
      reader.reset(writer.bytes, 0, writer.finish())
      for (let at = 0; at < now.length; at += FIELD_COUNT) {
        readDelta(reader, schema, mask, got, at, had, at, heap)
        dequantizeRow(schema, got, at, live, at)
      }
    }
  }, ALLOCATION_TICKS)
  return { name: 'allocated_bytes_per_tick', value, unit: 'B/tick', against: null, atMost: 0 }
}

function packersTable(
  players: number,
  packers: readonly Packer[],
  bytes: ReadonlyMap<string, number>,
  timings: readonly Timing[],
): Table {
  const us = (name: string): number => timings.find((timing) => timing.name === name)!.ns / 1000
  return {
    title: `${players} players, 10 fields of 124 bits in all, a tick`,
    columns: ['', 'bytes', 'pack us', 'unpack us'],
    rows: packers.map(({ name }) => [
      PEERS[name]?.version ?? name,
      Math.round(bytes.get(name)!),
      us(`pack: ${name}`),
      us(`unpack: ${name}`),
    ]),
  }
}

function usTable(title: string, timings: readonly Timing[]): Table {
  return {
    title,
    columns: ['', 'median', 'fastest', 'slowest'],
    rows: timings.map(({ name, ns, nsMin, nsMax }) => [name, ns / 1000, nsMin / 1000, nsMax / 1000]),
  }
}

function figuresOf(
  packers: readonly Packer[],
  bytes: ReadonlyMap<string, number>,
  timings: readonly Timing[],
): Figure[] {
  const [whole, delta, ...peers] = packers.map(({ name }) => name)
  const us = (name: string): number => timings.find((timing) => timing.name === name)!.ns / 1000
  return [
    { name: 'row_bytes', value: bytes.get(whole!)!, unit: 'B/tick', against: null },
    { name: 'delta_bytes', value: bytes.get(delta!)!, unit: 'B/tick', against: null },
    { name: 'pack_us', value: us(`pack: ${delta}`), unit: 'us/tick', against: null },
    { name: 'unpack_us', value: us(`unpack: ${delta}`), unit: 'us/tick', against: null },
    ...peers.flatMap((peer): Figure[] => {
      const short = peer.replace(/^@/, '').replace(/\/.*/, '')
      // Whole rows beside whole rows, deltas beside patches.
      const ours = peer === '@colyseus/schema' ? delta! : whole!
      const { version: against, ...most } = PEERS[peer]!
      return [
        {
          name: `bytes_ratio_${short}`,
          value: bytes.get(ours)! / bytes.get(peer)!,
          unit: 'ratio',
          against,
          atMost: most.bytes,
        },
        {
          name: `pack_ratio_${short}`,
          value: ratio(timings, `pack: ${ours}`, `pack: ${peer}`),
          unit: 'ratio',
          against,
          atMost: most.pack,
        },
        {
          name: `unpack_ratio_${short}`,
          value: ratio(timings, `unpack: ${ours}`, `unpack: ${peer}`),
          unit: 'ratio',
          against,
          atMost: most.unpack,
        },
      ]
    }),
  ]
}

function variantFigures(timings: readonly Timing[]): Figure[] {
  return ['write rows', 'read rows', 'write deltas', 'read deltas'].flatMap((what) =>
    ['closures', 'generated'].map((variant): Figure => ({
      name: `${what.replace(' ', '_')}_ratio_${variant}`,
      value: ratio(timings, `${what}: tables`, `${what}: ${variant}`),
      unit: 'ratio',
      against: `the same by ${variant}`,
    })),
  )
}
