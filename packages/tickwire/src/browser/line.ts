/**
 * One line to a match: a client host, the ladder that carries it, and the timer that drives both. It is what is lost when a network is; a
 * `Room` has one after the other.
 */

import { ClientHost, type ClientParts, type ClientTrace, type CloseReason, type Connection, type ConnectPass, type Game, type JoinRequest, type Millis, type Shape } from '../core/index.ts'
import { monotonicNow as now } from './clock.ts'
import { systemEntropy } from './entropy.ts'
import type { Ladder } from './ladder.ts'

/** What tools may put into a line. */
export interface Taps {
  /** Takes what goes out, instead of the transport. */
  send: ((bytes: Uint8Array, length: number) => void) | undefined
  /** Takes what comes in, instead of the match. */
  receive: ((bytes: Uint8Array, length: number) => void) | undefined
  /** Ticks were played, and took so long. */
  onTicked: ((ticks: number, tookMs: Millis) => void) | undefined
}

export class Line<I extends Shape = Shape> {
  readonly host: ClientHost<I>
  readonly ladder: Ladder
  readonly connection: Connection
  /** Resolves when the match has let us in, and never when it has not. */
  readonly opened: Promise<void>
  /** Resolves when it is over, with the reason. */
  readonly closed: Promise<CloseReason>
  taps: Taps = { send: undefined, receive: undefined, onTicked: undefined }
  #timer: ReturnType<typeof setTimeout> | undefined
  #isOver = false

  /** Asks to be let in, over a ladder that is open. */
  constructor(game: Game<I>, parts: ClientParts, ladder: Ladder, pass: ConnectPass, asked: JoinRequest | undefined, trace: ClientTrace | undefined) {
    this.ladder = ladder
    let onOpened: () => void = () => {}
    let onClosed: (reason: CloseReason) => void = () => {}
    this.opened = new Promise((resolve) => { onOpened = resolve })
    this.closed = new Promise((resolve) => { onClosed = resolve })
    this.host = new ClientHost(game, { entropy: systemEntropy, onOpened, onClosed, ...(trace && { trace }) }, parts)
    this.connection = this.host.connect(now(), ladder.address, pass, asked)
    ladder.onDatagram = (_from, bytes, length) => {
      if (this.taps.receive === undefined) this.receive(bytes, length)
      else this.taps.receive(bytes, length)
    }
    ladder.onPathClosed = (address) => {
      this.host.handlePathClosed(address)
      this.wake()
    }
    void this.opened.then(() => ladder.settle())
    void this.closed.then(() => this.end())
    this.wake()
  }

  /** What the network brings. */
  receive(bytes: Uint8Array, length: number): void {
    if (this.#isOver) return
    this.host.handleDatagram(now(), this.ladder.address, bytes, length)
    this.wake()
  }

  /** What the network takes. */
  transmit(bytes: Uint8Array, length: number): void {
    this.ladder.send(this.ladder.address, bytes, length)
  }

  /** For `drain`: everything goes to one server. */
  send(_to: string, bytes: Uint8Array, length: number): void {
    if (this.taps.send === undefined) this.transmit(bytes, length)
    else this.taps.send(bytes, length)
  }

  /** Does what is due, and sleeps until there is more. */
  wake(): void {
    if (this.#isOver) return
    const time = now()
    const ticks = this.host.tick(time)
    if (ticks > 0 && this.taps.onTicked !== undefined) this.taps.onTicked(ticks, now() - time)
    const wakeAt = this.host.drain(time, this)
    clearTimeout(this.#timer)
    if (wakeAt !== Infinity) this.#timer = setTimeout(() => this.wake(), Math.max(0, wakeAt - now()))
  }

  /** Nothing more is sent or heard. */
  end(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.ladder.close()
  }
}
