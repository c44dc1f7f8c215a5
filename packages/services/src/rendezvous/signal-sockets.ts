/**
 * Signalling between the members of a session: one WebSocket for each, text messages only.
 *
 * ```
 * member: {"session","ticket","traceparent"?}                              a guest, first, within 5 s
 * member: {"session","name","again"}                                       the same guest on a new socket
 * member: {"session","code","key","secret"}                                the host
 * server: {"kind":"welcome","name":"host" | "g…","again"?}                to guests: what lets them in again
 * member: {"to":"host" | "g…","signal":"…"}                               the text is not looked at
 * server: {"from":"host" | "g…","signal":"…"}
 * server: {"kind":"joined" | "left","guest":"g…"}                         to the host
 * server: {"kind":"left","guest":"host"}                                  to guests: the host has gone
 * host:   {"kind":"end"}                                                  ends the session and its code
 * ```
 *
 * A member sends at most SIGNALS_PER_SECOND messages of SIGNAL_BYTES_MAX: enough to meet, too little to play over it.
 */

import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { isAllowedOrigin, monotonicNow } from 'tickwire/node'
import type { TraceSpan, Tracer } from 'tickwire'
import { WebSocketServer } from 'ws'
import { sendOrEnd, type SignalSocket } from './remote-socket.ts'
import type { SessionDirectory } from './session-directory.ts'
import { SocketBridge } from './socket-bridge.ts'
import type { Session, Sessions } from './sessions.ts'

export const SIGNAL_PATH = '/v1/signal'
const SIGNAL_BYTES_MAX = 40_000
const SIGNALS_PER_SECOND = 20
const SIGNALS_BURST = 64
const HELLO_MS = 5000
const PING_MS = 15_000
const HOST = 'host'

/** The messages of a member: the first, and later ones. */
interface MemberText {
  readonly session?: unknown
  readonly ticket?: unknown
  readonly traceparent?: unknown
  readonly name?: unknown
  readonly again?: unknown
  readonly code?: unknown
  readonly key?: unknown
  readonly secret?: unknown
  readonly kind?: unknown
  readonly to?: unknown
  readonly signal?: unknown
}

/** A member of a session. */
interface Member {
  readonly session: Session
  readonly name: string
  readonly socket: SignalSocket
  isAlive: boolean
  /** From its welcome to the first answer of the host. Undefined: it is not traced. */
  readonly span: TraceSpan | undefined
  /** How many messages it may send now. */
  allowance: number
  filledAt: number
}

/** Parts that a rendezvous may have. */
interface SignalParts {
  /** Records joins that come with a span. */
  readonly tracer?: Tracer | undefined
  /** Sessions of other instances. */
  readonly directory?: SessionDirectory | undefined
}

export class SignalSockets {
  /** Messages that were passed on. */
  signals: number = 0
  readonly #sessions: Sessions
  readonly #sockets: WebSocketServer
  readonly #tracer: Tracer | undefined
  /** Sockets of sessions at other instances. Undefined: there are none. */
  readonly #bridge: SocketBridge | undefined
  /** Members by session and name. */
  readonly #members: Map<string, Map<string, Member>> = new Map()
  readonly #pings: NodeJS.Timeout

  /** Serves SIGNAL_PATH of `server`. `origins`: pages that may use it, in addition to its own. */
  constructor(
    server: Server, sessions: Sessions, origins: readonly string[] | 'any',
    { tracer, directory }: SignalParts = {},
  ) {
    this.#sessions = sessions
    this.#tracer = tracer
    this.#bridge = directory && new SocketBridge(directory, (socket) => this.#greet(socket, false))
    this.#sockets = new WebSocketServer({ noServer: true, maxPayload: SIGNAL_BYTES_MAX, perMessageDeflate: false })
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const isOurs = request.url?.split('?', 1)[0] === SIGNAL_PATH
      if (!isOurs || !isAllowedOrigin(request.headers.origin, [request.headers.host], origins)) {
        socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n')
        return
      }
      this.#sockets.handleUpgrade(request, socket, head, (opened) => this.#greet(opened, true))
    })
    this.#pings = setInterval(() => this.#ping(), PING_MS)
    this.#pings.unref()
  }

  /** How many members are connected. */
  get size(): number {
    return this.#sockets.clients.size
  }

  close(): void {
    clearInterval(this.#pings)
    this.#bridge?.close()
    for (const socket of this.#sockets.clients) socket.terminate()
    this.#sockets.close()
  }

  /** The members of a session look for it elsewhere: another instance is its home now. */
  drop(session: Session): void {
    for (const { socket } of [...this.#members.get(session.id)?.values() ?? []]) socket.terminate()
  }

  /** Waits for the first message. `isHere`: the socket is one of this instance. */
  #greet(socket: SignalSocket, isHere: boolean): void {
    const late = setTimeout(() => socket.terminate(), HELLO_MS)
    socket.on('error', () => socket.terminate())
    socket.once('close', () => clearTimeout(late))
    socket.once('message', (data, isBinary) => {
      clearTimeout(late)
      const text = isBinary ? undefined : parse(data)
      const { session } = text ?? {}
      const isElsewhere = isHere && typeof session === 'string' && this.#sessions.get(session) === undefined
      if (isElsewhere && this.#bridge !== undefined) return this.#bridge.open(socket, session, String(data))
      const member = this.#enter(socket, text)
      if (member === undefined) socket.close(4003, 'refused')
      else this.#welcome(member)
    })
  }

  #enter(socket: SignalSocket, text: MemberText | undefined): Member | undefined {
    const now = monotonicNow()
    const { session: id } = text ?? {}
    const session = typeof id === 'string' ? this.#sessions.get(id) : undefined
    const name = session === undefined || text === undefined ? undefined : this.#nameOf(now, session, text)
    if (session === undefined || name === undefined) return undefined
    const { traceparent: parent } = text ?? {}
    const span = typeof parent === 'string' ? this.#tracer?.start('tickwire.signal', parent, 'server') : undefined
    return { session, name, socket, span, isAlive: true, allowance: SIGNALS_BURST, filledAt: now }
  }

  /** The name of a member that has shown its right to take part. */
  #nameOf(now: number, session: Session, text: MemberText): string | undefined {
    const { ticket, code, key, secret, name, again } = text
    if (typeof code === 'string' && typeof key === 'string' && typeof secret === 'string')
      return this.#sessions.isProven({ session: session.id, code, key, secret }) ? HOST : undefined
    if (typeof name === 'string' && typeof again === 'string') return this.#sessions.comeBack(session, name, again)
    return typeof ticket === 'string' ? this.#sessions.redeem(now, session, ticket) : undefined
  }

  #welcome(member: Member): void {
    const { session, name, socket } = member
    const members = this.#members.get(session.id) ?? new Map<string, Member>()
    this.#members.set(session.id, members)
    const before = members.get(name)
    members.set(name, member)
    // The member is back on a new socket: the old one is dead, or belongs to a process that is.
    before?.socket.terminate()
    if (name === HOST) this.#sessions.setHost(monotonicNow(), session, true)
    send(socket, { kind: 'welcome', name, ...(name !== HOST && { again: this.#sessions.againOf(session.id, name) }) })
    if (name !== HOST) this.#sendTo(session, HOST, { kind: 'joined', guest: name })
    else for (const guest of members.keys()) if (guest !== HOST) send(socket, { kind: 'joined', guest })
    socket.on('pong', () => { member.isAlive = true })
    socket.on('message', (data, isBinary) => {
      member.isAlive = true
      if (isBinary || !take(member)) socket.terminate()
      else this.#handle(member, parse(data))
    })
    socket.on('close', () => this.#leave(member))
  }

  #handle({ session, name }: Member, text: MemberText | undefined): void {
    const { kind, to, signal } = text ?? {}
    if (kind === 'end' && name === HOST) return this.#end(session)
    if (typeof to !== 'string' || typeof signal !== 'string') return
    // Guests do not know each other.
    if (name !== HOST && to !== HOST) return
    if (!this.#sendTo(session, to, { from: name, signal })) return
    this.signals++
    if (name === HOST) this.#members.get(session.id)?.get(to)?.span?.end()
  }

  #leave(member: Member): void {
    const { session, name, span } = member
    span?.end({ failed: 'left' })
    const members = this.#members.get(session.id)
    if (members?.get(name) !== member) return
    members.delete(name)
    if (members.size === 0) this.#members.delete(session.id)
    if (name === HOST) {
      this.#sessions.setHost(monotonicNow(), session, false)
      for (const guest of members.values()) send(guest.socket, { kind: 'left', guest: HOST })
      return
    }
    session.guests.delete(name)
    this.#sendTo(session, HOST, { kind: 'left', guest: name })
  }

  #end(session: Session): void {
    const members = [...(this.#members.get(session.id)?.values() ?? [])]
    this.#members.delete(session.id)
    this.#sessions.remove(session)
    for (const { socket } of members) socket.close(1000, 'ended')
  }

  #sendTo(session: Session, name: string, message: object): boolean {
    const member = this.#members.get(session.id)?.get(name)
    if (member === undefined) return false
    send(member.socket, message)
    return true
  }

  /** Ends members that do not answer: a socket without traffic does not show that its peer is gone. */
  #ping(): void {
    this.#sessions.expire(monotonicNow())
    for (const members of this.#members.values()) {
      for (const member of members.values()) {
        if (!member.isAlive) member.socket.terminate()
        member.isAlive = false
        member.socket.ping()
      }
    }
  }
}

function take(member: Member): boolean {
  const now = monotonicNow()
  const gained = ((now - member.filledAt) / 1000) * SIGNALS_PER_SECOND
  member.allowance = Math.min(SIGNALS_BURST, member.allowance + gained)
  member.filledAt = now
  return --member.allowance >= 0
}

function send(socket: SignalSocket, message: object): void {
  sendOrEnd(socket, JSON.stringify(message))
}

function parse(data: unknown): MemberText | undefined {
  try {
    const value: unknown = JSON.parse(String(data))
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
