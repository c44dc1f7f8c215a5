/**
 * Publishes a server in public lists of games: a signed listing at each tracker, renewed before its lease ends, put
 * back when a tracker has lost it, and removed at the end.
 *
 * A tracker that does not answer is asked again every few seconds. Players never wait for a tracker.
 */

import { Server as TlsServer } from 'node:https'
import { hostname, networkInterfaces } from 'node:os'
import { basename } from 'node:path'
import type { SigningKey } from '../core/crypto/provider.ts'
import { checkTrackers } from '../core/listing/browse-trackers.ts'
import { signListing } from '../core/listing/listing-signature.ts'
import type { GameListing, ListingFacts, ListingHost, ListingStatus } from '../core/listing/listing.ts'
import type { Game } from '../core/game/define-game.ts'
import { bytesToHex } from '../core/nat/hex.ts'
import type { RoomListing } from '../core/rooms/hosted-room.ts'
import { monotonicNow as now } from './clock.ts'
import type { HttpSite } from './http-site.ts'
import type { ServeLog } from './status-log.ts'

/** How players reach a server. */
type Place = Omit<ListingHost, 'identity'>

/** A tracker that a server is published at. */
export interface PublishTarget {
  /** Its address: https, except on this machine. */
  readonly url: string
  /** A publish token, or a function that gets a new one. Default: none, which programs of its machine do not need. */
  readonly token?: string | (() => Promise<string>)
  /** An API key of a token issuer, which is asked for tokens. Default: none. */
  readonly apiKey?: string
  /** The address of that issuer. Default: that of the tracker. */
  readonly issuer?: string
}

/** How a server is published. */
export interface PublishOptions extends Partial<Pick<ListingFacts, 'map' | 'rules' | 'requiredMods' | 'hasPassword'>> {
  /** At most 10. */
  readonly trackers: readonly (string | PublishTarget)[]
  /** The name of the game, which clients look for. Default: the name in package.json, or of the folder. */
  readonly game?: string
  /** The name of this server, for people. Default: game and machine. */
  readonly name?: string
  /** Where it is: `eu-central`. Default `unknown`. */
  readonly region?: string
  /** Where pages join it. Default: the address that the tracker sees, if the server can be reached there. */
  readonly url?: string
  /** Where native clients join it by UDP, `ip:port`. Default: it is not published. */
  readonly address?: string
}

/** What is published. */
export interface PublishedServer {
  /** The identity of the server. */
  readonly key: SigningKey
  readonly types: { readonly [name: string]: { readonly game: Game; readonly capacity?: number } }
  readonly site: HttpSite
  rooms(): readonly Pick<RoomListing, 'players' | 'capacity'>[]
  /** How players reach a host that has no address of its own. Undefined: by its address. */
  readonly place?: (() => Place) | undefined
}

const ASK_MS = 5000
const LOOK_MS = 2000
const RETRY_MS_MAX = 5000
/** A listing without changes is signed again after this time: clients do not show signatures of ten minutes ago. */
const SIGN_MS = 60_000
const REMOVE_MS = 1000

/** Publishes a server until `close`. Throws `ConfigError` for invalid options. */
export class Publisher {
  readonly #posts: readonly Post[]

  constructor(given: PublishOptions | readonly (string | PublishTarget)[], server: PublishedServer, log: ServeLog) {
    const options: PublishOptions = 'trackers' in given ? given : { trackers: given }
    const targets = options.trackers.map((each) => (typeof each === 'string' ? { url: each } : each))
    checkTrackers('publish', targets.map(({ url }) => url))
    // A first signature, so that an invalid field is reported now.
    signListing(server.key, factsOf(options, server, {}), Date.now())
    this.#posts = targets.map((target) => new Post(target, options, server, log))
    for (const post of this.#posts) void post.run()
  }

  /** Whether all trackers have it. */
  get isPublished(): boolean {
    return this.#posts.every(({ isPublished }) => isPublished)
  }

  /** Removes it from all trackers. */
  async close(): Promise<void> {
    await Promise.all(this.#posts.map(async (post) => await post.close()))
  }
}

/** The listing at one tracker. */
class Post {
  isPublished = false
  readonly #target: PublishTarget
  readonly #options: PublishOptions
  readonly #server: PublishedServer
  readonly #log: ServeLog
  #lease: { readonly id: string; readonly lease: string; readonly heartbeatMs: number } | undefined
  #place: Place | undefined
  #signed: GameListing | undefined
  #renewedAt = -Infinity
  #failures = 0
  #lastProblem = ''
  #isClosed = false
  #wake: () => void = () => {}

  constructor(target: PublishTarget, options: PublishOptions, server: PublishedServer, log: ServeLog) {
    this.#target = { ...target, url: target.url.endsWith('/') ? target.url : `${target.url}/` }
    this.#options = options
    this.#server = server
    this.#log = log
  }

  async run(): Promise<void> {
    while (!this.#isClosed) {
      const waitMs = await this.#beat().catch((error: unknown) => this.#failed(error))
      if (!this.#isClosed) await this.#sleep(waitMs)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#wake()
    const lease = this.#lease
    if (lease === undefined) return
    await this.#ask('DELETE', `v1/listings/${lease.id}`, undefined, lease.lease, REMOVE_MS).catch(() => {})
  }

  /** Publishes or renews, whatever is due. Returns when to look again, in ms. */
  async #beat(): Promise<number> {
    const lease = this.#lease
    if (lease === undefined) return await this.#publish()
    // The code of a host can change.
    const place = this.#server.place?.() ?? this.#place ?? {}
    const facts = factsOf(this.#options, this.#server, place)
    const isChanged = this.#signed === undefined || !isSame(facts, this.#signed)
    const isOld = this.#signed === undefined || Date.now() - this.#signed.signedAt > SIGN_MS
    if (!isChanged && now() - this.#renewedAt < lease.heartbeatMs - LOOK_MS) return LOOK_MS
    const listing = isChanged || isOld ? signListing(this.#server.key, facts, Date.now()) : undefined
    const { status, body } = await this.#ask(
      'PUT', `v1/listings/${lease.id}`, listing === undefined ? {} : { listing }, lease.lease,
    )
    if (status === 404 || status === 403) {
      // The tracker has lost it, or its store has: it is put back at once.
      this.#lease = undefined
      return 0
    }
    if (status !== 200) throw new Error(problemOf(status, body))
    if (listing !== undefined) this.#signed = listing
    this.#renewedAt = now()
    this.#failures = 0
    return LOOK_MS
  }

  async #publish(): Promise<number> {
    this.#place ??= await this.#findPlace()
    const listing = signListing(this.#server.key, factsOf(this.#options, this.#server, this.#place), Date.now())
    const { status, body } = await this.#ask('POST', 'v1/listings', { listing }, await this.#token())
    const { id, lease, heartbeatMs } = (body ?? {}) as { [name: string]: unknown }
    if (status !== 201 || typeof id !== 'string' || typeof lease !== 'string' || typeof heartbeatMs !== 'number')
      throw new Error(problemOf(status, body))
    this.#lease = { id, lease, heartbeatMs: Math.max(2 * LOOK_MS, heartbeatMs) }
    this.#signed = listing
    this.#renewedAt = now()
    this.#failures = 0
    this.#lastProblem = ''
    this.isPublished = true
    this.#log({ level: 'info', event: 'published', message: `published as "${listing.name}" at ${this.#target.url}` })
    return LOOK_MS
  }

  /** Where players reach the server: as the options say, otherwise at the address that the tracker sees. */
  async #findPlace(): Promise<Place> {
    const { url, address } = this.#options
    const { place, key, site: { port, server } } = this.#server
    const isTls = server instanceof TlsServer
    if (place !== undefined) return place()
    const native = address === undefined ? {} : { address }
    if (url !== undefined) return { url, ...native }
    const { status, body } = isTls ? { status: 0, body: undefined }
      : await this.#ask('POST', 'v1/reach', { port, identity: bytesToHex(key.publicKey) })
    const { address: seen, isReachable } = (body ?? {}) as { [name: string]: unknown }
    if (status === 200 && isReachable === true && typeof seen === 'string') return { url: urlOf(seen, port), ...native }
    if (status !== 200 && !isTls) throw new Error(problemOf(status, body))
    this.#log({
      level: 'warn', event: 'not-reachable',
      message: 'players cannot reach this server from outside, so the list shows no way to join. Fix: open the port, '
        + 'give publish.url, or use host() with a rendezvous',
    })
    return native
  }

  async #token(): Promise<string | undefined> {
    const { token, apiKey, issuer = this.#target.url } = this.#target
    if (typeof token === 'function') return await token()
    if (token !== undefined || apiKey === undefined) return token
    const server = bytesToHex(this.#server.key.publicKey)
    const base = issuer.endsWith('/') ? issuer : `${issuer}/`
    const { status, body } = await this.#ask('POST', `${base}v1/tokens`, { purpose: 'publish', server }, apiKey)
    const { token: text } = (body ?? {}) as { [name: string]: unknown }
    if (status !== 201 || typeof text !== 'string') throw new Error(`no token: ${problemOf(status, body)}`)
    return text
  }

  #failed(error: unknown): number {
    this.#failures++
    const problem = error instanceof Error ? error.message : String(error)
    if (problem !== this.#lastProblem) {
      this.#lastProblem = problem
      this.#log({
        level: 'warn', event: 'not-published', message: `the game is not listed at ${this.#target.url}: ${problem}`,
      })
    }
    return Math.min(RETRY_MS_MAX, 500 * 2 ** Math.min(this.#failures, 8))
  }

  async #ask(
    method: string, path: string, body?: object, bearer?: string, timeoutMs: number = ASK_MS,
  ): Promise<{ readonly status: number; readonly body: unknown }> {
    const response = await fetch(new URL(path, this.#target.url), {
      method, redirect: 'error', signal: AbortSignal.timeout(timeoutMs),
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    try {
      return { status: response.status, body: text === '' ? undefined : JSON.parse(text) as unknown }
    } catch {
      return { status: response.status, body: undefined }
    }
  }

  async #sleep(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      timer.unref()
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

function factsOf(options: PublishOptions, server: PublishedServer, place: Place): ListingFacts {
  const { game = process.env['npm_package_name'] ?? basename(process.cwd()), region = 'unknown' } = options
  const { map, rules, requiredMods, hasPassword } = options
  const rooms = server.rooms()
  const sum = (key: 'players' | 'capacity'): number => rooms.reduce((total, room) => total + room[key], 0)
  const types = Object.values(server.types)
  // Without rooms there are the seats of one that a player would create.
  const spare = Math.max(0, ...types.map(({ capacity: seats = 0 }) => seats))
  const [players, capacity] = [sum('players'), Math.max(sum('capacity'), spare)]
  const status: ListingStatus = players >= capacity ? 'full' : players === 0 ? 'waiting' : 'in_progress'
  return {
    game, engine: 'tickwire', name: options.name ?? `${game} on ${hostname()}`.slice(0, 64), region,
    build: bytesToHex(types[0]?.game.fingerprint ?? new Uint8Array(8)),
    host: { identity: bytesToHex(server.key.publicKey), ...place },
    players, capacity, status, ...(map && { map }), ...(rules && { rules }), ...(requiredMods && { requiredMods }),
    ...(hasPassword !== undefined && { hasPassword }),
  }
}

function isSame(facts: ListingFacts, { signedAt: _, sig: __, ...before }: GameListing): boolean {
  return JSON.stringify(facts) === JSON.stringify(before)
}

/** A tracker on this machine sees a loopback address, which other players cannot use. */
function urlOf(address: string, port: number): string {
  const isLocal = /^127\.|^::1$/.test(address)
  const all = isLocal ? Object.values(networkInterfaces()).flatMap((each) => each ?? []) : []
  const own = all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? address
  return `http://${own.includes(':') ? `[${own}]` : own}:${port}/`
}

function problemOf(status: number, body: unknown): string {
  const { error } = (body ?? {}) as { readonly error?: { readonly message?: unknown; readonly fix?: unknown } }
  return typeof error?.message === 'string' ? `${error.message} ${String(error.fix ?? '')}`.trim() : `status ${status}`
}
