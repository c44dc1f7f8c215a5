/**
 * WebSocket as a datagram port on Node: one binary message is one datagram.
 *
 * A server port attaches to an existing HTTP server and accepts the upgrades of one path; a client port is one socket.
 * Both are the same port with many paths or one: `ws:1`, `ws:2`, … on the server, the URL on the client.
 *
 * The stream below is reliable and ordered, so queued data arrives late: when a socket has 64 KiB unsent, datagrams for
 * it are dropped, as a congested router would.
 *
 * Nothing that a peer sends can make a socket's buffer grow. A ping is answered only while nothing waits to be sent, so
 * a peer that never reads gets one pong (RFC 6455, 5.5.3, lets the others go unanswered). Only datagrams count as a
 * sign of life, and frames of all kinds have one rate.
 *
 * Browsers send the origin of a page. A page of another origin is refused unless it is on the list, because a foreign
 * page must not act with a visitor's rights. Programs that are not browsers send no origin and are accepted.
 */

import type { IncomingMessage, Server as HttpServer } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { Duplex } from 'node:stream'
import { WebSocket, WebSocketServer } from 'ws'
import {
  DATAGRAM_BYTES_SAFE, PATHS_MAX, PATHS_PER_ORIGIN, PATH_IDLE_MS, PATH_SCAN_MS,
  WEBSOCKET_BUFFERED_BYTES_MAX, WEBSOCKET_CHUNKS_MAX, WEBSOCKET_CLOSE_MS, WEBSOCKET_FRAGMENTS_MAX,
  WEBSOCKET_FRAMES_PER_SECOND, WEBSOCKET_OPEN_MS,
} from '../core/base/limits.ts'
import { type DatagramPort, type DatagramPortStats, createPortStats } from '../core/endpoint/datagram-port.ts'
import { monotonicNow } from './clock.ts'
import { FrameBuffer } from './websocket-frame.ts'
import { OriginTally } from './origin-tally.ts'
import { isAllowedOrigin } from './page-origin.ts'
import { originOfRequest } from './request-origin.ts'
import { pathOf, refuseUpgrade as refuse } from './upgrade.ts'

/** The library's defaults (100 MiB, 16,384 fragments, a pong for every ping, 30 s to close) would allow a flood. */
const LIMITS = {
  maxFragments: WEBSOCKET_FRAGMENTS_MAX, maxBufferedChunks: WEBSOCKET_CHUNKS_MAX,
  perMessageDeflate: false, autoPong: false, closeTimeout: WEBSOCKET_CLOSE_MS,
}

/** How a server port is opened. */
export interface WebSocketListenOptions {
  /** The HTTP server whose upgrades it answers. */
  readonly server: HttpServer | HttpsServer
  /** Upgrades of this path are accepted; others are ignored. Default `/tickwire`. */
  readonly path?: string
  /**
   * Origins that may connect besides the server's own, such as `https://play.example`; 'any' for a public server.
   * Default: none.
   */
  readonly origins?: readonly string[] | 'any'
  /** More sockets than this are refused. Default 4096. */
  readonly maxSockets?: number
  /** More sockets of one origin than this are refused. Default 20. */
  readonly maxSocketsPerOrigin?: number
  /** Whether sockets from this machine and its own network are exempt from the limit per origin. Default true. */
  readonly areLocalExempt?: boolean
  /** The longest datagram. 1200, the default, to 1500. */
  readonly maxDatagramBytes?: number
}

/** How a client socket is opened. */
export interface WebSocketOpenOptions {
  /** The `Origin` header. Default: none. */
  readonly origin?: string
  /** The longest datagram. 1200, the default, to 1500. */
  readonly maxDatagramBytes?: number
}

/** Many sockets as one port, which knows the IP address of each. */
export interface WebSocketListener extends DatagramPort {
  /** The IP address behind one of its addresses, for limits; the address itself when it is unknown. */
  originOf(address: string): string
  /** Closes sockets that have not been in `used` since `before`: no connection was opened on them, or it has ended. */
  closeUnused(used: ReadonlySet<string>, before: number): void
}

/** Accepts WebSocket upgrades of `options.server`. The caller owns the server: closing the port does not close it. */
export function listenWebSocket(options: WebSocketListenOptions): WebSocketListener {
  const {
    server,
    path = '/tickwire',
    origins = [],
    maxSockets = PATHS_MAX,
    maxSocketsPerOrigin = PATHS_PER_ORIGIN,
    maxDatagramBytes = DATAGRAM_BYTES_SAFE,
  } = options
  const port = new WebSocketPort(WEBSOCKET_FRAMES_PER_SECOND, maxDatagramBytes)
  const upgrader = new WebSocketServer({
    noServer: true, clientTracking: false, maxPayload: maxDatagramBytes, ...LIMITS,
  })
  const tally = new OriginTally(maxSocketsPerOrigin, options.areLocalExempt ?? true)
  let accepted = 0
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    if (pathOf(request) !== path) {
      if (server.listenerCount('upgrade') === 1) refuse(socket, '404 Not Found')
      return
    }
    if (socket.closed) return
    const origin = originOfRequest(request)
    const isAllowed = isAllowedOrigin(request.headers.origin, [request.headers.host], origins)
    if (!isAllowed || tally.total >= maxSockets || !tally.take(origin)) {
      port.stats.refused++
      refuse(
        socket,
        !isAllowed ? '403 Forbidden' : tally.total >= maxSockets ? '503 Service Unavailable' : '429 Too Many Requests',
      )
      return
    }
    // This also runs when the library refuses the upgrade, and when the peer disconnects before it completes.
    socket.once('close', () => tally.release(origin))
    upgrader.handleUpgrade(request, socket, head, (webSocket) =>
      port.adopt(`ws:${++accepted}`, webSocket, origin, socket),
    )
  }
  server.on('upgrade', onUpgrade)
  const idleScan = setInterval(() => port.closeIdle(monotonicNow() - PATH_IDLE_MS), PATH_SCAN_MS)
  idleScan.unref()
  port.onClose = () => {
    clearInterval(idleScan)
    server.off('upgrade', onUpgrade)
  }
  return port
}

/** Opens a socket to `url` (ws:// or wss://) and resolves once datagrams can be sent to that address. */
export function openWebSocket(url: string, options: WebSocketOpenOptions = {}): Promise<DatagramPort> {
  const { maxDatagramBytes = DATAGRAM_BYTES_SAFE, ...more } = options
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, {
      ...LIMITS, ...more, maxPayload: maxDatagramBytes, handshakeTimeout: WEBSOCKET_OPEN_MS,
    })
    // Not `once`: an `error` event without a listener would end the process, and rejecting twice is harmless.
    socket.on('error', reject)
    socket.once('open', () => {
      socket.off('error', reject)
      // A client has chosen its server, so the server's rate is not limited.
      const port = new WebSocketPort(Infinity, maxDatagramBytes)
      port.adopt(url, socket)
      resolve(port)
    })
  })
}

// Read for every datagram, and the library's own is a getter.
const { OPEN } = WebSocket

interface Path {
  readonly socket: WebSocket
  /** The stream below a server's socket. Undefined on a client, which must mask what it sends. */
  readonly stream: Duplex | undefined
  readonly origin: string
  /** When the last datagram arrived. */
  receivedAt: number
  /** When a connection was last known to be open on it. */
  usedAt: number
  /** Frames of all kinds since `framesFrom`. */
  frames: number
  framesFrom: number
}

class WebSocketPort implements WebSocketListener {
  readonly maxDatagramBytes: number
  readonly stats: DatagramPortStats = createPortStats()
  onDatagram: DatagramPort['onDatagram'] = () => {}
  onPathClosed: DatagramPort['onPathClosed'] = () => {}
  onClose: () => void = () => {}
  #paths: Map<string, Path> = new Map()
  #isClosed: boolean = false
  readonly #framesPerSecond: number
  #frames: FrameBuffer = new FrameBuffer()

  constructor(framesPerSecond: number, maxDatagramBytes: number) {
    this.#framesPerSecond = framesPerSecond
    this.maxDatagramBytes = maxDatagramBytes
  }

  originOf(address: string): string {
    return this.#paths.get(address)?.origin ?? address
  }

  adopt(address: string, socket: WebSocket, origin: string = address, stream?: Duplex): void {
    if (this.#isClosed) {
      socket.terminate()
      return
    }
    const now = monotonicNow()
    const path: Path = { socket, stream, origin, receivedAt: now, usedAt: now, frames: 0, framesFrom: now }
    this.#paths.set(address, path)
    socket.on('message', (data, isBinary) => {
      if (this.#isFlooded(path)) return
      if (!isBinary || !(data instanceof Uint8Array)) {
        this.stats.refused++
        return
      }
      path.receivedAt = monotonicNow()
      this.stats.received++
      this.onDatagram(address, data, data.length)
    })
    socket.on('ping', (payload) => {
      if (!this.#isFlooded(path) && socket.bufferedAmount === 0) socket.pong(payload, undefined, this.#countError)
    })
    socket.on('pong', () => this.#isFlooded(path))
    socket.on('error', () => this.stats.errors++)
    socket.on('close', () => {
      if (this.#paths.delete(address)) this.onPathClosed(address)
    })
  }

  send(to: string, bytes: Uint8Array, length: number): void {
    const path = this.#paths.get(to)
    if (length > this.maxDatagramBytes) this.stats.oversized++
    else if (path === undefined || path.socket.readyState !== OPEN) this.stats.unreachable++
    else if (path.stream !== undefined) this.#write(path.stream, bytes, length)
    else if (path.socket.bufferedAmount > WEBSOCKET_BUFFERED_BYTES_MAX) this.stats.congested++
    else {
      this.stats.sent++
      // The socket may keep the bytes until the kernel takes them, and the next packet overwrites the caller's.
      path.socket.send(bytes.slice(0, length), this.#countError)
    }
  }

  /** Writes a frame to the stream itself: through the library it would be two buffers, corked, and a closure. */
  #write(stream: Duplex, bytes: Uint8Array, length: number): void {
    if (stream.writableLength > WEBSOCKET_BUFFERED_BYTES_MAX) {
      this.stats.congested++
      return
    }
    this.stats.sent++
    stream.write(this.#frames.fill(bytes, length))
    // The stream has kept the bytes, because the kernel did not take them all.
    if (stream.writableLength > 0) this.#frames = new FrameBuffer()
  }

  close(): void {
    this.#isClosed = true
    this.onClose()
    for (const { socket } of this.#paths.values()) socket.close()
  }

  closeIdle(before: number): void {
    for (const { socket, receivedAt } of this.#paths.values()) if (receivedAt < before) socket.terminate()
  }

  closeUnused(used: ReadonlySet<string>, before: number): void {
    for (const [address, path] of this.#paths) {
      if (used.has(address)) path.usedAt = monotonicNow()
      else if (path.usedAt < before) path.socket.terminate()
    }
  }

  /** Counts a frame. Above the rate limit the socket is closed: frames without effect cost time too. */
  #isFlooded(path: Path): boolean {
    const now = monotonicNow()
    if (now - path.framesFrom >= 1000) {
      path.frames = 0
      path.framesFrom = now
    }
    if (++path.frames <= this.#framesPerSecond) return false
    if (path.socket.readyState !== WebSocket.CLOSED) path.socket.terminate()
    return true
  }

  #countError = (error?: Error | null): void => {
    if (error) this.stats.errors++
  }
}
