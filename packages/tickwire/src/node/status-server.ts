/**
 * A port for the operator, separate from the players' ports: on this machine only by default.
 *
 * ```
 * GET /healthz    200 while the process answers at all
 * GET /readyz     200 while it lets players in, 503 when it does not
 * GET /metrics    for Prometheus
 * GET /           a page for people
 * ```
 *
 * It has no login: any client that reaches it may read it. On a loopback address it answers only requests whose host is
 * a loopback name, so that a web page whose name resolves to this machine cannot read it.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createHttpDoor } from './http-door.ts'
import { prometheusText } from './metrics.ts'
import { isLoopbackHost } from './page-origin.ts'
import type { ServeLog } from './status-log.ts'
import { statusPage } from './status-page.ts'
import type { Status } from './status.ts'

/** Where the operator port listens. */
export interface OpsOptions {
  /** Default: two above the HTTP port, or any free port. */
  readonly port?: number
  /** Default 127.0.0.1. */
  readonly address?: string
}

/** The open operator port. */
export interface StatusServer {
  readonly url: string
  close(): Promise<void>
}

/** What the operator port shows. */
export interface Observed {
  isDraining(): boolean
  /** Must not reject. */
  read(): Status | Promise<Status>
}

const LOOPBACK = '127.0.0.1'

/** Opens the operator port. If the default port is taken, a free one is used, and the log says so. */
export async function openStatusServer(
  { port = 0, address = LOOPBACK }: OpsOptions,
  observed: Observed,
  log: ServeLog,
): Promise<StatusServer> {
  const isLoopback = isLoopbackHost(address) || address === '::1'
  const server = createHttpDoor((request, response) => void answer(request, response, observed, isLoopback))
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

async function answer(
  { url = '/', method, headers }: IncomingMessage,
  response: ServerResponse,
  observed: Observed,
  isLoopback: boolean,
): Promise<void> {
  const reply = (status: number, type: string, text: string): void => {
    response.writeHead(status, {
      'content-type': `${type}; charset=utf-8`, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    }).end(text)
  }
  if (isLoopback && !isLoopbackHost(headers.host))
    return reply(421, 'text/plain', 'Ask for this machine by its own name.\n')
  if (method !== 'GET' && method !== 'HEAD') return reply(405, 'text/plain', 'Only GET is answered here.\n')
  switch (url.split('?', 1)[0]) {
    case '/healthz':
      return reply(200, 'text/plain', 'ok\n')
    case '/readyz':
      return observed.isDraining() ? reply(503, 'text/plain', 'draining\n') : reply(200, 'text/plain', 'ready\n')
    case '/metrics':
      return reply(200, 'text/plain; version=0.0.4', prometheusText((await observed.read()).metrics))
    case '/':
      return reply(200, 'text/html', statusPage(await observed.read()))
    default:
      return reply(404, 'text/plain', 'There are /healthz, /readyz, /metrics and /.\n')
  }
}
