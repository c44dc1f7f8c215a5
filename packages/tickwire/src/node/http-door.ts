/**
 * An HTTP server with bounds on sockets, requests and responses: how many there are, in total and per origin, and how
 * long each may take. Every HTTP server of the package is made here.
 *
 * Node's own defaults fit a server behind a proxy: no bound on sockets, 300 s for a request, no limit for a slow
 * reader.
 *
 * Sockets of a trusted proxy count for the client behind them. Such a proxy may begin with a PROXY protocol header,
 * which is read before anything else, TLS included.
 *
 * This module sends no responses and knows no paths.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import {
  HTTP_CHECK_MS, HTTP_HEAD_BYTES_MAX, HTTP_HEAD_MS, HTTP_KEEP_ALIVE_MS, HTTP_REQUEST_MS, HTTP_REQUESTS_PER_SOCKET,
  HTTP_SOCKETS_MAX, HTTP_STALL_MS, PROXY_HEADER_MS, TCP_SOCKETS_PER_ORIGIN, TLS_HANDSHAKE_MS,
} from '../core/base/limits.ts'
import type { Certificate } from './certificate.ts'
import { OriginTally } from './origin-tally.ts'
import { PROXY_STREAM, readProxyHeader } from './proxy-header.ts'
import { markProxied, originOfSocket } from './request-origin.ts'
import { TrustedProxies } from './trusted-proxies.ts'

/** Options of `createHttpDoor`. */
export interface HttpDoorOptions {
  /** Serves https. Default: http. */
  readonly tls?: Certificate
  /** WebSockets that the server carries in addition to its requests. Default 0. */
  readonly maxWebSockets?: number
  /** Whether sockets from this machine and its own network are exempt from the limit per origin. Default true. */
  readonly areLocalExempt?: boolean
  /** Proxies whose client addresses are trusted. Default: none. */
  readonly proxies?: TrustedProxies
}

const DEADLINES = {
  headersTimeout: HTTP_HEAD_MS, requestTimeout: HTTP_REQUEST_MS, connectionsCheckingInterval: HTTP_CHECK_MS,
  keepAliveTimeout: HTTP_KEEP_ALIVE_MS, maxHeaderSize: HTTP_HEAD_BYTES_MAX,
}

/** Bounds the requests of a socket at once, and how long a reader may take for a response. */
export function limitRequests(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): (request: IncomingMessage, response: ServerResponse) => void {
  const open = new WeakMap<Socket, number>()
  return (request, response) => {
    const { socket } = request
    const count = (open.get(socket) ?? 0) + 1
    if (socket.destroyed || count > HTTP_REQUESTS_PER_SOCKET) {
      socket.destroy()
      return
    }
    open.set(socket, count)
    // A reader that takes nothing for this long is gone, or stalls on purpose. Each drain counts as progress.
    const stall = setTimeout(() => socket.destroy(), HTTP_STALL_MS)
    stall.unref()
    response.on('drain', () => stall.refresh())
    response.once('close', () => {
      clearTimeout(stall)
      open.set(socket, (open.get(socket) ?? 1) - 1)
    })
    answer(request, response)
  }
}

/** A server that calls `answer` for each request it accepts. It does not listen yet. */
export function createHttpDoor(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  { tls, maxWebSockets = 0, areLocalExempt = true, proxies = new TrustedProxies() }: HttpDoorOptions = {},
): Server {
  const take = limitRequests(answer)
  const server = tls === undefined
    ? createServer(DEADLINES, take)
    : createTlsServer({ ...DEADLINES, handshakeTimeout: TLS_HANDSHAKE_MS, cert: tls.cert, key: tls.key }, take)
  server.maxConnections = HTTP_SOCKETS_MAX + maxWebSockets
  const tally = new OriginTally(TCP_SOCKETS_PER_ORIGIN, areLocalExempt)
  const admit = (socket: Socket): void => {
    const origin = originOfSocket(socket)
    // A trusted proxy carries many clients, which are counted per request.
    if (proxies.has(origin)) return
    if (!tally.take(origin)) socket.destroy()
    else socket.once('close', () => tally.release(origin))
  }
  if (proxies.isEmpty) server.on('connection', admit)
  else beforeConnections(server, (socket, serve) => {
    if (!proxies.has(socket.remoteAddress ?? '')) {
      admit(socket)
      serve()
      return
    }
    takeProxyHeader(socket, (source) => {
      markProxied(socket, proxies, source)
      admit(socket)
      serve()
    })
  })
  return server
}

/** Passes every new socket to `handle` first. The server gets the socket when `handle` calls `serve`. */
function beforeConnections(server: Server, handle: (socket: Socket, serve: () => void) => void): void {
  const listeners = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => handle(socket, () => {
    if (!socket.destroyed) for (const listener of listeners) listener.call(server, socket)
  }))
}

/** Reads the PROXY protocol header, if the socket begins with one, and calls `done` with the client address in it. */
function takeProxyHeader(socket: Socket, done: (source: string | undefined) => void): void {
  let head: Buffer = Buffer.alloc(0)
  const ignore = (): void => {}
  const timer = setTimeout(() => socket.destroy(), PROXY_HEADER_MS)
  const finish = (): void => clearTimeout(timer)
  const onReadable = (): void => {
    for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null)
      head = Buffer.concat([head, chunk])
    const header = readProxyHeader(head, PROXY_STREAM)
    if (header === 'more') return
    finish()
    socket.off('readable', onReadable)
    socket.off('close', finish)
    if (header === 'broken') {
      socket.destroy()
      return
    }
    const rest = header === 'none' ? head : head.subarray(header.byteLength)
    if (rest.length > 0) socket.unshift(rest)
    // After `readable` events the stream changes its mode in a later turn, and does not flow until then.
    setImmediate(() => {
      done(header === 'none' ? undefined : header.source)
      socket.off('error', ignore)
    })
  }
  socket.on('error', ignore)
  socket.on('close', finish)
  socket.on('readable', onReadable)
}
