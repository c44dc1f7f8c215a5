import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { CodeBank } from './code-bank.ts'
import { PrefixSink } from './prefix-stream.ts'
import { RansSink, RansSource } from './rans-stream.ts'

const SEED = 1
const bank = new CodeBank()
const TABLES = [bank.add([1000, 1]), bank.add([5, 4, 3, 2, 1]), bank.add(Array.from({ length: 67 }, (_, symbol) => 1 + (symbol % 7)))]
const SIZES = [2, 5, 67]
const symbols = fc.array(fc.tuple(fc.nat(2), fc.nat(66), fc.nat(255)), { maxLength: 300 })
  .map((list) => list.map(([table, symbol, raw]) => ({ table: TABLES[table]!, symbol: symbol % SIZES[table]!, raw })))

test('[CODEC12] symbols and raw bits come back from a block, and blocks follow one another', () => {
  fc.assert(fc.property(symbols, symbols, (first, second) => {
    const sink = new RansSink(bank)
    const writer = new BitWriter(new Uint8Array(1 << 16))
    for (const block of [first, second]) {
      for (const { table, symbol, raw } of block) sink.symbol(table, symbol, raw, 8)
      sink.finish(writer)
    }
    writer.finish()
    const reader = new BitReader(writer.bytes)
    const source = new RansSource(bank)
    for (const block of [first, second]) {
      source.from(reader)
      for (const { table, symbol, raw } of block) {
        expect(source.symbol(table)).toBe(symbol)
        expect(source.raw().readBits(8)).toBe(raw)
      }
      expect(source.finish()).toBe(true)
    }
    expect(reader.bitPosition).toBe(writer.bitLength)
  }), { seed: SEED, numRuns: 200 })
})

test('[CODEC12] what is certain costs next to nothing, where a prefix code needs a bit', () => {
  const rans = new RansSink(bank)
  const prefix = new PrefixSink(bank)
  const [small, large] = [new BitWriter(new Uint8Array(4096)), new BitWriter(new Uint8Array(4096))]
  prefix.to(large)
  for (let count = 0; count < 4000; count++) {
    rans.symbol(TABLES[0]!, 0, 0, 0)
    prefix.symbol(TABLES[0]!, 0, 0, 0)
  }
  rans.finish(small)
  expect(large.bitLength).toBe(4000)
  expect(small.bitLength).toBeLessThan(200)
})

test('[CODEC12] any bytes are read without a throw', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), fc.array(fc.nat(2), { maxLength: 60 }), (bytes, tables) => {
    const reader = new BitReader(bytes)
    const source = new RansSource(bank)
    source.from(reader)
    for (const table of tables) expect(source.symbol(TABLES[table]!)).toBeLessThan(SIZES[table]!)
    source.finish()
  }), { seed: SEED, numRuns: 500 })
})
