/**
 * The HTTP server of a room server: one of its own, with pages or the handler of another framework behind it, or an
 * existing one that Tickwire attaches to.
 *
 * In both cases Tickwire's own routes have the same limits. Sockets of an existing server are counted by its owner.
 */

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ConfigError } from '../core/base/assert.ts'
import { PATHS_MAX } from '../core/base/limits.ts'
import { createHttpDoor, limitRequests } from './http-door.ts'
import { listen, portOf } from './listen.ts'
import { markProxied } from './request-origin.ts'
import type { RoomServerOptions } from './room-server-options.ts'
import { StaticFiles } from './static-files.ts'
import type { ServeLog } from './status-log.ts'
import { isOwnPath } from './serve-routes.ts'
import { TrustedProxies } from './trusted-proxies.ts'

/** Answers a request, or a part of them. A framework's handler, such as an Express app, is one. */
export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => unknown

/** A server that listens, and how it is left. */
export interface HttpSite {
  readonly server: Server
  /** The port that players connect to. */
  readonly port: number
  /** Stops what was opened. An existing server stays open. */
  close(): Promise<void>
}

/**
 * Opens the HTTP server. `route` answers Tickwire's own requests and returns whether it did. Throws ConfigError if the
 * options contradict each other or the port is taken.
 */
export async function openHttpSite(
  options: RoomServerOptions,
  port: number,
  log: ServeLog,
  route: (request: IncomingMessage, response: ServerResponse) => boolean,
): Promise<HttpSite> {
  const { server, handler, static: folder, tls } = options
  const isTwice = handler !== undefined && folder !== undefined
  if (isTwice) throw new ConfigError('handler', 'given together with `static`', 'serve the files in the handler.')
  if (server === undefined) return await openOwn(options, port, log, route)
  if (handler !== undefined || folder !== undefined || tls !== undefined) {
    const name = handler !== undefined ? 'handler' : folder !== undefined ? 'static' : 'tls'
    throw new ConfigError(name, 'given together with `server`', 'leave it to the server that you pass.')
  }
  if (!server.listening) await listen(server, port, options.address)
  return attach(server, portOf(server, port), new TrustedProxies(options.trustedProxies), route)
}

async function openOwn(
  options: RoomServerOptions,
  port: number,
  log: ServeLog,
  route: (request: IncomingMessage, response: ServerResponse) => boolean,
): Promise<HttpSite> {
  const { static: folder, tls, handler, maxSockets = PATHS_MAX, limits: { areLocalExempt = true } = {} } = options
  const files = folder === undefined ? undefined : new StaticFiles(folder, areLocalExempt)
  const pages: RequestHandler = (request, response) => {
    if (files !== undefined) void files.answer(request, response)
    else response.writeHead(404).end('This server plays games and serves no pages.\n')
  }
  const rest = handler === undefined ? pages : guarded(handler, log)
  const proxies = new TrustedProxies(options.trustedProxies)
  const server = createHttpDoor(
    (request, response) => {
      if (!route(request, response)) rest(request, response)
    },
    { maxWebSockets: maxSockets, areLocalExempt, proxies, ...(tls && { tls }) },
  )
  await listen(server, port, options.address)
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { server, port: portOf(server, port), close }
}

/** Answers Tickwire's requests before the listeners of the server. All others go to them, as before. */
function attach(
  server: Server,
  port: number,
  proxies: TrustedProxies,
  route: (request: IncomingMessage, response: ServerResponse) => boolean,
): HttpSite {
  const listeners = server.listeners('request') as RequestHandler[]
  const limited = limitRequests(route)
  const onRequest: RequestHandler = (request, response) => {
    if (isOwnPath(request)) limited(request, response)
    else for (const listener of listeners) listener.call(server, request, response)
  }
  const onConnection = (socket: Socket): void => {
    if (proxies.has(socket.remoteAddress ?? '')) markProxied(socket, proxies, undefined)
  }
  server.removeAllListeners('request')
  server.on('request', onRequest)
  if (!proxies.isEmpty) server.prependListener('connection', onConnection)
  return {
    server,
    port,
    close: async () => {
      server.off('request', onRequest)
      server.off('connection', onConnection)
      for (const listener of listeners) server.on('request', listener)
    },
  }
}

/** A handler that throws or rejects is logged, and its request gets 500. */
function guarded(handler: RequestHandler, log: ServeLog): RequestHandler {
  const fail = (error: unknown, response: ServerResponse): void => {
    const text = error instanceof Error ? error.stack ?? error.message : String(error)
    log({ level: 'error', event: 'handler-fault', message: `handler threw: ${text}` })
    if (response.headersSent) response.destroy()
    else response.writeHead(500).end()
  }
  return (request, response) => {
    try {
      const result = handler(request, response)
      if (result instanceof Promise) result.catch((error: unknown) => fail(error, response))
    } catch (error) {
      fail(error, response)
    }
  }
}
