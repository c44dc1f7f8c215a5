/**
 * The bit cursors beside @thi.ng/bitstream, the fastest and only correct unaligned bit packer on npm that we found:
 * same fields, same bytes (both are most significant bit first; equality is checked), interleaved in one process.
 *
 * Both get their buffer made beforehand and large enough, so that neither grows one while timed.
 */

import { BitInputStream, BitOutputStream } from '@thi.ng/bitstream'
import { BitReader } from '../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../packages/tickwire/src/core/bits/bit-writer.ts'
import { readInt, readVarint, writeInt, writeVarint } from '../packages/tickwire/src/core/bits/varint.ts'
import { parseArgs } from 'node:util'
import { allocatedBytes, interleave, ratio, type Bench, type BenchResult, type Contender, type Timing } from './harness.ts'

const PEER = '@thi.ng/bitstream 2.4.55'

/** Widths as games have them: flags, small enums, quantised coordinates, now and then a whole word. Mean 10.2 bits. */
const WIDTHS = [1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 10, 11, 12, 14, 16, 22, 32, 32]

export const bench: Bench = {
  name: 'bits',
  summary: 'bit fields, varints and bit copies, beside @thi.ng/bitstream',
  options: ['--fields N     fields per round (default 100000)', '--rounds N     timed rounds (default 41)'],
  run: async (args) => {
    const { values } = parseArgs({
      args: [...args],
      options: { fields: { type: 'string', default: '100000' }, rounds: { type: 'string', default: '41' } },
    })
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
  const copies = interleave(copyRivals(), rounds)
  const bytesPerRound = fields.bytes.length
  const gbps = (timing: Timing, bits: number): number => bits / 8 / timing.ns
  const write = rivals.find((rival) => rival.name === 'write: tickwire')!
  const read = rivals.find((rival) => rival.name === 'read: tickwire')!

  return {
    tables: [
      nsTable(`${count} fields, mean ${(fields.bitCount / count).toFixed(1)} bits, ${bytesPerRound} bytes`, timings),
      nsTable(`${count} varints of every length`, varints),
      {
        title: 'bit copy, neither side aligned',
        columns: ['bits a copy', 'ns', 'GB/s'],
        rows: copies.map((timing, index) => [String(COPY_BITS[index]), timing.ns, gbps(timing, COPY_BITS[index]!)]),
      },
    ],
    figures: [
      { name: 'write_ratio_thing', value: ratio(timings, 'write: tickwire', 'write: thi.ng'), unit: 'ratio', against: PEER, atMost: 0.35 },
      { name: 'read_ratio_thing', value: ratio(timings, 'read: tickwire', 'read: thi.ng'), unit: 'ratio', against: PEER, atMost: 0.35 },
      { name: 'write_ns', value: timings[0]!.ns, unit: 'ns/field', against: null },
      { name: 'read_ns', value: timings[2]!.ns, unit: 'ns/field', against: null },
      { name: 'varint_write_ns', value: varints[0]!.ns, unit: 'ns/varint', against: null },
      { name: 'varint_read_ns', value: varints[1]!.ns, unit: 'ns/varint', against: null },
      { name: 'copy_48_ns', value: copies[0]!.ns, unit: 'ns/copy', against: null },
      { name: 'copy_gbps', value: gbps(copies.at(-1)!, COPY_BITS.at(-1)!), unit: 'GB/s', against: null },
      { name: 'write_alloc', value: allocatedBytes(() => write.run(), write.ops), unit: 'B/field', against: null, atMost: 0 },
      { name: 'read_alloc', value: allocatedBytes(() => read.run(), read.ops), unit: 'B/field', against: null, atMost: 0 },
    ],
  }
}

interface Fields {
  readonly count: number
  readonly bitCount: number
  readonly widths: Uint8Array
  readonly values: Uint32Array
  /** What we write into. */
  readonly bytes: Uint8Array
  /** What thi.ng writes into; one byte more, or it would grow at the very end. */
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

/** Sums stay alive here, so that no read is optimised away. */
let sink = 0

function fieldRivals({ count, bitCount, widths, values, bytes, peerBytes }: Fields): Contender[] {
  const writer = new BitWriter(bytes)
  const reader = new BitReader(bytes)
  return [
    {
      name: 'write: tickwire', ops: count, run() {
        writer.reset(bytes)
        for (let from = 0; from < count; from += CHUNK) writeOurs(writer, values, widths, from, Math.min(from + CHUNK, count))
        writer.finish()
      },
    },
    {
      name: 'write: thi.ng', ops: count, run() {
        const stream = new BitOutputStream(peerBytes)
        for (let from = 0; from < count; from += CHUNK) writePeer(stream, values, widths, from, Math.min(from + CHUNK, count))
      },
    },
    {
      name: 'read: tickwire', ops: count, run() {
        reader.reset(bytes)
        for (let from = 0; from < count; from += CHUNK) sink ^= readOurs(reader, widths, from, Math.min(from + CHUNK, count))
      },
    },
    {
      name: 'read: thi.ng', ops: count, run() {
        const stream = new BitInputStream(peerBytes, 0, bitCount)
        for (let from = 0; from < count; from += CHUNK) sink ^= readPeer(stream, widths, from, Math.min(from + CHUNK, count))
      },
    },
  ]
}

/**
 * Fields per call, about a packet's worth. One loop over all of them would be compiled while it runs (on-stack
 * replacement), which came out twice as slow in every second process, for reasons that no packet has.
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

/** Both wrote the same bytes, and both read every value back. */
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
  const values = Float64Array.from({ length: count }, () => (random() >>> (random() & 31)) * (random() % 8 === 0 ? 2 ** 21 : 1))
  const ints = Int32Array.from({ length: count }, () => (random() | 0) >> (random() & 31))
  const bytes = new Uint8Array(count * 8)
  const intBytes = new Uint8Array(count * 5)
  const writer = new BitWriter(bytes)
  const reader = new BitReader(bytes)
  return [
    {
      name: 'writeVarint', ops: count, run() {
        writer.reset(bytes)
        for (let index = 0; index < count; index++) writeVarint(writer, values[index]!)
        writer.finish()
      },
    },
    {
      name: 'readVarint', ops: count, run() {
        reader.reset(bytes)
        for (let index = 0; index < count; index++) sink ^= readVarint(reader)
      },
    },
    {
      name: 'writeInt', ops: count, run() {
        writer.reset(intBytes)
        for (let index = 0; index < count; index++) writeInt(writer, ints[index]!)
        writer.finish()
      },
    },
    {
      name: 'readInt', ops: count, run() {
        reader.reset(intBytes)
        for (let index = 0; index < count; index++) sink ^= readInt(reader)
      },
    },
  ]
}

/** An object's delta, a small frame, a packet. */
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

function nsTable(title: string, timings: readonly Timing[]): { title: string; columns: string[]; rows: (string | number)[][] } {
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
