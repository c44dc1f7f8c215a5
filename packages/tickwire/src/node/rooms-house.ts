/**
 * What stands around rooms on a server: HTTP, the transports, the clock, the port for the operator, and an end in good order.
 *
 * `serve` and `serveRooms` are two doors of it. Everything that is Tickwire happens in the `RoomHost` it drives.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, Server as TlsServer } from 'node:https'
import {
  ConfigError, createRoomHost, keyToText, type HostRecordOptions, type Millis, type Recorder, type Room, type RoomHost, type RoomType,
} from '../core/index.ts'
import { checkGame } from '../core/game/define-game.ts'
import type { EndpointSecurity } from '../core/endpoint/endpoint-security.ts'
import type { OriginLimits } from '../core/endpoint/origin-limits.ts'
import { type Certificate, checkCertificate } from './certificate.ts'
import { monotonicNow as now } from './clock.ts'
import { bestProvider } from './crypto.ts'
import { compileRows } from './compile-rows.ts'
import { systemEntropy } from './entropy.ts'
import { Learning, type LearnOptions } from './learning.ts'
import { WeatherPort, type LoadWeather } from './load-weather.ts'
import { PortBundle } from './port-bundle.ts'
import { createRecordingFile } from './recording-file.ts'
import { takeKeptRooms, writeKeptRooms } from './rooms-keep.ts'
import { drainOnSignals } from './rooms-signals.ts'
import { ServeRoutes, type ServerInfo } from './serve-routes.ts'
import { openTransports, type OpenTransports, type TransportOptions } from './serve-transports.ts'
import { serveFile } from './static-files.ts'
import { plainLog, type ServeLog } from './status-log.ts'
import { openStatusServer, type OpsOptions, type StatusServer } from './status-server.ts'

/** What every kind of serving may be told. */
export interface HouseOptions extends TransportOptions {
  /** Default 4000; 0 takes any that is free. */
  readonly port?: number
  /** The address to listen on. Default: all of this machine's. */
  readonly address?: string
  /** A folder with the page; relative to where the program was started. Without it only the match is served. */
  readonly static?: string
  /** Who this server is and whom it lets in. Packets are sealed with the fastest cryptography found here. */
  readonly security?: EndpointSecurity
  /** What one origin may ask of the server. */
  readonly limits?: Partial<OriginLimits>
  /** Pages of these origins may join too, beside the one served here: `['https://game.example']`. */
  readonly origins?: readonly string[] | 'any'
  /**
   * A player whose transport has closed is given this long to come back by another before his line counts as gone. Default 3 s.
   */
  readonly pathGraceMs?: number
  /** For development: what players would have on such lines, over every transport. Each way. */
  readonly weather?: LoadWeather
  /**
   * For development: a file that rooms are put into when the process is told to end, and taken from by the next one, if it plays the same
   * game. Players are not told; they come back to their seats.
   */
  readonly keepRooms?: string
  /** Whether it learns from its own matches how to tell them in fewer bits, with a process of low priority beside it. Default: no. */
  readonly learn?: LearnOptions | boolean
  /** The port for the operator: health, metrics, a status page. Default: on 127.0.0.1, two above the HTTP port. */
  readonly ops?: OpsOptions | false
  /** Whether SIGTERM and SIGINT end the process in good order, with exit code 0. Default: yes. */
  readonly signals?: boolean
  /** How long players may play on after SIGTERM. Default 10 s; after SIGINT they are told at once. */
  readonly drainMs?: number
  /** Told what the operator should know. Default: warnings and errors, on the console. */
  readonly log?: ServeLog
}

const PORT_DEFAULT = 4000
/** How long players are given to hear that it is over. */
const CLOSE_MS = 500
const PATH_GRACE_MS = 3000
const DRAIN_MS = 10_000

/** What a house is built from. */
export interface HouseParts {
  readonly server: Server
  readonly transports: OpenTransports
  readonly options: HouseOptions
  readonly log: ServeLog
}

/** Listens, opens the transports, and lets `build` make a house of it. Throws ConfigError when a port is taken, or a transport that was asked for cannot be. */
export async function openHouse<H extends House>(options: HouseOptions, build: (parts: HouseParts) => H): Promise<H> {
  const { port = PORT_DEFAULT, static: folder, tls, log = plainLog() } = options
  if (tls !== undefined) checkCertificate('tls', tls)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new ConfigError('port', `${port}`, 'Give 1 to 65535, or 0 for any that is free.')
  let routes: ServeRoutes | undefined
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    if (routes?.handle(request, response) === true) return
    if (folder !== undefined) void serveFile(folder, request, response)
    else response.writeHead(404).end('This server plays games and serves no pages.\n')
  }
  const server = tls === undefined ? createServer(answer) : createTlsServer({ cert: tls.cert, key: tls.key }, answer)
  await listen(server, port, options.address)
  let transports: OpenTransports | undefined
  try {
    const bound = portOf(server, port)
    transports = await openTransports(server, bound, options, (message) => log({ level: 'warn', event: 'transport-missing', message }))
    const house = build({ server, transports, options, log })
    routes = new ServeRoutes({
      origins: options.origins ?? [], info: () => house.info, rooms: (filter) => house.rooms.list(filter),
      game: (type) => house.rooms.gameOf(type), ...(transports.answer && { answer: transports.answer }),
    })
    if (options.ops !== false) await house.openOps(options.ops ?? {}, port === 0 ? 0 : bound + 2)
    return house
  } catch (error) {
    for (const { port: opened } of transports?.members ?? []) opened.close()
    await transports?.close()
    server.close()
    server.closeAllConnections()
    throw error
  }
}

/** Rooms that are being served. */
export class House {
  /** All rooms, and the endpoint behind which they are. */
  readonly rooms: RoomHost
  /** Where to open it on this machine. */
  readonly url: string
  readonly drainMs: number
  protected readonly log: ServeLog
  readonly #server: Server
  readonly #transports: OpenTransports
  readonly #ports: PortBundle
  readonly #identity: string
  readonly #graces: Set<NodeJS.Timeout> = new Set()
  readonly #pathGraceMs: number
  readonly #forgetSignals: () => void
  readonly #recordings: (() => void)[] = []
  readonly #keepPath: string | undefined
  /** Who we are, for the next process; only where rooms are kept. */
  readonly #secret: Uint8Array | undefined
  readonly #restored: readonly Room[]
  readonly #learning: Learning | undefined
  #status: StatusServer | undefined
  #timer: NodeJS.Timeout | undefined
  #isDrainDue = false
  #isClosed = false

  constructor(types: { readonly [name: string]: RoomType }, { server, transports, options, log }: HouseParts, maxRooms?: number) {
    const { provider = bestProvider() } = options.security ?? {}
    this.#keepPath = options.keepRooms
    const kept = this.#keepPath === undefined ? undefined : takeKeptRooms(this.#keepPath)
    // A copy: `slice` of a Buffer is none, and whoever takes a secret wipes what he took it from.
    const given = options.security?.identity ?? kept?.identity
    const identity = Uint8Array.from(given ?? new Uint8Array(32))
    if (given === undefined) systemEntropy.fill(identity)
    this.#secret = this.#keepPath === undefined ? undefined : identity.slice()
    this.#identity = keyToText('server-public', provider.importSigning(identity).publicKey)
    this.log = log
    this.#server = server
    this.#transports = transports
    for (const { game } of Object.values(types)) {
      checkGame(game)
      game.compile(compileRows)
    }
    this.#pathGraceMs = options.pathGraceMs ?? PATH_GRACE_MS
    this.drainMs = options.drainMs ?? DRAIN_MS
    const { weather } = options
    this.#ports = new PortBundle(weather === undefined ? transports.members : transports.members.map(
      ({ prefix, port }, index) => ({ prefix, port: new WeatherPort(port, weather, index + 1) }),
    ))
    this.rooms = createRoomHost(types, {
      entropy: systemEntropy,
      security: { ...options.security, provider, identity },
      limits: { originOf: (address) => this.#ports.originOf(address), ...options.limits },
      ...(maxRooms !== undefined && { maxRooms }),
      ...(kept && { ticketKey: kept.ticketKey }),
      stopwatch: now,
      onRoomFault: (room, error) => this.handleFault(room, error),
      onAuthFault: (error) => log({ level: 'error', event: 'auth-fault', message: `onAuth threw, and whoever asked was refused: ${textOf(error)}` }),
      onWake: () => this.#drainSoon(),
    })
    const { learn = false } = options
    this.#learning = learn === false ? undefined : new Learning(types, learn === true ? {} : learn, () => this.rooms.rooms, log, now)
    this.url = `${options.tls === undefined ? 'http' : 'https'}://localhost:${portOf(server, PORT_DEFAULT)}`
    this.#ports.onDatagram = (from, bytes, length) => {
      this.rooms.handleDatagram(now(), from, bytes, length)
      this.#drainSoon()
    }
    this.#ports.onPathClosed = (path) => this.#forgetLater(path)
    this.#forgetSignals = options.signals === false ? () => {} : drainOnSignals(this)
    this.#restored = this.rooms.restore(now(), kept?.rooms ?? [])
    this.#drainSoon()
  }

  /** Rooms of the process before. */
  protected get restored(): readonly Room[] {
    return this.#restored
  }

  /** What a page is told at /tickwire/info: the transports, where they are, and why one is missing. */
  get info(): ServerInfo {
    return { ...this.#transports.info, identity: this.#identity }
  }

  /** What all transports counted together. */
  get ports(): PortBundle {
    return this.#ports
  }

  /** Where the operator looks; undefined when that was turned off. */
  get opsUrl(): string | undefined {
    return this.#status?.url
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

  /** Lets nobody in any more, lets those who are here play on for so long, and closes. */
  async drain(ms: number = this.drainMs): Promise<void> {
    if (this.#keepPath !== undefined && this.#secret !== undefined) {
      writeKeptRooms(this.#keepPath, this.rooms, this.#secret)
      this.log({ level: 'info', event: 'rooms-kept', message: `${this.rooms.rooms.length} rooms wait for the next process in ${this.#keepPath}` })
      return this.#letGo()
    }
    this.log({ level: 'info', event: 'drain-begun', message: `closing in ${ms} ms, or when nobody plays`, facts: { ms, players: this.rooms.players } })
    this.rooms.beginDrain(ms)
    this.#drainSoon()
    const deadline = now() + ms
    while (this.rooms.endpoint.connections.length > 0 && now() < deadline && !this.#isClosed) await sleep(20)
    await this.close()
    this.log({ level: 'info', event: 'closed', message: 'closed' })
  }

  /** Tells everyone that it is over, waits a moment for that to arrive, and lets go of the ports. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.rooms.close(now())
    const deadline = now() + CLOSE_MS
    while (this.rooms.endpoint.connections.length > 0 && now() < deadline) {
      this.#wake()
      await sleep(10)
    }
    await this.#letGo()
  }

  async #letGo(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#forgetSignals()
    this.#learning?.close()
    for (const close of this.#recordings) close()
    clearTimeout(this.#timer)
    for (const grace of this.#graces) clearTimeout(grace)
    this.#ports.close()
    await this.#transports.close()
    await this.#status?.close()
    await new Promise((resolve) => {
      this.#server.close(resolve)
      this.#server.closeAllConnections()
    })
  }

  /** Opens the port for the operator. */
  async openOps(options: OpsOptions, port: number): Promise<void> {
    this.#status = await openStatusServer({ port, ...options }, this.rooms, this.#ports, this.log)
  }

  /** Records a room to a file, until `close` of what it gives, or the end. Throws when the file cannot be made. */
  protected recordRoom(room: Pick<Room, 'record'>, path: string, options: HostRecordOptions): { readonly recorder: Recorder; close(): void } {
    const file = createRecordingFile(path)
    const recorder = room.record(file, { startedAt: Math.floor(Date.now() / 1000), ...options })
    const close = (): void => {
      recorder.close()
      file.close()
    }
    this.#recordings.push(close)
    return { recorder, close }
  }

  protected handleFault(room: Room, error: unknown): void {
    this.log({
      level: 'error', event: 'room-fault', message: `a room of type "${room.typeName}" broke, and its players were told: ${textOf(error)}`,
      facts: { room: room.id, type: room.typeName, players: room.seats.players },
    })
  }

  /** Whose path is gone may come back by another: his connection has a name, and keys that only he has. */
  #forgetLater(path: string): void {
    if (this.#isClosed) return
    const grace = setTimeout(() => {
      this.#graces.delete(grace)
      this.rooms.handlePathClosed(path)
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
    this.rooms.tick(time)
    this.#sleepUntil(this.rooms.drain(time, this.#ports))
  }

  #sleepUntil(wakeAt: Millis): void {
    clearTimeout(this.#timer)
    if (wakeAt !== Infinity) this.#timer = setTimeout(() => this.#wake(), Math.max(0, wakeAt - now()))
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.stack ?? error.message : String(error)
}

function portOf(server: Server, otherwise: number): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : otherwise
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => { setTimeout(resolve, ms) })
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
