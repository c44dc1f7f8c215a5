import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { RansSink, RansSource } from '../codec/rans-stream.ts'
import { NO_ENTRY, type EntryKind } from './entry-heads.ts'
import { LivelyHeadsReader, LivelyHeadsWriter } from './lively-heads.ts'

interface Tick {
  readonly isKey: boolean
  readonly entries: readonly (readonly [index: number, kind: EntryKind])[]
}

const kind = fc.constantFrom<EntryKind>(0, 0, 0, 0, 1, 2, 3)
const entries = fc
  .uniqueArray(fc.tuple(fc.oneof(fc.nat(9), fc.nat(300)), kind), { maxLength: 20, selector: ([index]) => index })
  .map((list) => list.toSorted((a, b) => a[0] - b[0]))
const ticks: fc.Arbitrary<readonly Tick[]> = fc.array(
  fc.record({ isKey: fc.integer({ min: 0, max: 9 }).map((roll) => roll === 0), entries }),
  { maxLength: 30 },
)

/** Writes ticks as a block. Each tick is first begun with the entries of the tick before, and discarded. */
function write(played: readonly Tick[]): Uint8Array {
  const writer = new BitWriter(new Uint8Array(1 << 16))
  const sink = new RansSink(writer)
  const heads = new LivelyHeadsWriter(writer, sink)
  played.forEach((tick, at) => {
    const [bits, symbols] = [writer.bitLength, sink.count]
    const before = played[at - 1] ?? tick
    heads.begin(tick.isKey)
    for (const entry of before.entries) heads.write(...entry)
    writer.rewind(bits)
    sink.rewind(symbols)
    heads.begin(tick.isKey)
    for (const entry of tick.entries) heads.write(...entry)
    heads.end()
    heads.keep()
  })
  sink.finish()
  return writer.bytes.slice(0, writer.finish())
}

test('[REC20] heads are read back, tick after tick, even when a tick was begun and undone', () => {
  fc.assert(fc.property(ticks, (played) => {
    const reader = new BitReader(write(played))
    const source = new RansSource(reader)
    const heads = new LivelyHeadsReader(reader, source)
    source.begin()
    for (const { isKey, entries: expected } of played) {
      heads.begin(isKey)
      const got: (readonly [number, number])[] = []
      for (let index = heads.next(); index !== NO_ENTRY; index = heads.next()) got.push([index, heads.kind])
      expect(got).toEqual(expected)
    }
    expect(source.finish()).toBe(true)
  }), { seed: 1, numRuns: 300 })
})

test('[REC20] an object that changes as before costs a fraction of a bit', () => {
  const everyone = Array.from({ length: 100 }, (_, index) => [index, 0] as const)
  const born: Tick = { isKey: true, entries: everyone.map(([index]) => [index, 1]) }
  const walking = Array.from({ length: 200 }, (): Tick => ({
    isKey: false,
    entries: everyone.filter(([index]) => index % 3 > 0),
  }))
  const bits = (write([born, ...walking]).length - write([born]).length) * 8
  expect(bits / (walking.length * 100)).toBeLessThan(0.05)
})

test('[REC20] any bytes are read to an end, and nothing throws', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
    const reader = new BitReader(bytes)
    const source = new RansSource(reader)
    const heads = new LivelyHeadsReader(reader, source)
    source.begin()
    for (let tick = 0; tick < 20; tick++) {
      heads.begin(tick % 7 === 0)
      let next = 0
      for (let index = heads.next(); index !== NO_ENTRY; index = heads.next()) {
        expect(index).toBeGreaterThanOrEqual(next)
        next = index + 1
        if (reader.failed) break
      }
    }
    source.finish()
  }), { seed: 1, numRuns: 500 })
})
