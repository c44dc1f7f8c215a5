/**
 * The counters of a match, in one object: packets, bytes, snapshot rows and inputs, summed over all players.
 *
 * The numbers only grow. When a player leaves, the counts of its connection are kept.
 */

import type { Connection } from '../connection/connection.ts'
import type { BandwidthReport } from '../bandwidth/bit-account.ts'
import type { InputBuffer } from '../time/input-buffer.ts'

/** Counters of a match, over all its connections. */
export interface MatchCounters {
  /** Packets sent. */
  packetsSent: number
  /** Packets received. */
  packetsReceived: number
  /** Packets that reached a connection and had no effect: duplicates, forged, malformed, over the limit. */
  packetsDropped: number
  /** Bytes sent. */
  bytesSent: number
  /** Bytes received. */
  bytesReceived: number
  /** Rows sent as a delta against a baseline that the client holds. Restarts at `watch.resetBandwidth`. */
  rowsDelta: number
  /** Rows sent in full: the object came into view, or there was no baseline. */
  rowsFull: number
  /** Received inputs, counted on each arrival; duplicates among them; inputs that arrived after their tick. */
  inputsReceived: number
  /** Inputs that had arrived before. */
  inputsDuplicated: number
  /** Inputs that arrived after their tick. */
  inputsLate: number
}

/** A connection and the inputs received on it. */
interface Counted {
  readonly connection: Connection
  readonly inputs: InputBuffer
}

export class MatchCounting {
  readonly #ended = countersOf()

  /** Adds the counts of a connection that has ended. */
  handleEnded(line: Counted): void {
    add(this.#ended, line)
  }

  /** The total, including open connections. */
  sum(lines: Iterable<Counted>, { entries }: Pick<BandwidthReport, 'entries'>): MatchCounters {
    const sum = { ...this.#ended, rowsDelta: entries.changed + entries.lost, rowsFull: entries.entered + entries.full }
    for (const line of lines) add(sum, line)
    return sum
  }
}

function countersOf(): MatchCounters {
  return {
    packetsSent: 0, packetsReceived: 0, packetsDropped: 0, bytesSent: 0, bytesReceived: 0, rowsDelta: 0, rowsFull: 0,
    inputsReceived: 0, inputsDuplicated: 0, inputsLate: 0,
  }
}

function add(sum: MatchCounters, { connection: { stats }, inputs }: Counted): void {
  sum.packetsSent += stats.packetsSent
  sum.packetsReceived += stats.packetsReceived
  for (const count of Object.values(stats.drops)) sum.packetsDropped += count
  sum.bytesSent += stats.bytesSent
  sum.bytesReceived += stats.bytesReceived
  sum.inputsReceived += inputs.receivedInputs
  sum.inputsDuplicated += inputs.duplicateInputs
  sum.inputsLate += inputs.lateInputs
}
