/**
 * The chunk: the unit of recordings. It has all that a reader needs to skip what it does not understand.
 *
 *   +--------+---------+------------+-------------+-- - - --+-----------+
 *   | type 8 | flags 8 | tick 48 LE | length 32 LE|  body   | check 32  |      12 + length + 4 bytes
 *   +--------+---------+------------+-------------+-- - - --+-----------+
 *
 * `check` is the low word of the content hash (base/hash.ts, seed 0) of all bytes before it. It detects torn writes and
 * disk errors. It is no protection against forgery: anyone who can write a file can compute the hash.
 *
 * Nothing here knows the content of a body.
 */

import { hashBytes } from '../base/hash.ts'
import { RECORDING_CHUNK_BYTES_MAX } from '../base/limits.ts'
import type { Tick } from '../base/time.ts'

/** The content of a chunk. Readers skip numbers that they do not know. */
export const CHUNK = {
  head: 1,
  rows: 2,
  inputs: 3,
  packets: 4,
  notes: 5,
  index: 6,
  end: 7,
  receivedRows: 8,
  openedPackets: 9,
  ticks: 10,
  image: 11,
  seal: 12,
  gap: 13,
  playerSeals: 14,
  hashes: 15,
  handover: 16,
} as const

/** Indexed by chunk type, for display. */
export const CHUNK_NAMES: readonly string[] = [
  '',
  'head',
  'rows',
  'inputs',
  'packets',
  'notes',
  'index',
  'end',
  'received rows',
  'opened packets',
  'ticks',
  'image',
  'seal',
  'gap',
  'player seals',
  'hashes',
  'handover',
]

/** In `flags`: the first tick of the chunk needs no tick before it. */
export const FLAG_KEY = 1

export const CHUNK_HEAD_BYTES = 12
export const CHECK_BYTES = 4

/** The position of a chunk, and the content of its head. */
export interface ChunkEntry {
  /** The type of the chunk: a number of `RECORDING_CHUNK`. */
  readonly type: number
  /** 1: playback can begin at its first tick. */
  readonly flags: number
  /** The first tick in it. */
  readonly tick: Tick
  /** The offset of its first byte in the file. */
  readonly offset: number
  /** Bytes of its body. */
  readonly length: number
}

/** The size of a chunk whose body has `length` bytes. */
export function chunkBytes(length: number): number {
  return CHUNK_HEAD_BYTES + length + CHECK_BYTES
}

/** Adds head and check to a body of `length` bytes at `bytes[CHUNK_HEAD_BYTES]`; returns the size of the chunk. */
export function sealChunk(bytes: Uint8Array, type: number, flags: number, tick: Tick, length: number): number {
  bytes[0] = type
  bytes[1] = flags
  writeU48(bytes, 2, tick)
  writeU32(bytes, 8, length)
  writeU32(bytes, CHUNK_HEAD_BYTES + length, checkOf(bytes, 0, CHUNK_HEAD_BYTES + length))
  return chunkBytes(length)
}

/** The head of a chunk at `bytes[at]`, which is at `offset` of its file; undefined when it is invalid. */
export function readChunkHead(bytes: Uint8Array, at: number, offset: number): ChunkEntry | undefined {
  if (at + CHUNK_HEAD_BYTES > bytes.length) return undefined
  const length = readU32(bytes, at + 8)
  if (length > RECORDING_CHUNK_BYTES_MAX) return undefined
  return { type: bytes[at], flags: bytes[at + 1], tick: readU48(bytes, at + 2), offset, length }
}

/** Whether the chunk that fills `bytes` is intact. */
export function isChunkWhole(bytes: Uint8Array): boolean {
  const end = bytes.length - CHECK_BYTES
  return end >= CHUNK_HEAD_BYTES && readU32(bytes, end) === checkOf(bytes, 0, end)
}

const hash = new Uint32Array(2)

function checkOf(bytes: Uint8Array, at: number, length: number): number {
  hashBytes(bytes, at, length, 0, hash, 0)
  return hash[0]
}

/** Whole numbers below 2^48, low byte first. */
export function writeU48(bytes: Uint8Array, at: number, value: number): void {
  writeU32(bytes, at, value % 0x1_0000_0000)
  const high = Math.floor(value / 0x1_0000_0000)
  bytes[at + 4] = high
  bytes[at + 5] = high >>> 8
}

export function readU48(bytes: Uint8Array, at: number): number {
  return readU32(bytes, at) + (bytes[at + 4] | (bytes[at + 5] << 8)) * 0x1_0000_0000
}

export function writeU32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value
  bytes[at + 1] = value >>> 8
  bytes[at + 2] = value >>> 16
  bytes[at + 3] = value >>> 24
}

export function readU32(bytes: Uint8Array, at: number): number {
  return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0
}
