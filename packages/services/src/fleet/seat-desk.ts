/**
 * Reserves seats: chooses game servers, asks at most three of them with the id of the request and the time that is
 * left, and answers with the address of the server and a token for each client.
 *
 * A request that comes twice, also to two instances, goes to the same server and gets the same seats: the first
 * instance that handles it writes down which server it asks. An answer that does not come in time is no seat; nothing
 * is done "instead" on this side, because only a game server can give a seat.
 */

import { createHash } from 'node:crypto'
import { issueToken } from 'tickwire/engine'
import { bestProvider, requestJson, signFleetRequest } from 'tickwire/node'
import type { Leases } from '../store/leases.ts'
import { chooseServers, type SeatWish } from './choose-server.ts'
import type { GameServer, GameServers } from './game-servers.ts'

/** A request for seats. */
export interface SeatRequest {
  /** 32 hexadecimal digits. */
  readonly id: string
  readonly fingerprint: string
  /** The time that the client waits, in ms. */
  readonly deadlineMs: number
  readonly type?: string
  readonly filter?: { readonly [key: string]: string }
  readonly party?: number
  readonly room?: string
  readonly code?: string
  readonly isNew?: boolean
  /** A new room for these clients alone. */
  readonly isFresh?: boolean
  readonly isSpectator?: boolean
  readonly region?: string
  /** For the token of each client, as text. Only a backend may say it. */
  readonly users?: readonly string[]
  /** The number of the matchmaker that asks. */
  readonly leader?: number
}

/** Why there are no seats. `late`: the deadline passed. `away`: no game server answered. */
export type SeatRefusal =
  | 'schema' | 'no-room' | 'full' | 'locked' | 'refused' | 'late' | 'away' | 'old-leader' | 'moved' | 'invalid'

/** The seats: a token for each client. */
export interface ReservedSeats {
  readonly url: string
  readonly server: string
  readonly room: string
  readonly tokens: string[]
}

/** What happened to requests. */
export interface SeatCounts {
  reserved: number
  repeated: number
  refused: number
  late: number
  away: number
}

/** Servers that are asked for one request. */
const ASKED_MAX = 3
/** How long a request is remembered. */
const REMEMBER_MS = 60_000
const REMEMBERED_MAX = 20_000
/**
 * The clocks of machines may differ by a minute. The reservation itself ends after ten seconds of the server's time.
 */
const TOKEN_SECONDS = 90
const REFUSALS: readonly string[] = ['full', 'no-room', 'locked', 'refused', 'late', 'old-leader', 'moved', 'invalid']

/** What a desk needs. */
export interface SeatDeskOptions {
  readonly servers: GameServers
  readonly leases: Leases
  /** The id of this instance. */
  readonly instance: string
  /** 32 secret bytes: the key that tokens are signed with. */
  readonly issuer: Uint8Array
  readonly secret: string | undefined
}

export class SeatDesk {
  readonly counts: SeatCounts = { reserved: 0, repeated: 0, refused: 0, late: 0, away: 0 }
  /** The public key of tokens: 32 bytes. */
  readonly issuerKey: Uint8Array
  readonly #options: SeatDeskOptions
  readonly #key: ReturnType<ReturnType<typeof bestProvider>['importSigning']>
  readonly #answers = new Map<string, { readonly answer: Promise<ReservedSeats | SeatRefusal>; readonly at: number }>()

  constructor(options: SeatDeskOptions) {
    this.#options = options
    this.#key = bestProvider().importSigning(Uint8Array.from(options.issuer))
    this.issuerKey = this.#key.publicKey
  }

  /** Whether this instance has seats for this request, or asks for them. */
  knows(id: string): boolean {
    return this.#answers.has(id)
  }

  /** `traceparent`: the span of the request, for the game servers that are asked. */
  async reserve(request: SeatRequest, traceparent?: string): Promise<ReservedSeats | SeatRefusal> {
    const known = this.#answers.get(request.id)
    if (known !== undefined) {
      this.counts.repeated++
      return await known.answer
    }
    this.#forget()
    const answer = this.#ask(request, performance.now() + request.deadlineMs, traceparent)
    this.#answers.set(request.id, { answer, at: performance.now() })
    const given = await answer
    if (typeof given !== 'string') this.counts.reserved++
    else {
      this.counts[given === 'late' || given === 'away' ? given : 'refused']++
      // A refusal is not a state: the same request may succeed later, at a server that was full.
      this.#answers.delete(request.id)
    }
    return given
  }

  async #ask(
    request: SeatRequest, until: number, traceparent: string | undefined,
  ): Promise<ReservedSeats | SeatRefusal> {
    const count = request.party ?? 1
    const tokenIds = Array.from({ length: count }, (_, at) => tokenIdOf(request.id, at))
    const before = await this.#askedBefore(request.id)
    let found = this.#candidates(request, count)
    const { servers } = this.#options
    if (typeof found === 'string' && !servers.isStale) {
      // A server may have reported to another instance a moment ago.
      await servers.refresh()
      found = this.#candidates(request, count)
    }
    if (typeof found === 'string') return found
    const candidates = before === undefined ? found : [before]
    let refusal: SeatRefusal = 'full'
    for (const [at, server] of candidates.slice(0, ASKED_MAX).entries()) {
      const leftMs = until - performance.now()
      if (leftMs <= 0) return 'late'
      const share = leftMs / (Math.min(ASKED_MAX, candidates.length) - at)
      const other = await this.#write(request.id, server)
      const asked = other ?? server
      const ms = Math.min(share, until - performance.now())
      const given = await this.#askServer(asked, request, tokenIds, ms, traceparent)
      if (typeof given === 'string') {
        refusal = given
        if (other !== undefined) return refusal
        continue
      }
      if (request.isFresh !== true) noteSeats(asked, given.room, request, count)
      else asked.players += count
      const users = request.users ?? []
      const tokens = tokenIds.map((id, index) => this.#token(asked, id, users[index] ?? ''))
      return { url: asked.url, server: asked.id, room: given.room, tokens }
    }
    return refusal
  }

  #candidates(request: SeatRequest, count: number): readonly GameServer[] | SeatRefusal {
    const { servers } = this.#options
    const { room, code, fingerprint } = request
    if (room !== undefined || code !== undefined) {
      const isIt = (each: { id: string; code?: string }): boolean =>
        room !== undefined ? each.id === room : each.code === code?.toUpperCase()
      const found = servers.all.filter(({ rooms }) => rooms.some(isIt))
        .toSorted((one, other) => Number(one.isDraining) - Number(other.isDraining))
      return found.length === 0 ? 'no-room' : found
    }
    const { type, filter, isSpectator = false, isNew = false, isFresh = false, region } = request
    const wish: SeatWish = { fingerprint, type, filter, count, isSpectator, isNew: isNew || isFresh, region }
    const chosen = chooseServers(servers.all, wish)
    return typeof chosen !== 'string' && chosen.length === 0 ? 'full' : chosen
  }

  async #askServer(
    server: GameServer, request: SeatRequest, tokens: readonly string[], ms: number, traceparent: string | undefined,
  ): Promise<{ readonly room: string } | SeatRefusal> {
    const path = '/tickwire/fleet/reserve'
    const { id, fingerprint, type, filter, room, code, isNew, isFresh, isSpectator, leader } = request
    const deadlineMs = Math.floor(ms)
    if (deadlineMs <= 0) return 'late'
    const text = JSON.stringify({
      id, deadlineMs, tokens, fingerprint, type, filter, room, code, isNew, isFresh, isSpectator, leader,
    })
    try {
      const { body } = await requestJson(`${server.url.replace(/\/$/, '')}${path}`, {
        method: 'POST', text, ms: deadlineMs,
        headers: {
          ...signFleetRequest(this.#options.secret, path, text), ...(traceparent !== undefined && { traceparent }),
        },
      })
      const given = (body ?? {}) as { readonly room?: unknown; readonly refused?: unknown }
      if (typeof given.room === 'string') return { room: given.room }
      const refused = String(given.refused)
      return REFUSALS.includes(refused) ? refused as SeatRefusal : 'away'
    } catch (error) {
      return (error as Error).name === 'TimeoutError' ? 'late' : 'away'
    }
  }

  /** The server that another instance asked for this request. */
  async #askedBefore(id: string): Promise<GameServer | undefined> {
    const { leases, servers } = this.#options
    if (!leases.isShared) return undefined
    const lease = await leases.get('seat', id)
    return lease === undefined || lease === 'unavailable' ? undefined : servers.get(lease.value)
  }

  /** Writes down which server is asked. Returns the one that another instance wrote down before. */
  async #write(id: string, server: GameServer): Promise<GameServer | undefined> {
    const { leases, instance, servers } = this.#options
    if (!leases.isShared) return undefined
    const put = await leases.put('seat', id, instance, server.id, REMEMBER_MS)
    if (put !== 'taken') return undefined
    const lease = await leases.get('seat', id)
    return lease === undefined || lease === 'unavailable' ? undefined : servers.get(lease.value)
  }

  #token({ identity, audience }: GameServer, tokenId: string, user: string): string {
    const seconds = Math.floor(Date.now() / 1000)
    return Buffer.from(issueToken(bestProvider(), this.#key, {
      server: Uint8Array.from(Buffer.from(identity, 'hex')), id: Uint8Array.from(Buffer.from(tokenId, 'base64url')),
      issuedAt: seconds - TOKEN_SECONDS, expiresAt: seconds + TOKEN_SECONDS, audience,
      user: Uint8Array.from(Buffer.from(user)),
    })).toString('base64url')
  }

  #forget(): void {
    const now = performance.now()
    for (const [id, { at }] of this.#answers) {
      if (now - at < REMEMBER_MS && this.#answers.size < REMEMBERED_MAX) return
      this.#answers.delete(id)
    }
  }
}

/** The list knows of the seats before the server reports them. */
function noteSeats(
  server: GameServer, id: string, { type = '', isSpectator, filter = {} }: SeatRequest, count: number,
): void {
  if (isSpectator === true) return
  server.players += count
  const room = server.rooms.find((each) => each.id === id)
  if (room !== undefined) room.players += count
  else if (id !== '') {
    const known = server.types.find(({ name }) => name === type) ?? server.types[0]
    const capacity = known?.capacity ?? count
    ;(server.rooms as unknown[]).push({
      id, number: 0, type: known?.name ?? type, players: count, capacity, spectators: 0, metadata: filter,
      isLocked: false, hasPassword: false,
    })
  }
}

/** The id of the token of one client: 16 bytes as text, the same whenever the request is repeated. */
function tokenIdOf(request: string, at: number): string {
  const hash = createHash('sha256').update(`tickwire/v1/seat\n${request}\n${at}`).digest()
  return hash.subarray(0, 16).toString('base64url')
}
