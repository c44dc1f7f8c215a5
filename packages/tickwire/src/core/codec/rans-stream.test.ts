import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { CodeBank } from './code-bank.ts'
import { LearningTables } from './learning-tables.ts'
import { PrefixSink } from './prefix-stream.ts'
import { RansSink, RansSource } from './rans-stream.ts'

const SEED = 1
const bank = new CodeBank()
const TABLES = [
  bank.add([1000, 1]),
  bank.add([5, 4, 3, 2, 1]),
  bank.add(Array.from({ length: 67 }, (_, symbol) => 1 + (symbol % 7))),
]
const SIZES = [2, 5, 67]
const symbols = fc.array(fc.tuple(fc.nat(2), fc.nat(66), fc.nat(255)), { maxLength: 300 })
  .map((list) => list.map(([table, symbol, raw]) => ({ table: TABLES[table]!, symbol: symbol % SIZES[table]!, raw })))

/** Tables of a second bank: a block has symbols of both. */
const other = new CodeBank()
const OTHER = other.add([1, 2, 30])

function readBlock(bytes: Uint8Array): { readonly reader: BitReader; readonly source: RansSource } {
  const reader = new BitReader(bytes)
  const source = new RansSource(reader)
  source.begin()
  return { reader, source }
}

test('[CODEC12] symbols of several banks, bits and raw bits are read back from a block; removed ones are not', () => {
  fc.assert(fc.property(symbols, symbols, (taken, kept) => {
    const writer = new BitWriter(new Uint8Array(1 << 16))
    const sink = new RansSink(writer)
    const [first, second] = [sink.of(bank), sink.of(other)]
    for (const block of [kept, taken, kept]) {
      writer.rewind(0)
      sink.rewind(0)
      for (const { table, symbol, raw } of block) {
        first.symbol(table, symbol, raw, 8)
        second.symbol(OTHER, symbol % 3, 0, 0)
        sink.bit(raw % 3 === 0, 1 + raw * 128)
      }
    }
    const bytesMax = ((writer.bitLength + 7) >>> 3) + sink.tailBytesMax
    sink.finish()
    const length = writer.finish()
    expect(length).toBeLessThanOrEqual(bytesMax)
    const { reader, source } = readBlock(writer.bytes.slice(0, length))
    const [from, beside] = [source.of(bank), source.of(other)]
    for (const { table, symbol, raw } of kept) {
      expect(from.symbol(table)).toBe(symbol)
      expect(from.raw().readBits(8)).toBe(raw)
      expect(beside.symbol(OTHER)).toBe(symbol % 3)
      expect(source.bit(1 + raw * 128)).toBe(raw % 3 === 0)
    }
    expect([source.finish(), reader.failed]).toEqual([true, false])
  }), { seed: SEED, numRuns: 200 })
})

test('[CODEC12] a certain symbol costs almost nothing, where a prefix code needs a bit', () => {
  const [small, large] = [new BitWriter(new Uint8Array(4096)), new BitWriter(new Uint8Array(4096))]
  const block = new RansSink(small)
  const rans = block.of(bank)
  const prefix = new PrefixSink(bank)
  prefix.to(large)
  for (let count = 0; count < 4000; count++) {
    rans.symbol(TABLES[0]!, 0, 0, 0)
    prefix.symbol(TABLES[0]!, 0, 0, 0)
  }
  block.finish()
  expect(large.bitLength).toBe(4000)
  expect(small.bitLength).toBeLessThan(200)
})

test('[CODEC12] the cost of symbols is known approximately before they are written', () => {
  const writer = new BitWriter(new Uint8Array(1 << 16))
  const block = new RansSink(writer)
  const rans = block.of(bank)
  for (let count = 0; count < 5000; count++) rans.symbol(TABLES[2]!, (count * 7) % 67, 0, 0)
  const guess = block.bitsSince(0)
  block.settle()
  expect(Math.abs(block.bitsSince(0) / guess - 1)).toBeLessThan(0.1)
  expect(block.bitsSince(4000)).toBeLessThan(block.bitsSince(0) / 4)
  block.finish()
  expect(Math.abs(writer.bitLength / guess - 1)).toBeLessThan(0.1)
})

test('[CODEC12] tables learn within a block: repeated symbols become cheap, and the next block starts fresh', () => {
  const writer = new BitWriter(new Uint8Array(1 << 16))
  const block = new RansSink(writer)
  const rans = block.of(bank)
  const sizes = [0, 1].map(() => {
    const before = writer.bitLength
    for (let count = 0; count < 2000; count++) rans.symbol(TABLES[2]!, count % 50 === 0 ? 66 : 3, 0, 0)
    block.finish()
    return writer.bitLength - before
  })
  expect(sizes[0]! / 2000).toBeLessThan(0.4)
  expect(sizes[1]).toBe(sizes[0])
})

test('[CODEC12] every symbol of a table that learnt can be written, and the shares add up', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constant(1), fc.nat(66)), { maxLength: 400 }), (said) => {
      const tables = new LearningTables(bank)
      for (const symbol of said) tables.take(TABLES[2]!, symbol)
      let next = 0
      for (let symbol = 0; symbol < 67; symbol++) {
        expect([next, next + 1, 32_767].map((place) => tables.find(TABLES[2]!, place) >= symbol)).toEqual([
          true,
          true,
          true,
        ])
        const copy = new LearningTables(bank)
        for (const each of said) copy.take(TABLES[2]!, each)
        const range = copy.take(TABLES[2]!, symbol)
        expect(range >>> 16).toBe(next)
        expect(range & 0xffff).toBeGreaterThan(0)
        next += range & 0xffff
      }
      expect(next).toBe(32_768)
    }),
    { seed: SEED, numRuns: 20 },
  )
})

test('[CODEC12] a changed, truncated or extended block is refused or reads differently, and nothing throws', () => {
  const writer = new BitWriter(new Uint8Array(4096))
  const block = new RansSink(writer)
  const rans = block.of(bank)
  const said = Array.from({ length: 50 }, (_, at) => at % 67)
  for (const symbol of said) rans.symbol(TABLES[2]!, symbol, symbol & 7, 3)
  block.finish()
  const bytes = writer.bytes.slice(0, writer.finish())
  const meaningOf = (file: Uint8Array): string => {
    const { source } = readBlock(file)
    const from = source.of(bank)
    const got = said.map(() => [from.symbol(TABLES[2]!), from.raw().readBits(3)])
    return source.finish() ? JSON.stringify(got) : 'refused'
  }
  const truth = meaningOf(bytes)
  expect(truth).not.toBe('refused')
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = bytes.slice()
    changed[bit >>> 3]! ^= 128 >>> (bit & 7)
    expect(meaningOf(changed)).not.toBe(truth)
  }
  for (let size = 0; size < bytes.length; size++) expect(meaningOf(bytes.slice(0, size))).toBe('refused')
  expect(meaningOf(Uint8Array.from([...bytes, 0, 0]))).toBe('refused')
})

test('[CODEC12] any bytes are read without a throw', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), fc.array(fc.nat(2), { maxLength: 60 }), (bytes, tables) => {
    const { source } = readBlock(bytes)
    const from = source.of(bank)
    for (const table of tables) {
      expect(from.symbol(TABLES[table]!)).toBeLessThan(SIZES[table]!)
      source.bit(1 + table * 9000)
    }
    source.finish()
  }), { seed: SEED, numRuns: 500 })
})
