/**
 * A span for each request that comes with the header `traceparent`. Other requests are not traced: a trace begins at a
 * player, and probes, scrapes and pages of the list are many.
 */

import type { FastifyRequest } from 'fastify'
import type { Tracer } from 'tickwire'
import type { Site } from './site.ts'
import { routeOf } from './traffic.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Its span, as the header for requests that it causes. Undefined: it is not traced. */
    traceparent?: string | undefined
  }
}

/** Traces the requests of `app`. The name of a span is the route, and it has the status. */
export function traceRequests(app: Site, tracer: Tracer): void {
  app.addHook('onRequest', (request, { raw }, done) => {
    const { traceparent } = request.headers
    if (typeof traceparent !== 'string') return done()
    const span = tracer.start(routeOf(request), traceparent, 'server')
    request.traceparent = span.traceparent
    raw.once('close', () => {
      const { statusCode: status } = raw
      const failed = raw.writableFinished ? status >= 500 && `status ${status}` : 'aborted'
      span.end({
        'http.request.method': request.method, 'http.route': request.routeOptions.url ?? 'other',
        'http.response.status_code': status, ...(failed !== false && { failed }),
      })
    })
    done()
  })
}

/** For log lines: the trace that a request is part of. */
export function traceText({ traceparent }: FastifyRequest): string {
  const id = traceparent?.split('-', 2)[1]
  return id === undefined ? '' : ` (trace ${id})`
}
