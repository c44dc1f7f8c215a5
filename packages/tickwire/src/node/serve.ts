/**
 * One call serves a game: the page over HTTP, the match over WebSocket on the same port.
 *
 * ```ts
 * const host = await serve(game, { port: 4000, static: './public' })
 * ```
 *
 * It owns the sockets and the clock; everything that is Tickwire happens in the `ServerHost` it drives.
 */

import { createServer, type Server } from 'node:http'
import { ConfigError, createServerHost, type CloseReason, type DatagramPort, type Game, type Millis, type Peer, type ServerHost, type Shape } from '../core/index.ts'
import type { EndpointSecurity } from '../core/endpoint/endpoint-security.ts'
import type { OriginLimits } from '../core/endpoint/origin-limits.ts'
import { monotonicNow as now } from './clock.ts'
import { bestProvider } from './crypto.ts'
import { systemEntropy } from './entropy.ts'
import { serveFile } from './static-files.ts'
import { listenWebSocket } from './websocket.ts'

export interface ServeOptions {
  /** Default 4000; 0 takes any that is free. */
  readonly port?: number
  /** The address to listen on. Default: all of this machine's. */
  readonly address?: string
  /** A folder with the page; relative to where the program was started. Without it only the match is served. */
  readonly static?: string
  readonly maxPlayers?: number
  /** Who this server is and whom it lets in. Packets are sealed with the fastest cryptography found here. */
  readonly security?: EndpointSecurity
  /** What one origin may ask of the server. */
  readonly limits?: Partial<OriginLimits>
  /** Pages of these origins may join too, beside the one served here: `['https://game.example']`. */
  readonly origins?: readonly string[]
  readonly onJoined?: (peer: Peer) => void
  readonly onLeft?: (peer: Peer, reason: CloseReason) => void
}

const PORT_DEFAULT = 4000
/** How long players are given to hear that the match is over. */
const CLOSE_MS = 500

/** Serves a game until `close`. Throws ConfigError when the port is taken. */
export async function serve<I extends Shape>(game: Game<I>, options: ServeOptions = {}): Promise<Serving<I>> {
  const { port = PORT_DEFAULT, static: folder } = options
  const server = createServer((request, response) => {
    if (folder !== undefined) void serveFile(folder, request, response)
    else response.writeHead(404).end('This server plays games and serves no pages.\n')
  })
  const serving = new Serving(game, server, options)
  await listen(server, port, options.address)
  return serving
}

/** A game that is being served. */
export class Serving<I extends Shape = Shape> {
  readonly host: ServerHost<I>
  readonly #server: Server
  readonly #socket: DatagramPort
  #timer: NodeJS.Timeout | undefined
  #isDrainDue = false
  #isClosed = false

  constructor(game: Game<I>, server: Server, options: ServeOptions) {
    this.host = createServerHost(game, {
      entropy: systemEntropy,
      security: { provider: bestProvider(), ...options.security },
      ...(options.limits && { limits: options.limits }),
      ...(options.maxPlayers !== undefined && { maxPlayers: options.maxPlayers }),
      ...(options.onJoined && { onJoined: options.onJoined }),
      ...(options.onLeft && { onLeft: options.onLeft }),
    })
    this.#server = server
    this.#socket = listenWebSocket({ server, ...(options.origins && { origins: options.origins }) })
    this.#socket.onDatagram = (from, bytes, length) => {
      this.host.handleDatagram(now(), from, bytes, length)
      this.#drainSoon()
    }
    this.#socket.onPathClosed = (address) => {
      this.host.handlePathClosed(address)
      this.#drainSoon()
    }
    this.#wake()
  }

  /** Where to open it on this machine. */
  get url(): string {
    const address = this.#server.address()
    return `http://localhost:${typeof address === 'object' && address !== null ? address.port : PORT_DEFAULT}`
  }

  /** Tells everyone that the match is over, waits a moment for that to arrive, and lets go of the port. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.host.close(now())
    const deadline = now() + CLOSE_MS
    while (this.host.endpoint.connections.length > 0 && now() < deadline) {
      this.#wake()
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#socket.close()
    await new Promise((resolve) => {
      this.#server.close(resolve)
      this.#server.closeAllConnections()
    })
  }

  /** Many datagrams may come in one turn of the event loop; they are answered together. */
  #drainSoon(): void {
    if (this.#isDrainDue) return
    this.#isDrainDue = true
    setImmediate(() => {
      this.#isDrainDue = false
      this.#wake()
    })
  }

  #wake(): void {
    if (this.#isClosed) return
    const time = now()
    this.host.tick(time)
    this.#sleepUntil(this.host.drain(time, this.#socket))
  }

  #sleepUntil(wakeAt: Millis): void {
    clearTimeout(this.#timer)
    if (wakeAt !== Infinity) this.#timer = setTimeout(() => this.#wake(), Math.max(0, wakeAt - now()))
  }
}

async function listen(server: Server, port: number, address: string | undefined): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === 'EADDRINUSE'
      reject(isTaken ? new ConfigError('port', `${port} is in use by another program`, 'Stop that one, or give another port; 0 takes any that is free.') : error)
    })
    server.listen({ port, ...(address !== undefined && { host: address }) }, resolve)
  })
}
