/**
 * A lockstep match as the game's page or bot sees it. It is the same for every place: local, a replay, a relay.
 *
 * The room owns the timer. Ticks are stepped when they are due and when a datagram arrives, so a hidden page keeps up
 * although its timers run once a second.
 */

import { ConfigError } from '../base/assert.ts'
import { Listeners, UserCode } from '../base/user-code.ts'
import type { Millis, PeerId, Tick } from '../base/time.ts'
import type { SendResult } from '../channel/channel.ts'
import type { Lane } from '../channel/lanes.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import type { LockstepStatus } from '../game/lockstep-client.ts'
import type { LaneListener, LockstepLanes } from '../game/lockstep-lanes.ts'
import type { LockstepGame } from '../lockstep/define-lockstep.ts'
import type { DesyncReport } from '../order/desync-report.ts'
import type { LockstepRunner, RunnerOptions } from '../lockstep/lockstep-runner.ts'
import type { AnyOrder, Order } from '../lockstep/order.ts'
import type { OrderListener } from '../lockstep/own-orders.ts'
import type { ReplayDeck } from '../lockstep/replay-deck.ts'
import { playedMatch, type PlayedMatch } from '../lockstep/replay-feed.ts'
import type { FeedDiagnostics } from '../lockstep/tick-feed.ts'
import type { Shape } from '../schema/field.ts'
import type { ViewOf } from '../schema/value-types.ts'
import type { World } from '../world/world.ts'
import type { PathName, TransportName } from './client-link.ts'
import type { JoinOptions } from './join-room.ts'
import type { ClientPlatform } from './platform.ts'
import type { WireHooks, LockstepMachine } from './lockstep-machine.ts'

export type { LockstepMachine, PeerPort, WireHooks } from './lockstep-machine.ts'

/** How a lockstep match is joined, at every place. */
export interface LockstepOptions extends Pick<
  JoinOptions, 'token' | 'server' | 'join' | 'keepSeat' | 'retryMs' | 'tracer' | 'traceparent'
> {
  /**
   * Warns on the console when `step` uses a clock, `Math.random`, inexact `Math` or another thing that differs between
   * machines, and when the `check` of an order changes the world. Default: true, unless NODE_ENV is `production`.
   */
  readonly development?: boolean
  /** Options of the runner: `onTick` and `onEvent` see every tick from the first one on. Default: none. */
  readonly runner?: RunnerOptions
  /** Worlds of players differed: the relay's report. Default: reports are ignored. */
  readonly onDesync?: (report: DesyncReport) => void
  /** The match counts for a ranking: only `relay` at a URL may play it, every other place throws. Default: false. */
  readonly ranked?: boolean
  /** Hooks between the room and its relay, for tools. Default: none. */
  readonly wire?: WireHooks
}

/**
 * Where a lockstep match is played: the second argument of `connect`. `local`, `replay`, `mesh`, `hosting` and `relay`
 * create one.
 */
export interface LockstepPlace {
  /** Begins or joins the match. `connect` calls it. */
  enter<O extends readonly AnyOrder[]>(
    game: LockstepGame<O>, options: LockstepOptions, machine: LockstepMachine,
  ): Promise<LockstepRoom<O>>
}

/** Throws if a place that cannot be ranked is asked for a ranked match. */
export function refuseRanked({ ranked }: LockstepOptions, place: string): void {
  if (ranked !== true) return
  throw new ConfigError(
    'connect.ranked', `${place} cannot be ranked (expected a dedicated relay)`,
    'use relay(url), or leave `ranked` out.',
  )
}

/** The part of a room that depends on its place. */
export interface LockstepDrive<O extends readonly AnyOrder[]> {
  /** The runner. After an outage that cost the seat it is another one. */
  readonly runner: LockstepRunner<O>
  /** Whether the connection is lost. */
  readonly isAway: boolean
  /** How far the client is. Undefined: the place has no network, and the room is active. */
  readonly status?: LockstepStatus
  /** Seeks in a replay. Undefined: this is not a replay. */
  readonly deck?: ReplayDeck | undefined
  /** The transport in use; 'none' without a network, and while it looks for one. */
  readonly transport: TransportName | 'none'
  /** How data reaches the relay, or the other players of a mesh. Undefined: there is no network. */
  readonly path?: PathName | undefined
  /** Why it is this path. */
  readonly pathReason?: string | undefined
  /** Messages to and from the other players. Undefined: the place has none. */
  readonly lanes?: LockstepLanes
  /** Steps and sends what is due. Returns when to call again at the latest. */
  drive(now: Millis): Millis
  /** Leaves the match. */
  leave(now: Millis): void
  /**
   * The program ends: drops the connection, so that the program that follows finds its seat. False: the place keeps no
   * seat, and the room leaves.
   */
  abandon?(): boolean
  /** Something has arrived: call `drive` now. */
  onWork: () => void
  /** The connection is lost. */
  onAway: () => void
  /** The connection is there again. */
  onBack: (seat: 'same' | 'new') => void
  /** The match has gone on at another relay, after a tick. Undefined: the place has one relay or none. */
  onContinued?: (tick: Tick) => void
  /** The match is over for this client. Called once. */
  onEnd: (reason: CloseReason) => void
}

/** Draws a lockstep match. */
export interface LockstepPlay {
  /** Called before every repaint, with the world after the last tick. Read the world; only `step` writes it. */
  draw(world: World, tick: Tick): void
}

/** A listener of orders, and how it is removed from the present runner. */
interface OrderHook {
  readonly attach: () => () => void
  detach: () => void
}

/** A lockstep match that is being played. */
export class LockstepRoom<O extends readonly AnyOrder[] = readonly AnyOrder[]> {
  /** Resolves when the match is over for this client, with the reason. */
  readonly closed: Promise<CloseReason>
  readonly #aways: Listeners<[]>
  readonly #backs: Listeners<['same' | 'new']>
  readonly #continued: Listeners<[Tick]>
  #settle: (reason: CloseReason) => void = () => {}
  readonly #drive: LockstepDrive<O>
  readonly #platform: ClientPlatform
  readonly #onOver: () => void
  readonly #hooks = new Set<OrderHook>()
  #cancelWake: () => void = () => {}
  #cancelGone: () => void
  #isOver = false
  #isDriving = false

  /** `onOver`: releases what the place holds, when the match is over. */
  constructor(drive: LockstepDrive<O>, platform: ClientPlatform, onOver: () => void = () => {}) {
    this.#drive = drive
    this.#onOver = onOver
    this.#platform = platform
    const guard = new UserCode(platform.reportFault)
    this.#aways = new Listeners(guard, 'onAway')
    this.#backs = new Listeners(guard, 'onBack')
    this.#continued = new Listeners(guard, 'onContinued')
    this.closed = new Promise((resolve) => { this.#settle = resolve })
    drive.onWork = () => this.#wake()
    drive.onAway = () => this.#aways.call(0)
    drive.onBack = (seat) => this.#handleBack(seat)
    drive.onContinued = (tick) => this.#continued.call(0, tick)
    drive.onEnd = (reason) => this.#end(reason)
    this.#cancelGone = platform.onGone(() => {
      if (drive.abandon?.() !== true) this.leave()
    })
    this.#wake()
  }

  /** Steps the game. Its `world`, `hash`, `roster` and `feed` are those of this match. */
  get runner(): LockstepRunner<O> {
    return this.#drive.runner
  }

  /** The world after the last tick. */
  get world(): World {
    return this.runner.world
  }

  /** The last tick that was stepped. */
  get tick(): Tick {
    return this.runner.tick
  }

  /** The id of the local player. 0: an observer or a replay. */
  get player(): PeerId {
    return this.runner.feed.player
  }

  /** The players of the match, as of the last tick. */
  get players(): readonly PeerId[] {
    return this.runner.roster.players
  }

  /** Whether the connection is lost. */
  get isAway(): boolean {
    return this.#drive.isAway
  }

  /** How far this client is: a room that joins an old match downloads its state, catches up, and is active then. */
  get status(): LockstepStatus {
    return this.#drive.status ?? 'active'
  }

  /** The transport in use; 'none' without a network, and while it looks for one. */
  get transport(): TransportName | 'none' {
    return this.#drive.transport
  }

  /**
   * How data reaches the relay: 'direct', 'relay' or 'websocket'; in a mesh, the worst of its paths. 'none' without a
   * network, and while there is no path.
   */
  get path(): PathName {
    return this.#drive.path ?? 'none'
  }

  /** Why it is this path, in a sentence for people. */
  get pathReason(): string {
    return this.#drive.pathReason ?? ''
  }

  /** Whether the match is over for this client. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Gives an order. Throws if the values have the wrong types. */
  order<S extends Shape, N extends string>(
    kind: Order<S, N>, values: ViewOf<S>,
  ): 'sent' | 'refused' | 'too-large' | 'full' | 'closed' {
    if (this.#isOver) return 'closed'
    const result = this.runner.order(this.#platform.now(), kind, values)
    this.#wake()
    return result
  }

  /** Calls `listener` for own orders of a kind: 'issued' at once, then once 'executed', 'refused' or 'lost'. */
  onOrder<S extends Shape, N extends string>(kind: Order<S, N>, listener: OrderListener<S>): () => void {
    const attach = (): (() => void) => this.runner.onOrder(kind, listener)
    const known: OrderHook = { attach, detach: attach() }
    this.#hooks.add(known)
    return () => {
      known.detach()
      this.#hooks.delete(known)
    }
  }

  /**
   * Sends bytes to all other players, beside the match: `step` never sees them. `control`: the latest wins. `chat`: all
   * arrive, in order. `voice` and `bulk`: some are lost; bulk uses what the others leave. 'full': try again later.
   * 'too-large': more than 1,000 bytes. 'closed': there is no connection, or the place has no other players.
   */
  send(lane: Lane, bytes: Uint8Array): SendResult {
    const result = this.#isOver ? 'closed' : this.#drive.lanes?.send(lane, bytes) ?? 'closed'
    this.#wake()
    return result
  }

  /** Calls `listener` for each message of another player on a lane. The returned function removes it. */
  onMessage(lane: Lane, listener: LaneListener): () => void {
    return this.#drive.lanes?.on(lane, listener) ?? (() => {})
  }

  /** Asks for a pause. The match pauses in the same tick on every peer. */
  pause(): void {
    this.runner.pause(this.#platform.now())
    this.#wake()
  }

  /** Asks to go on. */
  resume(): void {
    this.runner.resume(this.#platform.now())
    this.#wake()
  }

  /** Asks for a speed: 1 is normal, 0.1 to 8. A replay changes it at once, up to 16. */
  setSpeed(speed: number): void {
    const { deck } = this.#drive
    if (deck !== undefined) deck.setSpeed(speed)
    else this.runner.setSpeed(this.#platform.now(), speed)
    this.#wake()
  }

  /** Shows another tick of a replay. False: this is not a replay, or it has no such tick. */
  seek(tick: Tick): boolean {
    const isThere = this.#drive.deck?.seek(tick) === true
    this.#wake()
    return isThere
  }

  /** Draws before every repaint until the match is over. */
  play({ draw }: LockstepPlay): void {
    const paint = (): void => {
      if (this.#isOver) return
      draw(this.world, this.tick)
      this.#platform.repaint(paint)
    }
    this.#platform.repaint(paint)
  }

  /**
   * The ticks so far, for `replay`. Undefined while ticks are missing: a room that joined a running match gets the
   * ticks from before in the background.
   */
  played(): PlayedMatch | undefined {
    const { feed, game } = this.runner
    return feed.log.isWhole ? playedMatch(feed.log, game.tickRate, feed.seed) : undefined
  }

  /** Numbers for an overlay. */
  diagnostics(): FeedDiagnostics {
    return this.runner.feed.diagnostics()
  }

  /** Calls `listener` when the connection is lost. The room looks for a way back. The returned function removes it. */
  onAway(listener: () => void): () => void {
    return this.#aways.add(listener)
  }

  /**
   * Calls `listener` when the room is connected again: in its seat, or in a new one, whose ticks begin at 1 again. The
   * returned function removes it.
   */
  onBack(listener: (seat: 'same' | 'new') => void): () => void {
    return this.#backs.add(listener)
  }

  /** Whether the relay of this match was lost, and another one has gone on with it. Such a match is not ranked. */
  get isContinued(): boolean {
    return this.runner.roster.handovers > 0
  }

  /**
   * Calls `listener` when the relay is lost and another one goes on with the match, with the last tick of the lost one.
   * `onAway` comes before, and `onBack` after it. The returned function removes it.
   */
  onContinued(listener: (tick: Tick) => void): () => void {
    return this.#continued.add(listener)
  }

  /** Leaves the match. */
  leave(): void {
    if (this.#isOver) return
    this.#drive.leave(this.#platform.now())
    this.#wake()
  }

  /** A new seat has a new runner: listeners stay. */
  #handleBack(seat: 'same' | 'new'): void {
    if (seat === 'new') for (const hook of this.#hooks) hook.detach = hook.attach()
    this.#backs.call(0, seat)
  }

  #wake(): void {
    const { now, later } = this.#platform
    this.#cancelWake()
    if (this.#isOver) return
    // A listener of a tick may give an order. It is sent when the tick is over.
    if (this.#isDriving) {
      this.#cancelWake = later(0, () => this.#wake())
      return
    }
    this.#isDriving = true
    let nextAt = Infinity
    try {
      nextAt = this.#drive.drive(now())
    } finally {
      this.#isDriving = false
    }
    this.#cancelWake()
    if (nextAt !== Infinity && !this.#isOver)
      this.#cancelWake = later(Math.max(0, nextAt - now()), () => this.#wake())
  }

  #end(reason: CloseReason): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#cancelWake()
    this.#cancelGone()
    this.#onOver()
    this.#settle(reason)
  }
}
