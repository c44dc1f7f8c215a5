/**
 * The first process of a server with workers: it listens, answers HTTP, and sends each client to the worker that has
 * its room or will have it. It runs no rooms itself.
 *
 * ```
 *  players ──▶ TCP port: page, room list, signalling ─── first process ──▶ sockets of WebSockets ──▶ workers
 *  players ──▶ UDP ports, one of each transport per worker ───────────────────────────────────────▶ workers
 * ```
 */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { Server as TlsServer } from 'node:https'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { ConfigError } from '../core/base/assert.ts'
import type { SigningKey } from '../core/crypto/provider.ts'
import { keyToText } from '../core/crypto/token-text.ts'
import { checkGame, type Game } from '../core/game/define-game.ts'
import type { RoomListing } from '../core/rooms/hosted-room.ts'
import { isMatch, type RoomFilter } from '../core/rooms/room-directory.ts'
import type { NewRoomOptions } from '../core/rooms/room-lifecycle.ts'
import { decodePlaceRequest, PLACE_LETTERS, WORKERS_MAX } from '../core/rooms/room-place.ts'
import { checkCertificate, type Certificate } from './certificate.ts'
import { monotonicNow as now } from './clock.ts'
import { bestProvider } from './crypto.ts'
import { systemEntropy } from './entropy.ts'
import { openHttpSite, type HttpSite } from './http-site.ts'
import { PORT_DEFAULT } from './listen.ts'
import { byLabel, gauge, processMetrics, type Metric } from './metrics.ts'
import { checkPort, guardLog } from './open-room-server.ts'
import { Publisher } from './publisher.ts'
import { RefusalLog } from './refusal-log.ts'
import type { RoomServerOptions } from './room-server-options.ts'
import { takeKeptRooms } from './rooms-keep.ts'
import { drainOnSignals } from './rooms-signals.ts'
import {
  isOwnPath, MATCH_PATH, queryOf, ServeRoutes, SIGNALLING_PATH, type Query, type ServerInfo,
} from './serve-routes.ts'
import { limitLines, plainLog, type ServeLog } from './status-log.ts'
import { openStatusServer, type StatusServer } from './status-server.ts'
import type { Status } from './status.ts'
import { pathOf, refuseUpgrade } from './upgrade.ts'
import { Worker } from './worker.ts'
import { WorkerPlaces } from './worker-places.ts'
import { keptPath } from './worker-process.ts'
import { countersOf, mergeMetrics, mergeStatus } from './worker-status.ts'
import { sweepTokens } from './worker-tokens.ts'

const DRAIN_MS = 10_000
const SWEEP_MS = 60_000

type Types = { readonly [name: string]: { readonly game: Game; readonly capacity?: number } }

/** Opens a server with workers. Throws ConfigError for invalid options, or when a port is taken. */
export async function openWorkers(types: Types, options: RoomServerOptions): Promise<ServingWorkers> {
  const { port = PORT_DEFAULT, workers = 1, tls } = options
  const count = workers === 'auto' ? Math.min(availableParallelism(), WORKERS_MAX) : workers
  if (!Number.isInteger(count) || count < 1 || count > WORKERS_MAX)
    throw new ConfigError('workers', `invalid number (got ${count})`, `give 1 to ${WORKERS_MAX}, or 'auto'.`)
  if (options.learn !== undefined && options.learn !== false)
    throw new ConfigError('learn', 'given together with `workers`', 'train with `tickwire train` instead.')
  if (tls !== undefined) checkCertificate('tls', tls)
  checkPort(port)
  for (const { game } of Object.values(types)) checkGame(game)
  const log = limitLines(guardLog(options.log ?? plainLog()))
  let served: ServingWorkers | undefined
  const site = await openHttpSite(options, port, log, (request, response) => {
    if (served?.isOpen === true) return served.routes.handle(request, response)
    if (isOwnPath(request)) response.writeHead(503).end()
    return isOwnPath(request)
  })
  served = new ServingWorkers(types, options, count, site, log)
  try {
    await served.open(port === 0 ? 0 : site.port + 2)
  } catch (error) {
    await served.close()
    throw error
  }
  return served
}

/** A server whose rooms are spread over several processes. */
export class ServingWorkers {
  /** The URL of the page on this machine. */
  readonly url: string
  /** How long players may play on after SIGTERM, in ms. */
  readonly drainMs: number
  /** @internal Answers requests for Tickwire's own paths. */
  readonly routes: ServeRoutes
  readonly #types: Types
  readonly #options: RoomServerOptions
  readonly #site: HttpSite
  readonly #log: ServeLog
  readonly #workers: readonly Worker[]
  readonly #places: WorkerPlaces
  readonly #identity: string
  readonly #signing: SigningKey
  #publisher: Publisher | undefined
  readonly #folder = mkdtempSync(join(tmpdir(), 'tickwire-'))
  readonly #tokens = join(this.#folder, 'tokens')
  readonly #startedAt = now()
  readonly #forgetSignals: () => void
  readonly #sweep: NodeJS.Timeout
  /** The last status of each worker, for the counters of those that die. Indexed by worker. */
  readonly #lastStatus: (Status | undefined)[] = []
  #ended: readonly Metric[] = []
  #status: StatusServer | undefined
  #isOpen = false
  #isDraining = false
  #isClosed = false

  /** @internal Use `serve` or `serveRooms`. */
  constructor(types: Types, options: RoomServerOptions, count: number, site: HttpSite, log: ServeLog) {
    const { security, keepRooms } = options
    const { provider = bestProvider() } = security ?? {}
    const paths = keepRooms === undefined ? [] : Array.from({ length: count }, (_, index) => keptPath(keepRooms, index))
    const kept = paths.map((path) => takeKeptRooms(path, true)).find((each) => each)
    const identity = Uint8Array.from(security?.identity ?? kept?.identity ?? random())
    const ticketKey = kept?.ticketKey ?? random()
    // A copy, because the code that takes a secret wipes the bytes it was given.
    this.#signing = provider.importSigning(identity.slice())
    this.#identity = keyToText('server-public', this.#signing.publicKey)
    this.#types = types
    mkdirSync(this.#tokens)
    this.#options = options
    this.#site = site
    this.#log = log
    this.drainMs = options.drainMs ?? DRAIN_MS
    this.url = `${site.server instanceof TlsServer ? 'https' : 'http'}://localhost:${site.port}`
    this.#workers = Array.from({ length: count }, (_, index) =>
      new Worker({
        place: { index, count }, port: site.port, identity, ticketKey, tokensFolder: this.#tokens,
        pipePath: process.platform === 'win32'
          ? `\\\\.\\pipe\\tickwire-${process.pid}-${site.port}-${index}` : join(this.#folder, `worker-${index}.pipe`),
      }, log))
    this.#places = new WorkerPlaces(this.#workers, (type) => this.#typeOf(type)?.capacity)
    const refusals = new RefusalLog(log)
    this.routes = new ServeRoutes({
      origins: options.origins ?? [],
      areLocalExempt: options.limits?.areLocalExempt ?? true,
      info: (query) => this.#infoFor(query),
      rooms: (filter) => this.list(filter),
      game: (type) => this.#typeOf(type)?.game,
      onRefused: (why, from) => refusals.note(why, from),
      answer: (offer, originIp, query) => this.#answer(offer, originIp, query),
    })
    site.server.on('upgrade', this.#onUpgrade)
    this.#forgetSignals = options.signals === false ? () => {} : drainOnSignals(this)
    this.#sweep = setInterval(() => sweepTokens(this.#tokens, Date.now() / 1000), SWEEP_MS)
    this.#sweep.unref()
  }

  /** @internal Whether all workers have started. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Its processes: the id of each (undefined while it starts again), and its rooms and players. */
  get workers(): readonly { readonly pid: number | undefined; readonly rooms: number; readonly players: number }[] {
    return this.#workers.map(({ pid, state: { roomCount, players } }) => ({ pid, rooms: roomCount, players }))
  }

  /** URL of the operator port; undefined when it is turned off. */
  get opsUrl(): string | undefined {
    return this.#status?.url
  }

  /** The answer at /tickwire/info for a client that takes any seat. */
  get info(): ServerInfo {
    return this.#infoFor({})
  }

  /** @internal Starts all workers, and opens the operator port. */
  async open(opsPort: number): Promise<void> {
    for (const worker of this.#workers) worker.onDeath = () => this.#keepCounters(worker.index)
    await Promise.all(this.#workers.map((worker) => worker.start()))
    const { ops } = this.#options
    if (ops !== false) {
      const observed = { isDraining: () => this.#isDraining, read: () => this.readStatus() }
      this.#status = await openStatusServer({ port: opsPort, ...ops }, observed, this.#log)
    }
    this.#isOpen = true
    const { publish } = this.#options
    if (publish === undefined) return
    this.#publisher = new Publisher(publish, {
      key: this.#signing, types: this.#types, site: this.#site, rooms: () => this.list(),
    }, this.#log)
  }

  /** The public list of rooms of all workers, a tenth of a second old at most. */
  list({ type, metadata = {} }: RoomFilter = {}): RoomListing[] {
    return this.#workers.flatMap(({ rooms }) => rooms).filter(
      (room) => (type === undefined || room.type === type) && isMatch(room.metadata, metadata),
    )
  }

  /** Makes a room, in the worker with the fewest players. Rejects when there is no such type, or too many rooms. */
  async create(type: string, options: NewRoomOptions = {}): Promise<RoomListing> {
    const worker = this.#find({ new: '1', type })
    if (worker === undefined) throw new Error('create: no worker runs')
    return await worker.ask('create', { type, options })
  }

  /** Rooms, players and metrics of all workers, for the operator. */
  async readStatus(): Promise<Status> {
    const parts = await Promise.all(this.#workers.map(async (worker) => {
      const status = await worker.ask('status', undefined).catch(() => undefined)
      if (status !== undefined) this.#lastStatus[worker.index] = status
      return status ?? []
    }))
    const running = this.#workers.filter(({ isOpen }) => isOpen).length
    const deaths = this.#workers.reduce((sum, worker) => sum + worker.deaths, 0)
    const extra = [
      gauge('tickwire_workers', 'Workers that run.', running),
      byLabel('tickwire_workers_total', 'Workers by event.', 'what', { died: deaths }),
      gauge('tickwire_draining', '1 while new players are refused.', this.#isDraining ? 1 : 0),
      ...processMetrics(),
    ]
    return mergeStatus(parts.flat(), extra, this.#ended)
  }

  /** Shows new clients this certificate, such as a renewed one. Others stay. Throws ConfigError without `tls`. */
  async replaceCertificate(certificate: Certificate): Promise<void> {
    const { server } = this.#site
    if (!(server instanceof TlsServer))
      throw new ConfigError('tls', 'not given to `serve`, so there is nothing to replace', 'pass tls to `serve` first.')
    checkCertificate('certificate', certificate)
    server.setSecureContext({ cert: certificate.cert, key: certificate.key })
    await Promise.all(this.#workers.map((worker) => worker.ask('certificate', certificate)))
  }

  /** Admits no more clients, and closes after `ms` or when all have left. With `keepRooms`, saves rooms, closes now. */
  async drain(ms: number = this.drainMs): Promise<void> {
    this.#isDraining = true
    await this.#end(ms)
  }

  /** Disconnects all clients, waits a moment for that to arrive, and ends all workers. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    await this.#end('now')
    const { keepRooms } = this.#options
    if (keepRooms === undefined) return
    for (const { index } of this.#workers) rmSync(keptPath(keepRooms, index), { force: true })
  }

  async #end(ms: number | 'now'): Promise<void> {
    if (this.#isClosed) return
    await this.#publisher?.close()
    await Promise.all(this.#workers.map((worker) => worker.end(ms)))
    if (this.#isClosed) return
    this.#isClosed = true
    this.#forgetSignals()
    clearInterval(this.#sweep)
    this.#site.server.off('upgrade', this.#onUpgrade)
    await this.#status?.close()
    await this.#site.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    if (pathOf(request) !== MATCH_PATH) {
      if (this.#site.server.listenerCount('upgrade') === 1) refuseUpgrade(socket, '404 Not Found')
      return
    }
    const worker = this.#isOpen ? this.#find(queryOf(request.url)) : undefined
    if (worker === undefined) refuseUpgrade(socket, '503 Service Unavailable')
    else worker.adopt(request, socket, head)
  }

  #find(query: Query): Worker | undefined {
    const index = this.#places.find(now(), decodePlaceRequest(query))
    return index === undefined ? undefined : this.#workers[index]
  }

  #infoFor(query: Query): ServerInfo {
    const worker = this.#find(query)
    const at = `?at=${PLACE_LETTERS[worker?.index ?? 0]}`
    const { webrtc, ...transports } = worker?.state.transports ?? { webrtc: undefined, missing: {} }
    return {
      ...transports,
      websocket: { path: MATCH_PATH + at },
      ...(webrtc && { webrtc: { path: SIGNALLING_PATH + at } }),
      identity: this.#identity,
      upMs: Math.round(now() - this.#startedAt),
    }
  }

  async #answer(offer: string, originIp: string, query: Query): Promise<string> {
    const worker = this.#find(query)
    if (worker === undefined) throw new Error('its worker does not run')
    return await worker.ask('offer', { offer, originIp })
  }

  #typeOf(type: string | undefined): Types[string] | undefined {
    const name = type ?? Object.keys(this.#types)[0] ?? ''
    return Object.hasOwn(this.#types, name) ? this.#types[name] : undefined
  }

  /** Keeps the counters of a worker that has died. */
  #keepCounters(index: number): void {
    const last = this.#lastStatus[index]
    this.#lastStatus[index] = undefined
    if (last !== undefined) this.#ended = mergeMetrics([this.#ended, countersOf(last)])
  }
}

function random(): Uint8Array {
  const bytes = new Uint8Array(32)
  systemEntropy.fill(bytes)
  return bytes
}
