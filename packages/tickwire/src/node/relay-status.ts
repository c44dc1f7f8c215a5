/**
 * The operator port of a relay or STUN server: /healthz, /readyz and /metrics, on this machine only by default.
 *
 * Counters only grow. Nothing in here has an address.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createHttpDoor } from './http-door.ts'
import { listen, portOf } from './listen.ts'
import { type Metric, prometheusText } from './metrics.ts'
import { isLoopbackHost } from './page-origin.ts'
import type { UdpPort } from './udp.ts'

/** What the operator port reports. */
export interface RelayStatus {
  readonly port: UdpPort
  readonly counts: object
  /** Current values by name, such as allocations. */
  readonly gauges: () => { readonly [name: string]: number }
  /** Whether new peers are accepted. */
  readonly isReady: () => boolean
}

/** What the operator port of any program reports. */
export interface ProgramStatus {
  /** Whether new peers are accepted. */
  readonly isReady: () => boolean
  /** All metrics, now. */
  readonly metrics: () => readonly Metric[]
}

/** An open operator port. */
export interface RelayStatusServer {
  readonly url: string
  close(): Promise<void>
}

/** Opens the operator port of a relay. Throws `ConfigError` when it is taken. */
export async function openRelayStatus(
  number: number, status: RelayStatus, address?: string,
): Promise<RelayStatusServer> {
  return await openProgramStatus(number, { isReady: status.isReady, metrics: () => metricsOf(status) }, address)
}

/** Opens an operator port. Throws `ConfigError` when it is taken. */
export async function openProgramStatus(
  number: number, status: ProgramStatus, address: string = '127.0.0.1',
): Promise<RelayStatusServer> {
  const isLoopback = isLoopbackHost(address)
  const server = createHttpDoor((request, response) => answer(request, response, status, isLoopback))
  await listen(server, number, address)
  return {
    url: `http://${address}:${portOf(server, number)}`,
    close: () => new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    }),
  }
}

function answer(
  { url = '/', method, headers }: IncomingMessage, response: ServerResponse, status: ProgramStatus, isLoopback: boolean,
): void {
  const reply = (code: number, text: string, type: string = 'text/plain'): void => {
    const head = { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'no-store' }
    response.writeHead(code, { ...head, 'x-content-type-options': 'nosniff' }).end(text)
  }
  if (isLoopback && !isLoopbackHost(headers.host)) return reply(421, 'Ask for this machine by its own name.\n')
  if (method !== 'GET' && method !== 'HEAD') return reply(405, 'Only GET is answered here.\n')
  switch (url.split('?', 1)[0]) {
    case '/healthz': return reply(200, 'ok\n')
    case '/readyz': return status.isReady() ? reply(200, 'ready\n') : reply(503, 'draining\n')
    case '/metrics': return reply(200, prometheusText(status.metrics()), 'text/plain; version=0.0.4')
    default: return reply(404, 'There are /healthz, /readyz and /metrics.\n')
  }
}

function metricsOf({ port, counts, gauges }: RelayStatus): Metric[] {
  const byLabel = (name: string, help: string, values: object): Metric => ({
    name, help, kind: 'counter',
    samples: Object.entries(values).map(([what, value]) => ({ value: Number(value), labels: { what } })),
  })
  const gauge = ([name, value]: [string, number]): Metric => ({
    name: `tickwire_relay_${name}`, help: `Current ${name}.`, kind: 'gauge', samples: [{ value }],
  })
  return [
    ...Object.entries(gauges()).map(gauge),
    byLabel('tickwire_relay_total', 'Datagrams and allocations, by what happened.', counts),
    byLabel('tickwire_datagrams_total', 'Datagrams of the socket, by event.', port.stats),
    gauge(['receive_buffer_bytes', port.recvBufferBytes]),
    gauge(['memory_bytes', process.memoryUsage().rss]),
  ]
}
