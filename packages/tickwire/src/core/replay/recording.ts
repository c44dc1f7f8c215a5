/**
 * An open recording: its head, and the positions of its chunks. Bodies are read on demand.
 *
 * A file is not trusted. A closed file is read by its indexes. If any index is invalid, or there is none, every chunk
 * is read in turn and checked: a tail torn by a crash is left out, and a damaged chunk in the middle is skipped if the
 * chunk after it is intact. Both are reported. Memory grows with the bytes that are present, never with the lengths
 * they claim.
 */

import type { Tick } from '../base/time.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { readVarint } from '../bits/varint.ts'
import type { ByteSource } from './byte-source.ts'
import {
  CHECK_BYTES, CHUNK, chunkBytes, CHUNK_HEAD_BYTES, FLAG_KEY, isChunkWhole, readChunkHead, readU32, readU48,
  type ChunkEntry,
} from './chunk.ts'
import { codecOf, readRecordingHead, type RecordingHead } from './recording-head.ts'
import { END_BODY_BYTES, MAGIC, PREAMBLE_BYTES, RECORDING_VERSION } from './recording-writer.ts'

/** Why a file cannot be read as a recording. */
export type RecordingRefusal = 'not-a-recording' | 'unknown-version' | 'damaged-head' | 'unknown-codec'

/**
 * How a recording ends. `closed`: by its recorder. `open`: still being written, or left by a crash between two writes.
 * `torn`: in the middle of a write.
 */
export type RecordingEnd = 'closed' | 'open' | 'torn'

/** Chunks in order, and their bodies: a recording, or the last part of one that is being made. */
export interface ChunkList {
  /** The head of the recording. */
  readonly head: RecordingHead
  /** Without head, indexes and end. Chunks may be added at the end and removed at the beginning. */
  readonly chunks: readonly ChunkEntry[]
  /** The checked body of a chunk; undefined when it is damaged or no longer present. */
  load(chunk: ChunkEntry): Uint8Array | undefined
}

/** Opens a recording, or returns the reason why it cannot. */
export function openRecording(source: ByteSource): Recording | RecordingRefusal {
  const preamble = source.read(0, PREAMBLE_BYTES)
  if (preamble.length < PREAMBLE_BYTES || MAGIC.some((byte, at) => preamble[at] !== byte)) return 'not-a-recording'
  if (readU32(preamble, MAGIC.length) !== RECORDING_VERSION) return 'unknown-version'
  const first = readHeadAt(source, PREAMBLE_BYTES)
  const body = first?.type === CHUNK.head ? loadChunk(source, first) : undefined
  const head = body && readRecordingHead(body)
  if (first === undefined || head === undefined) return 'damaged-head'
  if (codecOf(head.codec) === undefined) return 'unknown-codec'
  const start = PREAMBLE_BYTES + chunkBytes(first.length)
  return new Recording(source, head, readIndexes(source, start) ?? scan(source, start))
}

/** What is known of a file's chunks. */
interface Directory {
  readonly chunks: ChunkEntry[]
  readonly end: RecordingEnd
  /** Bytes at the end that form no chunk. */
  readonly tornBytes: number
  /** Damaged chunks in the middle. */
  readonly damagedCount: number
}

/** A recording that can be read. */
export class Recording implements ChunkList {
  readonly head: RecordingHead
  readonly chunks: readonly ChunkEntry[]
  /** How it ends. */
  readonly end: RecordingEnd
  /** Bytes at the end that belong to no whole chunk. */
  readonly tornBytes: number
  /** Chunks found damaged so far. */
  damagedCount: number
  /** Its size in bytes. */
  readonly sizeBytes: number
  readonly #source: ByteSource

  constructor(source: ByteSource, head: RecordingHead, directory: Directory) {
    this.head = head
    this.chunks = directory.chunks
    this.end = directory.end
    this.tornBytes = directory.tornBytes
    this.damagedCount = directory.damagedCount
    this.sizeBytes = source.size
    this.#source = source
  }

  load(chunk: ChunkEntry): Uint8Array | undefined {
    const body = loadChunk(this.#source, chunk)
    if (body === undefined) this.damagedCount++
    return body
  }
}

/** The last chunk of a type that begins at or before a tick; undefined when there is none. Keys only, if asked. */
export function findChunk({ chunks }: ChunkList, type: number, tick: Tick, onlyKeys: boolean): ChunkEntry | undefined {
  // From the end: an hour has 30,000 chunks, and scanning them is cheap next to decoding one.
  return chunks.findLast(
    (chunk) => chunk.type === type && chunk.tick <= tick && (!onlyKeys || (chunk.flags & FLAG_KEY) !== 0),
  )
}

/** The ticks of a chunk whose body begins with their count; 0 when it is damaged. */
export function tickCountOf(list: ChunkList, chunk: ChunkEntry): number {
  const body = list.load(chunk)
  return body === undefined || body.length < 2 ? 0 : body[0] | (body[1] << 8)
}

function readHeadAt(source: ByteSource, offset: number): ChunkEntry | undefined {
  const entry = readChunkHead(source.read(offset, CHUNK_HEAD_BYTES), 0, offset)
  return entry !== undefined && offset + chunkBytes(entry.length) <= source.size ? entry : undefined
}

/** The body of a chunk, if the chunk is intact and matches the entry. */
function loadChunk(source: ByteSource, entry: ChunkEntry): Uint8Array | undefined {
  const size = chunkBytes(entry.length)
  const bytes = source.read(entry.offset, size)
  if (bytes.length !== size || !isChunkWhole(bytes)) return undefined
  const found = readChunkHead(bytes, 0, entry.offset)
  const isIt =
    found !== undefined
    && found.type === entry.type
    && found.flags === entry.flags
    && found.tick === entry.tick
    && found.length === entry.length
  return isIt ? bytes.subarray(CHUNK_HEAD_BYTES, size - CHECK_BYTES) : undefined
}

/** Follows the indexes from the end of the file; undefined when they do not cover every byte from `start` on. */
function readIndexes(source: ByteSource, start: number): Directory | undefined {
  const endAt = source.size - chunkBytes(END_BODY_BYTES)
  const end = endAt < start ? undefined : readHeadAt(source, endAt)
  const body = end?.type === CHUNK.end && end.length === END_BODY_BYTES ? loadChunk(source, end) : undefined
  if (body === undefined) return undefined
  const parts: ChunkEntry[][] = []
  let border = endAt
  for (let at = readU48(body, 0); at !== 0; ) {
    const index = at < border && at >= start ? readHeadAt(source, at) : undefined
    const listed =
      index?.type === CHUNK.index && at + chunkBytes(index.length) === border ? loadChunk(source, index) : undefined
    if (listed === undefined) return undefined
    const part = readIndex(source, listed, start, at)
    if (part === undefined) return undefined
    parts.push(part.chunks)
    border = part.border
    at = part.before
  }
  return border === start ? { chunks: parts.reverse().flat(), end: 'closed', tornBytes: 0, damagedCount: 0 } : undefined
}

/** The chunks of one index: from the end of the index before (`border`) to the index itself. */
function readIndex(
  source: ByteSource, body: Uint8Array, start: number, at: number,
): { chunks: ChunkEntry[]; before: number; border: number } | undefined {
  const reader = new BitReader(body)
  const before = readVarint(reader)
  const former = before === 0 ? undefined : before < at ? readHeadAt(source, before) : undefined
  if (before !== 0 && former === undefined) return undefined
  const border = former === undefined ? start : before + chunkBytes(former.length)
  const chunks: ChunkEntry[] = []
  let offset = border
  while (reader.bitsLeft > 0) {
    const type = reader.readBits(8)
    const flags = reader.readBits(8)
    const tick = readVarint(reader)
    const length = readVarint(reader)
    if (reader.failed) return undefined
    chunks.push({ type, flags, tick, offset, length })
    offset += chunkBytes(length)
    if (offset > at) return undefined
  }
  return !reader.failed && offset === at ? { chunks, before, border } : undefined
}

/** Reads every chunk in turn. */
function scan(source: ByteSource, start: number): Directory {
  const chunks: ChunkEntry[] = []
  let damagedCount = 0
  let offset = start
  for (;;) {
    const entry = readHeadAt(source, offset)
    const next = entry === undefined ? offset : offset + chunkBytes(entry.length)
    if (entry === undefined) break
    if (loadChunk(source, entry) === undefined) {
      // Either the tail of a crash, or a bad spot on a disk: then the next chunk is intact.
      const after = readHeadAt(source, next)
      if (after === undefined || loadChunk(source, after) === undefined) break
      damagedCount++
    } else if (entry.type === CHUNK.end) {
      return { chunks, end: 'closed', tornBytes: source.size - next, damagedCount }
    } else if (entry.type !== CHUNK.index && entry.type !== CHUNK.head) {
      chunks.push(entry)
    }
    offset = next
  }
  const tornBytes = source.size - offset
  return { chunks, end: tornBytes === 0 ? 'open' : 'torn', tornBytes, damagedCount }
}
