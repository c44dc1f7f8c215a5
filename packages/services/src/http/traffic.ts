/**
 * The requests of a site: counted and timed by route, and finished before the site closes.
 *
 * A route is a method and the path as it was declared (`PUT /v1/listings/:id`), so the number of labels is fixed. All
 * paths that were not declared are `other`.
 */

import type { FastifyRequest } from 'fastify'
import { Counter, Histogram, type Registry } from 'prom-client'
import { monotonicNow } from 'tickwire/node'
import type { Site } from './site.ts'

/** How long requests in flight may take after the site began to close. */
const FINISH_MS = 5000

/** Counts and times the requests of `app` in `registry`. Sites with one registry share the metrics. */
export function meterRequests(app: Site, registry: Registry): void {
  // reason: the names are those of the metrics below.
  const counter = registry.getSingleMetric('tickwire_http_requests_total') as Counter<'route' | 'status'> | undefined
  const histogram = registry.getSingleMetric('tickwire_http_seconds') as Histogram<'route'> | undefined
  const requests = counter ?? new Counter({
    name: 'tickwire_http_requests_total', help: 'HTTP requests, by route and status.', labelNames: ['route', 'status'],
    registers: [registry],
  })
  const seconds = histogram ?? new Histogram({
    name: 'tickwire_http_seconds', help: 'Time until a request was answered.', labelNames: ['route'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5], registers: [registry],
  })
  app.addHook('onRequest', (request, { raw }, done) => {
    const startedAt = monotonicNow()
    raw.once('close', () => {
      const route = routeOf(request)
      requests.inc({ route, status: raw.writableFinished ? raw.statusCode : 'aborted' })
      seconds.observe({ route }, (monotonicNow() - startedAt) / 1000)
    })
    done()
  })
}

/** Makes `app.close()` wait for the requests in flight. */
export function finishRequests(app: Site): void {
  let inFlight = 0
  let onIdle = (): void => {}
  app.addHook('onRequest', (_request, { raw }, done) => {
    inFlight++
    raw.once('close', () => {
      if (--inFlight === 0) onIdle()
    })
    done()
  })
  app.addHook('preClose', async () => {
    if (inFlight === 0) return
    await new Promise<void>((resolve) => {
      const late = setTimeout(resolve, FINISH_MS)
      onIdle = () => {
        clearTimeout(late)
        resolve()
      }
    })
  })
}

/** The route of a request: `PUT /v1/listings/:id`. */
export function routeOf({ method, routeOptions: { url } }: FastifyRequest): string {
  return url === undefined ? 'other' : `${method} ${url}`
}
