/**
 * The server's counters and gauges, collected on request, and written in the Prometheus text format.
 *
 * Counters only grow. Nothing in here identifies a player.
 */

import type { DatagramPortStats } from '../core/endpoint/datagram-port.ts'
import type { Match } from '../core/game/match.ts'
import type { DurationHistogram } from '../core/rooms/duration-histogram.ts'
import type { RefusalLog } from './refusal-log.ts'
import type { RoomHost } from '../core/rooms/room-host.ts'

/** One metric: a single sample, or one for each label. */
export interface Metric {
  readonly name: string
  readonly help: string
  readonly kind: 'counter' | 'gauge' | 'summary'
  readonly samples: readonly Sample[]
}

/** One value of a metric. */
export interface Sample {
  readonly value: number
  readonly labels?: { readonly [name: string]: string }
  /** Appended to the name: `_sum`, `_count`. */
  readonly suffix?: string
}

/** What the metrics are collected from. */
export interface Measured {
  readonly host: RoomHost<Match>
  readonly ports: { readonly stats: Readonly<DatagramPortStats> }
  readonly refusals: Pick<RefusalLog, 'counts'>
}

export const QUANTILES: readonly number[] = [0.5, 0.9, 0.99, 0.999]

/** All metrics, now. */
export function collectMetrics({ host, ports, refusals }: Measured): Metric[] {
  const { rooms, door, counts, ticks, endpoint } = host
  const traffic = host.traffic()
  return [
    gauge('tickwire_rooms', 'Open rooms.', rooms.length),
    gauge('tickwire_players', 'Taken and kept seats of players.', host.players),
    gauge('tickwire_connections', 'Open connections.', endpoint.connections.length),
    gauge('tickwire_draining', '1 while new players are refused.', host.isDraining ? 1 : 0),
    byLabel('tickwire_rooms_total', 'Rooms by event.', 'what', counts),
    byLabel(
      'tickwire_callback_faults_total',
      'Exceptions of callbacks of the game, by callback.',
      'callback',
      Object.fromEntries([...host.codeFaults, ...host.guard.counts]),
    ),
    byLabel('tickwire_joins_total', 'Requests for a seat, by result.', 'result', door.counts),
    byLabel('tickwire_refusals_total', 'Refused, once per origin and minute, by reason.', 'reason', refusals.counts),
    byLabel('tickwire_ticket_refusals_total', 'Refused tickets, by reason.', 'reason', door.tickets),
    tickSeconds(ticks),
    byLabel(
      'tickwire_ticks_skipped_total',
      'Ticks of open rooms that were skipped because the process was late.',
      'why',
      { late: rooms.reduce((sum, { loop }) => sum + loop.skippedTicks, 0) },
    ),
    byLabel(
      'tickwire_values_total',
      'Values of open rooms that were changed to fit their fields: clipped, or refused for lack of room.',
      'what',
      {
        clipped: rooms.reduce((sum, { world }) => sum + world.valueCounts.clipped, 0),
        refused: rooms.reduce((sum, { world }) => sum + world.valueCounts.refused, 0),
      },
    ),
    byLabel('tickwire_packets_total', 'Packets of connections.', 'way', {
      sent: traffic.packetsSent,
      received: traffic.packetsReceived,
      lost: traffic.packetsLost,
    }),
    byLabel('tickwire_bytes_total', 'Bytes of those packets.', 'way', {
      sent: traffic.bytesSent,
      received: traffic.bytesReceived,
    }),
    byLabel(
      'tickwire_connection_drops_total',
      'Packets of connections that were dropped, by reason.',
      'reason',
      traffic.drops,
    ),
    byLabel('tickwire_endpoint_drops_total', 'Datagrams without a connection, by reason.', 'reason', endpoint.drops),
    byLabel('tickwire_admission_drops_total', 'Requests without an answer.', 'reason', endpoint.admissionDrops),
    byLabel('tickwire_datagrams_total', 'Datagrams of the sockets, by event.', 'what', ports.stats),
    ...processMetrics(),
  ]
}

/** The summary of durations of ticks. */
export function tickSeconds(ticks: DurationHistogram): Metric {
  return {
    name: 'tickwire_tick_seconds', help: 'Duration of ticks, of all rooms.', kind: 'summary',
    samples: [
      ...QUANTILES.map((share) => ({ value: ticks.percentileMs(share) / 1000, labels: { quantile: String(share) } })),
      { suffix: '_sum', value: ticks.sumMs / 1000 }, { suffix: '_count', value: ticks.count },
    ],
  }
}

/** Those of the process, for every process of a server. */
export function processMetrics(): Metric[] {
  const memory = process.memoryUsage()
  return [
    gauge('process_resident_memory_bytes', 'Memory of the process.', memory.rss),
    gauge('process_heap_bytes', 'JavaScript heap in use.', memory.heapUsed),
    byLabel('process_cpu_seconds_total', 'Processor time.', 'mode', cpuSeconds()),
    gauge('process_uptime_seconds', 'Time since the start of the process.', process.uptime()),
  ]
}

export function gauge(name: string, help: string, value: number): Metric {
  return { name, help, kind: 'gauge', samples: [{ value }] }
}

export function byLabel(name: string, help: string, label: string, values: object): Metric {
  const samples = Object.entries(values).map(([key, value]) => ({ value: Number(value), labels: { [label]: key } }))
  return { name, help, kind: 'counter', samples }
}

/** Metrics in the Prometheus text format. */
export function prometheusText(metrics: readonly Metric[]): string {
  const lines = metrics.flatMap(({ name, help, kind, samples }) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${kind}`,
    ...samples.map(({ value, labels = {}, suffix = '' }) => `${name}${suffix}${labelText(labels)} ${value}`),
  ])
  return `${lines.join('\n')}\n`
}

/** Parses the Prometheus text format. Values are keyed by name with labels, as written. */
export function readPrometheus(text: string): Map<string, number> {
  const values = new Map<string, number>()
  for (const line of text.split('\n')) {
    const at = line.lastIndexOf(' ')
    if (at > 0 && !line.startsWith('#')) values.set(line.slice(0, at), Number(line.slice(at + 1)))
  }
  return values
}

function labelText(labels: { readonly [name: string]: string }): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function cpuSeconds(): { readonly user: number; readonly system: number } {
  const { user, system } = process.cpuUsage()
  return { user: user / 1e6, system: system / 1e6 }
}
