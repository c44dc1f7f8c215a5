/**
 * The HTTP server of a service: Fastify with TypeBox schemas, on a server with the limits of the engine (sockets,
 * requests and bytes in all and for each origin).
 *
 * One schema of a route gives its types, its validation and its part of `openapi.json`. Errors have one form:
 * `{ error: { code, message, fix } }`.
 */

import rateLimit from '@fastify/rate-limit'
import swagger from '@fastify/swagger'
import { type TypeBoxTypeProvider, TypeBoxValidatorCompiler } from '@fastify/type-provider-typebox'
import {
  type FastifyBaseLogger, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify,
} from 'fastify'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Registry } from 'prom-client'
import { ConfigError, type Tracer } from 'tickwire'
import { createHttpDoor, originOfRequest, StaticFiles, TrustedProxies } from 'tickwire/node'
import { traceRequests, traceText } from './request-spans.ts'
import { finishRequests, meterRequests } from './traffic.ts'

/** Bytes of a body: signalling and listings are small. */
export const BODY_BYTES_MAX = 16_384

/** Fastify, with types from TypeBox schemas. */
export type Site = FastifyInstance<Server, IncomingMessage, ServerResponse, FastifyBaseLogger, TypeBoxTypeProvider>

/** How a site is made. */
export interface SiteOptions {
  /** The name in `openapi.json`. */
  readonly title: string
  /** Counts and times its requests. */
  readonly registry: Registry
  /** Requests of one origin in a minute. Default 600. */
  readonly requestsPerMinute?: number
  /** WebSockets that the server carries in addition to its requests. Default 0. */
  readonly maxWebSockets?: number
  /** A folder whose files answer all other paths. Default: none. */
  readonly static?: string
  /** Proxies whose client addresses are trusted. Default: none. */
  readonly trustedProxies?: readonly string[]
  /** Records requests that come with a span. Default: nothing does. */
  readonly tracer?: Tracer | undefined
}

/** A refusal that a route throws. */
export class HttpRefusal extends Error {
  readonly statusCode: number
  readonly code: string
  readonly fix: string

  constructor(statusCode: number, code: string, message: string, fix: string) {
    super(message)
    this.statusCode = statusCode
    this.code = code
    this.fix = fix
  }
}

/** Seconds until a client asks again when the store does not answer. */
const RETRY_SECONDS = 2

/** The refusal of a request that needs the store of leases, while that does not answer. */
export function storeAway(reply: FastifyReply): HttpRefusal {
  reply.header('retry-after', RETRY_SECONDS)
  return new HttpRefusal(503, 'unavailable', 'The store does not answer.', 'Try again in some seconds.')
}

/** Makes a site. Add routes, then `listenSite`. */
export async function createSite(options: SiteOptions): Promise<Site> {
  const { title, registry, requestsPerMinute = 600, maxWebSockets = 0, trustedProxies = [] } = options
  const proxies = new TrustedProxies(trustedProxies)
  const app: Site = fastify({
    bodyLimit: BODY_BYTES_MAX,
    routerOptions: { maxParamLength: 64 },
    forceCloseConnections: true,
    serverFactory: (handler) => createHttpDoor(handler, { proxies, maxWebSockets }),
  }).setValidatorCompiler(TypeBoxValidatorCompiler).withTypeProvider<TypeBoxTypeProvider>()
  finishRequests(app)
  meterRequests(app, registry)
  if (options.tracer !== undefined) traceRequests(app, options.tracer)
  await app.register(swagger, { openapi: { info: { title, version: '1' } } })
  await app.register(rateLimit, {
    max: requestsPerMinute, timeWindow: 60_000, cache: 10_000, keyGenerator: originOf,
    errorResponseBuilder: () =>
      new HttpRefusal(429, 'too-many-requests', 'Too many requests.', 'Wait a minute, then ask again.'),
  })
  app.setErrorHandler<Partial<HttpRefusal>>((error, request, reply) => {
    const { statusCode: status = 500, code = 'internal', message = '', fix = '' } = error
    const isOurs = error instanceof HttpRefusal
    if (status >= 500 && !isOurs) console.error(`tickwire: a route failed${traceText(request)}:`, error)
    const name = isOurs ? code : status < 500 ? 'bad-request' : 'internal'
    const text = isOurs || status < 500 ? message : 'The service failed.'
    return reply.code(status).send({ error: { code: name, message: text, fix: isOurs ? fix : 'See /openapi.json.' } })
  })
  const files = options.static === undefined ? undefined : new StaticFiles(options.static)
  app.setNotFoundHandler((request, reply) => {
    if (files === undefined)
      return reply.code(404).send({ error: { code: 'not-found', message: 'No such path.', fix: 'See /openapi.json.' } })
    reply.hijack()
    void files.answer(request.raw, reply.raw)
  })
  app.addHook('onSend', async (_request, reply) => {
    reply.header('x-content-type-options', 'nosniff')
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
  })
  app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger())
  return app
}

/** The numeric address that a request comes from, behind trusted proxies too. */
export function originOf(request: FastifyRequest): string {
  return originOfRequest(request.raw)
}

/** Listens. Returns the port. Throws `ConfigError` when the port is taken. */
export async function listenSite(app: Site, port: number, address: string | undefined): Promise<number> {
  try {
    await app.listen({ port, host: address ?? '::' })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EAFNOSUPPORT' && address === undefined) return await listenSite(app, port, '0.0.0.0')
    const problem = code === 'EADDRINUSE' ? `${port} is in use by another program` : message
    throw new ConfigError('port', problem, 'stop that program, or give another port; 0 takes any free port.')
  }
  const bound = app.server.address()
  return typeof bound === 'object' && bound !== null ? bound.port : port
}
