/**
 * A game server of a fleet: it tells the fleet every three seconds what it has (its lease lives for ten), keeps seats
 * that the fleet asks for, hands its rooms to other game servers when it is drained, and takes theirs.
 *
 * Requests of the fleet come to its HTTP port, signed (`fleet-signature.ts`):
 *
 *   POST /tickwire/fleet/reserve   seats for clients that will come
 *   POST /tickwire/fleet/thaw      a room of another game server
 *   POST /tickwire/fleet/inspect   one room, with its players
 *   POST /tickwire/fleet/act       drain, kick a player, close a room
 */

import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { PARTY_MAX, RESERVATION_MS } from '../core/base/limits-fleet.ts'
import type { Tracer } from '../core/base/tracing.ts'
import type { Match } from '../core/game/match.ts'
import type { RoomHost } from '../core/rooms/room-host.ts'
import type { SeatAnswer, SeatOrder } from '../core/rooms/reservations.ts'
import { monotonicNow as now } from './clock.ts'
import type { FleetLink } from './fleet-link.ts'
import { FleetMoves } from './fleet-moves.ts'
import { FleetResults, type MatchResult, type ReportAnswer } from './fleet-results.ts'
import { isFleetRequest, readFleetBody } from './fleet-signature.ts'
import { FLEET_PATH } from './serve-routes.ts'
import type { ServeLog } from './status-log.ts'

const BEAT_MS = 3000
/** News wait this long, so that several become one request. */
const NEWS_MS = 200
const AWAKE_MS = 50
/** Longer than this, and the process stood still. */
const PAUSE_MS = 150
/** After a pause, requests that waited are read within this time. */
const CATCH_UP_MS = 2000
const RETRY_MS = 300
/** Rooms on their way at once. */
const MOVES_AT_ONCE = 2
/**
 * The pause after a move, for each player of the room: they shake hands with the other server. Without it, the players
 * of all rooms do so at once, and the last of them wait for seconds.
 */
const REJOIN_MS = 10

/** What a member needs of its server. */
export interface FleetHome {
  readonly rooms: RoomHost<Match>
  readonly port: number
  readonly isSecure: boolean
  /** Names and fingerprints of its room types. */
  readonly types: { readonly [name: string]: { readonly fingerprint: Uint8Array; readonly capacity: number } }
  readonly maxRooms: number
  /** Its identity: the public key, and signatures of results. */
  readonly identity: Uint8Array
  sign(bytes: Uint8Array): Uint8Array
  readonly audience: string
  readonly log: ServeLog
  /** Records requests for seats that come with a span. Default: nothing does. */
  readonly tracer?: Tracer | undefined
  /** There is something to send: drain soon. */
  wake(): void
  /** The key that the fleet signs tokens with now. */
  onIssuer(issuer: Uint8Array): void
  /** An operator asked for it: ends the process in an orderly way. */
  leave(): void
}

type Fields = { readonly [name: string]: unknown }

/** The membership of one game server. */
export class FleetMember {
  /** Random, new for each process. */
  readonly id: string = randomBytes(16).toString('hex')
  /** Results that the fleet has not acknowledged yet. */
  readonly results: FleetResults
  readonly #link: FleetLink
  readonly #home: FleetHome
  readonly #moves: FleetMoves
  readonly #beat: NodeJS.Timeout
  readonly #awake: NodeJS.Timeout
  #awakeAt = now()
  #pauseMs = 0
  #pausedUntil = 0
  #news: NodeJS.Timeout | undefined
  #listed = ''
  #isListed = false
  #isLeaving = false
  #isClosed = false
  #reports = 0
  /** The last report that was sent, and the one that waits for it. */
  #sent: Promise<boolean> = Promise.resolve(true)
  #next: Promise<boolean> | undefined
  /** The highest number of a leader that reserved seats. */
  #leader = 0

  constructor(link: FleetLink, home: FleetHome) {
    this.#link = link
    this.#home = home
    this.results = new FleetResults(link, home)
    this.#moves = new FleetMoves(this.id, link, home, () => this.#report())
    this.#beat = setInterval(() => void this.#report(), BEAT_MS)
    // A request that is read after a pause of the process may be as old as the pause. Requests that waited are read in
    // the first moments after it.
    this.#awake = setInterval(() => {
      const pauseMs = now() - this.#awakeAt
      if (pauseMs > PAUSE_MS) [this.#pauseMs, this.#pausedUntil] = [pauseMs, now() + Math.min(pauseMs, CATCH_UP_MS)]
      this.#awakeAt = now()
      this.#noteNews()
    }, AWAKE_MS)
    this.#beat.unref()
    this.#awake.unref()
  }

  /** Whether the fleet has this process in its list, as far as it is known here. */
  get isListed(): boolean {
    return this.#isListed
  }

  /** Tells the fleet for the first time. */
  async start(): Promise<void> {
    await this.#report()
    const { log } = this.#home
    if (!this.#isListed)
      log({ level: 'warn', event: 'fleet-away', message: 'the fleet did not list this process; it tries again' })
  }

  /** Handles a request of the fleet. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const readAt = now()
    const body = await readFleetBody(request).catch(() => undefined)
    if (body === undefined) return answer(response, 413, { error: 'too-large' })
    if (request.method !== 'POST' || !isFleetRequest(this.#link.options.secret, request, body))
      return answer(response, 403, { error: 'not-signed' })
    const what = (request.url ?? '').slice(FLEET_PATH.length)
    try {
      if (what === 'reserve') answer(response, 200, this.#reserveTraced(readAt, fieldsOf(JSON.parse(body)), request))
      else if (what === 'thaw') answer(response, 200, await this.#thaw(body))
      else if (what === 'inspect') answer(response, 200, this.#inspect(String(fieldsOf(JSON.parse(body))['room'])))
      else if (what === 'act') answer(response, 200, this.#act(fieldsOf(JSON.parse(body))))
      else answer(response, 404, { error: 'no-such-request' })
    } catch (error) {
      answer(response, 400, { error: 'invalid', message: String(error) })
    }
  }

  /** Tells the fleet that this process takes no more players, and hands its rooms to others, for at most `ms`. */
  async leave(ms: number): Promise<void> {
    this.#isLeaving = true
    await this.#report()
    const { rooms } = this.#home
    const until = now() + ms
    // Seats were promised in this room, at this process. No new ones are, so their clients are here soon.
    const awaitedUntil = now() + Math.min(RESERVATION_MS, ms / 2)
    for (;;) {
      const all = rooms.rooms.filter((room) => room.ending === undefined && !room.seats.isEmpty)
      if (all.length === 0 || now() > until) break
      const left = all.filter(({ seats }) => seats.reserved === 0 || now() > awaitedUntil)
      let hasMoved = false
      for (let at = 0; at < left.length && now() <= until; at += MOVES_AT_ONCE) {
        let players = 0
        await Promise.all(left.slice(at, at + MOVES_AT_ONCE).map(async (room) => {
          const { seats } = room
          const leaving = seats.players
          if (!await this.#moves.move(room, until)) return
          hasMoved = true
          players += leaving
        }))
        if (players === 0) continue
        // At most half of the time that is left for each of the batches that are left.
        const shareMs = (until - now()) * MOVES_AT_ONCE / (left.length - at) / 2
        await new Promise((resolve) => { setTimeout(resolve, Math.min(players * REJOIN_MS, shareMs)) })
      }
      // No server took one: a new process may be about to start, and the store about to answer again.
      if (!hasMoved) await new Promise((resolve) => { setTimeout(resolve, RETRY_MS) })
    }
    await this.results.flush(Math.max(0, until - now()))
  }

  /** Ends the membership. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    clearInterval(this.#beat)
    clearInterval(this.#awake)
    clearTimeout(this.#news)
    const asked = this.#link.ask('DELETE', `/fleet/servers/${this.id}`, { identity: hex(this.#home.identity) }, 500)
    await Promise.all([this.results.close(), asked])
  }

  /** Stores the result of a match in the fleet. Resolves when it is stored there, and is kept until then. */
  report(room: Pick<Match, 'id' | 'typeName'>, result: MatchResult): Promise<ReportAnswer> {
    return this.results.add(room, result)
  }

  #reserveTraced(readAt: number, fields: Fields, { headers }: IncomingMessage): object {
    const { tracer } = this.#home
    const parent = headers['traceparent']
    if (tracer === undefined || parent === undefined) return this.#reserve(readAt, fields)
    const span = tracer.start('tickwire.reserve', String(parent), 'server')
    const given = this.#reserve(readAt, fields)
    span.end('room' in given ? { room: given.room } : { failed: given.refused })
    return given
  }

  #reserve(readAt: number, fields: Fields): { readonly room: string } | { readonly refused: string } {
    const { deadlineMs, leader, tokens, fingerprint } = fields
    const pauseMs = readAt < this.#pausedUntil ? this.#pauseMs : readAt - this.#awakeAt
    const waitedMs = (pauseMs > PAUSE_MS ? pauseMs : 0) + (now() - readAt)
    if (!(Number(deadlineMs) > waitedMs)) return { refused: 'late' }
    if (leader !== undefined && !(Number(leader) >= this.#leader)) return { refused: 'old-leader' }
    if (leader !== undefined) this.#leader = Number(leader)
    const { rooms } = this.#home
    if (!Array.isArray(tokens) || tokens.length < 1 || tokens.length > PARTY_MAX) return { refused: 'invalid' }
    const isFull = rooms.players + rooms.reservations.count + tokens.length > this.#link.options.seats
    const order = {
      ...fields, tokens: tokens.map(String), holdMs: RESERVATION_MS,
      fingerprint: Uint8Array.from(Buffer.from(String(fingerprint), 'hex')),
    } as unknown as SeatOrder
    const given: SeatAnswer = this.#isLeaving || isFull ? rooms.reservations.answerOf(order.id) ?? 'full'
      : rooms.reserve(now(), order)
    this.#home.wake()
    return typeof given === 'string' ? { refused: given } : { room: given.room }
  }

  async #thaw(text: string): Promise<object> {
    if (this.#isLeaving) return { refused: 'draining' }
    return await this.#moves.thaw(text)
  }

  #inspect(id: string): object {
    const room = this.#home.rooms.room(id)
    if (room === undefined) return { refused: 'no-room' }
    const [p50, p99] = [room.ticks.percentileMs(0.5), room.ticks.percentileMs(0.99)]
    return {
      ...room.listing, tick: room.world.tick, tickMs: { p50, p99 },
      members: room.members.map(({ id: peer, role }) => ({
        id: peer, role, isAway: room.seats.of(peer)?.state === 'held',
      })),
    }
  }

  #act({ act, room: id, peer }: Fields): object {
    const { rooms, wake, leave } = this.#home
    const room = rooms.room(String(id))
    if (act === 'drain') {
      if (!this.#isLeaving) setImmediate(leave)
    } else if (room === undefined) return { refused: 'no-room' }
    else if (act === 'kick' && room.member(Number(peer)) === undefined) return { refused: 'no-player' }
    else if (act === 'kick') room.kick({ id: Number(peer) })
    else if (act === 'close') room.end()
    else return { refused: 'invalid' }
    wake()
    return { done: true }
  }

  /** Tells the fleet soon when rooms have opened, filled or ended. */
  #noteNews(): void {
    const { rooms } = this.#home
    let text = ''
    for (const { id, seats, isLocked } of rooms.rooms) text += `${id}${seats.free}${isLocked ? 'l' : ''} `
    if (text === this.#listed) return
    this.#listed = text
    this.#news ??= setTimeout(() => {
      this.#news = undefined
      void this.#report()
    }, NEWS_MS)
  }

  /**
   * Tells the fleet what this process has now. Returns whether the fleet has it. One request at a time: of two, the
   * older list could be the last in the store.
   */
  #report(): Promise<boolean> {
    this.#next ??= this.#sent.then(() => {
      this.#next = undefined
      return this.#sent = this.#send()
    })
    return this.#next
  }

  async #send(): Promise<boolean> {
    if (this.#isClosed) return false
    const { rooms, port, isSecure, types, maxRooms, identity, audience } = this.#home
    const { region, version, seats, publicUrl } = this.#link.options
    const { status, body: { issuer } } = await this.#link.ask('PUT', `/fleet/servers/${this.id}`, {
      identity: hex(identity), port, isSecure, ...(publicUrl !== undefined && { url: publicUrl }), region, version,
      seats, audience, maxRooms, isDraining: this.#isLeaving || rooms.isDraining,
      players: rooms.players + rooms.reservations.count, report: ++this.#reports,
      types: Object.entries(types).map(([name, { fingerprint, capacity }]) => (
        { name, fingerprint: hex(fingerprint), capacity }
      )),
      rooms: rooms.rooms.filter(({ ending, isFrozen }) => ending === undefined && !isFrozen).map((room) => ({
        ...room.listing, number: room.number, players: room.seats.capacity - room.seats.free,
        ...(room.isPrivate && { code: room.code }),
      })),
    })
    this.#isListed = status === 200
    if (typeof issuer === 'string' && /^[0-9a-f]{64}$/.test(issuer))
      this.#home.onIssuer(Uint8Array.from(Buffer.from(issuer, 'hex')))
    return this.#isListed
  }
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
