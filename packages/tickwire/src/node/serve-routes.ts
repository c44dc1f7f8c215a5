/**
 * What `serve` answers over HTTP beside the page: what it offers, and WebRTC signalling.
 *
 * ```
 * GET  /tickwire/info    the offers as JSON: transports, ports, certificate hashes, and why one is missing
 * GET  /tickwire/rooms   rooms that may be joined, as JSON; ?type= and ?any-key= narrow it
 * GET  /tickwire/game    what is played, as text: enough for headless players to join. ?type= names a type of room; names of entities in a header
 * POST /tickwire/rtc     an SDP offer, answered with an SDP answer that has all candidates in it
 * ```
 *
 * Pages of another origin are refused unless they are on the list. Bodies are bounded, and so is what one address may ask.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { originKey } from '../core/endpoint/origin-key.ts'
import type { Game, RoomFilter, RoomListing } from '../core/index.ts'
import { monotonicNow } from './clock.ts'
import { type AllowedOrigins, isAllowedOrigin } from './page-origin.ts'

export const MATCH_PATH = '/tickwire'
export const INFO_PATH = '/tickwire/info'
export const GAME_PATH = '/tickwire/game'
/** Names of entities, as JSON, percent-encoded: they are not in the text, and tables that were learnt go by them. */
export const NAMES_HEADER = 'x-tickwire-entities'
export const ROOMS_PATH = '/tickwire/rooms'
export const SIGNALLING_PATH = '/tickwire/rtc'

/** What a page is told. `browser/offers.ts` reads it. */
export interface ServerInfo {
  readonly websocket: { readonly path: string }
  readonly webtransport?: { readonly port: number; readonly path: string; readonly hashes: readonly string[] }
  readonly webrtc?: { readonly path: string }
  readonly udp?: { readonly port: number }
  /** Why a transport is not offered, and what would change that. */
  readonly missing: { readonly [transport: string]: string }
  /** Who this server is. */
  readonly identity: string
}

export interface Routes {
  readonly origins: AllowedOrigins
  info(): ServerInfo
  rooms(filter: RoomFilter): readonly RoomListing[]
  /** The game of a type of room; undefined when there is no such type. */
  game(type: string | undefined): Game | undefined
  /** Undefined where there is no WebRTC. */
  answer?(offer: string): Promise<string>
}

const OFFER_BYTES_MAX = 16_384
const OFFERS_PER_ORIGIN = 8
const OFFER_WINDOW_MS = 10_000
/** Addresses that are remembered for a window. When there are more, all are forgotten. */
const ORIGINS_MAX = 4096

/** Answers requests that are ours. */
export class ServeRoutes {
  readonly #routes: Routes
  readonly #asked: Map<string, number> = new Map()
  #windowEndsAt = 0

  constructor(routes: Routes) {
    this.#routes = routes
  }

  /** Whether the request was ours; then it is answered. */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const path = (request.url ?? '/').split('?', 1)[0]
    if (path !== INFO_PATH && path !== ROOMS_PATH && path !== GAME_PATH && path !== SIGNALLING_PATH) return false
    const { origin, host } = request.headers
    if (!isAllowedOrigin(origin, [host], this.#routes.origins)) {
      reply(response, 403, `Pages of ${origin} may not play here. Fix: name that origin in \`origins\` of serve.`)
      return true
    }
    response.setHeader('cache-control', 'no-store')
    response.setHeader('vary', 'origin')
    if (origin !== undefined) response.setHeader('access-control-allow-origin', origin)
    if (path === INFO_PATH) this.#tell(request, response, () => this.#routes.info())
    else if (path === GAME_PATH) this.#tellGame(request, response)
    else if (path === ROOMS_PATH) this.#tell(request, response, () => this.#routes.rooms(filterOf(request.url ?? '')))
    else void this.#signal(request, response)
    return true
  }

  #tell(request: IncomingMessage, response: ServerResponse, what: () => unknown): void {
    if (request.method !== 'GET') reply(response, 405, 'Only GET is answered here.')
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(what()))
  }

  #tellGame({ url = '' }: IncomingMessage, response: ServerResponse): void {
    const game = this.#routes.game(filterOf(url).type)
    if (game === undefined) return reply(response, 404, 'There is no such type of room.')
    const names = encodeURIComponent(JSON.stringify(game.entities.map(({ schema }) => schema.name)))
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff', [NAMES_HEADER]: names }).end(game.text)
  }

  async #signal(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { answer } = this.#routes
    if (request.method !== 'POST') return reply(response, 405, 'Only POST is answered here.')
    if (answer === undefined) return reply(response, 404, this.#routes.info().missing.webrtc ?? 'There is no WebRTC here.')
    if (!this.#mayAsk(request.socket.remoteAddress ?? '')) return reply(response, 429, 'Too many offers from one address.')
    try {
      const offer = await readBody(request)
      if (offer === undefined) return reply(response, 413, `An offer has at most ${OFFER_BYTES_MAX} bytes.`)
      reply(response, 200, await answer(offer), 'application/sdp')
    } catch (error) {
      reply(response, 400, `The offer was not understood: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  /** Whatever asks for a peer connection makes us open sockets. A proxy of our own network asks for many. */
  #mayAsk(ip: string): boolean {
    if (originKey(ip)?.isLocal === true) return true
    const time = monotonicNow()
    if (time >= this.#windowEndsAt || this.#asked.size >= ORIGINS_MAX) {
      this.#asked.clear()
      this.#windowEndsAt = time + OFFER_WINDOW_MS
    }
    const count = (this.#asked.get(ip) ?? 0) + 1
    this.#asked.set(ip, count)
    return count <= OFFERS_PER_ORIGIN
  }
}

function filterOf(url: string): RoomFilter {
  const { type, ...metadata } = Object.fromEntries(new URLSearchParams(url.split('?')[1] ?? ''))
  return { metadata, ...(type !== undefined && { type }) }
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > OFFER_BYTES_MAX) return undefined
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString()
}

function reply(response: ServerResponse, status: number, text: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { 'content-type': type, 'x-content-type-options': 'nosniff' }).end(type.startsWith('text') ? `${text}\n` : text)
}
