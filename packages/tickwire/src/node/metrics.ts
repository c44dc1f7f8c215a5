/**
 * What a server has done and how it is, as numbers: collected when somebody asks, and written as Prometheus reads it.
 *
 * Counters only grow. Nothing in here says who plays.
 */

import type { DatagramPortStats, RoomHost } from '../core/index.ts'

/** One number, or one for each label. */
export interface Metric {
  readonly name: string
  readonly help: string
  readonly kind: 'counter' | 'gauge' | 'summary'
  readonly samples: readonly Sample[]
}

interface Sample {
  readonly value: number
  readonly labels?: { readonly [name: string]: string }
  /** Behind the name: `_sum`, `_count`. */
  readonly suffix?: string
}

/** What is measured. */
export interface Measured {
  readonly host: RoomHost
  readonly ports: { readonly stats: Readonly<DatagramPortStats> }
}

export const QUANTILES: readonly number[] = [0.5, 0.9, 0.99, 0.999]

/** All of it, now. */
export function collectMetrics({ host, ports }: Measured): Metric[] {
  const { rooms, door, counts, ticks, endpoint } = host
  const gauge = (name: string, help: string, value: number): Metric => ({ name, help, kind: 'gauge', samples: [{ value }] })
  const byLabel = (name: string, help: string, label: string, values: object): Metric => ({
    name, help, kind: 'counter', samples: Object.entries(values).map(([key, value]) => ({ value: Number(value), labels: { [label]: key } })),
  })
  const traffic = host.traffic()
  const memory = process.memoryUsage()
  return [
    gauge('tickwire_rooms', 'Rooms that are open.', rooms.length),
    gauge('tickwire_players', 'Seats of players that are not free.', host.players),
    gauge('tickwire_connections', 'Connections that have not ended.', endpoint.connections.length),
    gauge('tickwire_draining', '1 while nobody is let in any more.', host.isDraining ? 1 : 0),
    byLabel('tickwire_rooms_total', 'What became of rooms.', 'what', counts),
    byLabel('tickwire_joins_total', 'Everyone who asked for a seat, by what became of it.', 'result', door.counts),
    byLabel('tickwire_ticket_refusals_total', 'Tickets that were not good, by reason.', 'reason', door.tickets),
    {
      name: 'tickwire_tick_seconds', help: 'What ticks took, of all rooms.', kind: 'summary',
      samples: [
        ...QUANTILES.map((share) => ({ value: ticks.percentileMs(share) / 1000, labels: { quantile: String(share) } })),
        { suffix: '_sum', value: ticks.sumMs / 1000 }, { suffix: '_count', value: ticks.count },
      ],
    },
    byLabel('tickwire_ticks_skipped_total', 'Ticks of open rooms that were never run, because the process was late.', 'why', { late: rooms.reduce((sum, { loop }) => sum + loop.skippedTicks, 0) }),
    byLabel('tickwire_packets_total', 'Packets of connections.', 'way', { sent: traffic.packetsSent, received: traffic.packetsReceived, lost: traffic.packetsLost }),
    byLabel('tickwire_bytes_total', 'Bytes of those packets.', 'way', { sent: traffic.bytesSent, received: traffic.bytesReceived }),
    byLabel('tickwire_connection_drops_total', 'Packets that reached a connection and had no effect, by reason.', 'reason', traffic.drops),
    byLabel('tickwire_endpoint_drops_total', 'Datagrams that led nowhere, by reason.', 'reason', endpoint.drops),
    byLabel('tickwire_admission_drops_total', 'Strangers who got no answer, by reason.', 'reason', endpoint.admissionDrops),
    byLabel('tickwire_datagrams_total', 'What the sockets did.', 'what', ports.stats),
    gauge('process_resident_memory_bytes', 'Memory of the process.', memory.rss),
    gauge('process_heap_bytes', 'Of that, the heap of JavaScript in use.', memory.heapUsed),
    byLabel('process_cpu_seconds_total', 'Processor time.', 'mode', cpuSeconds()),
    gauge('process_uptime_seconds', 'Since the process began.', process.uptime()),
  ]
}

/** As Prometheus reads it. */
export function prometheusText(metrics: readonly Metric[]): string {
  const lines = metrics.flatMap(({ name, help, kind, samples }) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${kind}`,
    ...samples.map(({ value, labels = {}, suffix = '' }) => `${name}${suffix}${labelText(labels)} ${value}`),
  ])
  return `${lines.join('\n')}\n`
}

/** Reads numbers out of such a text: by name with its labels, as written. */
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
