/**
 * Strangers at the door: who asks to be let in, and what he is told.
 *
 * A request is answered by Accepted, with a connection id drawn for it, or by Rejected. Whoever was accepted is a
 * guest: a slot is kept for him for 5 s, and he becomes a connection by using his id, which only he who receives our
 * answers can know. A request that is repeated gets the same answer again.
 *
 * Invariants: an answer is never longer than its question; guests and connections together never exceed the slots.
 *
 * It does not challenge strangers before it keeps a slot for them, nor count them per address.
 */

import { PENDING_REPLIES_MAX, WELCOME_BYTES_MAX } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { type RuleCode, closeReasonToByte } from '../connection/close-reason.ts'
import { Connection } from '../connection/connection.ts'
import { type HandshakeMessage, writeAccepted, writeRejected } from '../connection/handshake.ts'
import type { Transmit } from '../connection/transmit.ts'
import type { CompleteEndpointConfig } from './endpoint-config.ts'
import type { Guest, Routes } from './routes.ts'

/**
 * How long a slot is kept for who asked and has not yet used his id: 20 of his tries, of which at 60 % loss all fail
 * once in 27,000 times.
 */
const GUEST_MS = 5000

interface Reply {
  readonly to: string
  readonly saltLo: number
  readonly saltHi: number
  /** Whom we let in, or the byte that says why not. */
  readonly answer: Guest | number
}

/** Where admission fell short. */
export interface AdmissionDrops {
  /** Answers that had no room to wait. */
  replies: number
  /** Refused because `admit` returned more than 256 bytes: a mistake of the host. */
  oversizedWelcomes: number
}

/** Answers requests. */
export class Admission {
  readonly drops: AdmissionDrops = { replies: 0, oversizedWelcomes: 0 }
  /** The house is closing: everyone is told that it is full. */
  isClosed: boolean = false
  #config: CompleteEndpointConfig
  #routes: Routes
  #takeHandle: () => number
  #replies: Reply[] = []

  constructor(config: CompleteEndpointConfig, routes: Routes, takeHandle: () => number) {
    this.#config = config
    this.#routes = routes
    this.#takeHandle = takeHandle
  }

  get hasReplies(): boolean {
    return this.#replies.length > 0
  }

  handleRequest(now: Millis, from: string, request: HandshakeMessage, isOurVersion: boolean): void {
    if (!isOurVersion) this.#reject(from, request, 'version')
    else if (!isEqual(request.fingerprint, this.#config.fingerprint)) this.#reject(from, request, 'schema')
    else this.#admit(now, from, request)
  }

  /** Writes the next answer, if any. */
  pollReply(out: Transmit): boolean {
    const reply = this.#replies.shift()
    if (reply === undefined) return false
    const { to, saltLo, saltHi, answer } = reply
    out.to = to
    out.length = typeof answer === 'number'
      ? writeRejected(out.bytes, saltLo, saltHi, answer)
      : writeAccepted(out.bytes, answer.idLo, answer.idHi, saltLo, saltHi, answer.welcome)
    return true
  }

  #admit(now: Millis, from: string, request: HandshakeMessage): void {
    const { saltLo, saltHi, bytes: user } = request
    const known = this.#routes.findAsking(from, saltLo, saltHi, now)
    // He has used his id already: what we hear is an echo of his knocking.
    if (known instanceof Connection) return
    if (known !== undefined) {
      known.expiresAt = now + GUEST_MS
      this.#reply({ to: from, saltLo, saltHi, answer: known })
      return
    }
    const slot = this.isClosed ? -1 : this.#routes.freeSlot(now)
    if (slot < 0) {
      this.#reject(from, request, 'full')
      return
    }
    const handle = this.#takeHandle()
    const welcome = this.#config.admit({ connection: handle, from, user })
    // A welcome may quote what the stranger said, so its length may be his doing: it must not throw.
    const isTooLong = welcome !== undefined && welcome.length > WELCOME_BYTES_MAX
    if (isTooLong) this.drops.oversizedWelcomes++
    if (welcome === undefined || isTooLong) {
      this.#reject(from, request, 'refused')
      return
    }
    const [idLo, idHi] = this.#routes.drawId(slot)
    const guest: Guest = {
      address: from, idLo, idHi, saltLo, saltHi, user, welcome: welcome.slice(), handle, expiresAt: now + GUEST_MS,
    }
    this.#routes.holdGuest(guest)
    this.#reply({ to: from, saltLo, saltHi, answer: guest })
  }

  #reject(to: string, request: HandshakeMessage, code: RuleCode): void {
    const { saltLo, saltHi } = request
    this.#reply({ to, saltLo, saltHi, answer: closeReasonToByte({ by: 'protocol', code }) })
  }

  #reply(reply: Reply): void {
    if (this.#replies.length < PENDING_REPLIES_MAX) this.#replies.push(reply)
    else this.drops.replies++
  }
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}
