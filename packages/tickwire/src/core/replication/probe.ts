/**
 * Who is told of every bit of a snapshot: whom it went to, what it was of, and why it was sent.
 *
 * Unset it costs one comparison a frame. It is told when an entry is copied into a packet, and not whether that packet
 * arrives: bits are spent when they are sent. Who only adds up (`onEntries`) is told of what many are sent at once, after the tick; anybody
 * else of each entry by itself, and then nothing is copied whole.
 */

import type { PeerId, Tick } from '../base/time.ts'
import type { RowPair } from '../codec/row-coder.ts'

/** Why an entry was sent. */
export const REASON = {
  /** The client has not confirmed any row of it yet. */
  entered: 0,
  /** Its row, as far as this client may see it, is not what he was last told. */
  changed: 1,
  /** What he was told went under. */
  lost: 2,
  /** He holds it but not what a delta could build on: other fields may be seen, a baseline is gone, or he asked. */
  full: 3,
  /** It left his view, or the world. */
  gone: 4,
} as const

/** Told of snapshots as they are written. */
export interface Probe {
  /** One entry of a frame, with all its bits, head included. */
  onEntry(client: PeerId, index: number, type: number, reason: number, bits: number): void
  /** So many entries of one object, to whomever, with the bits of all of them. */
  onEntries?(index: number, type: number, reason: number, count: number, bits: number): void
  /** One frame: bits that belong to no entry (its tick, and the zeros that fill its last byte), and those of all entries. */
  onFrame(client: PeerId, tick: Tick, headBits: number, entryBits: number): void
}

/** Who only adds up. */
export type Adder = Required<Pick<Probe, 'onEntries'>>

/** Told of rows as they are read: what a delta was over, so that its bits can be told apart by field. */
export interface RowProbe {
  onRow(type: number, set: number, pair: RowPair): void
}
