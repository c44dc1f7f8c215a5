/**
 * Requests to a rendezvous: a session with a code for a host, and a ticket for a guest that has the code.
 *
 * Core has no sockets, so the machine hands them in (`RendezvousMachine`). Answers come from the network: an answer of
 * a different form counts as none.
 */

import { RELAYS_OFFERED_MAX } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import { textToBytes } from '../crypto/token-text.ts'
import type { TextSocket } from '../nat/rendezvous-signaling.ts'
import { type CodeProblem, ConnectError } from './connect-error.ts'
import type { JoinSpans } from './join-spans.ts'

/** What the machine does for a rendezvous. */
export interface RendezvousMachine {
  /** Monotonic time. */
  now(): Millis
  /**
   * Asks with a JSON body. Rejects when nothing answers. A body that is not JSON is undefined. `traceparent`: a header.
   */
  ask(
    method: 'POST' | 'PUT', url: string, body: object, traceparent?: string,
  ): Promise<{ readonly status: number; readonly body: unknown }>
  /** Opens a WebSocket for text. Rejects when it does not open. */
  openText(url: string): Promise<TextSocket>
}

/** A relay that members of a session may use. */
export interface OfferedRelay {
  /** `ip:port`. */
  readonly address: string
  /** Its WebSocket, for pages and where UDP is blocked. Undefined: it has none. */
  readonly url: string | undefined
  /** A relay token. */
  readonly token: Uint8Array
  /** Another one, for TURN. Undefined: there is none. */
  readonly turnToken: Uint8Array | undefined
}

/** How a host describes its match. */
export interface SessionFacts {
  /** 16 hexadecimal digits. */
  readonly fingerprint: string
  /** The public identity key of the host: 64 hexadecimal digits. */
  readonly identity: string
  /** Most guests at once. */
  readonly capacity: number
}

/** A session, as its host has it. */
export interface OwnSession {
  readonly session: string
  readonly code: string
  readonly key: string
  readonly secret: string
  readonly link: string
  readonly relays: readonly OfferedRelay[]
}

/** A session, as a guest has it. */
export interface JoinedSession {
  readonly session: string
  readonly ticket: string
  /** The public identity key of the host: 64 hexadecimal digits. */
  readonly identity: string
  readonly relays: readonly OfferedRelay[]
}

const SESSIONS_PATH = 'v1/sessions'
const JOINS_PATH = 'v1/joins'
const SIGNAL_PATH = 'v1/signal'
/** A host that is away for so long has left. One that lost its rendezvous only is back after 1, 3 or 7 s. */
const AWAY_MS = 7000
const HOST_LEFT: CloseReason = { by: 'peer', code: 'host-left' }
const UNREACHABLE: CloseReason = { by: 'network', code: 'unreachable' }

/** The rendezvous at one address. */
export class Rendezvous {
  /** Its address, with a slash at the end. */
  readonly base: string
  readonly #machine: RendezvousMachine
  readonly #spans: JoinSpans | undefined
  /** When the first of the last answers came, all of which said that the host is away. */
  #awayAt: Millis = Infinity

  /** `spans`: those of the guest. Default: nothing is traced. */
  constructor(base: string, machine: RendezvousMachine, spans?: JoinSpans) {
    this.base = base.endsWith('/') ? base : `${base}/`
    this.#spans = spans
    this.#machine = machine
  }

  /** Makes a session. Rejects with the reason. */
  async create(facts: SessionFacts, isStrong: boolean): Promise<OwnSession> {
    const { status, body } = await this.#machine.ask('POST', this.base + SESSIONS_PATH, { ...facts, strong: isStrong })
    const session = status === 201 ? readOwn(body) : undefined
    if (session === undefined) throw new Error(`${this.base} made no session: ${refusalOf(status, body).message}`)
    return session
  }

  /** Takes a session back. Undefined when the rendezvous does not accept its secret. Rejects when nothing answers. */
  async resume({ session, code, key, secret }: OwnSession, facts: SessionFacts): Promise<OwnSession | undefined> {
    const body = { ...facts, code, key, secret }
    const answer = await this.#machine.ask('PUT', `${this.base}${SESSIONS_PATH}/${session}`, body)
    if (answer.status >= 500) throw new Error(refusalOf(answer.status, answer.body).message)
    return answer.status === 200 ? readOwn(answer.body) : undefined
  }

  /** Joins by a code. Rejects with a ConnectError. */
  async join(code: string, fingerprint: string): Promise<JoinedSession> {
    const place = `${this.base} with the code ${code}`
    const answer = await this.#machine
      .ask('POST', this.base + JOINS_PATH, { code, fingerprint }, this.traceparent).catch(() => undefined)
    if (answer === undefined) throw new ConnectError(this.base, UNREACHABLE)
    const joined = answer.status === 200 ? readJoined(answer.body) : undefined
    if (joined !== undefined) {
      this.#awayAt = Infinity
      return joined
    }
    const problem = refusalOf(answer.status, answer.body).code
    if (problem === 'other-game') throw new ConnectError(place, { by: 'protocol', code: 'schema' })
    if (problem === 'full') throw new ConnectError(place, { by: 'protocol', code: 'full' })
    if (!isCodeProblem(problem)) {
      const kind = answer.status >= 500 ? 'down' : 'other-service'
      throw new ConnectError(place, UNREACHABLE, { found: { kind } })
    }
    // A code that is gone belonged to a match that is over; a host that is away may come back, for a while.
    const now = this.#machine.now()
    this.#awayAt = problem === 'host-away' ? Math.min(this.#awayAt, now) : Infinity
    const isOver = problem === 'no-such-code' || now - this.#awayAt >= AWAY_MS
    const reason = isOver ? HOST_LEFT : UNREACHABLE
    throw new ConnectError(place, reason, { found: { kind: 'code', problem } })
  }

  /** The current step of the guest, for the first message of its socket. */
  get traceparent(): string | undefined {
    return this.#spans?.traceparent
  }

  /** Opens the socket of signalling. */
  async openSignals(): Promise<TextSocket> {
    return await this.#machine.openText(this.base.replace(/^http/, 'ws') + SIGNAL_PATH)
  }
}

function isCodeProblem(code: string): code is CodeProblem {
  return code === 'no-such-code' || code === 'too-many-guesses' || code === 'host-away'
}

function refusalOf(status: number, body: unknown): { readonly code: string; readonly message: string } {
  const { code, message } = fieldsOf(fieldsOf(body)['error'])
  return {
    code: typeof code === 'string' ? code : '', message: typeof message === 'string' ? message : `status ${status}`,
  }
}

function readOwn(body: unknown): OwnSession | undefined {
  const { session, code, key, secret, link, relays } = fieldsOf(body)
  const texts = [session, code, key, secret, link]
  if (!texts.every((text) => typeof text === 'string')) return undefined
  return {
    session: String(session), code: String(code), key: String(key), secret: String(secret), link: String(link),
    relays: readRelays(relays),
  }
}

function readJoined(body: unknown): JoinedSession | undefined {
  const { session, ticket, identity, relays } = fieldsOf(body)
  if (typeof session !== 'string' || typeof ticket !== 'string' || typeof identity !== 'string') return undefined
  return { session, ticket, identity, relays: readRelays(relays) }
}

function readRelays(value: unknown): OfferedRelay[] {
  if (!Array.isArray(value)) return []
  return value.slice(0, RELAYS_OFFERED_MAX).flatMap((item) => {
    const { address, url, token: text, turn } = fieldsOf(item)
    const token = typeof text === 'string' ? textToBytes(text) : undefined
    const turnToken = typeof turn === 'string' ? textToBytes(turn) : undefined
    if (typeof address !== 'string' || token === undefined) return []
    return [{ address, token, turnToken, url: typeof url === 'string' ? url : undefined }]
  })
}

function fieldsOf(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null ? (value as { [name: string]: unknown }) : {}
}
