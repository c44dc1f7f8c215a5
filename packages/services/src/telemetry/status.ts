/**
 * The operator port of a service: /healthz, /readyz and /metrics, on this machine only by default.
 */

import type { Registry } from 'prom-client'
import { isLoopbackHost } from 'tickwire/node'
import type { Option } from '../cli/options.ts'
import { createSite, HttpRefusal, listenSite, type Site } from '../http/site.ts'

/** Where the operator port listens. Containers need another address than their own loopback. */
export const OPS_ADDRESS = {
  kind: 'text', value: 'IP', default: '127.0.0.1',
  help: 'listen there for --ops; another address has no login, so keep it off public networks',
} as const satisfies Option

/** What the operator port reports. */
export interface Status {
  readonly registry: Registry
  /** Whether new peers are accepted. */
  readonly isReady: () => boolean
  /** Adds routes of the service to the port. Default: none. */
  readonly addRoutes?: (app: Site) => void
}

/** An open operator port. */
export interface StatusServer {
  readonly url: string
  close(): Promise<void>
}

/** Opens an operator port. Throws `ConfigError` when it is taken. */
export async function openStatus(
  port: number, status: Status, address: string = OPS_ADDRESS.default,
): Promise<StatusServer> {
  const app = await createSite({ title: 'Status of a Tickwire service', registry: status.registry })
  if (isLoopbackHost(address)) {
    // A page whose name resolves to this machine must not read it.
    app.addHook('onRequest', async ({ headers }) => {
      if (!isLoopbackHost(headers.host))
        throw new HttpRefusal(421, 'wrong-host', 'Not the name of this machine.', 'Ask for localhost.')
    })
  }
  status.addRoutes?.(app)
  addStatusRoutes(app, status)
  const bound = await listenSite(app, port, address)
  return { url: `http://${address.includes(':') ? `[${address}]` : address}:${bound}`, close: () => app.close() }
}

/** Adds the three routes to a site. */
export function addStatusRoutes(app: Site, { registry, isReady }: Status): void {
  const hidden = { schema: { hide: true } }
  app.get('/healthz', hidden, (_request, reply) => reply.type('text/plain').send('ok\n'))
  app.get('/readyz', hidden, (_request, reply) =>
    reply.type('text/plain').code(isReady() ? 200 : 503).send(isReady() ? 'ready\n' : 'draining\n'))
  app.get('/metrics', hidden, async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()))
}
