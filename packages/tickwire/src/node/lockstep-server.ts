/**
 * Serves lockstep matches with one call: an order relay in every room, over every transport that players may have.
 *
 * ```ts
 * const serving = await serveLockstep({ skirmish: { game } }, { port: 9090 })
 * ```
 *
 * It has no world and calls no game code: a card (`cardOf`) is enough.
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../core/base/assert.ts'
import { keyToText, textToKey } from '../core/crypto/token-text.ts'
import type { DatagramPortStats } from '../core/endpoint/datagram-port.ts'
import { MessagePorts, type MessagePortLike } from '../core/endpoint/message-ports.ts'
import { desyncReportName } from '../core/order/desync-report.ts'
import type { NextRelay } from '../core/order/handover-messages.ts'
import { createRelayHost } from '../core/relaying/relay-host.ts'
import type { RecordedMatch } from '../core/relaying/match-keeping.ts'
import type { RelayMatch, RelayRoomType } from '../core/relaying/relay-match.ts'
import type { RoomHost } from '../core/rooms/room-host.ts'
import { monotonicNow as now } from './clock.ts'
import { bestProvider } from './crypto.ts'
import { systemEntropy } from './entropy.ts'
import { loggedTracer } from './logged-tracer.ts'
import { HostLoop } from './host-loop.ts'
import { openHttpSite, type HttpSite } from './http-site.ts'
import { portOf } from './listen.ts'
import { withWeather } from './load-weather.ts'
import type { recordMatch } from './match-replays.ts'
import { PortBundle } from './port-bundle.ts'
import type { HostedPorts } from './room-server.ts'
import type { RoomServerOptions } from './room-server-options.ts'
import { drainOnSignals } from './rooms-signals.ts'
import { ServeRoutes, type ServerInfo } from './serve-routes.ts'
import { openTransports, type OpenTransports } from './serve-transports.ts'
import { limitLines, plainLog } from './status-log.ts'

/** The port of lockstep matches, unless another is given. */
export const LOCKSTEP_PORT_DEFAULT = 9090

/** Options of `serveLockstep`, apart from the room types. */
export interface ServeLockstepOptions
  extends Omit<
    RoomServerOptions, 'keepRooms' | 'development' | 'learn' | 'onError' | 'pathGraceMs' | 'ops' | 'workers' | 'publish'
  > {
  /** Most matches at once. Default 256. */
  readonly maxRooms?: number
  /** Reports of desyncs are written here, as `desync_report_{seed}_{tick}.json`. Default: they are not. */
  readonly reportFolder?: string
  /**
   * The relays of a group: a match whose relay is lost goes on at the next one. The same list on all of them; needs
   * `security.identity`, and the `key` of each relay is its public identity. Default: none.
   */
  readonly relays?: readonly GroupRelay[]
  /** Matches are recorded here, as `{room}_{seed}.twr`, sealed with the identity of the server. Default: not. */
  readonly replayFolder?: string
}

/** A relay of a group. */
export interface GroupRelay {
  /** Where clients reach it, as `relay` takes it. */
  readonly url: string
  /** Its public key, as bytes or as the text that `identity` of /tickwire/info has. */
  readonly key: Uint8Array | string
}

/** Matches leave for the next relay within this time. */
const EXIT_MS = 1000
/** The last tick of a void match arrives within this time. */
const VOID_MS = 1000
const DRAIN_MS = 10_000

/** Serves lockstep matches until `close`. Throws ConfigError if a port is taken, or a requested transport fails. */
export async function serveLockstep(
  types: { readonly [name: string]: RelayRoomType },
  options: ServeLockstepOptions = {},
): Promise<ServingLockstep> {
  return await openLockstep(types, options)
}

/** The same, with the ports of a player that hosts. */
export async function openLockstep(
  types: { readonly [name: string]: RelayRoomType },
  options: ServeLockstepOptions,
  hosted?: HostedPorts,
): Promise<ServingLockstep> {
  const { port = LOCKSTEP_PORT_DEFAULT, limits: { areLocalExempt = true } = {} } = options
  const log = limitLines(options.log ?? plainLog())
  let routes: ServeRoutes | undefined
  const site = await openHttpSite(options, port, log, (request, response) => routes?.handle(request, response) === true)
  let transports: OpenTransports | undefined
  try {
    transports = await openTransports(site.server, portOf(site.server, port), options, log)
    // Loaded when it is asked for: a recorder knows the images of worlds, and a relay has none.
    const record = options.replayFolder === undefined
      ? undefined : (await import('./match-replays.ts')).recordMatch
    const serving = new ServingLockstep(types, site, transports, options, { hosted, record })
    routes = new ServeRoutes({
      origins: options.origins ?? [],
      areLocalExempt,
      info: () => serving.info,
      rooms: (filter) => serving.rooms.list(filter),
      game: () => undefined,
      onRefused: () => {},
      ...(transports.answer && { answer: transports.answer }),
    })
    return serving
  } catch (error) {
    for (const { port: opened } of transports?.members ?? []) opened.close()
    await transports?.close()
    await site.close()
    throw error
  }
}

/** What some servers have in addition. */
interface LockstepParts {
  readonly hosted?: HostedPorts | undefined
  readonly record?: typeof recordMatch | undefined
}

/** Lockstep matches that are being served. */
export class ServingLockstep {
  /** All matches, and the endpoint that they share. */
  readonly rooms: RoomHost<RelayMatch>
  /** Called when everything is released. */
  onClosed: () => void = () => {}
  /** The URL on this machine. */
  readonly url: string
  /** How long players may play on after SIGTERM, in ms. */
  readonly drainMs: number
  readonly #site: HttpSite
  readonly #transports: OpenTransports
  readonly #ports: PortBundle
  readonly #messages = new MessagePorts()
  readonly #identity: string
  readonly #startedAt = now()
  readonly #loop: HostLoop
  readonly #forgetSignals: () => void
  readonly #closeCode: 'shutdown' | 'host-left'
  #isClosed = false

  constructor(
    types: { readonly [name: string]: RelayRoomType },
    site: HttpSite,
    transports: OpenTransports,
    options: ServeLockstepOptions,
    { hosted, record }: LockstepParts = {},
  ) {
    this.#closeCode = hosted?.closeCode ?? 'shutdown'
    const { provider = bestProvider() } = options.security ?? {}
    const identity = Uint8Array.from(options.security?.identity ?? new Uint8Array(32))
    if (options.security?.identity === undefined) systemEntropy.fill(identity)
    this.#identity = keyToText('server-public', provider.importSigning(identity).publicKey)
    this.#site = site
    this.#transports = transports
    this.drainMs = options.drainMs ?? DRAIN_MS
    this.url = `${options.tls === undefined ? 'http' : 'https'}://localhost:${portOf(site.server, 0)}`
    const members = [...transports.members, { prefix: 'port:', port: this.#messages }, ...(hosted?.members ?? [])]
    this.#ports = new PortBundle(withWeather(members, options.weather))
    const { replayFolder } = options
    const recording = replayFolder === undefined || record === undefined ? {} : {
      record: (match: RecordedMatch) => record(match, replayFolder, provider, identity),
    }
    const complete = Object.entries(types).map(([name, type]) => [name, {
      capacity: type.game.players[1], ...recording, ...type, ...reporting(type, options.reportFolder),
    }] as const)
    this.rooms = createRelayHost(Object.fromEntries(complete), {
      entropy: systemEntropy,
      security: { ...options.security, provider, identity },
      limits: { originOf: (address) => this.#ports.originOf(address), ...options.limits },
      ...(options.maxRooms !== undefined && { maxRooms: options.maxRooms }),
      ...(options.relays && { relays: groupOf(options.relays, options.security?.identity) }),
      stopwatch: now,
      onError: () => {},
      onWake: () => this.#loop.wakeSoon(),
      ...(options.tracer && { tracer: loggedTracer(options.tracer, limitLines(options.log ?? plainLog())) }),
    })
    this.#loop = new HostLoop(this.rooms, this.#ports)
    this.#ports.onDatagram = (from, bytes, length) => {
      this.rooms.handleDatagram(now(), from, bytes, length)
      this.#loop.wakeSoon()
    }
    this.#ports.onPathClosed = (path) => {
      if (this.#isClosed) return
      this.rooms.handlePathClosed(path)
      this.#loop.wakeSoon()
    }
    this.#forgetSignals = options.signals === false ? () => {} : drainOnSignals(this)
    this.#loop.wakeSoon()
  }

  /** The answer at /tickwire/info: the transports, where they are, and why one is missing. */
  get info(): ServerInfo {
    return { ...this.#transports.info, identity: this.#identity, upMs: Math.round(now() - this.#startedAt) }
  }

  /** Counters of the datagrams of all transports. */
  get stats(): Readonly<DatagramPortStats> {
    return this.#ports.stats
  }

  /** A client at the other end of a MessagePort may join. */
  admit(port: MessagePortLike): void {
    this.#messages.admit(port)
  }

  /**
   * Admits no more clients, and closes after `ms` or when all have left. In a group (`relays`) matches go on at the
   * next relay at once; those that may not are void after `ms`.
   */
  async drain(ms: number = this.drainMs): Promise<void> {
    this.rooms.beginDrain(ms)
    const leaving = this.rooms.rooms.filter(({ exit }) => exit.begin(now()))
    await this.#loop.untilEmpty(Math.max(ms, leaving.length > 0 ? EXIT_MS : 0))
    const ended = this.rooms.rooms.filter(({ exit }) => exit.makeVoid())
    await this.#loop.until(() => ended.every(({ relay, exit }) => relay.hasEnded && exit.isDelivered), VOID_MS)
    for (const room of ended) room.end()
    this.#loop.wake()
    await this.close()
  }

  /** Disconnects all clients, waits a moment for that to arrive, and releases the ports. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.rooms.close(now(), this.#closeCode)
    await this.#loop.flush()
    if (this.#isClosed) return
    this.#isClosed = true
    this.#loop.end()
    this.#forgetSignals()
    this.#ports.close()
    await this.#transports.close()
    await this.#site.close()
    this.onClosed()
  }
}

/** Writes reports of desyncs to a folder, before the room type's own listener has them. */
function reporting({ onDesync }: RelayRoomType, folder: string | undefined): Pick<RelayRoomType, 'onDesync'> {
  if (folder === undefined) return {}
  return {
    onDesync(report) {
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, desyncReportName(report)), `${JSON.stringify(report, null, 2)}\n`)
      onDesync?.(report)
    },
  }
}

/** The relays of a group. Throws ConfigError if a key is invalid, or if this relay has no lasting key. */
function groupOf(relays: readonly GroupRelay[], identity: Uint8Array | undefined): NextRelay[] {
  if (relays.length > 0 && identity === undefined) {
    throw new ConfigError(
      'relays', 'the relay has no lasting identity', 'give `security.identity`: 32 secret bytes that stay the same.',
    )
  }
  return relays.map(({ url, key }) => {
    const bytes = typeof key === 'string' ? textToKey(key)?.key : key
    if (bytes === undefined)
      throw new ConfigError('relays', `${url}: not a key (got "${String(key)}")`, 'give its public key.')
    return { url, key: bytes }
  })
}
