/**
 * The connection of one client to a lockstep match, by stages. Each stage has only the calls that are right in it:
 *
 *   connecting ── authenticate ──▶ authenticated ── joinLobby ──▶ in-lobby ── startGame ──▶ in-game
 *                                                                    ▲──────── endGame ────────┘
 *   any stage ── close ──▶ disconnecting
 *
 * A call of another stage does not compile. A transition uses the handle up: a used handle throws InvariantError, so a
 * kept one cannot give orders for a player that has left. A client that resumes its seat has a new line. The work of a
 * client in the game (downloading, catching up) is not a stage.
 */

import { InvariantError } from '../base/assert.ts'
import type { Millis, PeerId, Tick } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { TimingFeedback } from '../order/ticks-frame.ts'
import type { OrderRelay } from '../order-relay/order-relay.ts'
import type { FrameVerdict } from '../packet/frame-source.ts'

/** The handle of each stage. */
interface Lines {
  readonly connecting: ConnectingLine
  readonly authenticated: AuthenticatedLine
  readonly 'in-lobby': LobbyLine
  readonly 'in-game': GameLine
  readonly disconnecting: ClosedLine
}

/** The names of the stages. */
export type Stage = keyof Lines

/** The handle of a line in a stage. */
export type Line<S extends Stage> = Lines[S]

/** What the handles of one line share. */
interface LineRecord {
  readonly relay: OrderRelay
  stage: Stage
  peer: PeerId
  isObserver: boolean
  /** Transitions so far. Only the handle of the last one is valid. */
  generation: number
}

abstract class AnyLine<S extends Stage> {
  readonly stage: S
  readonly #record: LineRecord
  readonly #generation: number

  constructor(record: LineRecord, stage: S) {
    this.stage = stage
    this.#record = record
    this.#generation = ++record.generation
    record.stage = stage
  }

  /** The line ends. The room decides whether the seat is kept. */
  close(): ClosedLine {
    return new ClosedLine(this.use())
  }

  /** The record, if this handle is the valid one. */
  protected use(): LineRecord {
    const record = this.#record
    if (record.generation !== this.#generation)
      throw new InvariantError(`a line is ${record.stage}, and its handle of ${this.stage} was used again`)
    return record
  }
}

/** The client is not known yet. */
export class ConnectingLine extends AnyLine<'connecting'> {
  constructor(relay: OrderRelay) {
    super({ relay, stage: 'connecting', peer: 0, isObserver: false, generation: 0 }, 'connecting')
  }

  /** The player that the signed handshake and the ticket gave; 0: none. */
  authenticate(peer: PeerId, isObserver: boolean): AuthenticatedLine | 'bad-signature' {
    const record = this.use()
    if (peer === 0) return 'bad-signature'
    record.peer = peer
    record.isObserver = isObserver
    return new AuthenticatedLine(record, 'authenticated')
  }
}

/** The client is known, and not in the match. */
export class AuthenticatedLine extends AnyLine<'authenticated'> {
  /** Takes a slot of the relay, or the one that the player has. 'full': there is none. */
  joinLobby(now: Millis): LobbyLine | 'full' {
    const { relay, peer, isObserver } = this.use()
    if (relay.slotOf(peer) >= 0) relay.back(now, peer)
    else if (!isObserver && relay.join(now, peer) < 0) return 'full'
    return new LobbyLine(this.use(), 'in-lobby')
  }
}

/** The player waits for the match to begin, or observes it. */
export class LobbyLine extends AnyLine<'in-lobby'> {
  /** Before the match only measures and shares of the seed count: the relay drops orders of the game. */
  handlePrelude(now: Millis, frame: BitReader): FrameVerdict {
    const { relay, peer, isObserver } = this.use()
    return isObserver ? 'ok' : relay.handleOrders(now, relay.slotOf(peer), frame)
  }

  /** Ticks are closed: the player may give orders. Undefined for an observer, which has none. */
  startGame(): GameLine | undefined {
    const record = this.use()
    return record.isObserver ? undefined : new GameLine(record, 'in-game')
  }
}

/** The player gives orders. */
export class GameLine extends AnyLine<'in-game'> {
  /** A frame of orders of the player. @hot */
  handleOrders(now: Millis, frame: BitReader): FrameVerdict {
    const { relay, peer } = this.use()
    return relay.handleOrders(now, relay.slotOf(peer), frame)
  }

  /** A large order of the player, from its lane. */
  handleLarge(now: Millis, bytes: Uint8Array, length: number): void {
    const { relay, peer } = this.use()
    const slot = relay.slotOf(peer)
    if (slot >= 0) relay.handleLarge(now, slot, bytes, length)
  }

  /** Feedback for the client about the arrival of its orders. Resets the counters. */
  takeFeedback(): TimingFeedback | undefined {
    const { relay, peer } = this.use()
    const slot = relay.slotOf(peer)
    return slot < 0 ? undefined : relay.takeFeedback(slot)
  }

  /** The token of a tick: the client returns it when it has stepped the tick. */
  token(tick: Tick): number {
    const { relay, peer } = this.use()
    return relay.token(relay.slotOf(peer), tick)
  }

  /** The match has ended. */
  endGame(): LobbyLine {
    return new LobbyLine(this.use(), 'in-lobby')
  }
}

/** The line has ended. It has no calls. */
export class ClosedLine {
  readonly stage = 'disconnecting'

  constructor(record: LineRecord) {
    record.generation++
    record.stage = this.stage
  }
}
