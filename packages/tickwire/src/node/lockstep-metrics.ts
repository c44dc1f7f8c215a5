/** The metrics of lockstep matches, collected on request. Nothing in here identifies a player. */

import type { DatagramPortStats } from '../core/endpoint/datagram-port.ts'
import type { RelayMatch } from '../core/relaying/relay-match.ts'
import type { RoomHost } from '../core/rooms/room-host.ts'
import type { Metric } from './metrics.ts'

/** All metrics, now. */
export function lockstepMetrics(
  host: RoomHost<RelayMatch>, { stats }: { readonly stats: Readonly<DatagramPortStats> },
): Metric[] {
  const { rooms } = host
  const orders: Record<string, number> = {}
  for (const { relay } of rooms)
    for (const [what, value] of Object.entries(relay.counts)) orders[what] = (orders[what] ?? 0) + Number(value)
  return [
    gauge('tickwire_lockstep_games', 'Open matches.', rooms.length),
    gauge('tickwire_lockstep_players', 'Taken and kept seats of players.', host.players),
    gauge('tickwire_connections', 'Open connections.', host.endpoint.connections.length),
    gauge('tickwire_draining', '1 while new players are refused.', host.isDraining ? 1 : 0),
    gauge('tickwire_lockstep_log_bytes', 'Bytes of the ticks of open matches.',
      rooms.reduce((sum, { relay }) => sum + relay.log.length, 0)),
    byLabel('tickwire_lockstep_games_total', 'Matches by event.', 'what', host.counts),
    gauge('tickwire_lockstep_ticks', 'Closed ticks of open matches.',
      rooms.reduce((sum, { relay }) => sum + relay.log.newest, 0)),
    {
      ...byLabel('tickwire_lockstep_orders', 'Orders of open matches, by what happened.', 'what', orders),
      kind: 'gauge',
    },
    byLabel('tickwire_joins_total', 'Requests for a seat, by result.', 'result', host.door.counts),
    byLabel('tickwire_datagrams_total', 'Datagrams of the sockets, by event.', 'what', stats),
    gauge('process_resident_memory_bytes', 'Memory of the process.', process.memoryUsage().rss),
  ]
}

function gauge(name: string, help: string, value: number): Metric {
  return { name, help, kind: 'gauge', samples: [{ value }] }
}

function byLabel(name: string, help: string, label: string, values: object): Metric {
  const samples = Object.entries(values).map(([key, value]) => ({ value: Number(value), labels: { [label]: key } }))
  return { name, help, kind: 'counter', samples }
}
