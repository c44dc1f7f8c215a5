/**
 * The questions of a diverged client to the donor, and the answers. The relay passes both on unread.
 *
 * ```
 * question  1 top
 *           2 nodes   count varint │ type 8, height 8, place varint │ …
 *           3 rows    flags 8: 1 allocator, 2 external │ count varint │ distance from the index before varint │ …
 *           4 image
 *           5 folds   first varint │ step varint         of the trace: after first, first + step, … records
 *           6 record  number varint
 * answer    1 top     high water varint │ generator 4 x 32 │ external 32 │ allocator 64
 *                     │ types 8 │ height 8, root 64, each
 *           2 nodes   64 bits for each descendant three levels below each node, or at the leaves
 *           3 rows    a patch (world/image-patch.ts)
 *           4 image   an image (world/world-image.ts)
 *           5 folds   records varint │ 32 bits each, up to the number of records
 *           6 record  JSON
 * ```
 *
 * The node of height h and place p stands for the 4^h leaves from p x 4^h on, so it is the same node in trees of
 * different sizes.
 */

import { BitReader } from '../../bits/bit-reader.ts'
import { BitWriter } from '../../bits/bit-writer.ts'
import { readVarint, writeVarint } from '../../bits/varint.ts'

/** A node of the tree of one entity. */
export interface NodeAddress {
  /** The entity. */
  readonly type: number
  /** Levels above the leaves. */
  readonly height: number
  /** The position among the nodes of its height. */
  readonly place: number
}

/** What a diverged client asks. */
export type Question =
  | { readonly kind: 'top' | 'image' }
  | { readonly kind: 'nodes'; readonly nodes: readonly NodeAddress[] }
  | {
    readonly kind: 'rows'; readonly indexes: readonly number[]; readonly hasAllocator: boolean
    readonly hasExternal: boolean
  }
  | { readonly kind: 'folds'; readonly first: number; readonly step: number }
  | { readonly kind: 'record'; readonly number: number }

/** The state of a donor outside of its objects, and the roots of its entities. */
export interface Top {
  readonly highWater: number
  readonly generator: readonly number[]
  readonly external: number
  readonly allocator: readonly number[]
  /** Indexed by type. */
  readonly entities: readonly { readonly height: number; readonly low: number; readonly high: number }[]
}

const CODE = { top: 1, nodes: 2, rows: 3, image: 4, folds: 5, record: 6 } as const
/** Levels that one answer goes down. */
export const LEVELS = 3
/** Folds of a trace in one answer. */
export const FOLDS = 64
/** Nodes in one question: an answer of 4 KB. */
export const NODES_MAX = 8
const HEIGHT_MAX = 8
const INDEXES_MAX = 65_536
const WORDS = 4

/** The bytes of a question. */
export function encodeQuestion(question: Question): Uint8Array {
  const indexes = question.kind === 'rows' ? question.indexes.length : 0
  const bytes = new Uint8Array(64 + 4 * NODES_MAX * 4 + 4 * indexes)
  const out = new BitWriter(bytes)
  out.writeBits(CODE[question.kind], 8)
  if (question.kind === 'nodes') {
    writeVarint(out, question.nodes.length)
    for (const { type, height, place } of question.nodes) {
      out.writeBits(type, 8)
      out.writeBits(height, 8)
      writeVarint(out, place)
    }
  } else if (question.kind === 'rows') {
    out.writeBits((question.hasAllocator ? 1 : 0) | (question.hasExternal ? 2 : 0), 8)
    writeVarint(out, indexes)
    let before = -1
    for (const index of question.indexes) {
      writeVarint(out, index - before - 1)
      before = index
    }
  } else if (question.kind === 'folds') {
    writeVarint(out, question.first)
    writeVarint(out, question.step)
  } else if (question.kind === 'record') writeVarint(out, question.number)
  return bytes.slice(0, out.finish())
}

/** Undefined when the bytes are invalid. It never throws. */
export function decodeQuestion(bytes: Uint8Array): Question | undefined {
  const reader = new BitReader(bytes)
  const question = readQuestion(reader, reader.readBits(8))
  return question !== undefined && reader.finish() ? question : undefined
}

function readQuestion(reader: BitReader, code: number): Question | undefined {
  switch (code) {
    case CODE.top: return { kind: 'top' }
    case CODE.image: return { kind: 'image' }
    case CODE.folds: {
      const first = readVarint(reader)
      return { kind: 'folds', first, step: readVarint(reader) }
    }
    case CODE.record: return { kind: 'record', number: readVarint(reader) }
    case CODE.nodes: {
      const count = readVarint(reader)
      if (count > NODES_MAX) return undefined
      const nodes = Array.from({ length: count }, () => {
        const type = reader.readBits(8)
        const height = reader.readBits(8)
        return { type, height, place: readVarint(reader) }
      })
      const isFit = nodes.every(({ height, place }) => height <= HEIGHT_MAX && place < 1 << (2 * (HEIGHT_MAX - height)))
      return isFit ? { kind: 'nodes', nodes } : undefined
    }
    case CODE.rows: {
      const flags = reader.readBits(8)
      const count = readVarint(reader)
      if (reader.failed || flags > 3 || count > INDEXES_MAX || count * 8 > reader.bitsLeft) return undefined
      const indexes: number[] = []
      let before = -1
      for (let each = 0; each < count; each++) {
        before += readVarint(reader) + 1
        if (reader.failed || before >= INDEXES_MAX) return undefined
        indexes.push(before)
      }
      return { kind: 'rows', indexes, hasAllocator: (flags & 1) !== 0, hasExternal: (flags & 2) !== 0 }
    }
    default: return undefined
  }
}

/** The bytes of the top of a tree. */
export function encodeTop(top: Top): Uint8Array {
  const bytes = new Uint8Array(64 + 9 * top.entities.length)
  const out = new BitWriter(bytes)
  writeVarint(out, top.highWater)
  for (const word of top.generator) out.writeBits(word, 32)
  out.writeBits(top.external, 32)
  for (const word of top.allocator) out.writeBits(word, 32)
  out.writeBits(top.entities.length, 8)
  for (const { height, low, high } of top.entities) {
    out.writeBits(height, 8)
    out.writeBits(low, 32)
    out.writeBits(high, 32)
  }
  return bytes.slice(0, out.finish())
}

/** Undefined when the bytes are invalid, or of another game. */
export function decodeTop(bytes: Uint8Array, types: number): Top | undefined {
  const reader = new BitReader(bytes)
  const highWater = readVarint(reader)
  const generator = readWords(reader, WORDS)
  const external = reader.readBits(32) >>> 0
  const allocator = readWords(reader, 2)
  if (reader.readBits(8) !== types) return undefined
  const entities = Array.from({ length: types }, () => {
    const height = reader.readBits(8)
    const [low, high] = readWords(reader, 2)
    return { height, low, high }
  })
  const isFit = entities.every(({ height }) => height <= HEIGHT_MAX)
  return reader.finish() && isFit ? { highWater, generator, external, allocator, entities } : undefined
}

/** Words of 32 bits as bytes, high byte first. */
export function encodeWords(words: Uint32Array): Uint8Array {
  const bytes = new Uint8Array(4 * words.length)
  const view = new DataView(bytes.buffer)
  words.forEach((word, at) => view.setUint32(4 * at, word))
  return bytes
}

/** Undefined when the bytes are not `count` words. */
export function decodeWords(bytes: Uint8Array, count: number): Uint32Array | undefined {
  if (bytes.length !== 4 * count) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return Uint32Array.from({ length: count }, (_, at) => view.getUint32(4 * at))
}

function readWords(reader: BitReader, count: number): number[] {
  return Array.from({ length: count }, () => reader.readBits(32) >>> 0)
}
