/**
 * One player of a simulated match: a client host at the end of its cable, and another one each time the player
 * reconnects.
 *
 * It reconnects as a page does (`core/client/comeback.ts`): after a lost connection by itself, with its ticket, at
 * growing intervals. If the seat is gone, it asks for a new one.
 */

import { DATAGRAM_BYTES_MAX } from '../core/base/limits.ts'
import type { Millis, Tick } from '../core/base/time.ts'
import type { CloseReason } from '../core/connection/close-reason.ts'
import { createClientHost, type ClientHost } from '../core/game/client-host.ts'
import type { ClientHostOptions } from '../core/game/client-host-options.ts'
import type { Game } from '../core/game/define-game.ts'
import type { JoinRequest } from '../core/rooms/join-body.ts'
import type { Shape } from '../core/schema/field.ts'
import type { InitOf } from '../core/schema/value-types.ts'
import { indexOf } from '../core/world/object-table.ts'
import type { World } from '../core/world/world.ts'
import { MemoryLink, type LinkFlight, type Weather } from './memory-link.ts'
import { Dice } from './sim-entropy.ts'
import { StallingActor } from './simulate-stalls.ts'

/** The cable of one connection. The server sees the connections of a player at different addresses. */
export interface SimCable {
  /** 0 for the first connection of the player. */
  readonly life: number
  readonly link: MemoryLink
}

/** What a player asks for, and what is called for it. */
export interface SimPlayerOptions<I extends Shape> {
  /** The seat that it asks for. Default: any seat. */
  readonly join?: JoinRequest | undefined
  /** Its join data. Default: none, which means the initial values. */
  readonly data?: Uint8Array
  /** Called for every host of the player, before it connects. */
  readonly onHost?: (host: ClientHost<I>) => void
  /** Called when a datagram of the player is sent. */
  readonly onFlight?: (flight: LinkFlight) => void
}

/** Pauses between two attempts to reconnect, as in a page. */
const PAUSE_MS_MIN = 250
const PAUSE_MS_MAX = 4000
/** Each life draws from other numbers. */
const LIFE_SEED = 104_729

/** One player at the end of its cable. */
export class SimPlayer<I extends Shape = Shape> extends StallingActor {
  /** Why the player is not in the match any more, or was refused. Undefined while it is in it, or tries. */
  closed: CloseReason | undefined = undefined
  /** The cables of this connection and of the ones before. */
  readonly cables: SimCable[] = []
  readonly #game: Game<I>
  readonly #seed: number
  readonly #options: Partial<ClientHostOptions>
  readonly #extras: SimPlayerOptions<I>
  readonly #incoming = new Uint8Array(DATAGRAM_BYTES_MAX)
  #host: ClientHost<I>
  #link: MemoryLink
  #life = 0
  #nextAt: Millis = 0
  #play: ((host: ClientHost<I>) => InitOf<I>) | undefined
  /** When the next attempt to reconnect is due. */
  #retryAt: Millis = Infinity
  /** The pause before the next attempt. The first follows at once. */
  #pauseMs = 0
  /** The connection was lost, and the next attempt has no time yet. */
  #isLost = false
  #isResuming = false
  #hasLeft = false
  #ticket: Uint8Array | undefined

  constructor(
    game: Game<I>,
    seed: number,
    weather: Weather,
    options: Partial<ClientHostOptions>,
    extras: SimPlayerOptions<I> = {},
  ) {
    super()
    this.#game = game
    this.#seed = seed
    this.#options = options
    this.#extras = extras
    this.#link = this.#plugIn(weather)
    this.#host = this.#createHost()
  }

  /** The host of the current connection. It changes when the player reconnects. */
  get host(): ClientHost<I> {
    return this.#host
  }

  /** The cable of the current connection. */
  get link(): MemoryLink {
    return this.#link
  }

  /** Whether the player is in the match, and predicts. */
  get isIn(): boolean {
    const { serverTick, peer, predictor } = this.#host
    if (this.#isOver || peer === 0 || serverTick <= 0) return false
    return this.isSpectator || this.#game.predict === 'none' || predictor?.isRunning === true
  }

  /** Whether its view has reached a tick of the match and has the player's own objects. */
  hasSeen(world: World, tick: Tick): boolean {
    const { predictor, peer, insides: { renderClock, snapshots } } = this.#host
    if (renderClock.renderTick < tick || snapshots.tick < tick) return false
    return world.stores.every((store) =>
      store.living().every(
        ({ id, owner }) =>
          owner !== peer
          || (snapshots.held.ids[indexOf(id)] === id && predictor?.world.objects.isAlive(id) !== false),
      ),
    )
  }

  /** Whether the player watches and does not play. */
  get isSpectator(): boolean {
    return (this.#extras.join?.role ?? this.#options.role) === 'spectator'
  }

  /** Sets the input from now on, also of later hosts. */
  set play(play: (host: ClientHost<I>) => InitOf<I>) {
    this.#play = play
    this.#host.sampleInput = () => play(this.#host)
  }

  /** Asks for a seat, for the first time. */
  connect(now: Millis): void {
    const { data, join } = this.#extras
    this.#host.connect(now, 'server', { ...(data && { data }) }, join)
  }

  /** Leaves for good. */
  leave(now: Millis): void {
    this.#hasLeft = true
    this.#ticket = undefined
    this.#retryAt = Infinity
    this.#host.close(now)
    this.#nextAt = now
  }

  /** Reconnects with a new host: to the seat, if it is still held, otherwise to a new one. */
  rejoin(now: Millis): void {
    this.#ticket ??= this.#hasLeft ? undefined : this.#host.seat?.ticket
    this.#pauseMs = 0
    this.#comeBack(now)
  }

  protected dueAt(): Millis {
    return Math.min(this.#nextAt, this.#retryAt, this.#link.nextAt(1))
  }

  wake(now: Millis): void {
    if (this.#retryAt <= now) this.#comeBack(now)
    for (let length = this.#poll(now); length >= 0; length = this.#poll(now)) {
      if (this.#isOver) continue
      this.#host.handleDatagram(now, 'server', this.#incoming, length)
      this.#pump(now)
    }
    if (!this.#isOver) this.#pump(now)
  }

  /** Whether the current host has ended. */
  get #isOver(): boolean {
    return this.closed !== undefined || this.#retryAt !== Infinity
  }

  /** As a page does: after each datagram, and when a timer fires. */
  #pump(now: Millis): void {
    const host = this.#host
    host.tick(now)
    const link = this.#link
    const wakeAt = host.drain(now, { send: (_to, bytes, length) => link.send(now, 1, bytes, length) })
    this.#nextAt = this.closed === undefined && !this.#isLost ? wakeAt : Infinity
    if (!this.#isLost) return
    this.#isLost = false
    this.#retryAt = now + this.#pauseMs
    this.#pauseMs = Math.min(Math.max(2 * this.#pauseMs, PAUSE_MS_MIN), PAUSE_MS_MAX)
  }

  #poll(now: Millis): number {
    return this.#link.poll(now, 1, this.#incoming)
  }

  #comeBack(now: Millis): void {
    const { weather } = this.#link
    this.#retryAt = Infinity
    this.#life++
    this.#hasLeft = false
    this.closed = undefined
    this.#link = this.#plugIn(weather)
    this.#host = this.#createHost()
    this.#isResuming = this.#ticket !== undefined
    const { data, join } = this.#extras
    const isNew = this.#ticket === undefined
    const asked = this.#ticket === undefined ? join : { resume: this.#ticket, ...(join?.role && { role: join.role }) }
    this.#host.connect(now, 'server', { ...(isNew && data && { data }) }, asked)
    this.#nextAt = now
  }

  #plugIn(weather: Weather): MemoryLink {
    const link = new MemoryLink(this.#seed + this.#life * LIFE_SEED, weather)
    link.onFlight = this.#extras.onFlight
    // Datagrams of an ended connection may still be on their way to the server.
    this.cables.splice(0, this.cables.length, ...this.cables.filter((cable) => cable.link.nextAt(0) !== Infinity))
    this.cables.push({ life: this.#life, link })
    return link
  }

  #createHost(): ClientHost<I> {
    const { onClosed, onOpened } = this.#options
    const host: ClientHost<I> = createClientHost(this.#game, {
      entropy: new Dice((this.#seed + this.#life * LIFE_SEED) ^ 0xc11),
      ...this.#options,
      onOpened: () => {
        this.#ticket = host.seat?.ticket
        this.#pauseMs = 0
        this.#isResuming = false
        onOpened?.()
      },
      onClosed: (reason) => {
        this.#handleClosed(reason)
        onClosed?.(reason)
      },
    })
    const play = this.#play
    if (play !== undefined) host.sampleInput = () => play(host)
    this.#extras.onHost?.(host)
    return host
  }

  /** A lost connection is opened again. Any other end is final, except that of a seat which is gone. */
  #handleClosed(reason: CloseReason): void {
    const isSeatGone = this.#isResuming && reason.by !== 'network'
    if (isSeatGone) this.#ticket = undefined
    if (!this.#hasLeft && (isSeatGone || (reason.by === 'network' && this.#ticket !== undefined))) {
      this.#isLost = true
    } else {
      this.closed = reason
    }
  }
}
