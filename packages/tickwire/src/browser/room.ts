/**
 * A match as a page sees it: what to draw, what to hold, what to say.
 *
 * It owns the page's timers; everything that is Tickwire happens in the `ClientHost` it drives.
 */

import type { ClientHost, CloseReason, Connection, DatagramPort, InitOf, Message, Millis, PeerId, SendResult, Shape, View, ViewOf } from '../core/index.ts'
import { monotonicNow as now } from './clock.ts'

/** What a page does in a match. */
export interface Play<I extends Shape> {
  /** Asked once a tick: what the player holds now. What is not named has its initial value. */
  input(): InitOf<I>
  /** Called before every repaint, with what may be drawn. */
  draw(view: View): void
}

export class Room<I extends Shape = Shape> {
  /** Resolves when the match is over for this page, with the reason. */
  readonly closed: Promise<CloseReason>
  readonly #host: ClientHost<I>
  readonly #port: DatagramPort
  readonly #connection: Connection
  #timer: ReturnType<typeof setTimeout> | undefined
  #isOver = false

  constructor(host: ClientHost<I>, port: DatagramPort, connection: Connection, closed: Promise<CloseReason>) {
    this.#host = host
    this.#port = port
    this.#connection = connection
    this.closed = closed
    port.onDatagram = (from, bytes, length) => {
      host.handleDatagram(now(), from, bytes, length)
      this.#wake()
    }
    port.onPathClosed = (address) => {
      host.handlePathClosed(address)
      this.#wake()
    }
    void closed.then(() => this.#end())
    this.#wake()
  }

  /** Who we are. */
  get peer(): PeerId {
    return this.#host.peer
  }

  /** What carries the match, and why. */
  get transport(): string {
    return 'websocket'
  }

  /** Round trip to the authority, smoothed. */
  get rttMs(): number {
    return this.#connection.rtt.smoothedMs
  }

  get view(): View {
    return this.#host.view
  }

  /** Starts asking for input and drawing, until the match is over. */
  play({ input, draw }: Play<I>): void {
    this.#host.sampleInput = input
    const repaint = (): void => {
      if (this.#isOver) return
      draw(this.#host.view)
      requestAnimationFrame(repaint)
    }
    requestAnimationFrame(repaint)
  }

  /** Calls `listener` for every message of a kind from the authority. */
  on<S extends Shape>(message: Message<S>, listener: (values: ViewOf<S>) => void): void {
    this.#host.on(message, listener)
  }

  /** Says something to the authority, reliably and in order. */
  send<S extends Shape>(message: Message<S>, values: ViewOf<S>): SendResult {
    const result = this.#host.send(message, values)
    this.#wake()
    return result
  }

  /** Leaves the match. */
  leave(): void {
    this.#host.close(now())
    this.#wake()
  }

  #wake(): void {
    if (this.#isOver) return
    const time = now()
    this.#host.tick(time)
    this.#sleepUntil(this.#host.drain(time, this.#port))
  }

  #sleepUntil(wakeAt: Millis): void {
    clearTimeout(this.#timer)
    if (wakeAt !== Infinity) this.#timer = setTimeout(() => this.#wake(), Math.max(0, wakeAt - now()))
  }

  #end(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#port.close()
  }
}
