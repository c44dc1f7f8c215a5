/**
 * Sessions: matches that can be joined by a code, while their hosts are there.
 *
 * A session lives while its host is connected, and `codeMs` longer. Its secret is an HMAC of everything that makes it
 * (id, code, key): a rendezvous that has lost its memory, but not its key, accepts the host back with the same code,
 * and no other code.
 *
 * Everything is bounded: sessions in all and for each origin, guests and tickets for each session.
 */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { makeCode, makeKey } from './join-code.ts'
import { originName } from './guess-limit.ts'

/** How a host describes its match. */
export interface SessionDescription {
  /** Which game and build: 16 hexadecimal digits. */
  readonly fingerprint: string
  /** The public identity key of the host: 64 hexadecimal digits. */
  readonly identity: string
  /** How many guests at once. */
  readonly capacity: number
}

/** One session. */
export interface Session extends SessionDescription {
  /** 32 hexadecimal digits. */
  readonly id: string
  readonly code: string
  readonly key: string
  readonly origin: string
  /** Tickets that are not used yet, with the time that each expires. */
  readonly tickets: Map<string, number>
  /** Guests by name, with a function that closes the line to each. */
  readonly guests: Set<string>
  isHostHere: boolean
  expiresAt: number
}

/** The proof with which a host takes its session back. */
export interface SessionProof {
  readonly session: string
  readonly code: string
  readonly key: string
  readonly secret: string
}

/** Bounds of a rendezvous. */
export interface SessionLimits {
  /** How long a code is valid without its host, in ms. */
  readonly codeMs: number
  readonly sessionsMax: number
  readonly sessionsPerOrigin: number
}

/** A ticket must be used within this time. */
const TICKET_MS = 60_000
/** A guest that comes and goes leaves tickets behind. */
const TICKETS_PER_GUEST = 4
const CODE_TRIES = 20
const GUEST_NAME = /^g[0-9a-f]{16}$/

export class Sessions {
  /** A session has ended, or its time is over. */
  onRemoved: (session: Session) => void = () => {}
  readonly limits: SessionLimits
  readonly #secretKey: Uint8Array
  readonly #byId: Map<string, Session> = new Map()
  readonly #byCode: Map<string, Session> = new Map()

  /** `secretKey`: at least 16 secret bytes; the same after a restart, so that hosts keep their sessions. */
  constructor(limits: SessionLimits, secretKey: Uint8Array) {
    this.limits = limits
    this.#secretKey = secretKey
  }

  get size(): number {
    return this.#byId.size
  }

  get all(): readonly Session[] {
    return [...this.#byId.values()]
  }

  /** Makes a session, or says why not. */
  create(now: number, ip: string, description: SessionDescription, isStrong: boolean): Session | 'full' {
    this.expire(now)
    for (let tries = 0; tries < CODE_TRIES; tries++) {
      const code = makeCode(isStrong)
      if (this.#byCode.has(code)) continue
      return this.#add(now, ip, description, randomBytes(16).toString('hex'), code, makeKey())
    }
    return 'full'
  }

  /** Takes a session back: it is here, or this process has lost it. */
  resume(now: number, ip: string, description: SessionDescription, proof: SessionProof): Session | 'full' | 'refused' {
    this.expire(now)
    if (!this.isProven(proof)) return 'refused'
    const here = this.#byId.get(proof.session)
    if (here !== undefined) {
      this.keep(now, here)
      return here
    }
    // Another host drew the code meanwhile: rare, and the owner of the older secret gets another code.
    if (this.#byCode.has(proof.code)) return 'refused'
    return this.#add(now, ip, description, proof.session, proof.code, proof.key)
  }

  /** Whether a host has proved that a session is its own. */
  isProven({ session, code, key, secret }: SessionProof): boolean {
    const expected = Buffer.from(this.secretOf({ id: session, code, key }))
    const given = Buffer.from(secret)
    return given.length === expected.length && timingSafeEqual(given, expected)
  }

  /** The secret of a session. */
  secretOf({ id, code, key }: Pick<Session, 'id' | 'code' | 'key'>): string {
    return createHmac('sha256', this.#secretKey).update(`tickwire/session ${id} ${code} ${key}`).digest('hex')
  }

  get(id: string): Session | undefined {
    return this.#byId.get(id)
  }

  /** The session of a code. With the key of a link, both must be right. */
  find(now: number, code: string, key: string | undefined): Session | undefined {
    const session = this.#byCode.get(code)
    if (session === undefined || session.expiresAt <= now) return undefined
    return key === undefined || key === session.key ? session : undefined
  }

  /** A ticket for one guest, or why there is none. */
  admit(now: number, session: Session): string | 'full' {
    for (const [ticket, expiresAt] of session.tickets) if (expiresAt <= now) session.tickets.delete(ticket)
    const isFull = session.guests.size >= session.capacity
      || session.tickets.size >= TICKETS_PER_GUEST * session.capacity
    if (isFull) return 'full'
    const ticket = randomBytes(16).toString('hex')
    session.tickets.set(ticket, now + TICKET_MS)
    return ticket
  }

  /** Uses a ticket, once. Returns the name of the guest. */
  redeem(now: number, session: Session, ticket: string): string | undefined {
    const expiresAt = session.tickets.get(ticket)
    session.tickets.delete(ticket)
    if (expiresAt === undefined || expiresAt <= now || session.guests.size >= session.capacity) return undefined
    const guest = `g${randomBytes(8).toString('hex')}`
    session.guests.add(guest)
    return guest
  }

  /** What lets a guest in again under its name, also at a process that has lost the session, but not its key. */
  againOf(session: string, guest: string): string {
    return createHmac('sha256', this.#secretKey).update(`tickwire/guest ${session} ${guest}`).digest('hex')
  }

  /** A guest comes back: its socket was lost. Returns its name. */
  comeBack(session: Session, guest: string, again: string): string | undefined {
    const expected = Buffer.from(this.againOf(session.id, guest))
    const given = Buffer.from(again)
    if (!GUEST_NAME.test(guest) || given.length !== expected.length || !timingSafeEqual(given, expected))
      return undefined
    if (!session.guests.has(guest) && session.guests.size >= session.capacity) return undefined
    session.guests.add(guest)
    return guest
  }

  /** The host is connected, or has gone. */
  setHost(now: number, session: Session, isHere: boolean): void {
    session.isHostHere = isHere
    session.expiresAt = isHere ? Infinity : now + this.limits.codeMs
  }

  /** The host is coming back: its code is valid for a while. */
  keep(now: number, session: Session): void {
    if (!session.isHostHere) session.expiresAt = now + this.limits.codeMs
  }

  /** Ends a session at once. */
  remove(session: Session): void {
    if (this.#byId.delete(session.id)) this.onRemoved(session)
    if (this.#byCode.get(session.code) === session) this.#byCode.delete(session.code)
  }

  /** Removes sessions without a host whose time is over. */
  expire(now: number): void {
    for (const session of this.#byId.values()) if (session.expiresAt <= now) this.remove(session)
  }

  #add(
    now: number, ip: string, description: SessionDescription, id: string, code: string, key: string,
  ): Session | 'full' {
    const origin = originName(ip)
    let ofOrigin = 0
    for (const session of this.#byId.values()) if (session.origin === origin) ofOrigin++
    if (this.#byId.size >= this.limits.sessionsMax || ofOrigin >= this.limits.sessionsPerOrigin) return 'full'
    const { fingerprint, identity, capacity } = description
    const session: Session = {
      fingerprint, identity, capacity, id, code, key, origin, tickets: new Map(), guests: new Set(), isHostHere: false,
      expiresAt: now + this.limits.codeMs,
    }
    this.#byId.set(id, session)
    this.#byCode.set(code, session)
    return session
  }
}
