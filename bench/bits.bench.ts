/**
 * Measures the bit cursors beside @thi.ng/bitstream, the fastest unaligned bit packer on npm that we found, and the
 * only one without errors. Both write the same fields and the same bytes (most significant bit first; the bench checks
 * that they are equal), in turns in one process.
 *
 * Both get a buffer that was made before and is large enough, so that neither allocates one while it is timed.
 */

import { BitInputStream, BitOutputStream } from '@thi.ng/bitstream'
import { parseArgs } from 'node:util'
import { BitReader } from '../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../packages/tickwire/src/core/bits/bit-writer.ts'
import { readBool, writeBool } from '../packages/tickwire/src/core/bits/byte.ts'
import { floatQuant, type FloatQuant } from '../packages/tickwire/src/core/bits/quantize.ts'
import { readQuaternion, writeQuaternion } from '../packages/tickwire/src/core/bits/quaternion.ts'
import { readRangedInt, writeRangedInt } from '../packages/tickwire/src/core/bits/ranged-int.ts'
import { readInt, readVarint, writeInt, writeVarint } from '../packages/tickwire/src/core/bits/varint.ts'
import { readVector3, writeVector3, type Vector } from '../packages/tickwire/src/core/bits/vector.ts'
import {
  allocatedBytes, interleave, ratio, type Bench, type BenchResult, type Contender, type Figure, type Table, type Timing,
} from './harness.ts'

const PEER = '@thi.ng/bitstream 2.4.55'

/** Field widths as in games: flags, small enums, quantised coordinates, sometimes a whole word. */
const WIDTHS = [1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 10, 11, 12, 14, 16, 22, 32, 32]

export const bench: Bench = {
  name: 'bits',
  summary: 'bit fields, varints and bit copies, beside @thi.ng/bitstream',
  options: ['--fields N     fields per round (default 100000)', '--rounds N     timed rounds (default 41)'],
  run: async (args) => {
    const options = {
      fields: { type: 'string', default: '100000' },
      rounds: { type: 'string', default: '41' },
    } as const
    const { values } = parseArgs({ args: [...args], options })
    return run(Number(values.fields), Number(values.rounds))
  },
}

function run(count: number, rounds: number): BenchResult {
  const fields = makeFields(count)
  const rivals = fieldRivals(fields)
  for (const rival of rivals) rival.run()
  verify(fields)

  const timings = interleave(rivals, rounds)
  const varints = interleave(varintRivals(count), rounds)
  const copiers = copyRivals()
  const copies = interleave(copiers, rounds)
  const helpers = helperRivals()
  const records = interleave(helpers, rounds, 100)
  const gbps = (timing: Timing, bits: number): number => bits / 8 / timing.ns
  const ns = (name: string, timing: Timing, unit: string): Figure => ({ name, value: timing.ns, unit, against: null })
  const allocation = (name: string, rival: Contender, unit: string): Figure =>
    ({ name, value: allocatedBytes(() => rival.run(), rival.ops), unit, against: null, atMost: 0 })
  const peer = (name: string, ours: string, theirs: string): Figure =>
    ({ name, value: ratio(timings, ours, theirs), unit: 'ratio', against: PEER, atMost: 0.35 })

  return {
    tables: [
      nsTable(
        `${count} fields, mean ${(fields.bitCount / count).toFixed(1)} bits, ${fields.bytes.length} bytes`,
        timings,
      ),
      nsTable(`${count} varints of every length`, varints),
      nsTable('a record of 160 bits by the typed helpers (two vectors, a quaternion, two more)', records),
      {
        title: 'a flag, then a bit copy; neither side aligned',
        columns: ['bits a copy', 'ns', 'GB/s'],
        rows: copies.map((timing, index) => [String(COPY_BITS[index]), timing.ns, gbps(timing, COPY_BITS[index]!)]),
      },
    ],
    figures: [
      peer('write_ratio_thing', 'write: tickwire', 'write: thi.ng'),
      peer('read_ratio_thing', 'read: tickwire', 'read: thi.ng'),
      ns('write_ns', timings[0]!, 'ns/field'), ns('read_ns', timings[2]!, 'ns/field'),
      ns('varint_write_ns', varints[0]!, 'ns/varint'), ns('varint_read_ns', varints[1]!, 'ns/varint'),
      ns('record_write_ns', records[0]!, 'ns/record'), ns('record_read_ns', records[1]!, 'ns/record'),
      ns('copy_48_ns', copies[0]!, 'ns/copy'),
      { name: 'copy_gbps', value: gbps(copies.at(-1)!, COPY_BITS.at(-1)!), unit: 'GB/s', against: null },
      allocation('write_alloc', rivals[0]!, 'B/field'),
      allocation('read_alloc', rivals[2]!, 'B/field'),
      allocation('record_write_alloc', helpers[0]!, 'B/record'),
      allocation('record_read_alloc', helpers[1]!, 'B/record'),
      allocation('copy_alloc', copiers[0]!, 'B/copy'),
    ],
  }
}

interface Fields {
  readonly count: number
  readonly bitCount: number
  readonly widths: Uint8Array
  readonly values: Uint32Array
  /** The buffer that our writer writes into. */
  readonly bytes: Uint8Array
  /** The buffer that thi.ng writes into. It is one byte longer, because thi.ng would otherwise grow it at the end. */
  readonly peerBytes: Uint8Array
}

function makeFields(count: number): Fields {
  const random = xorshift(0x5eed)
  const widths = new Uint8Array(count)
  const values = new Uint32Array(count)
  let bitCount = 0
  for (let index = 0; index < count; index++) {
    const width = WIDTHS[random() % WIDTHS.length]!
    widths[index] = width
    values[index] = random() >>> (32 - width)
    bitCount += width
  }
  const size = (bitCount + 7) >>> 3
  return { count, bitCount, widths, values, bytes: new Uint8Array(size), peerBytes: new Uint8Array(size + 1) }
}

/** Sums are stored here, so that no read is optimised away. */
let sink = 0

function fieldRivals({ count, bitCount, widths, values, bytes, peerBytes }: Fields): Contender[] {
  const writer = new BitWriter(bytes)
  const reader = new BitReader(bytes)
  return [
    {
      name: 'write: tickwire', ops: count, run() {
        writer.reset(bytes)
        for (let from = 0; from < count; from += CHUNK)
          writeOurs(writer, values, widths, from, Math.min(from + CHUNK, count))
        writer.finish()
      },
    },
    {
      name: 'write: thi.ng', ops: count, run() {
        const stream = new BitOutputStream(peerBytes)
        for (let from = 0; from < count; from += CHUNK)
          writePeer(stream, values, widths, from, Math.min(from + CHUNK, count))
      },
    },
    {
      name: 'read: tickwire', ops: count, run() {
        reader.reset(bytes)
        for (let from = 0; from < count; from += CHUNK)
          sink ^= readOurs(reader, widths, from, Math.min(from + CHUNK, count))
      },
    },
    {
      name: 'read: thi.ng', ops: count, run() {
        const stream = new BitInputStream(peerBytes, 0, bitCount)
        for (let from = 0; from < count; from += CHUNK)
          sink ^= readPeer(stream, widths, from, Math.min(from + CHUNK, count))
      },
    },
  ]
}

/**
 * Fields per call, about as many as in a packet. One loop over all fields would be compiled while it runs (on-stack
 * replacement). That was twice as slow in every second process, which does not happen with packets.
 */
const CHUNK = 1000

function writeOurs(writer: BitWriter, values: Uint32Array, widths: Uint8Array, from: number, to: number): void {
  for (let index = from; index < to; index++) writer.writeBits(values[index]!, widths[index]!)
}

function writePeer(stream: BitOutputStream, values: Uint32Array, widths: Uint8Array, from: number, to: number): void {
  for (let index = from; index < to; index++) stream.write(values[index]!, widths[index]!)
}

function readOurs(reader: BitReader, widths: Uint8Array, from: number, to: number): number {
  let sum = 0
  for (let index = from; index < to; index++) sum = (sum + reader.readBits(widths[index]!)) | 0
  return sum
}

function readPeer(stream: BitInputStream, widths: Uint8Array, from: number, to: number): number {
  let sum = 0
  for (let index = from; index < to; index++) sum = (sum + stream.read(widths[index]!)) | 0
  return sum
}

/** Checks that both wrote the same bytes, and that both read every value back. */
function verify({ count, bitCount, widths, values, bytes, peerBytes }: Fields): void {
  if (!bytes.every((byte, index) => byte === peerBytes[index])) throw new Error('the two wrote different bytes')
  const reader = new BitReader(bytes)
  const stream = new BitInputStream(peerBytes, 0, bitCount)
  for (let index = 0; index < count; index++) {
    if (reader.readBits(widths[index]!) !== values[index]) throw new Error(`tickwire lost field ${index}`)
    if (stream.read(widths[index]) !== values[index]) throw new Error(`thi.ng lost field ${index}`)
  }
  if (!reader.finish()) throw new Error('tickwire read past the end')
}

function varintRivals(count: number): Contender[] {
  const random = xorshift(0xca11)
  const values = Float64Array.from(
    { length: count },
    () => (random() >>> (random() & 31)) * (random() % 8 === 0 ? 2 ** 21 : 1),
  )
  const ints = Int32Array.from({ length: count }, () => (random() | 0) >> (random() & 31))
  const bytes = new Uint8Array(count * 8)
  const intBytes = new Uint8Array(count * 5)
  const writer = new BitWriter(bytes)
  const reader = new BitReader(bytes)
  return [
    {
      name: 'writeVarint', ops: count, run() {
        writer.reset(bytes)
        for (let from = 0; from < count; from += CHUNK)
          writeVarints(writer, values, from, Math.min(from + CHUNK, count))
        writer.finish()
      },
    },
    {
      name: 'readVarint', ops: count, run() {
        reader.reset(bytes)
        for (let from = 0; from < count; from += CHUNK) sink ^= readVarints(reader, Math.min(CHUNK, count - from))
      },
    },
    {
      name: 'writeInt', ops: count, run() {
        writer.reset(intBytes)
        for (let from = 0; from < count; from += CHUNK) writeInts(writer, ints, from, Math.min(from + CHUNK, count))
        writer.finish()
      },
    },
    {
      name: 'readInt', ops: count, run() {
        reader.reset(intBytes)
        for (let from = 0; from < count; from += CHUNK) sink ^= readInts(reader, Math.min(CHUNK, count - from))
      },
    },
  ]
}

function writeVarints(writer: BitWriter, values: Float64Array, from: number, to: number): void {
  for (let index = from; index < to; index++) writeVarint(writer, values[index]!)
}

function readVarints(reader: BitReader, count: number): number {
  let sum = 0
  for (let index = 0; index < count; index++) sum = (sum + readVarint(reader)) | 0
  return sum
}

function writeInts(writer: BitWriter, values: Int32Array, from: number, to: number): void {
  for (let index = from; index < to; index++) writeInt(writer, values[index]!)
}

function readInts(reader: BitReader, count: number): number {
  let sum = 0
  for (let index = 0; index < count; index++) sum = (sum + readInt(reader)) | 0
  return sum
}

/** Sizes of an object's delta, a small frame and a packet. */
const COPY_BITS = [48, 400, 9000]

function copyRivals(): Contender[] {
  const source = Uint8Array.from({ length: 1200 }, (_, index) => index * 37)
  const bytes = new Uint8Array(1_200_000)
  const writer = new BitWriter(bytes)
  return COPY_BITS.map((bits) => {
    const ops = Math.floor((bytes.length * 8 - 1) / (bits + 1))
    return {
      name: `copy ${bits}`, ops, run() {
        writer.reset(bytes)
        for (let index = 0; index < ops; index++) {
          writer.writeBits(1, 1)
          writer.copyBits(source, 3 + (index & 15), bits)
        }
        if (writer.failed) throw new Error('the copies fit')
      },
    }
  })
}

/**
 * A record written with the typed helpers, as in a hand-written serialiser: 69 + 48 + 32 + 10 + 1 bits. It has no plain
 * float: the JavaScript engine allocates a double argument when it does not inline the call, and that depends on the
 * caller.
 */
function helperRivals(): Contender[] {
  const count = 1000
  const position = floatQuant(-4096, 4096, 0.001)
  const velocity = floatQuant(-256, 256, 0.01)
  const record = (index: number): HelperRecord => ({
    position: { x: index + 0.5, y: -index / 3, z: 0.25 }, velocity: { x: 1.5, y: index / 7, z: -9.81 },
    rotation: { x: Math.sin(index), y: Math.cos(index), z: 0.3, w: 0.5 }, charge: index, isHot: index % 3 === 0,
  })
  const records = Array.from({ length: count }, (_, index) => record(index))
  const copies = Array.from({ length: count }, () => record(0.5))
  const bytes = new Uint8Array(count * 40)
  const writer = new BitWriter(bytes)
  const reader = new BitReader(bytes)
  return [
    {
      name: 'write', ops: count, run() {
        writer.reset(bytes)
        for (let index = 0; index < count; index++) writeRecord(writer, records[index]!, position, velocity)
        writer.finish()
      },
    },
    {
      name: 'read', ops: count, run() {
        reader.reset(bytes)
        for (let index = 0; index < count; index++) readRecord(reader, copies[index]!, position, velocity)
        if (reader.failed) throw new Error('the records read back')
      },
    },
  ]
}

interface HelperRecord {
  position: Vector<3>
  velocity: Vector<3>
  rotation: Vector<4>
  charge: number
  isHot: boolean
}

function writeRecord(writer: BitWriter, record: HelperRecord, position: FloatQuant, velocity: FloatQuant): void {
  writeVector3(writer, record.position, position)
  writeVector3(writer, record.velocity, velocity)
  writeQuaternion(writer, record.rotation)
  writeRangedInt(writer, record.charge, 0, 1023)
  writeBool(writer, record.isHot)
}

function readRecord(reader: BitReader, record: HelperRecord, position: FloatQuant, velocity: FloatQuant): void {
  readVector3(reader, record.position, position)
  readVector3(reader, record.velocity, velocity)
  readQuaternion(reader, record.rotation)
  record.charge = readRangedInt(reader, 0, 1023)
  record.isHot = readBool(reader)
}

function nsTable(title: string, timings: readonly Timing[]): Table {
  return {
    title,
    columns: ['', 'ns (median)', 'fastest', 'slowest'],
    rows: timings.map(({ name, ns, nsMin, nsMax }) => [name, ns, nsMin, nsMax]),
  }
}

function xorshift(seed: number): () => number {
  let state = seed
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state >>> 0
  }
}
