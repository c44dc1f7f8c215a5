/**
 * WebSocket as a datagram port on Node: one binary message is one datagram.
 *
 * A server port lives on an HTTP server that exists already and takes the upgrades of one path; a client port is one
 * socket. Both are the same port with many or one path: `ws:1`, `ws:2`, … on the server, the URL on the client.
 *
 * The stream below is reliable and ordered, so what queues is late: when a socket has 64 KiB unsent, datagrams for it
 * are dropped, as a congested router would.
 *
 * Browsers say where a page came from; a page of another origin is refused unless it is on the list, for a stranger's
 * page must not play with a visitor's standing. Programs that are no browser send no origin and are let in.
 */

import type { IncomingMessage, Server as HttpServer } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { Duplex } from 'node:stream'
import { WebSocket, WebSocketServer } from 'ws'
import { DATAGRAM_BYTES_SAFE } from '../core/base/limits.ts'
import { type DatagramPort, type DatagramPortStats, createPortStats } from '../core/endpoint/datagram-port.ts'
import { monotonicNow } from './clock.ts'
import { isAllowedOrigin } from './page-origin.ts'

const BUFFERED_BYTES_MAX = 65_536
/** An open connection speaks every second; a socket silent for this long carries none. */
const IDLE_MS_MAX = 15_000
const IDLE_SCAN_MS = 5000
/** A server that takes a connection and then says nothing is given up after this. */
const OPEN_MS_MAX = 10_000
/** A datagram comes in one piece. The defaults of the library (100 MiB, 16,384 fragments) invite a flood. */
const LIMITS = { maxPayload: DATAGRAM_BYTES_SAFE, maxFragments: 4, maxBufferedChunks: 256, perMessageDeflate: false }

/** Where a server port lives. */
export interface WebSocketListenOptions {
  readonly server: HttpServer | HttpsServer
  /** Upgrades of this path are ours, others are left alone. `/tickwire` unless said. */
  readonly path?: string
  /** Origins that may connect beside the server's own, such as `https://play.example`; 'any' for a public server. */
  readonly origins?: readonly string[] | 'any'
  /** More sockets than this are refused. 4096 unless said. */
  readonly maxSockets?: number
}

/** Many sockets as one port, which knows where each comes from. */
export interface WebSocketListener extends DatagramPort {
  /** The IP address behind one of its addresses, for limits; the address itself when it is none of them. */
  originOf(address: string): string
}

/** Takes WebSocket upgrades of `options.server`. The server stays the caller's: closing the port leaves it up. */
export function listenWebSocket(options: WebSocketListenOptions): WebSocketListener {
  const { server, path = '/tickwire', origins = [], maxSockets = 4096 } = options
  const port = new WebSocketPort()
  const upgrader = new WebSocketServer({ noServer: true, clientTracking: false, ...LIMITS })
  let accepted = 0
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    if (pathOf(request) !== path) {
      if (server.listenerCount('upgrade') === 1) refuse(socket, '404 Not Found')
    } else if (!isAllowedOrigin(request.headers.origin, [request.headers.host], origins) || port.pathCount >= maxSockets) {
      port.stats.refused++
      refuse(socket, port.pathCount >= maxSockets ? '503 Service Unavailable' : '403 Forbidden')
    } else {
      upgrader.handleUpgrade(request, socket, head, (webSocket) => {
        port.adopt(`ws:${++accepted}`, webSocket, request.socket.remoteAddress)
      })
    }
  }
  server.on('upgrade', onUpgrade)
  const idleScan = setInterval(() => port.closeIdle(monotonicNow() - IDLE_MS_MAX), IDLE_SCAN_MS)
  idleScan.unref()
  port.onClose = () => {
    clearInterval(idleScan)
    server.off('upgrade', onUpgrade)
  }
  return port
}

/** Opens a socket to `url` (ws:// or wss://) and resolves once datagrams can be sent to that address. */
export function openWebSocket(url: string, options: { readonly origin?: string } = {}): Promise<DatagramPort> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { ...LIMITS, ...options, handshakeTimeout: OPEN_MS_MAX })
    // Not `once`: an error that nobody listens to would end the process, and rejecting twice is harmless.
    socket.on('error', reject)
    socket.once('open', () => {
      socket.off('error', reject)
      const port = new WebSocketPort()
      port.adopt(url, socket)
      resolve(port)
    })
  })
}

class WebSocketPort implements WebSocketListener {
  readonly maxDatagramBytes: number = DATAGRAM_BYTES_SAFE
  readonly stats: DatagramPortStats = createPortStats()
  onDatagram: DatagramPort['onDatagram'] = () => {}
  onPathClosed: DatagramPort['onPathClosed'] = () => {}
  onClose: () => void = () => {}
  #paths: Map<string, { readonly socket: WebSocket; readonly origin: string; heardAt: number }> = new Map()
  #isClosed: boolean = false

  get pathCount(): number {
    return this.#paths.size
  }

  originOf(address: string): string {
    return this.#paths.get(address)?.origin ?? address
  }

  adopt(address: string, socket: WebSocket, origin: string = address): void {
    if (this.#isClosed) {
      socket.terminate()
      return
    }
    const path = { socket, origin, heardAt: monotonicNow() }
    this.#paths.set(address, path)
    socket.on('message', (data, isBinary) => {
      path.heardAt = monotonicNow()
      if (!isBinary || !(data instanceof Uint8Array)) {
        this.stats.refused++
        return
      }
      this.stats.received++
      this.onDatagram(address, data, data.length)
    })
    socket.on('error', () => this.stats.errors++)
    socket.on('close', () => {
      if (this.#paths.delete(address)) this.onPathClosed(address)
    })
  }

  send(to: string, bytes: Uint8Array, length: number): void {
    const socket = this.#paths.get(to)?.socket
    if (length > this.maxDatagramBytes) this.stats.oversized++
    else if (socket === undefined || socket.readyState !== WebSocket.OPEN) this.stats.unreachable++
    else if (socket.bufferedAmount > BUFFERED_BYTES_MAX) this.stats.congested++
    else {
      this.stats.sent++
      // The socket may hold the bytes until the kernel takes them; ours are overwritten by the next packet.
      socket.send(bytes.slice(0, length), this.#countError)
    }
  }

  close(): void {
    this.#isClosed = true
    this.onClose()
    for (const { socket } of this.#paths.values()) socket.close()
  }

  closeIdle(before: number): void {
    for (const { socket, heardAt } of this.#paths.values()) if (heardAt < before) socket.terminate()
  }

  #countError = (error?: Error | null): void => {
    if (error) this.stats.errors++
  }
}

function pathOf(request: IncomingMessage): string {
  const url = request.url ?? '/'
  const query = url.indexOf('?')
  return query < 0 ? url : url.slice(0, query)
}

function refuse(socket: Duplex, status: string): void {
  // The peer may be gone already; an error on a socket nobody listens to would end the process.
  socket.on('error', () => {})
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}
