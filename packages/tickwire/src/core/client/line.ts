/**
 * One connection to a match: a client host, the link under it, and the timer that drives both. A network outage ends a
 * line; a `Room` then opens the next one.
 *
 * A server sends at least four packets a second to every client, so a line that received nothing for 1.2 s is silent:
 * the server or the network has stopped. Only packets of the connection count. A restarted server answers too, but with
 * packets that the client cannot open.
 */

import type { Millis } from '../base/time.ts'
import type { FaultListener } from '../base/user-code.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import type { Connection } from '../connection/connection.ts'
import type { ConnectPass } from '../endpoint/endpoint.ts'
import { ClientHost } from '../game/client-host.ts'
import type { ClientHostOptions } from '../game/client-host-options.ts'
import type { ClientTrace } from '../game/client-trace.ts'
import type { Game } from '../game/define-game.ts'
import type { SentRequest } from '../rooms/join-body.ts'
import { encodePlaceRequest } from '../rooms/room-place.ts'
import type { Shape } from '../schema/field.ts'
import type { ClientLink } from './client-link.ts'
import type { ClientPlatform, ServerSite } from './platform.ts'

/** Hooks for tools. */
export interface Taps {
  /** Receives outgoing packets instead of the transport. */
  send: ((bytes: Uint8Array, length: number) => void) | undefined
  /** Receives incoming packets instead of the match. */
  receive: ((bytes: Uint8Array, length: number) => void) | undefined
  /** Called after ticks ran, with their duration. */
  onTicked: ((ticks: number, tookMs: Millis) => void) | undefined
}

/** Options of one connection, for development. */
export interface LineOptions extends Pick<ClientHostOptions, 'syncTest' | 'onSyncFault' | 'checks'> {
  /** Returns the trace of the connection. Default: none. */
  readonly trace?: () => ClientTrace
}

/** A line that received nothing for this long is silent. */
const SILENT_MS = 1200
/** A timer that fires this late was asleep with its page, and says nothing about the server. */
const ASLEEP_MS = 300

export class Line<I extends Shape = Shape> {
  readonly host: ClientHost<I>
  readonly link: ClientLink
  readonly connection: Connection
  /** Resolves when the server has accepted the client; never if it has not. */
  readonly opened: Promise<void>
  /** Resolves when the line has ended, with the reason. */
  readonly closed: Promise<CloseReason>
  taps: Taps = { send: undefined, receive: undefined, onTicked: undefined }
  /** A callback threw. */
  onError: FaultListener
  /** The player leaves for good. */
  onLeave: () => void = () => {}
  /** The line has fallen silent, or receives packets again. */
  onSilent: (isSilent: boolean) => void = () => {}
  /** Called once, when the first state has arrived. Undefined: nothing waits for it. */
  onState: (() => void) | undefined = undefined
  readonly #platform: ClientPlatform
  #cancelWake: () => void = () => {}
  #cancelWatch: () => void = () => {}
  #isOver = false
  #isSilent = false
  #packets = 0
  readonly #receivedAt = new Float64Array(1)

  /** Asks to join, over an open link. */
  constructor(
    game: Game<I>,
    { parts }: Pick<ServerSite, 'parts'>,
    platform: ClientPlatform,
    link: ClientLink,
    pass: ConnectPass,
    asked: SentRequest | undefined,
    { trace: makeTrace, syncTest, onSyncFault, checks }: LineOptions = {},
  ) {
    const trace = makeTrace?.()
    this.link = link
    this.#platform = platform
    this.onError = platform.reportFault
    let onOpened: () => void = () => {}
    let onClosed: (reason: CloseReason) => void = () => {}
    this.opened = new Promise((resolve) => {
      onOpened = resolve
    })
    this.closed = new Promise((resolve) => {
      onClosed = resolve
    })
    this.host = new ClientHost(
      game,
      {
        entropy: platform.entropy,
        onOpened,
        onClosed,
        onError: (fault) => this.onError(fault),
        ...(trace && { trace }),
        ...(syncTest !== undefined && { syncTest }),
        ...(onSyncFault && { onSyncFault }),
        ...(checks && { checks }),
      },
      parts,
    )
    this.connection = this.host.connect(platform.now(), link.address, pass, asked)
    link.onDatagram = (_from, bytes, length) => {
      if (this.taps.receive === undefined) this.receive(bytes, length)
      else this.taps.receive(bytes, length)
    }
    link.onPathClosed = (address) => {
      this.host.handlePathClosed(address)
      this.wake()
    }
    void this.opened.then(() => {
      const { seat } = this.host
      link.settle(seat && encodePlaceRequest({ room: seat.room }, ''))
      this.#receivedAt[0] = platform.now()
      this.#watchIn(SILENT_MS)
    })
    void this.closed.then(() => this.end())
    this.wake()
  }

  /** Handles a packet from the network. */
  receive(bytes: Uint8Array, length: number): void {
    if (this.#isOver) return
    const time = this.#platform.now()
    this.host.handleDatagram(time, this.link.address, bytes, length)
    const { packetsReceived } = this.connection.stats
    if (packetsReceived !== this.#packets) this.#noteReceived(time, packetsReceived)
    if (this.onState !== undefined && this.host.insides.snapshots.tick > 0) {
      this.onState()
      this.onState = undefined
    }
    this.wake()
  }

  /** Sends a packet over the network. */
  transmit(bytes: Uint8Array, length: number): void {
    this.link.send(this.link.address, bytes, length)
  }

  /** For `drain`: everything goes to one server. */
  send(_to: string, bytes: Uint8Array, length: number): void {
    if (this.taps.send === undefined) this.transmit(bytes, length)
    else this.taps.send(bytes, length)
  }

  /** Does what is due, and sets the timer for the next deadline. */
  wake(): void {
    if (this.#isOver) return
    const { now, later } = this.#platform
    const time = now()
    const ticks = this.host.tick(time)
    if (ticks > 0 && this.taps.onTicked !== undefined) this.taps.onTicked(ticks, now() - time)
    const wakeAt = this.host.drain(time, this)
    this.#cancelWake()
    if (wakeAt !== Infinity) this.#cancelWake = later(Math.max(0, wakeAt - now()), () => this.wake())
  }

  /** Leaves for good. `onLeave` is called at once: a page may be reloaded before the server has answered. */
  leave(): void {
    this.onLeave()
    this.host.close(this.#platform.now())
    this.wake()
  }

  /** Ends the line: nothing more is sent or received. */
  end(): void {
    this.#isOver = true
    this.#cancelWake()
    this.#cancelWatch()
    this.link.close()
  }

  #noteReceived(time: Millis, packets: number): void {
    this.#packets = packets
    this.#receivedAt[0] = time
    if (!this.#isSilent) return
    this.#isSilent = false
    this.onSilent(false)
    this.#watchIn(SILENT_MS)
  }

  #watchIn(ms: Millis): void {
    const dueAt = this.#platform.now() + ms
    this.#cancelWatch = this.#platform.later(ms, () => {
      const time = this.#platform.now()
      if (this.#isOver) return
      if (time - dueAt > ASLEEP_MS) this.#receivedAt[0] = time
      const leftMs = this.#receivedAt[0] + SILENT_MS - time
      if (leftMs > 0) return this.#watchIn(leftMs)
      this.#isSilent = true
      this.onSilent(true)
    })
  }
}
