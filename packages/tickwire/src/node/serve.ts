/**
 * One call serves a game: the page over HTTP, and the match over everything players may have.
 *
 * ```ts
 * const host = await serve(game, { port: 4000, static: './public' })
 * ```
 *
 * WebSocket is always there, on the port of the page. WebTransport and WebRTC are where a library for them is installed,
 * native UDP unless it is turned off. It is one match: whoever comes by any of them plays with all others.
 *
 * It owns the sockets and the clock; everything that is Tickwire happens in the `ServerHost` it drives.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, Server as TlsServer } from 'node:https'
import {
  ConfigError, createServerHost, keyToText, type CloseReason, type Game, type HostRecordOptions, type Millis, type Peer, type Recorder, type ServerHost,
  type Shape,
} from '../core/index.ts'
import type { EndpointSecurity } from '../core/endpoint/endpoint-security.ts'
import type { OriginLimits } from '../core/endpoint/origin-limits.ts'
import type { InterestOptions } from '../core/replication/interest/interest.ts'
import { type Certificate, checkCertificate } from './certificate.ts'
import { monotonicNow as now } from './clock.ts'
import { bestProvider } from './crypto.ts'
import { systemEntropy } from './entropy.ts'
import { PortBundle } from './port-bundle.ts'
import { ServeRoutes, type ServerInfo } from './serve-routes.ts'
import { openTransports, type OpenTransports, type TransportOptions } from './serve-transports.ts'
import { createRecordingFile } from './recording-file.ts'
import { serveFile } from './static-files.ts'

export interface ServeOptions extends TransportOptions {
  /** Default 4000; 0 takes any that is free. */
  readonly port?: number
  /** The address to listen on. Default: all of this machine's. */
  readonly address?: string
  /** A folder with the page; relative to where the program was started. Without it only the match is served. */
  readonly static?: string
  readonly maxPlayers?: number
  /** Who is with whom, from where each looks, and how objects are found by place. */
  readonly interest?: InterestOptions
  /** Who this server is and whom it lets in. Packets are sealed with the fastest cryptography found here. */
  readonly security?: EndpointSecurity
  /** What one origin may ask of the server. */
  readonly limits?: Partial<OriginLimits>
  /** Pages of these origins may join too, beside the one served here: `['https://game.example']`. */
  readonly origins?: readonly string[] | 'any'
  /**
   * A player whose transport has closed is given this long to come back by another before he counts as gone. Default 3 s.
   */
  readonly pathGraceMs?: number
  readonly onJoined?: (peer: Peer) => void
  readonly onLeft?: (peer: Peer, reason: CloseReason) => void
  /** Told what the operator should know. Default: the console. */
  readonly log?: (entry: ServeLogEntry) => void
}

/** Something the operator should know. */
export interface ServeLogEntry {
  readonly level: 'info' | 'warn'
  readonly message: string
}

const PORT_DEFAULT = 4000
/** How long players are given to hear that the match is over. */
const CLOSE_MS = 500
const PATH_GRACE_MS = 3000

/** Serves a game until `close`. Throws ConfigError when a port is taken, or a transport that was asked for cannot be. */
export async function serve<I extends Shape>(game: Game<I>, options: ServeOptions = {}): Promise<Serving<I>> {
  const { port = PORT_DEFAULT, static: folder, tls } = options
  const { log = ({ message }: ServeLogEntry) => console.warn(`tickwire: ${message}`) } = options
  if (tls !== undefined) checkCertificate('tls', tls)
  let routes: ServeRoutes | undefined
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    if (routes?.handle(request, response) === true) return
    if (folder !== undefined) void serveFile(folder, request, response)
    else response.writeHead(404).end('This server plays games and serves no pages.\n')
  }
  const server = tls === undefined ? createServer(answer) : createTlsServer({ cert: tls.cert, key: tls.key }, answer)
  await listen(server, port, options.address)
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  try {
    const transports = await openTransports(server, bound, options, (message) => log({ level: 'warn', message }))
    const serving = new Serving(game, server, transports, options)
    routes = new ServeRoutes({
      origins: options.origins ?? [], info: () => serving.info, ...(transports.answer && { answer: transports.answer }),
    })
    return serving
  } catch (error) {
    server.close()
    server.closeAllConnections()
    throw error
  }
}

/** A game that is being served. */
export class Serving<I extends Shape = Shape> {
  readonly host: ServerHost<I>
  /** Where to open it on this machine. */
  readonly url: string
  readonly #server: Server
  readonly #transports: OpenTransports
  readonly #ports: PortBundle
  readonly #identity: string
  readonly #graces: Set<NodeJS.Timeout> = new Set()
  readonly #pathGraceMs: number
  #timer: NodeJS.Timeout | undefined
  #isDrainDue = false
  #isClosed = false
  readonly #recordings: (() => void)[] = []

  constructor(game: Game<I>, server: Server, transports: OpenTransports, options: ServeOptions) {
    const { provider = bestProvider() } = options.security ?? {}
    // A copy: `slice` of a Buffer is none, and whoever takes a secret wipes what he took it from.
    const identity = Uint8Array.from(options.security?.identity ?? new Uint8Array(32))
    if (options.security?.identity === undefined) systemEntropy.fill(identity)
    this.#identity = keyToText('server-public', provider.importSigning(identity).publicKey)
    this.#server = server
    this.#transports = transports
    this.#pathGraceMs = options.pathGraceMs ?? PATH_GRACE_MS
    this.#ports = new PortBundle(transports.members)
    this.host = createServerHost(game, {
      entropy: systemEntropy,
      security: { ...options.security, provider, identity },
      limits: { originOf: (address) => this.#ports.originOf(address), ...options.limits },
      ...(options.maxPlayers !== undefined && { maxPlayers: options.maxPlayers }),
      ...(options.interest && { interest: options.interest }),
      ...(options.onJoined && { onJoined: options.onJoined }),
      ...(options.onLeft && { onLeft: options.onLeft }),
    })
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : PORT_DEFAULT
    this.url = `${options.tls === undefined ? 'http' : 'https'}://localhost:${port}`
    this.#ports.onDatagram = (from, bytes, length) => {
      this.host.handleDatagram(now(), from, bytes, length)
      this.#drainSoon()
    }
    this.#ports.onPathClosed = (path) => this.#forgetLater(path)
    this.#wake()
  }

  /** What a page is told at /tickwire/info: the transports, where they are, and why one is missing. */
  get info(): ServerInfo {
    return { ...this.#transports.info, identity: this.#identity }
  }

  /** What all transports counted together. */
  get ports(): PortBundle {
    return this.#ports
  }

  /** Records the match to a file, until `close` of what it gives, or the end of the match. Throws when the file cannot be made. */
  record(path: string, options: HostRecordOptions = {}): { readonly recorder: Recorder; close(): void } {
    const file = createRecordingFile(path)
    const recorder = this.host.record(file, { startedAt: Math.floor(Date.now() / 1000), ...options })
    const close = (): void => {
      recorder.close()
      file.close()
    }
    this.#recordings.push(close)
    return { recorder, close }
  }

  /** Shows newcomers another certificate, such as a renewed one. Whoever is here stays. Throws ConfigError without `tls`. */
  replaceCertificate(certificate: Certificate): void {
    if (!(this.#server instanceof TlsServer)) {
      throw new ConfigError('tls', 'was not given to `serve`, so there is nothing to replace', 'Give it there first.')
    }
    checkCertificate('certificate', certificate)
    this.#server.setSecureContext({ cert: certificate.cert, key: certificate.key })
    this.#transports.replaceCertificate(certificate)
  }

  /** Tells everyone that the match is over, waits a moment for that to arrive, and lets go of the ports. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.host.close(now())
    const deadline = now() + CLOSE_MS
    while (this.host.endpoint.connections.length > 0 && now() < deadline) {
      this.#wake()
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    this.#isClosed = true
    for (const close of this.#recordings) close()
    clearTimeout(this.#timer)
    for (const grace of this.#graces) clearTimeout(grace)
    this.#ports.close()
    await this.#transports.close()
    await new Promise((resolve) => {
      this.#server.close(resolve)
      this.#server.closeAllConnections()
    })
  }

  /** Whose path is gone may come back by another: his connection has a name, and keys that only he has. */
  #forgetLater(path: string): void {
    if (this.#isClosed) return
    const grace = setTimeout(() => {
      this.#graces.delete(grace)
      this.host.handlePathClosed(path)
      this.#drainSoon()
    }, this.#pathGraceMs)
    this.#graces.add(grace)
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
    this.#sleepUntil(this.host.drain(time, this.#ports))
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
