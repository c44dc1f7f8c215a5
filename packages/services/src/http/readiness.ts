/**
 * Readiness of a site: `/healthz` and `/readyz` on its own port, and how it ends without a failed request.
 *
 * On SIGTERM `/readyz` answers 503, so that a load balancer sends nothing new, and `/healthz` stays 200. Other requests
 * are answered for `ms` more, each with `connection: close`. Then the site closes; it finishes the requests in flight.
 */

import { drainOnSignals } from 'tickwire/node'
import type { Option } from '../cli/options.ts'
import { closeTraces } from '../telemetry/traces.ts'
import type { Site } from './site.ts'

/** How long a service answers after SIGTERM. */
export const DRAIN_OPTION = {
  kind: 'duration', default: '2s', help: 'how long it answers after SIGTERM, while /readyz says 503',
} as const satisfies Option

export class Readiness {
  #isReady = true

  /** Adds the routes. Call it before other routes are added. */
  constructor(app: Site) {
    const hidden = { config: { rateLimit: false }, schema: { hide: true } } as const
    app.addHook('onSend', async (_request, reply) => {
      if (!this.#isReady) reply.header('connection', 'close')
    })
    app.get('/healthz', hidden, (_request, reply) => reply.type('text/plain').send('ok\n'))
    app.get('/readyz', hidden, (_request, reply) =>
      reply.type('text/plain').code(this.#isReady ? 200 : 503).send(this.#isReady ? 'ready\n' : 'draining\n'))
  }

  /** Whether the site takes new requests. */
  get isReady(): boolean {
    return this.#isReady
  }

  /** Answers 503 at `/readyz` from now on, and resolves after `ms`: a load balancer needs time to see it. */
  async drain(ms: number): Promise<void> {
    this.#isReady = false
    await new Promise((resolve) => { setTimeout(resolve, ms) })
  }
}

/** Drains a service on SIGTERM for `drainMs`, and closes it. SIGINT closes it at once. */
export function drainService(
  service: { readonly readiness: Readiness; close(): Promise<void> }, drainMs: number,
): void {
  drainOnSignals({
    drainMs,
    drain: async (ms) => {
      await service.readiness.drain(ms)
      await service.close()
      await closeTraces()
    },
  })
}
