import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { VALUE_BYTES_MAX } from '../base/limits.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { bytes, list, manual, oneOf, struct, text } from './field-kinds.ts'
import { compileSchema } from './schema.ts'
import { ValueHeap } from './value-heap.ts'

const schema = compileSchema('T', {
  a: text(200).initially('hi'),
  b: text(200),
  c: bytes(VALUE_BYTES_MAX),
  d: list(struct({ t: text(9), k: oneOf('x', 'y') }), 4),
})
const [a, b, c, d] = schema.heapLeaves

function read(
  heap: ValueHeap,
  leaf: typeof a,
  content: readonly number[],
  bitCount = content.length * 8,
): { handle: number; reader: BitReader } {
  const reader = new BitReader(Uint8Array.from(content))
  reader.resetBits(reader.bytes, 0, bitCount)
  return { handle: heap.read(reader, leaf!), reader }
}

const words = fc.string({ unit: fc.constantFrom('a', 'b', '\0', 'é', '漢', '😀'), maxLength: 6 })

describe('a heap', () => {
  test('[SCHEMA19] gives equal content of a field an equal handle, and unequal content another', () => {
    const heap = new ValueHeap()
    fc.assert(fc.property(words, words, (one, other) => {
      expect(heap.put(b!, one) === heap.put(b!, other)).toBe(one === other)
      expect(heap.get(b!, heap.put(b!, one))).toBe(one)
    }), { numRuns: 300, seed: 1 })
    const long = new Uint8Array(5000).fill(7)
    const handle = heap.put(c!, long)
    expect(heap.put(c!, long.slice())).toBe(handle)
    for (const [at, value] of [[4999, 8], [0, 8], [2048, 8]] as const) {
      const other = long.slice()
      other[at] = value
      expect(heap.put(c!, other)).not.toBe(handle)
    }
    expect(heap.put(c!, long.slice(0, 4999))).not.toBe(handle)
  })

  test('[SCHEMA19] distinguishes bit strings that fill the same bytes', () => {
    const heap = new ValueHeap()
    // Two items of which the second has no text, and one item alone, are both zeros in their last byte.
    const some = [[], [{ t: '', k: 'x' }], [{ t: '', k: 'x' }, { t: '', k: 'x' }]].map((value) => heap.put(d!, value))
    expect(new Set(some).size).toBe(3)
  })

  test('[SCHEMA19] has handle 0 for the initial value, and stores nothing for it', () => {
    const heap = new ValueHeap()
    expect([heap.put(a!, 'hi'), heap.put(b!, ''), heap.put(d!, [])]).toEqual([0, 0, 0])
    expect(heap.size).toBe(0)
    expect([heap.get(a!, 0), heap.get(b!, 0), heap.get(d!, 0)]).toEqual(['hi', '', []])
    expect(read(heap, a, [2, 0x68, 0x69]).handle).toBe(0)
    expect(heap.put(a!, '')).not.toBe(0)
  })

  test('[SCHEMA19] reads what it wrote to the same handle, and copies the bits it read', () => {
    const heap = new ValueHeap()
    const { handle } = read(heap, b, [3, 0x61, 0x62, 0x63])
    expect(heap.put(b!, 'abc')).toBe(handle)
    const writer = new BitWriter(new Uint8Array(8))
    heap.write(writer, b!, handle)
    expect(Array.from(writer.bytes.subarray(0, writer.finish()))).toEqual([3, 0x61, 0x62, 0x63])
  })

  test('[SCHEMA19] stores what every peer will see: half a surrogate pair is U+FFFD from the start', () => {
    const heap = new ValueHeap()
    expect(heap.get(b!, heap.put(b!, 'a\ud800'))).toBe('a\ufffd')
  })

  test('[SCHEMA19] has room for the longest value, and for as many whole items of a list as fit one value', () => {
    const heap = new ValueHeap()
    expect(heap.get(c!, heap.put(c!, new Uint8Array(VALUE_BYTES_MAX).fill(1)))).toHaveLength(VALUE_BYTES_MAX)
    const wide = compileSchema('T', { l: list(bytes(VALUE_BYTES_MAX), 3) })
    const half = new Uint8Array(VALUE_BYTES_MAX / 2 + 20)
    expect(heap.get(wide.heapLeaves[0]!, heap.put(wide.heapLeaves[0]!, [half, half]))).toEqual([half])
    expect(heap.counts).toEqual({ clipped: 1, refused: 0 })
    const writer = new BitWriter(new Uint8Array(40_000))
    writer.writeBits(2, 2)
    for (let copy = 0; copy < 2; copy++) {
      writer.writeBits(half.length & 0x7f | 0x80, 8)
      writer.writeBits(half.length >>> 7, 8)
      writer.copyBits(half, 0, half.length * 8)
    }
    writer.finish()
    const reader = new BitReader(writer.bytes)
    expect(heap.read(reader, wide.heapLeaves[0]!)).toBe(0)
    expect(reader.failed).toBe(true)
  })

  test.each([
    [3, 1000],
    [1000, 12],
  ])(
    '[SCHEMA19] that is full refuses more (%d values, %d bytes): the reader fails, a field keeps its value',
    (sizeMax, bytesMax) => {
      const heap = new ValueHeap(sizeMax, bytesMax)
      const kept = ['one', 'two', 'six'].map((value) => heap.put(b!, value))
      expect([heap.size, heap.sizeBytes]).toEqual([3, 12])
      expect([heap.put(b!, 'ten', kept[2]!), heap.put(b!, 'ten')]).toEqual([kept[2], 0])
      expect(heap.counts).toEqual({ clipped: 0, refused: 2 })
      expect(read(heap, b, [1, 0x61]).reader.failed).toBe(true)
      expect([heap.put(b!, 'two'), heap.put(b!, ''), read(heap, b, [3, 0x6f, 0x6e, 0x65]).handle]).toEqual([
        kept[1],
        0,
        kept[0],
      ])
      heap.sweep()
      expect(heap.put(b!, 'ten')).toBeGreaterThan(0)
    },
  )

  test('[SCHEMA31] a value of a manual codec that is too long cannot be cut: the field keeps its value', () => {
    const numbers = manual<readonly number[]>({
      create: () => [],
      write: (writer, value) => { for (const number of value) writer.writeBits(number, 8); writer.writeBits(0, 8) },
      read: (reader) => {
        const value: number[] = []
        for (let number = reader.readBits(8); number !== 0 && !reader.failed; number = reader.readBits(8))
          value.push(number)
        return value
      },
    })
    const [leaf] = compileSchema('T', { n: numbers }).heapLeaves
    const heap = new ValueHeap()
    const kept = heap.put(leaf!, [1, 2, 3])
    expect(heap.put(leaf!, Array.from({ length: 20_000 }, () => 7), kept)).toBe(kept)
    expect(heap.counts).toEqual({ clipped: 0, refused: 1 })
  })

  test('[SCHEMA19] removes unmarked values in a sweep, and gives out their handles again', () => {
    const heap = new ValueHeap()
    const handles = ['one', 'two', 'three'].map((value) => heap.put(b!, value))
    const row = new Int32Array(schema.laneCount)
    const cells = new Float64Array(schema.cellCount)
    row[b!.lane] = handles[0]!
    cells[b!.cell] = handles[2]!
    heap.markRow(schema, row, 0)
    heap.markCells(schema, cells, 0)
    const before = heap.sizeBytes
    heap.sweep()
    expect([heap.size, before - heap.sizeBytes]).toEqual([2, 4])
    expect([heap.get(b!, handles[0]!), heap.get(b!, handles[2]!), heap.put(b!, 'one')]).toEqual([
      'one',
      'three',
      handles[0],
    ])
    expect(() => heap.get(b!, handles[1]!)).toThrow()
    expect(heap.put(b!, 'four')).toBe(handles[1])
    expect(heap.put(b!, 'two')).not.toBe(handles[1])
    heap.sweep()
    expect([heap.size, heap.sizeBytes]).toEqual([0, 0])
  })

  test('[SCHEMA19] hashes content, not handles: equal in every heap, unequal for bits that fill the same bytes', () => {
    const hashOf = (heap: ValueHeap, leaf: typeof a, value: unknown): string => {
      const out = new Uint32Array(2)
      heap.hash(leaf!, heap.put(leaf!, value), out)
      return out.join()
    }
    const [heap, other] = [new ValueHeap(), new ValueHeap()]
    other.put(b!, 'first')
    expect(hashOf(heap, b, 'x')).toBe(hashOf(other, b, 'x'))
    expect(hashOf(heap, a, 'hi')).toBe(hashOf(other, b, 'hi'))
    expect(hashOf(heap, d, [])).not.toBe(hashOf(heap, b, ''))
  })

  test('[SCHEMA19] keeps the same content of two fields apart', () => {
    const heap = new ValueHeap()
    const [one, other] = [heap.put(a!, 'same'), heap.put(b!, 'same')]
    expect(one).not.toBe(other)
    expect([heap.get(a!, one), heap.get(b!, other)]).toEqual(['same', 'same'])
  })

  test('[SCHEMA18] items of a list are one after the other, with their text inside', () => {
    const heap = new ValueHeap()
    const writer = new BitWriter(new Uint8Array(16))
    heap.write(
      writer,
      d!,
      heap.put(d!, [
        { t: 'A', k: 'y' },
        { t: '', k: 'x' },
      ]),
    )
    const bits = Array.from(writer.bytes.subarray(0, writer.finish()), (byte) =>
      byte.toString(2).padStart(8, '0'),
    ).join('')
    expect(bits.slice(0, writer.bitLength)).toBe('010' + '00000001' + '01000001' + '1' + '00000000' + '0')
  })
})
