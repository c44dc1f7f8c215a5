/**
 * A match as a page sees it: what to draw, what to hold, what to say.
 *
 * It has a `Line` to the server, and when that is lost another one to the same seat, by the ticket it was given (`comeback.ts`): who holds a
 * room notices by `onAway` and `onBack`. Listeners and `play` stay; what was on its way is lost, as it is for whoever reloads.
 *
 * A page in the background has slow timers or none, but what arrives wakes it: it goes on by the server's packets, catches
 * up by a few ticks at most (`FixedLoop`), and holds nothing, since nobody is at its keys.
 */

import type { ClientHost, CloseReason, Connection, DatagramPortStats, InitOf, Message, PeerId, SendResult, Shape, View, ViewOf } from '../core/index.ts'
import { RttEstimator } from '../core/delivery/rtt.ts'
import { monotonicNow as now } from './clock.ts'
import { comeBack } from './comeback.ts'
import { ConnectError } from './connect-error.ts'
import type { Line, Taps } from './line.ts'
import type { Rung } from './offers.ts'
import { noteClosed, noteOpened } from './open-rooms.ts'

/** What a page does in a match. */
export interface Play<I extends Shape> {
  /** Asked once a tick: what the player holds now. What is not named has its initial value. */
  input(): InitOf<I>
  /** Called before every repaint, with what may be drawn. */
  draw(view: View): void
  /** Called after `draw` while tools show ghosts: the newest that the server told of everything, neither predicted nor smoothed. */
  drawGhosts?(truth: View): void
}

/** What tools may put between a room and the world, and who is told what. Empty unless somebody looks on. */
export interface RoomTools<I extends Shape = Shape> extends Taps {
  /** Of the line that is in use: another after the page has come back. */
  readonly host: ClientHost<I>
  readonly connection: Connection
  /** `send` is the transport, `receive` the match. */
  readonly network: { send(bytes: Uint8Array, length: number): void; receive(bytes: Uint8Array, length: number): void }
  /** What ghosts are drawn from. */
  truth: (() => View) | undefined
}

/** What a page holds that nobody looks at. */
const NOTHING_HELD = {}

function isHidden(): boolean {
  return typeof document !== 'undefined' && document.hidden
}

export class Room<I extends Shape = Shape> {
  /** Resolves when the match is over for this page, with the reason. */
  readonly closed: Promise<CloseReason>
  /** Told when another transport carries the match. */
  onTransport: (transport: Rung | 'none') => void = () => {}
  /** Told when the line to the server is lost, and that the way back to the seat is being looked for. */
  onAway: (reason: CloseReason) => void = () => {}
  /** Told when we are in our seat again. */
  onBack: () => void = () => {}
  /** For tools that look on, and for nobody else. */
  readonly tools: RoomTools<I>
  readonly #resume: ((ticket: Uint8Array) => Promise<Line<I>>) | undefined
  /** What the page has asked of the host, for those that follow it. */
  readonly #wirings: ((host: ClientHost<I>) => void)[] = []
  readonly #gone: AbortController = new AbortController()
  #line: Line<I>
  #isAway = false
  #settle: (reason: CloseReason) => void = () => {}

  /** `line` is open. `resume` opens another to the same seat. */
  constructor(line: Line<I>, resume: ((ticket: Uint8Array) => Promise<Line<I>>) | undefined) {
    this.#line = line
    this.#resume = resume
    this.closed = new Promise((resolve) => { this.#settle = resolve })
    const current = (): Line<I> => this.#line
    this.tools = {
      get host() { return current().host },
      get connection() { return current().connection },
      network: { send: (bytes, length) => current().transmit(bytes, length), receive: (bytes, length) => current().receive(bytes, length) },
      send: undefined, receive: undefined, onTicked: undefined, truth: undefined,
    }
    this.#attach(line)
    // A data channel whose page just vanishes leaves the server guessing for ten seconds; the others tell by themselves.
    globalThis.addEventListener?.('pagehide', this.#handlePageHide)
    noteOpened(this as unknown as Room)
  }

  /** Who we are. */
  get peer(): PeerId {
    return this.#line.host.peer
  }

  /** Which room of the server this is. */
  get id(): string {
    return this.#line.host.seat?.room ?? ''
  }

  /** The line is lost, and the way back is being looked for. */
  get isAway(): boolean {
    return this.#isAway
  }

  /** It is a seat that we had before: this page, or the one that was reloaded. */
  get isBack(): boolean {
    return this.#line.host.seat?.isBack ?? false
  }

  /** What carries the match; 'none' while it looks for a way. */
  get transport(): Rung | 'none' {
    return this.#line.ladder.transport
  }

  /** Why it is this transport: what became of the better ones. */
  get transportReason(): string {
    return this.#line.ladder.reason
  }

  /** What was sent, received and dropped, over all transports. */
  get transportStats(): Readonly<DatagramPortStats> {
    return this.#line.ladder.stats
  }

  /** Tries the better transports again, now, as it does by itself from time to time. The match goes on meanwhile. */
  climb(): void {
    this.#line.ladder.climb()
  }

  /** Round trip to the authority, smoothed. */
  get rttMs(): number {
    return this.#line.connection.rtt.smoothedMs
  }

  get view(): View {
    return this.#line.host.view
  }

  /** Starts asking for input and drawing, until the match is over. */
  play({ input, draw, drawGhosts }: Play<I>): void {
    this.#wire((host) => { host.sampleInput = () => (isHidden() ? NOTHING_HELD : input()) })
    const repaint = (): void => {
      if (this.#gone.signal.aborted) return
      draw(this.#line.host.draw(now()))
      if (this.tools.truth !== undefined) drawGhosts?.(this.tools.truth())
      requestAnimationFrame(repaint)
    }
    requestAnimationFrame(repaint)
  }

  /** Calls `listener` for every message of a kind from the authority. */
  on<S extends Shape>(message: Message<S>, listener: (values: ViewOf<S>) => void): void {
    this.#wire((host) => host.on(message, listener))
  }

  /** Calls `listener` once for everything of a kind that happens in `step` (`world.emit`). */
  onEvent<S extends Shape>(message: Message<S>, listener: (values: ViewOf<S>) => void): void {
    this.#wire((host) => host.onEvent(message, listener))
  }

  /** Says something to the authority, reliably and in order. */
  send<S extends Shape>(message: Message<S>, values: ViewOf<S>): SendResult {
    const result = this.#line.host.send(message, values)
    this.#line.wake()
    return result
  }

  /** Who looks on asks for the eyes of a player. Says whom he follows now, 0 when nobody; never rejects. */
  spectate(whom: PeerId | 'next' | 'previous'): Promise<PeerId> {
    const followed = this.#line.host.spectate(now(), whom)
    this.#line.wake()
    return followed
  }

  /** Leaves the match. */
  leave(): void {
    this.#line.host.close(now())
    this.#line.wake()
    if (this.#isAway) this.#end({ by: 'local', code: 'left' })
  }

  #wire(wiring: (host: ClientHost<I>) => void): void {
    this.#wirings.push(wiring)
    wiring(this.#line.host)
  }

  #attach(line: Line<I>): void {
    this.#line = line
    line.taps = this.tools
    line.ladder.onSwitched = () => this.#handleSwitched()
    for (const wiring of this.#wirings) wiring(line.host)
    void line.closed.then((reason) => this.#handleClosed(reason))
  }

  /** What was measured was another path. */
  #handleSwitched(): void {
    if (this.#line.ladder.provenCount > 1) {
      this.#line.connection.gate.reset(now())
      Object.assign(this.#line.connection.rtt, new RttEstimator())
    }
    this.onTransport(this.transport)
  }

  /** What nobody meant is no end. */
  #handleClosed(reason: CloseReason): void {
    const ticket = this.#line.host.seat?.ticket
    if (reason.by === 'network' && this.#resume !== undefined && ticket !== undefined && !this.#gone.signal.aborted) void this.#comeBack(this.#resume, ticket, reason)
    else this.#end(reason)
  }

  async #comeBack(resume: (ticket: Uint8Array) => Promise<Line<I>>, ticket: Uint8Array, lost: CloseReason): Promise<void> {
    this.#isAway = true
    this.onAway(lost)
    try {
      const line = await comeBack(() => resume(ticket), this.#gone.signal)
      if (this.#gone.signal.aborted) {
        line.host.close(now())
        line.wake()
        return
      }
      this.#isAway = false
      this.#attach(line)
      this.onTransport(this.transport)
      this.onBack()
    } catch (error) {
      if (!(error instanceof ConnectError)) throw error
      // Who was not reached at all is gone as he was; who answered has said why not.
      this.#end(error.reason.by === 'network' ? lost : error.reason)
    }
  }

  /** The page is gone for good, unless the browser means to bring it back as it was. */
  #handlePageHide = (event: PageTransitionEvent): void => {
    if (event.persisted) return
    this.#gone.abort()
    this.#line.end()
  }

  #end(reason: CloseReason): void {
    this.#gone.abort()
    globalThis.removeEventListener?.('pagehide', this.#handlePageHide)
    noteClosed(this as unknown as Room)
    this.#line.end()
    this.#settle(reason)
  }
}
