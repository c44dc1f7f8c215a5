/**
 * HTTP routes of `serve` in addition to the page: server information, and WebRTC signalling.
 *
 * ```
 * GET  /tickwire/info    the offers as JSON: transports, ports, certificate hashes, and why one is missing
 * GET  /tickwire/rooms   rooms that may be joined, as JSON; ?type= and ?any-key= narrow it; ?after=version waits for a
 *                        change, and answers with a version
 * GET  /tickwire/game    the game as text, enough for headless players to join; ?type= names a type of room;
 *                        the names of its entities are in a header
 * POST /tickwire/rtc     an SDP offer, answered with an SDP answer that has all candidates in it
 * ```
 *
 * Pages of other origins are refused unless they are on the list. Bodies are bounded, and so are the requests of one
 * address.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { OFFER_BYTES_MAX, OFFER_WINDOW_MS, OFFERS_COUNTED_MAX, OFFERS_PER_ORIGIN } from '../core/base/limits.ts'
import type { Game } from '../core/game/define-game.ts'
import type { RoomFilter } from '../core/rooms/room-directory.ts'
import type { RoomListing } from '../core/rooms/hosted-room.ts'
import { monotonicNow } from './clock.ts'
import { OriginTally } from './origin-tally.ts'
import { type AllowedOrigins, isAllowedOrigin } from './page-origin.ts'
import { originOfRequest } from './request-origin.ts'
import { RoomWatchers } from './room-watchers.ts'

export const MATCH_PATH = '/tickwire'
export const INFO_PATH = '/tickwire/info'
export const GAME_PATH = '/tickwire/game'
/** Names of entities, as percent-encoded JSON: the text does not contain them, and learnt tables are keyed by them. */
export const NAMES_HEADER = 'x-tickwire-entities'
export const ROOMS_PATH = '/tickwire/rooms'
export const SIGNALLING_PATH = '/tickwire/rtc'

/** Where the requests of a fleet come to. */
export const FLEET_PATH = '/tickwire/fleet/'

const OWN_PATHS: readonly string[] = [INFO_PATH, ROOMS_PATH, GAME_PATH, SIGNALLING_PATH]

/** Whether a request is for one of Tickwire's routes. */
export function isOwnPath({ url = '/' }: IncomingMessage): boolean {
  return OWN_PATHS.includes(url.split('?', 1)[0] ?? '') || url.startsWith(FLEET_PATH)
}

/** The answer at /tickwire/info. `browser/offers.ts` reads it. */
export interface ServerInfo {
  /** The path of the WebSocket. */
  readonly websocket: { readonly path: string }
  /** The UDP port and the path of WebTransport, and hashes of its certificates. Undefined: not offered. */
  readonly webtransport?: { readonly port: number; readonly path: string; readonly hashes: readonly string[] }
  /** The path for WebRTC offers. Undefined: not offered. */
  readonly webrtc?: { readonly path: string }
  /** The port of native UDP. Undefined: not offered. */
  readonly udp?: { readonly port: number }
  /** Why a transport is not offered, and how to change that. */
  readonly missing: { readonly [transport: string]: string }
  /** The server's identity. */
  readonly identity: string
  /** How long the server has run, in milliseconds: it says whether a page or its server is older. */
  readonly upMs: number
}

/** The query of a URL. */
export type Query = { readonly [key: string]: string }

export interface Routes {
  readonly origins: AllowedOrigins
  /** Whether offers from this machine and its own network are exempt from the limit per origin. */
  readonly areLocalExempt: boolean
  /** `query` says which seat a client will ask for (`rooms/room-place.ts`). */
  info(query: Query): ServerInfo
  rooms(filter: RoomFilter): readonly RoomListing[]
  /** The game of a type of room; undefined when there is no such type. */
  game(type: string | undefined): Game | undefined
  /** A page was refused because of its origin. */
  onRefused(why: 'origin', from: string): void
  /** Undefined if WebRTC is not served. */
  answer?(offer: string, originIp: string, query: Query): Promise<string>
}

/** Handles requests for these routes. */
export class ServeRoutes {
  readonly #routes: Routes
  readonly #watchers = new RoomWatchers()
  /** Offers in this window. */
  #offers: OriginTally
  #windowEndsAt = 0

  constructor(routes: Routes) {
    this.#routes = routes
    this.#offers = new OriginTally(OFFERS_PER_ORIGIN, routes.areLocalExempt)
  }

  /** Whether the request was for one of these routes; then it is answered. */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    if (!isOwnPath(request)) return false
    const path = (request.url ?? '/').split('?', 1)[0]
    const { origin, host } = request.headers
    if (!isAllowedOrigin(origin, [host], this.#routes.origins)) {
      this.#routes.onRefused('origin', origin ?? '')
      // Every page may read this answer: otherwise `connect` could not say why it fails.
      response.setHeader('access-control-allow-origin', '*')
      const fix = `Pages of ${origin} may not play here. Fix: name that origin in \`origins\` of serve.`
      reply(response, 403, JSON.stringify({ refused: 'origin', fix }), 'application/json')
      return true
    }
    response.setHeader('cache-control', 'no-store')
    response.setHeader('vary', 'origin')
    if (origin !== undefined) response.setHeader('access-control-allow-origin', origin)
    if (path === INFO_PATH) this.#tell(request, response, () => this.#routes.info(queryOf(request.url)))
    else if (path === GAME_PATH) this.#tellGame(request, response)
    else if (path === ROOMS_PATH) this.#tellRooms(request, response)
    else if (path === SIGNALLING_PATH) void this.#signal(request, response)
    else reply(response, 404, 'This server belongs to no fleet.')
    return true
  }

  #tell(request: IncomingMessage, response: ServerResponse, what: () => unknown): void {
    if (request.method !== 'GET') reply(response, 405, 'Only GET is answered here.')
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(what()))
  }

  #tellRooms(request: IncomingMessage, response: ServerResponse): void {
    const { url = '', method } = request
    const after = new URLSearchParams(url.split('?')[1] ?? '').get('after')
    const list = (): readonly RoomListing[] => this.#routes.rooms(filterOf(url))
    if (after === null || method !== 'GET') this.#tell(request, response, list)
    else this.#watchers.answer(response, after, list)
  }

  #tellGame({ url = '' }: IncomingMessage, response: ServerResponse): void {
    const game = this.#routes.game(filterOf(url).type)
    if (game === undefined) return reply(response, 404, 'There is no such type of room.')
    const names = encodeURIComponent(JSON.stringify(game.entities.map(({ schema }) => schema.name)))
    response
      .writeHead(200, {
        'content-type': 'text/plain; charset=utf-8',
        'x-content-type-options': 'nosniff',
        [NAMES_HEADER]: names,
      })
      .end(game.text)
  }

  async #signal(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { answer } = this.#routes
    if (request.method !== 'POST') return reply(response, 405, 'Only POST is answered here.')
    if (answer === undefined)
      return reply(response, 404, this.#routes.info({}).missing.webrtc ?? 'There is no WebRTC here.')
    const origin = originOfRequest(request)
    if (!this.#mayOffer(origin)) return reply(response, 429, 'Too many offers from one address.')
    try {
      const offer = await readBody(request)
      if (offer === undefined) return reply(response, 413, `An offer has at most ${OFFER_BYTES_MAX} bytes.`)
      reply(response, 200, await answer(offer, origin, queryOf(request.url)), 'application/sdp')
    } catch (error) {
      reply(response, 400, `The offer was not understood: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  /** An offer makes the server open a socket, so each origin has a limit per window. */
  #mayOffer(ip: string): boolean {
    const time = monotonicNow()
    if (time >= this.#windowEndsAt || this.#offers.total >= OFFERS_COUNTED_MAX) {
      this.#offers = new OriginTally(OFFERS_PER_ORIGIN, this.#routes.areLocalExempt)
      this.#windowEndsAt = time + OFFER_WINDOW_MS
    }
    return this.#offers.take(ip)
  }
}

function filterOf(url: string): RoomFilter {
  const { type, after: _after, ...metadata } = queryOf(url)
  return { metadata, ...(type !== undefined && { type }) }
}

/** The query of a URL. */
export function queryOf(url: string = ''): Query {
  return Object.fromEntries(new URLSearchParams(url.split('?')[1] ?? ''))
}

/** The body of a request; undefined when it is too long. One buffer for all, as it may arrive byte by byte. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const body = Buffer.alloc(OFFER_BYTES_MAX)
  let size = 0
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk)
    if (size + bytes.length > OFFER_BYTES_MAX) return undefined
    size += bytes.copy(body, size)
  }
  return body.toString('utf8', 0, size)
}

function reply(response: ServerResponse, status: number, text: string, type = 'text/plain; charset=utf-8'): void {
  response
    .writeHead(status, { 'content-type': type, 'x-content-type-options': 'nosniff' })
    .end(type.startsWith('text') ? `${text}\n` : text)
}
