/**
 * Observes every bit of a snapshot: which client it was sent to, which object it describes, and why it was sent.
 *
 * Without a probe the cost is one comparison per frame. The probe is called when an entry is copied into a packet,
 * whether or not that packet arrives: bits are spent when they are sent. A probe with `onEntries` receives the totals
 * of the bulk path after the tick. A probe without it is called for each entry, and then the bulk path copies no whole
 * blocks.
 */

import type { PeerId, Tick } from '../base/time.ts'
import type { RowPair } from '../codec/row-coder.ts'

/** Why an entry was sent. */
export const REASON = {
  /** The client has not acknowledged any row of the object yet. */
  entered: 0,
  /** The row, as far as this client may see it, differs from the last row sent. */
  changed: 1,
  /** The last row sent was lost. */
  lost: 2,
  /**
   * The client holds the object but no usable baseline: the field set changed, the baseline is gone, or the client
   * asked.
   */
  full: 3,
  /** The object left the client's view, or the world. */
  gone: 4,
} as const

/** Called as snapshots are written. */
export interface Probe {
  /** One entry of a frame, with all its bits, head included. */
  onEntry(client: PeerId, index: number, type: number, reason: number, bits: number): void
  /** `count` entries of one object, to any clients, with the bits of all of them. */
  onEntries?(index: number, type: number, reason: number, count: number, bits: number): void
  /**
   * One frame: the bits that belong to no entry (its tick, and the zeros that fill its last byte), and the bits of all
   * entries.
   */
  onFrame(client: PeerId, tick: Tick, headBits: number, entryBits: number): void
}

/** A probe that accepts totals. */
export type Adder = Required<Pick<Probe, 'onEntries'>>

/** Called for each row read, with the baseline of the delta, so that its bits can be attributed to fields. */
export interface RowProbe {
  onRow(type: number, set: number, pair: RowPair): void
}
