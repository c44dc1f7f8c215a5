/**
 * The inputs of other players, for a client that simulates all objects: the inputs that the authority used in a tick.
 *
 *   +--------------+---------------+------------------------------------------------------------+
 *   | tick, varint | count, varint | count times: peer, varint | delta from the initial row     |
 *   +--------------+---------------+------------------------------------------------------------+
 *
 * It is sent completely with every snapshot, so a loss is repaired by the next one. Between frames the last input is
 * held.
 */

import { PLAYERS_PER_MATCH_MAX } from '../base/limits.ts'
import type { Millis, PeerId, Tick } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { readVarint, writeVarint } from '../bits/varint.ts'
import type { FrameSink, FrameSource, FrameVerdict } from '../packet/frame-source.ts'
import { readDelta, writeDelta } from '../schema/row-delta.ts'
import type { Schema } from '../schema/schema.ts'
import type { ValueHeap } from '../schema/value-heap.ts'
import { InputRing } from './input-ring.ts'

const PEER_MAX = 0xffff_ffff

/** The inputs of all players in the tick that was run last. */
export interface HeldByPeers {
  readonly tick: Tick
  /** Calls `each` for every player in the match. */
  forEachHeld(each: (peer: PeerId, row: Int32Array) => void): void
}

export class PeerInputsSource implements FrameSource {
  readonly #schema: Schema
  readonly #heap: ValueHeap
  readonly #held: HeldByPeers
  readonly #receiver: PeerId
  readonly #period: number
  #sentTick: Tick = -1

  /** `receiver` knows its own input, which is left out. Sent once for each tick that `period` divides. */
  constructor(schema: Schema, heap: ValueHeap, held: HeldByPeers, receiver: PeerId, period: number) {
    this.#schema = schema
    this.#heap = heap
    this.#held = held
    this.#receiver = receiver
    this.#period = period
  }

  /** Only a new tick makes this source want a packet, and the code that runs ticks wakes the connections. */
  attach(): void {}

  begin(): void {}

  wantsAt(now: Millis): Millis {
    return this.#isDue() ? now : Infinity
  }

  fill(_now: Millis, _sequence: number, out: BitWriter): boolean {
    if (!this.#isDue()) return false
    const { tick } = this.#held
    const schema = this.#schema
    let count = 0
    this.#held.forEachHeld((peer) => { if (peer !== this.#receiver) count++ })
    writeVarint(out, tick)
    writeVarint(out, count)
    this.#held.forEachHeld((peer, row) => {
      if (peer === this.#receiver) return
      writeVarint(out, peer)
      writeDelta(out, schema, schema.masks[0], row, 0, schema.initialRow, 0, this.#heap)
    })
    this.#sentTick = tick
    if (!out.failed) return true
    // Too large for a packet: the client holds the old inputs, and received rows correct the result.
    out.rewind(0)
    return false
  }

  onDelivered(): void {}

  onLost(): void {}

  #isDue(): boolean {
    const { tick } = this.#held
    return tick - tick % this.#period > this.#sentTick
  }
}

export class PeerInputsSink implements FrameSink {
  /** The inputs of all other players. Indexed by peer. */
  readonly rings: Map<PeerId, InputRing> = new Map<PeerId, InputRing>()
  /** The newest tick received. */
  tick: Tick = -1
  readonly #schema: Schema
  readonly #heap: ValueHeap
  readonly #row: Int32Array

  constructor(schema: Schema, heap: ValueHeap) {
    this.#schema = schema
    this.#heap = heap
    this.#row = new Int32Array(schema.laneCount)
  }

  accept(_now: Millis, _sequence: number, frame: BitReader): FrameVerdict {
    const schema = this.#schema
    const tick = readVarint(frame)
    const count = readVarint(frame)
    if (count > PLAYERS_PER_MATCH_MAX) frame.fail()
    let before = -1
    for (let number = 0; number < count && !frame.failed; number++) {
      const peer = readVarint(frame)
      if (peer > PEER_MAX || peer === before) frame.fail()
      before = peer
      readDelta(frame, schema, schema.masks[0], this.#row, 0, schema.initialRow, 0, this.#heap)
      if (!frame.failed) this.#keep(peer, tick)
    }
    if (!frame.finish()) return 'broken'
    if (tick > this.tick) this.tick = tick
    return 'ok'
  }

  markValues(heap: ValueHeap): void {
    for (const { rows, laneCount } of this.rings.values()) {
      for (let at = 0; at < rows.length; at += laneCount) heap.markRow(this.#schema, rows, at)
    }
  }

  #keep(peer: PeerId, tick: Tick): void {
    let ring = this.rings.get(peer)
    if (ring === undefined) this.rings.set(peer, ring = new InputRing(this.#schema.laneCount))
    ring.rows.set(this.#row, ring.at(tick))
    ring.keep(tick)
  }
}
