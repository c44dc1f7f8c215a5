/**
 * The inputs of the players, tick by tick, as the body of an inputs chunk.
 *
 *   body     ticks 16 LE | tick | tick | …                       as many as that says, then zeros to a byte
 *   tick     entries | 0
 *   entry    1 | gap varint | kind 2 | row, kinds 2 and 3        ascending by peer; gap = peer - the peer before - 1
 *                                                                (the first: peer)
 *     0 gone      the peer no longer has an input
 *     1 turned    the same input; it was on time and is now missing, or the reverse
 *     2 row       this input, on time: a delta against the initial row of the input, every field in its mask
 *     3 missing   this input, and no packet brought it for this tick: the authority repeated the peer's last input
 *
 * A peer without an entry keeps its input. At the start of a body no peer has an input, so every chunk can be read
 * alone.
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

/** Larger than most inputs. */
const HELD_BYTES_FIRST = 32

/** A player's input as encoded bits, so that two inputs can be compared without keeping their values alive. */
class Held {
  bytes = new Uint8Array(HELD_BYTES_FIRST)
  bitLength = 0
  isMissing = false
  /** Whether it is already in this chunk, and whether it changed in this tick. */
  isWritten = false
  isChanged = false
  isTurned = false
  /** It changed in a tick that did not fit the chunk, so the next tick writes it. */
  isOwed = false
  isHere = true

  /** Makes room for `length` bytes. */
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
  /** Peers with an input, ascending. */
  #peers: PeerId[] = []
  readonly #scratch = new BitWriter(new Uint8Array(FRAME_BYTES_MAX))

  constructor(schema: Schema) {
    this.#schema = recordedSchema(schema, 'everything')
  }

  /** Sets a player's input for the next `endTick`. @hot */
  hold(peer: PeerId, rows: Int32Array, at: number, heap: ValueStore, isMissing: boolean): void {
    const held = this.#held.get(peer) ?? this.#add(peer)
    const scratch = this.#scratch
    scratch.reset(scratch.bytes)
    writeDelta(scratch, this.#schema, this.#schema.masks[EVERYTHING], rows, at, this.#schema.initialRow, 0, heap)
    held.isHere = true
    held.isTurned = held.isMissing !== isMissing
    held.isMissing = isMissing
    // No frame could have carried it: then it is not in the recording either.
    if (scratch.failed) return
    const length = scratch.finish()
    held.isChanged = !held.isWritten || held.isOwed
      || scratch.bitLength !== held.bitLength
      || !isEqual(scratch.bytes, held.bytes, length)
    if (!held.isChanged) return
    held.bitLength = scratch.bitLength
    held.reserve(length)
    for (let byte = 0; byte < length; byte++) held.bytes[byte] = scratch.bytes[byte]
  }

  /** Appends the inputs of all players in this tick. */
  endTick(tick: Tick): void {
    const { chunk } = this
    if (chunk.isEmpty && this.#peers.length === 0) return
    if (chunk.isEmpty) {
      chunk.tick = tick
      chunk.flags = FLAG_KEY
    }
    if (this.#append(false)) {
      this.count++
      this.#settle()
      return
    }
    // The tick does not fit. It stays in the chunk without entries, so that later ticks keep their places.
    if (this.#append(true)) this.count++
    this.#oweTick()
  }

  /** Writes one tick, with its entries or without. False when it does not fit the largest chunk. */
  #append(isEmpty: boolean): boolean {
    const { chunk } = this
    for (;;) {
      chunk.mark()
      if (isEmpty) chunk.writer.writeBits(0, 1)
      else this.#writeTick(chunk.writer)
      const said = chunk.keep()
      if (said !== 'again') return said === 'kept'
    }
  }

  /** The tick was not written. The next tick writes what changed in it. */
  #oweTick(): void {
    for (const held of this.#held.values()) {
      if (held.isHere && (held.isChanged || held.isTurned)) held.isOwed = true
      held.isHere = false
    }
  }

  seal(): Uint8Array {
    return this.chunk.seal(this.count)
  }

  clear(): void {
    this.chunk.clear()
    this.count = 0
    for (const held of this.#held.values()) held.isWritten = false
  }

  #writeTick(out: BitWriter): void {
    let next = 0
    for (const peer of this.#peers) {
      const held = this.#held.get(peer)
      if (held === undefined || (held.isHere && held.isWritten && !held.isChanged && !held.isTurned)) continue
      if (!held.isHere && !held.isWritten) continue
      out.writeBits(1, 1)
      writeVarint(out, peer - next)
      next = peer + 1
      const hasRow = held.isHere && (held.isChanged || !held.isWritten)
      out.writeBits(!held.isHere ? KIND.gone : !hasRow ? KIND.turned : held.isMissing ? KIND.missing : KIND.row, 2)
      if (hasRow) out.copyBits(held.bytes, 0, held.bitLength)
    }
    out.writeBits(0, 1)
  }

  /** All inputs are written. A peer without a new call of `hold` is gone. */
  #settle(): void {
    let isAnyGone = false
    for (const [peer, held] of this.#held) {
      if (held.isHere) {
        held.isWritten = true
        held.isChanged = false
        held.isTurned = false
        held.isOwed = false
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

/** A player's input in a tick. */
export interface HeldInput {
  /** Lanes of the input's schema. */
  readonly row: Int32Array
  /** No input arrived for this tick: the authority repeated the player's last input. */
  readonly isMissing: boolean
}

/** Reads recorded inputs. */
export class InputsReader {
  readonly #list: ChunkList
  readonly #schema: Schema
  /** The heap for texts and lists of inputs. */
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

  /** The inputs of all players in a tick, by peer; undefined when the recording does not have it. */
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
      else if (former !== undefined && kind === KIND.turned)
        held.set(peer, { row: former.row, isMissing: !former.isMissing })
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
