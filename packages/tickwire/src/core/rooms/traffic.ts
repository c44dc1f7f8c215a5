/**
 * The sum of the statistics of all connections, including ended ones. The numbers only grow.
 */

import type { Connection } from '../connection/connection.ts'
import { ConnectionStats } from '../connection/stats.ts'

const COUNTERS = [
  'packetsSent',
  'bytesSent',
  'packetsReceived',
  'bytesReceived',
  'packetsDelivered',
  'packetsLost',
  'packetsNotAcked',
  'pathMoves',
] as const satisfies readonly (keyof ConnectionStats)[]

export class Traffic {
  readonly #ended = new ConnectionStats()
  readonly #counted = new WeakSet<Connection>()

  /** Adds the statistics of a connection that has ended. */
  handleEnded(connection: Connection): void {
    this.#counted.add(connection)
    add(this.#ended, connection.stats)
  }

  /** The total, including the given open connections. */
  sum(connections: readonly Connection[]): ConnectionStats {
    const sum = new ConnectionStats()
    add(sum, this.#ended)
    for (const connection of connections) if (!this.#counted.has(connection)) add(sum, connection.stats)
    return sum
  }
}

function add(sum: ConnectionStats, stats: ConnectionStats): void {
  for (const name of COUNTERS) sum[name] += stats[name]
  for (const name of Object.keys(sum.drops) as (keyof ConnectionStats['drops'])[]) sum.drops[name] += stats.drops[name]
}
