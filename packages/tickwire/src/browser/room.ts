/**
 * A match as a page sees it: what to draw, what to hold, what to say.
 *
 * It owns the page's timers; everything that is Tickwire happens in the `ClientHost` it drives.
 *
 * A page in the background has slow timers or none, but what arrives wakes it: it goes on by the server's packets, catches
 * up by a few ticks at most (`FixedLoop`), and holds nothing, since nobody is at its keys.
 */

import type { ClientHost, CloseReason, Connection, DatagramPortStats, InitOf, Message, Millis, PeerId, SendResult, Shape, View, ViewOf } from '../core/index.ts'
import { RttEstimator } from '../core/delivery/rtt.ts'
import { monotonicNow as now } from './clock.ts'
import type { Ladder } from './ladder.ts'
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
export interface RoomTools<I extends Shape = Shape> {
  readonly host: ClientHost<I>
  readonly connection: Connection
  /** Takes what goes out, instead of the transport; `network.send` is the transport. */
  send: ((bytes: Uint8Array, length: number) => void) | undefined
  /** Takes what comes in, instead of the match; `network.receive` is the match. */
  receive: ((bytes: Uint8Array, length: number) => void) | undefined
  readonly network: { send(bytes: Uint8Array, length: number): void; receive(bytes: Uint8Array, length: number): void }
  /** Ticks were played, and took so long. */
  onTicked: ((ticks: number, tookMs: Millis) => void) | undefined
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
  /** For tools that look on, and for nobody else. */
  readonly tools: RoomTools<I>
  readonly #host: ClientHost<I>
  readonly #port: Ladder
  readonly #connection: Connection
  readonly #out: Pick<Ladder, 'send'>
  #timer: ReturnType<typeof setTimeout> | undefined
  #isOver = false

  constructor(host: ClientHost<I>, port: Ladder, connection: Connection, closed: Promise<CloseReason>) {
    this.#host = host
    this.#port = port
    this.#connection = connection
    this.closed = closed
    const receive = (bytes: Uint8Array, length: number): void => {
      host.handleDatagram(now(), port.address, bytes, length)
      this.#wake()
    }
    const send = (bytes: Uint8Array, length: number): void => port.send(port.address, bytes, length)
    const tools: RoomTools<I> = {
      host, connection, send: undefined, receive: undefined, network: { send, receive }, onTicked: undefined, truth: undefined,
    }
    this.tools = tools
    this.#out = { send: (_to, bytes, length) => (tools.send ?? send)(bytes, length) }
    port.onDatagram = (_from, bytes, length) => (tools.receive ?? receive)(bytes, length)
    port.onPathClosed = (address) => {
      host.handlePathClosed(address)
      this.#wake()
    }
    port.onSwitched = () => this.#handleSwitched()
    void closed.then(() => this.#end())
    // A data channel whose page just vanishes leaves the server guessing for ten seconds; the others tell by themselves.
    globalThis.addEventListener?.('pagehide', this.#handlePageHide)
    noteOpened(this as unknown as Room)
    this.#wake()
  }

  /** Who we are. */
  get peer(): PeerId {
    return this.#host.peer
  }

  /** Which room of the server this is. */
  get id(): string {
    return this.#host.seat?.room ?? ''
  }

  /** It is the seat that this page had before it was reloaded. */
  get isBack(): boolean {
    return this.#host.seat?.isBack ?? false
  }

  /** What carries the match; 'none' while it looks for a way. */
  get transport(): Rung | 'none' {
    return this.#port.transport
  }

  /** Why it is this transport: what became of the better ones. */
  get transportReason(): string {
    return this.#port.reason
  }

  /** What was sent, received and dropped, over all transports. */
  get transportStats(): Readonly<DatagramPortStats> {
    return this.#port.stats
  }

  /** Tries the better transports again, now, as it does by itself from time to time. The match goes on meanwhile. */
  climb(): void {
    this.#port.climb()
  }

  /** Round trip to the authority, smoothed. */
  get rttMs(): number {
    return this.#connection.rtt.smoothedMs
  }

  get view(): View {
    return this.#host.view
  }

  /** Starts asking for input and drawing, until the match is over. */
  play({ input, draw, drawGhosts }: Play<I>): void {
    this.#host.sampleInput = () => (isHidden() ? NOTHING_HELD : input())
    const repaint = (): void => {
      if (this.#isOver) return
      draw(this.#host.draw(now()))
      if (this.tools.truth !== undefined) drawGhosts?.(this.tools.truth())
      requestAnimationFrame(repaint)
    }
    requestAnimationFrame(repaint)
  }

  /** Calls `listener` for every message of a kind from the authority. */
  on<S extends Shape>(message: Message<S>, listener: (values: ViewOf<S>) => void): void {
    this.#host.on(message, listener)
  }

  /** Calls `listener` once for everything of a kind that happens in `step` (`world.emit`). */
  onEvent<S extends Shape>(message: Message<S>, listener: (values: ViewOf<S>) => void): void {
    this.#host.onEvent(message, listener)
  }

  /** Says something to the authority, reliably and in order. */
  send<S extends Shape>(message: Message<S>, values: ViewOf<S>): SendResult {
    const result = this.#host.send(message, values)
    this.#wake()
    return result
  }

  /** Who looks on asks for the eyes of a player. Says whom he follows now, 0 when nobody; never rejects. */
  spectate(whom: PeerId | 'next' | 'previous'): Promise<PeerId> {
    const followed = this.#host.spectate(now(), whom)
    this.#wake()
    return followed
  }

  /** Leaves the match. */
  leave(): void {
    this.#host.close(now())
    this.#wake()
  }

  /** What was measured was another path. */
  #handleSwitched(): void {
    if (this.#port.provenCount > 1) {
      this.#connection.gate.reset(now())
      Object.assign(this.#connection.rtt, new RttEstimator())
    }
    this.onTransport(this.transport)
  }

  #wake(): void {
    if (this.#isOver) return
    const time = now()
    const ticks = this.#host.tick(time)
    if (ticks > 0 && this.tools.onTicked !== undefined) this.tools.onTicked(ticks, now() - time)
    this.#sleepUntil(this.#host.drain(time, this.#out))
  }

  #sleepUntil(wakeAt: Millis): void {
    clearTimeout(this.#timer)
    if (wakeAt !== Infinity) this.#timer = setTimeout(() => this.#wake(), Math.max(0, wakeAt - now()))
  }

  /** The page is gone for good, unless the browser means to bring it back as it was. */
  #handlePageHide = (event: PageTransitionEvent): void => {
    if (!event.persisted) this.#end()
  }

  #end(): void {
    this.#isOver = true
    globalThis.removeEventListener?.('pagehide', this.#handlePageHide)
    clearTimeout(this.#timer)
    noteClosed(this as unknown as Room)
    this.#port.close()
  }
}
