/**
 * Runs rooms on a server: HTTP, the transports, the clock, the operator port, and an orderly shutdown.
 *
 * `serve` and `serveRooms` are its two entry points. The `RoomHost` that it drives does everything specific to
 * Tickwire.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { Server as TlsServer } from 'node:https'
import { ConfigError } from '../core/base/assert.ts'
import type { Tracer } from '../core/base/tracing.ts'
import type { SigningKey } from '../core/crypto/provider.ts'
import { keyToText } from '../core/crypto/token-text.ts'
import type { HostRecordOptions } from '../core/game/host-watch.ts'
import type { Match } from '../core/game/match.ts'
import { createRoomHost } from '../core/game/match-host.ts'
import type { RoomType } from '../core/game/room-type.ts'
import type { RoomHost } from '../core/rooms/room-host.ts'
import type { RoomImage } from '../core/rooms/room-image.ts'
import { isPlacedHere, type RoomPlace } from '../core/rooms/room-place.ts'
import type { Recorder } from '../core/replay/recorder.ts'
import { PATHS_MAX, PLAYERS_DEFAULT } from '../core/base/limits.ts'
import { checkGame, type Game } from '../core/game/define-game.ts'
import { type Certificate, checkCertificate } from './certificate.ts'
import { type Agones, openAgones } from './agones.ts'
import { monotonicNow as now } from './clock.ts'
import { bestProvider } from './crypto.ts'
import { compileRows } from './compile-rows.ts'
import type { FleetHome } from './fleet-member.ts'
import { HostLoop } from './host-loop.ts'
import type { HttpSite } from './http-site.ts'
import { inDevelopment } from './development.ts'
import { logFault } from './fault-log.ts'
import { systemEntropy } from './entropy.ts'
import { Learning } from './learning.ts'
import { withWeather } from './load-weather.ts'
import { type BundleMember, PortBundle } from './port-bundle.ts'
import { Publisher, type PublishedServer } from './publisher.ts'
import { createRecordingFile } from './recording-file.ts'
import { resetSecretOf } from './reset-secret.ts'
import type { RoomServerOptions } from './room-server-options.ts'
import { takeKeptRooms, writeKeptRooms } from './rooms-keep.ts'
import { drainOnSignals } from './rooms-signals.ts'
import type { ServerInfo } from './serve-routes.ts'
import type { OpenTransports } from './serve-transports.ts'
import type { ServeLog } from './status-log.ts'
import { RefusalLog } from './refusal-log.ts'
import { readStatus, type Status } from './status.ts'
import { loggedTracer } from './logged-tracer.ts'
import { openStatusServer, type OpsOptions, type StatusServer } from './status-server.ts'

const PATH_GRACE_MS = 3000
const DRAIN_MS = 10_000

/** Why a room is not restored, for the log. */
const NOT_RESTORED: Readonly<Record<string, string>> = {
  'other-game': 'the game has changed',
  'unknown-type': 'there is no such type of room any more',
  taken: 'another room has its id',
}

/** What a server is built from. */
export interface RoomServerParts {
  readonly site: HttpSite
  readonly transports: OpenTransports
  readonly options: RoomServerOptions
  readonly log: ServeLog
  /** For a match that a player hosts. */
  readonly hosted?: HostedPorts
  /** What processes behind one address share. Undefined: this process is the only one. */
  readonly share?: { readonly place: RoomPlace; readonly ticketKey: Uint8Array }
}

/** More ports, and the reason that players get at the end. */
export interface HostedPorts {
  readonly members: readonly BundleMember[]
  readonly closeCode: 'host-left'
  /** How players reach it, for public lists. */
  readonly place?: PublishedServer['place']
}

/** Rooms that are being served. */
export class RoomServer {
  /** All rooms, and the endpoint that they share. */
  readonly rooms: RoomHost<Match>
  /** The URL of the page on this machine. */
  readonly url: string
  /** How long players may play on after SIGTERM, in ms. */
  readonly drainMs: number
  /** Called when everything is released. */
  onClosed: () => void = () => {}
  /** Refused clients, by reason. */
  readonly refusals: RefusalLog
  protected readonly log: ServeLog
  /** Records steps of joins, and logs them. Undefined: nothing is traced. */
  readonly #tracer: Tracer | undefined
  readonly #types: { readonly [name: string]: RoomType }
  readonly #site: HttpSite
  readonly #transports: OpenTransports
  readonly #ports: PortBundle
  readonly #identity: string
  readonly #signing: SigningKey
  readonly #place: PublishedServer['place']
  #publisher: Publisher | undefined
  #agones: Agones | undefined
  readonly #startedAt = now()
  readonly #graces: Set<NodeJS.Timeout> = new Set()
  readonly #pathGraceMs: number
  readonly #audience: string
  readonly #forgetSignals: () => void
  readonly #recordings: (() => void)[] = []
  readonly #keepPath: string | undefined
  /** The identity, for the next process; only if rooms are kept. */
  readonly #secret: Uint8Array | undefined
  readonly #restored: readonly Match[]
  readonly #learning: Learning | undefined
  readonly #loop: HostLoop
  #status: StatusServer | undefined
  readonly #closeCode: 'shutdown' | 'host-left'
  #isClosed = false

  constructor(
    given: { readonly [name: string]: RoomType },
    { site, transports, options, log, hosted, share }: RoomServerParts,
    maxRooms?: number,
  ) {
    this.#types = inDevelopment(given, options, log)
    const { provider = bestProvider() } = options.security ?? {}
    // The plugin for Vite sets the variable. Workers are given files of their own.
    this.#keepPath = options.keepRooms ?? (share === undefined ? process.env.TICKWIRE_KEEP_ROOMS : undefined)
    const kept = this.#keepPath === undefined ? undefined : takeKeptRooms(this.#keepPath, share !== undefined)
    // A copy: `slice` of a Buffer does not copy, and the code that takes a secret wipes the bytes it was given.
    const known = options.security?.identity ?? kept?.identity
    const identity = Uint8Array.from(known ?? new Uint8Array(32))
    if (known === undefined) systemEntropy.fill(identity)
    this.#secret = this.#keepPath === undefined ? undefined : identity.slice()
    this.#signing = provider.importSigning(identity.slice())
    this.#identity = keyToText('server-public', this.#signing.publicKey)
    this.#audience = options.security?.tokens?.audience ?? ''
    this.log = log
    this.refusals = new RefusalLog(log)
    this.#tracer = options.tracer && loggedTracer(options.tracer, log)
    this.#site = site
    this.#transports = transports
    for (const { game } of Object.values(this.#types)) {
      checkGame(game)
      game.compile(compileRows)
    }
    this.#pathGraceMs = options.pathGraceMs ?? PATH_GRACE_MS
    this.drainMs = options.drainMs ?? DRAIN_MS
    this.#closeCode = hosted?.closeCode ?? 'shutdown'
    this.#place = hosted?.place
    const members = [...transports.members, ...(hosted?.members ?? [])]
    this.#ports = new PortBundle(withWeather(members, options.weather))
    this.rooms = createRoomHost(this.#types, {
      entropy: systemEntropy,
      security: {
        resetSecret: resetSecretOf(identity, site.port, undefined, share?.place.index),
        ...options.security,
        provider,
        identity,
      },
      limits: { originOf: (address) => this.#ports.originOf(address), ...options.limits },
      ...(maxRooms !== undefined && { maxRooms }),
      ...(kept && { ticketKey: kept.ticketKey }),
      ...share,
      ...('fleet' in options && options.fleet !== undefined && { isInFleet: true }),
      stopwatch: now,
      onError: (fault, room) => {
        logFault(log, fault, room)
        if (fault.isFatal && room !== undefined) this.handleRoomFault(room)
        options.onError?.(fault, room)
      },
      onRefused: (from, code) => this.refusals.note(code, this.#ports.originOf(from)),
      onWake: () => this.#loop.wakeSoon(),
      ...(this.#tracer && { tracer: this.#tracer }),
    })
    this.#loop = new HostLoop(this.rooms, this.#ports)
    const learning = options.learn === true ? {} : options.learn ?? false
    if (learning !== false) this.#learning = new Learning(this.#types, learning, () => this.rooms.rooms, log, now)
    this.url = `${site.server instanceof TlsServer ? 'https' : 'http'}://localhost:${site.port}`
    this.#ports.onDatagram = (from, bytes, length) => {
      this.rooms.handleDatagram(now(), from, bytes, length)
      this.#loop.wakeSoon()
    }
    this.#ports.onPathClosed = (path) => this.#forgetLater(path)
    this.#forgetSignals = options.signals === false ? () => {} : drainOnSignals(this)
    this.#restored = this.#restore(kept?.rooms ?? [], share?.place)
    this.#loop.wakeSoon()
  }

  /** Restores rooms of the previous process. The log names those that cannot be. */
  #restore(images: readonly RoomImage[], place: RoomPlace | undefined): readonly Match[] {
    const refuse = ({ typeName, id }: RoomImage, reason: string): void =>
      this.log({
        level: 'warn', event: 'room-not-restored',
        message: `room ${id} (${typeName}) of the previous process was not restored: ${NOT_RESTORED[reason] ?? reason}`,
      })
    const isHere = ({ id }: RoomImage): boolean => place === undefined || isPlacedHere(id, place)
    for (const image of images) if (!isHere(image)) refuse(image, 'the number of workers has changed')
    return this.rooms.restore(now(), images.filter(isHere), refuse)
  }

  /** Rooms of the previous process. */
  protected get restored(): readonly Match[] {
    return this.#restored
  }

  /** The answer at /tickwire/info: the transports, where they are, and why one is missing. */
  get info(): ServerInfo {
    return { ...this.#transports.info, identity: this.#identity, upMs: Math.round(now() - this.#startedAt) }
  }

  /** The game of a room type, by default of the first type. */
  gameOf(type: string | undefined): Game | undefined {
    const name = type ?? Object.keys(this.#types)[0] ?? ''
    return Object.hasOwn(this.#types, name) ? this.#types[name]?.game : undefined
  }

  /** All transports as one port, with their counters summed. */
  get ports(): PortBundle {
    return this.#ports
  }

  /** URL of the operator port; undefined when it is turned off. */
  get opsUrl(): string | undefined {
    return this.#status?.url
  }

  /** Shows new clients this certificate, such as a renewed one. Others stay. Throws ConfigError without `tls`. */
  replaceCertificate(certificate: Certificate): void {
    const { server } = this.#site
    if (!(server instanceof TlsServer)) {
      throw new ConfigError('tls', 'not given to `serve`, so there is nothing to replace', 'pass tls to `serve` first.')
    }
    checkCertificate('certificate', certificate)
    server.setSecureContext({ cert: certificate.cert, key: certificate.key })
    this.#transports.replaceCertificate(certificate)
  }

  /** Admits no more clients, and closes after `ms` or when all have left. With `keepRooms`, saves rooms, closes now. */
  async drain(ms: number = this.drainMs): Promise<void> {
    if (this.#keepPath !== undefined && this.#secret !== undefined) {
      writeKeptRooms(this.#keepPath, this.rooms, this.#secret)
      this.log({
        level: 'info', event: 'rooms-kept',
        message: `${this.rooms.rooms.length} rooms wait for the next process in ${this.#keepPath}`,
      })
      return this.#letGo()
    }
    this.log({
      level: 'info', event: 'drain-begun',
      message: `closing in ${ms} ms, or when the last player has left`,
      facts: { ms, players: this.rooms.players },
    })
    void this.#publisher?.close()
    this.rooms.beginDrain(ms)
    await this.#loop.untilEmpty(ms)
    await this.close()
    this.log({ level: 'info', event: 'closed', message: 'closed' })
  }

  /** Disconnects all clients, waits a moment for that to arrive, and releases the ports. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.rooms.close(now(), this.#closeCode)
    await this.#loop.flush()
    await this.#letGo()
  }

  async #letGo(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#loop.end()
    this.#forgetSignals()
    this.#learning?.close()
    await this.#publisher?.close()
    await this.#agones?.close()
    for (const close of this.#recordings) close()
    for (const grace of this.#graces) clearTimeout(grace)
    this.#ports.close()
    await this.#transports.close()
    await this.#status?.close()
    await this.#site.close()
    this.onClosed()
  }

  /** Answers a request for a path of Tickwire's own. False: it does not know the path. */
  handleOwn(_request: IncomingMessage, _response: ServerResponse): boolean {
    return false
  }

  /** What a fleet needs to know of this server. */
  protected get fleetHome(): Omit<FleetHome, 'maxRooms' | 'leave' | 'onIssuer'> {
    const { publicKey } = this.#signing
    return {
      rooms: this.rooms, port: this.#site.port, isSecure: this.#site.server instanceof TlsServer, log: this.log,
      tracer: this.#tracer,
      types: Object.fromEntries(Object.entries(this.#types).map(([name, { game, capacity = PLAYERS_DEFAULT }]) => (
        [name, { fingerprint: game.fingerprint, capacity }]
      ))),
      identity: publicKey, sign: (bytes) => this.#signing.sign(bytes), audience: this.#audience,
      wake: () => this.#loop.wakeSoon(),
    }
  }

  /** @internal Lists the server, and reports to Agones. */
  publish(options: RoomServerOptions['publish']): void {
    this.#agones = openAgones(this.rooms, this.log)
    if (options === undefined) return
    this.#publisher = new Publisher(options, {
      key: this.#signing, types: this.#types, site: this.#site, rooms: () => this.rooms.list({}),
      ...(this.#place && { place: this.#place }),
    }, this.log)
  }

  /** Opens the operator port. */
  async openOps(options: OpsOptions, port: number): Promise<void> {
    const observed = { isDraining: () => this.rooms.isDraining, read: () => this.readStatus() }
    this.#status = await openStatusServer({ port, ...options }, observed, this.log)
  }

  /** Rooms, players and metrics, for the operator. */
  readStatus(): Status {
    return readStatus({ host: this.rooms, ports: this.#ports, refusals: this.refusals })
  }

  /** Records a room to a file, until `close` of the result, or the end. Throws when the file cannot be created. */
  protected recordRoom(
    room: Pick<Match, 'record'>,
    path: string,
    options: HostRecordOptions,
  ): { readonly recorder: Recorder; close(): void } {
    const file = createRecordingFile(path)
    const recorder = room.record(file, { startedAt: Math.floor(Date.now() / 1000), ...options })
    const close = (): void => {
      recorder.close()
      file.close()
    }
    this.#recordings.push(close)
    return { recorder, close }
  }

  /** A room has ended because its code threw. */
  protected handleRoomFault(_room: Match): void {}

  /** A client whose path closed may migrate to another: its connection has an id, and keys that only the client has. */
  #forgetLater(path: string): void {
    if (this.#isClosed) return
    const forget = (): void => {
      this.rooms.handlePathClosed(path)
      this.#loop.wakeSoon()
    }
    // When paths open and close faster than that, there is no grace period.
    if (this.#graces.size >= PATHS_MAX) return forget()
    const grace = setTimeout(() => {
      this.#graces.delete(grace)
      forget()
    }, this.#pathGraceMs)
    this.#graces.add(grace)
  }
}
