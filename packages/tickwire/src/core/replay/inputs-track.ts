/**
 * What the players held, tick by tick, as the body of a chunk of inputs.
 *
 *   body     ticks 16 LE | tick | tick | …                       as many as that says, one after the other; then zeros to a byte
 *   tick     entries | 0
 *   entry    1 | gap varint | kind 2 | row, kinds 2 and 3        ascending by peer; gap = peer - the peer before - 1 (the first: peer)
 *     0 gone      he no longer holds anything
 *     1 turned    holds the same; what was on time is now missing, or the other way round
 *     2 row       holds this, on time: a delta against the initial row of the input, every field in its mask
 *     3 missing   holds this, and nothing came for this tick: the authority repeated what he held last
 *
 * Who is not spoken of holds what he held. At the start of a body nobody holds anything, so every chunk can be read alone.
 */

import { FRAME_BYTES_MAX } from '../base/limits.ts'
import type { PeerId, Tick } from '../base/time.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { readVarint, writeVarint } from '../bits/varint.ts'
import { dequantizeRow } from '../schema/cells.ts'
import { readDelta, writeDelta } from '../schema/row-delta.ts'
import type { Schema } from '../schema/schema.ts'
import { ValueHeap } from '../schema/value-heap.ts'
import { loadValues, type ValueStore } from '../schema/values.ts'
import { CHUNK, FLAG_KEY } from './chunk.ts'
import { ChunkBuffer } from './chunk-buffer.ts'
import { recordedSchema } from './recorded-schema.ts'
import { findChunk, type ChunkList } from './recording.ts'
import { COUNT_BITS } from './rows-writer.ts'

const KIND = { gone: 0, turned: 1, row: 2, missing: 3 } as const
const PEER_MAX = 0xffff_ffff
/** The mask with every field: `recordedSchema`. */
const EVERYTHING = 2

/** Few inputs are larger than this. */
const HELD_BYTES_FIRST = 32

/** What a player holds, as bits: those of a row, so that two are compared without their values being kept alive. */
class Held {
  bytes = new Uint8Array(HELD_BYTES_FIRST)
  bitLength = 0
  isMissing = false
  /** Told in this chunk: not at all, before this tick, changed in this tick. */
  isTold = false
  isChanged = false
  isTurned = false
  isHere = true

  /** Makes room for so many bytes. */
  reserve(length: number): void {
    if (this.bytes.length < length) this.bytes = new Uint8Array(2 * length)
  }
}

export class InputsWriter {
  readonly chunk: ChunkBuffer = new ChunkBuffer(CHUNK.inputs, COUNT_BITS)
  /** Ticks in the chunk. */
  count = 0
  readonly #schema: Schema
  readonly #held = new Map<PeerId, Held>()
  /** Who holds something, ascending. */
  #peers: PeerId[] = []
  readonly #scratch = new BitWriter(new Uint8Array(FRAME_BYTES_MAX))

  constructor(schema: Schema) {
    this.#schema = recordedSchema(schema, 'everything')
  }

  /** @hot What a player holds in the coming `endTick`. */
  hold(peer: PeerId, rows: Int32Array, at: number, heap: ValueStore, isMissing: boolean): void {
    const held = this.#held.get(peer) ?? this.#add(peer)
    const scratch = this.#scratch
    scratch.reset(scratch.bytes)
    writeDelta(scratch, this.#schema, this.#schema.masks[EVERYTHING], rows, at, this.#schema.initialRow, 0, heap)
    held.isHere = true
    held.isTurned = held.isMissing !== isMissing
    held.isMissing = isMissing
    // No frame could have brought it: then it is not in the recording either.
    if (scratch.failed) return
    const length = scratch.finish()
    held.isChanged = !held.isTold || scratch.bitLength !== held.bitLength || !isEqual(scratch.bytes, held.bytes, length)
    if (!held.isChanged) return
    held.bitLength = scratch.bitLength
    held.reserve(length)
    for (let byte = 0; byte < length; byte++) held.bytes[byte] = scratch.bytes[byte]
  }

  /** Appends what everybody holds in this tick. */
  endTick(tick: Tick): void {
    const { chunk } = this
    if (chunk.isEmpty && this.#peers.length === 0) return
    if (chunk.isEmpty) {
      chunk.tick = tick
      chunk.flags = FLAG_KEY
    }
    let said: ReturnType<ChunkBuffer['keep']>
    do {
      chunk.mark()
      this.#writeTick(chunk.writer)
      said = chunk.keep()
    } while (said === 'again')
    if (said === 'kept') this.count++
    this.#settle()
  }

  seal(): Uint8Array {
    return this.chunk.seal(this.count)
  }

  clear(): void {
    this.chunk.clear()
    this.count = 0
    for (const held of this.#held.values()) held.isTold = false
  }

  #writeTick(out: BitWriter): void {
    let next = 0
    for (const peer of this.#peers) {
      const held = this.#held.get(peer)
      if (held === undefined || (held.isHere && held.isTold && !held.isChanged && !held.isTurned)) continue
      if (!held.isHere && !held.isTold) continue
      out.writeBits(1, 1)
      writeVarint(out, peer - next)
      next = peer + 1
      const hasRow = held.isHere && (held.isChanged || !held.isTold)
      out.writeBits(!held.isHere ? KIND.gone : !hasRow ? KIND.turned : held.isMissing ? KIND.missing : KIND.row, 2)
      if (hasRow) out.copyBits(held.bytes, 0, held.bitLength)
    }
    out.writeBits(0, 1)
  }

  /** Everything was told; who does not hold again is gone. */
  #settle(): void {
    let isAnyGone = false
    for (const [peer, held] of this.#held) {
      if (held.isHere) {
        held.isTold = true
        held.isChanged = false
        held.isTurned = false
        held.isHere = false
      } else {
        this.#held.delete(peer)
        isAnyGone = true
      }
    }
    if (isAnyGone) this.#peers = this.#peers.filter((peer) => this.#held.has(peer))
  }

  #add(peer: PeerId): Held {
    const held = new Held()
    this.#held.set(peer, held)
    this.#peers = [...this.#held.keys()].sort((a, b) => a - b)
    return held
  }
}

function isEqual(a: Uint8Array, b: Uint8Array, length: number): boolean {
  for (let at = 0; at < length; at++) if (a[at] !== b[at]) return false
  return true
}

/** What a player held in a tick. */
export interface HeldInput {
  /** Lanes of the input's schema. */
  readonly row: Int32Array
  /** Nothing had come for this tick: the authority took what he held last. */
  readonly isMissing: boolean
}

/** Reads what was held. */
export class InputsReader {
  readonly #list: ChunkList
  readonly #schema: Schema
  /** Where texts and lists of inputs go. */
  readonly heap: ValueHeap

  constructor(list: ChunkList, schema: Schema, heap: ValueHeap = new ValueHeap()) {
    this.#list = list
    this.#schema = recordedSchema(schema, 'everything')
    this.heap = heap
  }

  /** An input as the game saw it: `{ left: true, aim: 0.5 }`. */
  valuesOf({ row }: HeldInput): Record<string, unknown> {
    const cells = new Float64Array(this.#schema.cellCount)
    dequantizeRow(this.#schema, row, 0, cells, 0)
    return loadValues(this.#schema, cells, 0, this.heap)
  }

  /** What everybody held in a tick, by peer; undefined when the recording does not say. */
  at(tick: Tick): ReadonlyMap<PeerId, HeldInput> | undefined {
    const chunk = findChunk(this.#list, CHUNK.inputs, tick, false)
    const body = chunk && this.#list.load(chunk)
    if (chunk === undefined || body === undefined) return undefined
    const reader = new BitReader(body)
    const count = reader.readBits(8) | (reader.readBits(8) << 8)
    if (tick - chunk.tick >= count) return undefined
    const held = new Map<PeerId, HeldInput>()
    for (let each = chunk.tick; each <= tick && !reader.failed; each++) this.#readTick(reader, held)
    return reader.failed ? undefined : held
  }

  #readTick(reader: BitReader, held: Map<PeerId, HeldInput>): void {
    let next = 0
    while (reader.readBits(1) === 1) {
      const peer = next + readVarint(reader)
      const kind = reader.readBits(2)
      const former = held.get(peer)
      if (peer > PEER_MAX || (kind < KIND.row && former === undefined)) reader.fail()
      if (reader.failed) return
      next = peer + 1
      if (kind === KIND.gone) held.delete(peer)
      else if (former !== undefined && kind === KIND.turned) held.set(peer, { row: former.row, isMissing: !former.isMissing })
      else held.set(peer, { row: this.#readRow(reader), isMissing: kind === KIND.missing })
    }
  }

  #readRow(reader: BitReader): Int32Array {
    const schema = this.#schema
    const row = new Int32Array(schema.laneCount)
    readDelta(reader, schema, schema.masks[EVERYTHING], row, 0, schema.initialRow, 0, this.heap)
    return row
  }
}
