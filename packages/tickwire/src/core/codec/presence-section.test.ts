import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { IndexSet, PresenceSection } from './presence-section.ts'

const SEED = 1
const section = new PresenceSection()
const indexLists = fc.oneof(fc.uniqueArray(fc.nat(300), { maxLength: 80 }), fc.uniqueArray(fc.nat(65_535), { maxLength: 6 })).map((list) => list.sort((a, b) => a - b))

function setOf(indexes: readonly number[]): IndexSet {
  const set = new IndexSet()
  for (const index of indexes) set.add(index, index % 5 === 0 ? 1 : index % 5 === 1 ? 2 : 3)
  return set
}

function lively(indexes: readonly number[]): IndexSet {
  const set = new IndexSet()
  for (const index of indexes) set.add(index)
  return set
}

function written(indexes: readonly number[], ordinary: readonly number[], reference: IndexSet): BitWriter {
  const writer = new BitWriter(new Uint8Array(1 << 17))
  section.write(writer, indexes, ordinary, indexes.length, reference)
  writer.finish()
  return writer
}

test('[CODEC7] which objects a frame speaks of is read back, whatever the reference', () => {
  fc.assert(fc.property(indexLists, indexLists, fc.infiniteStream(fc.nat(1)), (indexes, before, dice) => {
    const ordinary = indexes.map(() => dice.next().value)
    const reference = setOf(before)
    const writer = written(indexes, ordinary, reference)
    const reader = new BitReader(writer.bytes)
    const count = section.read(reader, reference)
    expect(reader.failed).toBe(false)
    expect(reader.bitPosition).toBe(writer.bitLength)
    expect([...section.indexes.subarray(0, count)]).toEqual(indexes)
    expect([...section.ordinary.subarray(0, count)]).toEqual(ordinary)
  }), { seed: SEED, numRuns: 150 })
})

test('[CODEC7] what goes on as before costs next to nothing', () => {
  const all = Array.from({ length: 1000 }, (_, index) => index).filter((index) => index % 7 !== 3)
  const writer = written(all, all.map(() => 1), lively(all))
  expect(writer.bitLength).toBeLessThan(1000 * 0.15)
})

test('[CODEC8] any bytes are read without a throw, and what is accepted has one spelling', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 12 }), indexLists, (noise, before) => {
    const reference = setOf(before.filter((index) => index < 400))
    const reader = new BitReader(noise)
    const count = section.read(reader, reference)
    if (reader.failed) return
    const writer = written([...section.indexes.subarray(0, count)], [...section.ordinary.subarray(0, count)], reference)
    expect(writer.bytes.subarray(0, writer.bitLength >>> 3)).toEqual(noise.subarray(0, reader.bitPosition >>> 3))
  }), { seed: SEED, numRuns: 1500 })
})

test('[CODEC8] an index set forgets what it is told to', () => {
  const set = new IndexSet()
  for (const index of [3, 900]) set.add(index)
  expect([set.at(3), set.at(4), set.end]).toEqual([3, 0, 901])
  set.clear()
  expect([set.at(3), set.at(900), set.end]).toEqual([0, 0, 0])
})
