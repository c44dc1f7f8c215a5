/**
 * A port for the operator, apart from the players': on this machine only, unless it is told otherwise.
 *
 * ```
 * GET /healthz    200 while the process answers at all
 * GET /readyz     200 while it lets players in, 503 when it does not
 * GET /metrics    for Prometheus
 * GET /           a page for people
 * ```
 *
 * It has no login: who reaches it may read it. On a loopback address it answers only requests that name one, so that a web page which
 * resolves its own name to this machine reads nothing.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { DatagramPortStats, RoomHost } from '../core/index.ts'
import { collectMetrics, prometheusText } from './metrics.ts'
import type { ServeLog } from './status-log.ts'
import { statusPage } from './status-page.ts'

export interface OpsOptions {
  /** Default: two above the HTTP port, or any that is free. */
  readonly port?: number
  /** Default 127.0.0.1. */
  readonly address?: string
}

/** The port for the operator, open. */
export interface StatusServer {
  readonly url: string
  close(): Promise<void>
}

const LOOPBACK = '127.0.0.1'
const LOOPBACK_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/

/** Opens it. A default port that is taken is replaced by a free one, and the log says so. */
export async function openStatusServer(
  { port = 0, address = LOOPBACK }: OpsOptions, host: RoomHost, ports: { readonly stats: Readonly<DatagramPortStats> }, log: ServeLog,
): Promise<StatusServer> {
  const isLoopback = LOOPBACK_HOST.test(address) || address === '::1'
  const server = createServer((request, response) => answer(request, response, host, ports, isLoopback))
  const listen = (number: number): Promise<void> => new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port: number, host: address }, () => {
      server.off('error', reject)
      resolve()
    })
  })
  await listen(port).catch(async () => {
    await listen(0)
    log({ level: 'info', event: 'ops-port', message: `the operator's port ${port} is taken, so it has another` })
  })
  const bound = server.address()
  const number = typeof bound === 'object' && bound !== null ? bound.port : port
  const url = `http://${address.includes(':') ? `[${address}]` : address}:${number}`
  return {
    url,
    close: () => new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    }),
  }
}

function answer(
  { url = '/', method, headers }: IncomingMessage, response: ServerResponse, host: RoomHost, ports: { readonly stats: Readonly<DatagramPortStats> }, isLoopback: boolean,
): void {
  const reply = (status: number, type: string, text: string): void => {
    response.writeHead(status, {
      'content-type': `${type}; charset=utf-8`, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    }).end(text)
  }
  if (isLoopback && !LOOPBACK_HOST.test(headers.host ?? '')) return reply(421, 'text/plain', 'Ask for this machine by its own name.\n')
  if (method !== 'GET' && method !== 'HEAD') return reply(405, 'text/plain', 'Only GET is answered here.\n')
  switch (url.split('?', 1)[0]) {
    case '/healthz': return reply(200, 'text/plain', 'ok\n')
    case '/readyz': return host.isDraining ? reply(503, 'text/plain', 'draining\n') : reply(200, 'text/plain', 'ready\n')
    case '/metrics': return reply(200, 'text/plain; version=0.0.4', prometheusText(collectMetrics({ host, ports })))
    case '/': return reply(200, 'text/html', statusPage(host, collectMetrics({ host, ports })))
    default: return reply(404, 'text/plain', 'There are /healthz, /readyz, /metrics and /.\n')
  }
}
