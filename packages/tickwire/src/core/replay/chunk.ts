/**
 * The chunk: what recordings are made of. Everything a reader must know to step over what it does not understand.
 *
 *   +--------+---------+------------+-------------+-- - - --+-----------+
 *   | type 8 | flags 8 | tick 48 LE | length 32 LE|  body   | check 32  |      12 + length + 4 bytes
 *   +--------+---------+------------+-------------+-- - - --+-----------+
 *
 * `check` is the low word of the content hash (base/hash.ts, seed 0) of all before it. It finds what a crash tore and
 * what a disk forgot; it does not keep out who wants to deceive, for whoever can write a file can hash.
 *
 * Nothing here knows what is in a body.
 */

import { hashBytes } from '../base/hash.ts'
import { RECORDING_CHUNK_BYTES_MAX } from '../base/limits.ts'
import type { Tick } from '../base/time.ts'

/** What is in a chunk. Readers step over numbers that they do not know. */
export const CHUNK = { head: 1, rows: 2, inputs: 3, packets: 4, notes: 5, index: 6, end: 7, toldRows: 8, openedPackets: 9 } as const

/** By number, for people. */
export const CHUNK_NAMES: readonly string[] = ['', 'head', 'rows', 'inputs', 'packets', 'notes', 'index', 'end', 'told rows', 'opened packets']

/** In `flags`: the first tick in it needs none before it. */
export const FLAG_KEY = 1

export const CHUNK_HEAD_BYTES = 12
export const CHECK_BYTES = 4

/** Where a chunk lies, and what its head says. */
export interface ChunkEntry {
  readonly type: number
  readonly flags: number
  /** The first tick that it speaks of. */
  readonly tick: Tick
  /** Of its first byte, in the file. */
  readonly offset: number
  /** Bytes of its body. */
  readonly length: number
}

/** Bytes of a chunk with a body of so many. */
export function chunkBytes(length: number): number {
  return CHUNK_HEAD_BYTES + length + CHECK_BYTES
}

/** Puts head and check around a body of `length` bytes that stands at `bytes[CHUNK_HEAD_BYTES]`; returns the size of it all. */
export function sealChunk(bytes: Uint8Array, type: number, flags: number, tick: Tick, length: number): number {
  bytes[0] = type
  bytes[1] = flags
  writeU48(bytes, 2, tick)
  writeU32(bytes, 8, length)
  writeU32(bytes, CHUNK_HEAD_BYTES + length, checkOf(bytes, 0, CHUNK_HEAD_BYTES + length))
  return chunkBytes(length)
}

/** The head of a chunk at `bytes[at]` that stands at `offset` of its file; undefined when it cannot be one. */
export function readChunkHead(bytes: Uint8Array, at: number, offset: number): ChunkEntry | undefined {
  if (at + CHUNK_HEAD_BYTES > bytes.length) return undefined
  const length = readU32(bytes, at + 8)
  if (length > RECORDING_CHUNK_BYTES_MAX) return undefined
  return { type: bytes[at], flags: bytes[at + 1], tick: readU48(bytes, at + 2), offset, length }
}

/** Whether the chunk that fills `bytes` is as it was written. */
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
