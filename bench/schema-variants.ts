/**
 * Three ways to run a codec that was compiled from a schema, for docs/adr/0007-codecs-as-tables.md: the engine's loop
 * over tables, a closure per field, and code made from text. All write the same bits. They are used only in benches:
 * the engine makes no code from text, because pages may forbid it.
 */

import type { BitReader } from '../packages/tickwire/src/core/bits/bit-reader.ts'
import type { BitWriter } from '../packages/tickwire/src/core/bits/bit-writer.ts'
import type { Layout } from '../packages/tickwire/src/core/schema/layout.ts'

type WriteRow = (writer: BitWriter, rows: Int32Array, at: number) => void
type ReadRow = (reader: BitReader, rows: Int32Array, at: number) => void
type WriteDelta = (writer: BitWriter, rows: Int32Array, at: number, baseRows: Int32Array, baseAt: number) => void
type ReadDelta = (reader: BitReader, rows: Int32Array, at: number, baseRows: Int32Array, baseAt: number) => void

export interface Variant {
  readonly name: string
  readonly writeRow: WriteRow
  readonly readRow: ReadRow
  readonly writeDelta: WriteDelta
  readonly readDelta: ReadDelta
}

/** One closure per field and direction, called in a loop. For schemas of plain numbers, with at most 32 fields. */
export function closures({ leaves }: Layout): Variant {
  const count = leaves.length
  const writers = leaves.map(
    ({ lane, width }): WriteRow =>
      (writer, rows, at) =>
        writer.writeBits(rows[at + lane]!, width),
  )
  const readers = leaves.map(({ lane, width, max }): ReadRow => (reader, rows, at) => {
    const value = reader.readBits(width)
    if (value > max) reader.fail()
    rows[at + lane] = value
  })
  return {
    name: 'closures',
    writeRow(writer, rows, at) { for (let index = 0; index < count; index++) writers[index]!(writer, rows, at) },
    readRow(reader, rows, at) { for (let index = 0; index < count; index++) readers[index]!(reader, rows, at) },
    writeDelta(writer, rows, at, baseRows, baseAt) {
      let bits = 0
      for (let lane = 0; lane < count; lane++)
        if (rows[at + lane] !== baseRows[baseAt + lane]) bits |= 0x8000_0000 >>> lane
      writer.writeBits(bits >>> (32 - count), count)
      for (; bits !== 0; bits &= ~(0x8000_0000 >>> Math.clz32(bits))) writers[Math.clz32(bits)]!(writer, rows, at)
    },
    readDelta(reader, rows, at, baseRows, baseAt) {
      for (let lane = 0; lane < count; lane++) rows[at + lane] = baseRows[baseAt + lane]!
      let bits = reader.readBits(count) << (32 - count)
      for (; bits !== 0; bits &= ~(0x8000_0000 >>> Math.clz32(bits))) {
        const lane = Math.clz32(bits)
        readers[lane]!(reader, rows, at)
        if (rows[at + lane] === baseRows[baseAt + lane]) reader.fail()
      }
    },
  }
}

/** Code without loops for each direction, made from text. */
export function generated({ leaves }: Layout): Variant {
  const count = leaves.length
  const bit = (index: number): number => 1 << (count - 1 - index)
  const lines = (line: (leaf: (typeof leaves)[number], index: number) => string): string => leaves.map(line).join('\n')
  const tooLarge = ({ max, width }: (typeof leaves)[number]): string =>
    max === 2 ** width - 1 ? 'false' : `value > ${max}`
  return {
    name: 'generated',
    writeRow: make(
      'writer, rows, at',
      lines(({ lane, width }) => `writer.writeBits(rows[at + ${lane}], ${width})`),
    ),
    readRow: make(
      'reader, rows, at',
      lines(
        (leaf) =>
          `{ const value = reader.readBits(${leaf.width}); if (${tooLarge(leaf)}) reader.fail(); `
        + `rows[at + ${leaf.lane}] = value }`,
      ),
    ),
    writeDelta: make(
      'writer, rows, at, baseRows, baseAt',
      [
        'let mask = 0',
        lines(({ lane }, index) => `if (rows[at + ${lane}] !== baseRows[baseAt + ${lane}]) mask |= ${bit(index)}`),
        `writer.writeBits(mask, ${count})`,
        lines(({ lane, width }, index) => `if (mask & ${bit(index)}) writer.writeBits(rows[at + ${lane}], ${width})`),
      ].join('\n'),
    ),
    readDelta: make(
      'reader, rows, at, baseRows, baseAt',
      [
        `const mask = reader.readBits(${count})`,
        lines(
          (leaf, index) => `if (mask & ${bit(index)}) {
        const value = reader.readBits(${leaf.width})
        if (${tooLarge(leaf)} || (value | 0) === baseRows[baseAt + ${leaf.lane}]) reader.fail()
        rows[at + ${leaf.lane}] = value
      } else rows[at + ${leaf.lane}] = baseRows[baseAt + ${leaf.lane}]`),
    ].join('\n')),
  }
}

function make<T>(parameters: string, body: string): T {
  return new Function(...parameters.split(', '), body) as T
}
