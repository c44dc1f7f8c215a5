/**
 * Signalling through a rendezvous: one socket with text messages to a server that knows the members of one session.
 *
 * ```
 * member: {"session","ticket"}  or  {"session","name","again"}  or  {"session","code","key","secret"}      first
 *         a guest may add the "traceparent" of its join
 * server: {"kind":"welcome","name":"host" | "g…","again"?}
 * member: {"to":"…","signal":"…"}             server: {"from":"…","signal":"…"}
 * server: {"kind":"joined" | "left","guest":"…"}
 * host:   {"kind":"end"}
 * ```
 *
 * The server comes from the network: text of another form is dropped. A host names its guests as the server does; the
 * only peer of a guest is `host`.
 */

import { SIGNAL_NAME_BYTES_MAX } from '../base/limits.ts'
import { type Signal, SignalBox, type Signaling, encodeSignal } from './signaling.ts'

/** A socket with text messages, such as a WebSocket. */
export interface TextSocket {
  /** Called for every text that arrives. */
  onText: (text: string) => void
  /** Called once, when the socket is closed by either side. */
  onClosed: () => void
  /** Sends a text. Without effect when the socket is closed. */
  send(text: string): void
  /** Closes the socket. */
  close(): void
}

/** The proof that a member may take part. */
export type SignalPass =
  | { readonly session: string; readonly ticket: string; readonly traceparent?: string }
  | { readonly session: string; readonly name: string; readonly again: string }
  | { readonly session: string; readonly code: string; readonly key: string; readonly secret: string }

/** Signalling by one socket of a rendezvous. */
export class RendezvousSignaling implements Signaling {
  onArrival: () => void = () => {}
  /** Called when the server has accepted this member. */
  onWelcome: () => void = () => {}
  /** Called when a member has left: a guest, or `host`. */
  onLeft: (name: string) => void = () => {}
  /** Called once when the socket has closed, and this side did not close it. */
  onLost: () => void = () => {}
  /** The name of this member; '' until the server has accepted it. */
  name: string = ''
  /** What lets this guest in again under its name; '' for a host. */
  again: string = ''
  readonly #socket: TextSocket
  readonly #box: SignalBox = new SignalBox()
  readonly #isLoopbackAllowed: boolean
  #isClosed: boolean = false

  /** `isLoopbackAllowed`: candidates on this machine are kept, for tests and for games on one machine. */
  constructor(socket: TextSocket, pass: SignalPass, isLoopbackAllowed: boolean = false) {
    this.#socket = socket
    this.#isLoopbackAllowed = isLoopbackAllowed
    socket.onText = (text) => this.#handleText(text)
    socket.onClosed = () => {
      if (this.#isClosed) return
      this.#isClosed = true
      this.onLost()
    }
    socket.send(JSON.stringify(pass))
  }

  send(peer: string, signal: Signal): void {
    // The server reads the pass first, so messages need not wait a round trip for its welcome.
    if (this.#isClosed) return
    this.#socket.send(JSON.stringify({ to: peer, signal: encodeSignal(signal) }))
  }

  poll(): readonly [string, Signal] | undefined {
    return this.#isClosed ? undefined : this.#box.poll()
  }

  /** The host ends the session: its code is not valid any longer. */
  end(): void {
    if (!this.#isClosed) this.#socket.send(JSON.stringify({ kind: 'end' }))
    this.close()
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#box.clear()
    this.#socket.close()
  }

  #handleText(text: string): void {
    if (this.#isClosed) return
    const { kind, name, again, guest, from, signal } = parse(text)
    if (isName(from) && typeof signal === 'string') {
      if (this.#box.put(from, signal, this.#isLoopbackAllowed)) this.onArrival()
    } else if (kind === 'welcome' && isName(name) && this.name === '') {
      this.name = name
      if (typeof again === 'string') this.again = again
      this.onWelcome()
    } else if (kind === 'left' && isName(guest)) this.onLeft(guest)
  }
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= SIGNAL_NAME_BYTES_MAX
}

function parse(text: string): { readonly [name: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as { [name: string]: unknown }) : {}
  } catch {
    return {}
  }
}
