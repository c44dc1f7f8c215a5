/**
 * The table of a role: which frames a connection sends and receives, and which source or sink each kind has.
 *
 * `server-frames.ts` and `client-frames.ts` have one table for each role. A new role is a new table.
 */

import type { Connection } from '../connection/connection.ts'
import type { FrameSink, FrameSource } from '../packet/frame-source.ts'

/** One row of a table. `L` is the line that the sources and sinks belong to. */
export interface FrameRow<L> {
  /** A number of `FRAME_KIND`. */
  readonly kind: number
  /** The sources of such frames. None if this match does not send them. */
  readonly sources?: (line: L) => readonly FrameSource[]
  /** The share of the bandwidth among sources with a weight. 0, the default: the source goes before those. */
  readonly weight?: number
  /** The sink for such frames. Undefined if this match does not receive them. */
  readonly sink?: (line: L) => FrameSink | undefined
}

/** Adds the sources and sinks of a line to its connection. Sources fill a packet in the order of the rows. */
export function addFrames<L>(connection: Connection, line: L, table: readonly FrameRow<L>[]): void {
  for (const { kind, sources, weight, sink } of table) {
    for (const source of sources?.(line) ?? []) connection.addSource(kind, source, weight)
    const found = sink?.(line)
    if (found !== undefined) connection.addSink(kind, found)
  }
}
