/**
 * A fleet as a client sees it: it is asked for a seat, and names the server that has it. After that the client talks to
 * the server alone, and asks the fleet again only to find its room.
 *
 * ```
 * connect(game, fleet('https://play.example'), { join: { quick: 'duel' } })
 *     POST /rooms/quick ─▶ address, token         the token names the server's identity and the reserved seat
 *     GET /seats/NUMBER ─▶ address                 on the way back to a room, which may have moved; from the ticket
 * ```
 *
 * Core has no sockets, so the machine hands them in (`FleetMachine`). Answers come from the network: an answer of
 * another form counts as none.
 */

import type { Entropy } from '../base/entropy.ts'
import { FLEET_ASK_MS } from '../base/limits-fleet.ts'
import type { Millis } from '../base/time.ts'
import { readUint32 } from '../packet/header.ts'
import { textToBytes } from '../crypto/token-text.ts'
import { bytesToHex } from '../nat/hex.ts'
import type { JoinRequest, Metadata } from '../rooms/join-body.ts'
import type { ClientLink } from './client-link.ts'
import { ConnectError } from './connect-error.ts'
import type { FleetSeat } from './fleet-place.ts'
import type { JoinSpans } from './join-spans.ts'

/** What the machine does for a fleet. */
export interface FleetMachine {
  readonly entropy: Entropy
  /** Monotonic time. */
  now(): Millis
  wait(ms: Millis): Promise<void>
  /** Asks with a JSON body. Rejects when nothing answers within `ms`. A body that is not JSON is undefined. */
  ask(
    method: 'POST' | 'GET' | 'DELETE', url: string, body: object | undefined, ms: number, traceparent?: string,
  ): Promise<{ readonly status: number; readonly body: unknown }>
}

/** A request for seats. */
export interface SeatRequest {
  /** The type of room. Default: the first one of this game. */
  readonly type?: string
  /** The metadata that the room must have, or gets. Default: any. */
  readonly filter?: Metadata
  /** How many players come: a party gets seats in one room. Default 1. */
  readonly party?: number
  /** The room with this id. Default: any. */
  readonly room?: string
  /** The private room with this code. Default: any. */
  readonly code?: string
  /** Whether the client creates a room of this type itself. Default: false. */
  readonly isNew?: boolean
  /** Whether the clients only watch. Default: false. */
  readonly isSpectator?: boolean
}

/** Asks one fleet, for clients of one game. */
export class FleetClient {
  /** Its address, with a slash at the end. */
  readonly base: string
  readonly #machine: FleetMachine
  readonly #fingerprint: string
  readonly #spans: JoinSpans | undefined

  /** `spans`: those of the client. Default: nothing is traced. */
  constructor(base: string, fingerprint: Uint8Array, machine: FleetMachine, spans?: JoinSpans) {
    this.#spans = spans
    this.base = base.endsWith('/') ? base : `${base}/`
    this.#machine = machine
    this.#fingerprint = bytesToHex(fingerprint)
  }

  /** Reserves seats in one room: one for each of the party. Rejects with a ConnectError. */
  async reserve(request: SeatRequest): Promise<readonly FleetSeat[]> {
    const id = this.drawId()
    // Asked again with the same id when the answer was lost: the fleet reserves once.
    for (let attempt = 0; ; attempt++) {
      try {
        const body = { ...request, id, fingerprint: this.#fingerprint, deadlineMs: FLEET_ASK_MS }
        const { status, body: answer } = await this.#machine
          .ask('POST', `${this.base}rooms/quick`, body, FLEET_ASK_MS, this.#spans?.traceparent)
        if (status < 500) return this.readSeats(status, answer)
      } catch (error) {
        if (error instanceof ConnectError) throw error
      }
      if (attempt > 0) throw this.away()
    }
  }

  /**
   * The address of the server that has the seat of a ticket. `last`: the server that the client was at, so that the
   * fleet looks again if its list still names that one. 'gone': no server has the seat. Undefined: no answer.
   */
  async locate(ticket: Uint8Array, last: string | undefined): Promise<{ readonly url: string } | 'gone' | undefined> {
    const query = last === undefined ? '' : `?last=${encodeURIComponent(last)}`
    const { status, body } = await this.#machine
      .ask('GET', `${this.base}seats/${readUint32(ticket, 0)}${query}`, undefined, FLEET_ASK_MS)
      .catch(() => ({ status: 0, body: undefined }))
    const { url } = fieldsOf(body)
    if (status === 404) return 'gone'
    return status === 200 && typeof url === 'string' ? { url } : undefined
  }

  /** Asks a path of the fleet. Rejects with a ConnectError when it does not answer. */
  async ask(method: 'POST' | 'GET' | 'DELETE', path: string, body: object | undefined, ms: number): Promise<
    { readonly status: number; readonly body: { readonly [name: string]: unknown } }
  > {
    const answer = await this.#machine.ask(method, `${this.base}${path}`, body, ms).catch(() => undefined)
    if (answer === undefined) throw this.away()
    return { status: answer.status, body: fieldsOf(answer.body) }
  }

  /** The fingerprint of the game: 16 hexadecimal digits. */
  get fingerprint(): string {
    return this.#fingerprint
  }

  drawId(): string {
    const bytes = new Uint8Array(16)
    this.#machine.entropy.fill(bytes)
    return bytesToHex(bytes)
  }

  /** Seats from an answer. Throws a ConnectError when there are none. */
  readSeats(status: number, answer: unknown): readonly FleetSeat[] {
    const { url, room, tokens, error } = fieldsOf(answer)
    const { code } = fieldsOf(error)
    if (status === 200 && typeof url === 'string' && typeof room === 'string' && Array.isArray(tokens)) {
      const seats = tokens.flatMap((text) => {
        const token = textToBytes(String(text))
        return token === undefined ? [] : [{ url, room, token }]
      })
      if (seats.length > 0) return seats
    }
    if (code === 'schema') throw new ConnectError(this.base, { by: 'protocol', code: 'schema' })
    if (code === 'no-room' || code === 'locked' || code === 'refused')
      throw new ConnectError(this.base, { by: 'protocol', code })
    if (status === 409 || code === 'full') throw new ConnectError(this.base, { by: 'protocol', code: 'full' })
    throw this.away()
  }

  away(): ConnectError {
    return new ConnectError(this.base, { by: 'network', code: 'unreachable' }, { detail: 'the fleet does not answer' })
  }
}

/** The way to the server of a room in a fleet, kept for the way back. */
export class FleetRoute {
  readonly #client: FleetClient
  #seat: FleetSeat | undefined
  /** The room of a seat that a party or a matchmaker reserved, until the client has been there. */
  #room: string | undefined
  /** The server that the client was at. */
  #url: string | undefined

  constructor(client: FleetClient, seat: FleetSeat | undefined) {
    this.#client = client
    this.#seat = seat
    if (seat !== undefined && seat.room !== '') this.#room = seat.room
  }

  /** Opens a link to the server that has the seat. `openAt` opens one to an address. */
  async open(asked: JoinRequest | undefined, openAt: (url: string) => Promise<ClientLink>): Promise<ClientLink> {
    if (asked !== undefined && 'resume' in asked) return await this.#openAgain(asked.resume, openAt)
    // A second attempt leads to the room of the party, or to an error that says why not.
    const request = this.#room === undefined ? requestOf(asked) : { room: this.#room }
    const seat = this.#seat ?? (await this.#client.reserve(request))[0]
    if (seat === undefined) throw this.#client.away()
    this.#seat = undefined
    this.#url = seat.url
    return Object.assign(await openAt(seat.url), { token: seat.token })
  }

  /** To the server that has the seat now. If the fleet does not say which, to the server that the client was at. */
  async #openAgain(ticket: Uint8Array, openAt: (url: string) => Promise<ClientLink>): Promise<ClientLink> {
    this.#room = undefined
    const found = await this.#client.locate(ticket, this.#url)
    const url = typeof found === 'object' ? found.url : this.#url
    try {
      if (url === undefined) throw this.#client.away()
      this.#url = url
      return await openAt(url)
    } catch (error) {
      // The fleet has no such room, and the server of before does not answer: the seat is gone.
      if (found === 'gone') throw new ConnectError(this.#client.base, { by: 'protocol', code: 'ticket' })
      throw error
    }
  }
}

function requestOf(asked: JoinRequest | undefined): SeatRequest {
  const join = asked ?? {}
  const isSpectator = join.role === 'spectator'
  const watching = isSpectator ? { isSpectator } : {}
  if ('room' in join) return { room: join.room, ...watching }
  if ('code' in join) return { code: join.code, ...watching }
  if ('create' in join) return { type: join.create, isNew: true }
  if ('quick' in join || 'filter' in join) {
    return {
      ...(join.quick !== undefined && { type: join.quick }), ...(join.filter && { filter: join.filter }), ...watching,
    }
  }
  return watching
}

function fieldsOf(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
