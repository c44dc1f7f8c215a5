/**
 * Steps a lockstep game: takes ticks from a feed, decodes their orders, and steps the world with them.
 *
 * The confirmed world is the only one: nothing is predicted, and nothing is rolled back. The runner is the same for
 * every feed.
 *
 *   a tick    begin | tick events | checks of the orders | step | end | hash | report
 */

import { InvariantError } from '../base/assert.ts'
import { ORDER_BYTES_MAX, ORDER_TYPES_MAX } from '../base/limits.ts'
import type { Millis, PeerId, Tick } from '../base/time.ts'
import { END_REASONS, putTickEvent, readTickEvent, TICK_EVENT, type TickEvent } from '../order/tick-event.ts'
import { readSeedEvent, SEED_EVENT, seedOf } from '../order/seed-share.ts'
import { TickBodyReader } from '../order/tick-body.ts'
import type { Shape } from '../schema/field.ts'
import type { Schema } from '../schema/schema.ts'
import type { ViewOf } from '../schema/value-types.ts'
import { copyWorld } from '../world/copy-world.ts'
import { HeavyTest } from '../world/heavy-test.ts'
import { reseedWorld } from '../world/reseed-world.ts'
import { StateHash } from '../world/state-hash.ts'
import { World } from '../world/world.ts'
import { restoreWorld } from '../world/world-image.ts'
import type { LockstepGame, TickOrders } from './define-lockstep.ts'
import type { AnyOrder, GivenOrder, Order } from './order.ts'
import { isCheckTick } from './check-schedule.ts'
import { CheckView } from './check-view.ts'
import { DualTest } from './desync/dual-test.ts'
import { leanPulse } from './desync/lean-pulse.ts'
import { OwnOrders, type OrderListener } from './own-orders.ts'
import { decodeValues, encodeValues } from './order-values.ts'
import { Roster } from './roster.ts'
import type { JumpOptions, RunnerOptions, RunnerWatch } from './runner-options.ts'
import type { TickFeed } from './tick-feed.ts'

export type { RunnerOptions, RunnerWatch } from './runner-options.ts'

const TICKS_PER_UPDATE = 30
const NO_ROOT: readonly number[] = [0, 0]

/** The orders of the tick that is being stepped. */
class GivenOrders implements TickOrders<AnyOrder> {
  tick: Tick = 0
  readonly list: GivenOrder<AnyOrder>[] = []
  readonly #roster: Roster

  constructor(roster: Roster) {
    this.#roster = roster
  }

  get length(): number {
    return this.list.length
  }

  get players(): readonly PeerId[] {
    return this.#roster.players
  }

  isAway(player: PeerId): boolean {
    return this.#roster.isAway(player)
  }

  [Symbol.iterator](): Iterator<GivenOrder<AnyOrder>> {
    return this.list[Symbol.iterator]()
  }
}

/** An order that was decoded and waits for its check. */
interface Decoded {
  readonly kind: Order
  readonly given: GivenOrder<AnyOrder>
  readonly isOwn: boolean
}

/** Steps a lockstep game with the ticks of a feed. */
export class LockstepRunner<O extends readonly AnyOrder[] = readonly AnyOrder[]> {
  /** The game. */
  readonly game: LockstepGame<O>
  /** Where its ticks come from. */
  readonly feed: TickFeed
  /** The world after the last tick. Read it; only `step` writes it. */
  readonly world: World
  /** The hash of the world after the last tick. */
  readonly hash: StateHash
  /** The players, as of the last tick. */
  readonly roster: Roster = new Roster()
  /** Keeps the last ticks, to name and heal a desync. Undefined: nothing does. */
  watch: RunnerWatch | undefined = undefined
  /** The last tick with an order of the local player that was not given by this runner. */
  lastStranger: Tick = 0
  /** The own orders, and what became of them. */
  readonly ownOrders: OwnOrders = new OwnOrders()
  /** Orders that could not be decoded or were not allowed, and were skipped on every peer. */
  skipped = 0
  readonly #options: RunnerOptions
  readonly #orders = new GivenOrders(this.roster)
  readonly #reader = new TickBodyReader()
  readonly #heavy: HeavyTest | undefined
  #decoded: Decoded[] = []
  #events: TickEvent[] = []
  /** The shares of the seed in the tick that is being stepped. */
  #reveals: Uint8Array[] = []
  #hasBegun = false
  /** The tick before which no code of the game ran. */
  #beganAt: Tick = 0
  #isEnded = false

  constructor(game: LockstepGame<O>, feed: TickFeed, options: RunnerOptions = {}) {
    this.game = game
    this.feed = feed
    this.#options = options
    this.world = this.#makeWorld()
    this.hash = new StateHash(this.world)
    if (feed.seed !== 0) this.#begin()
    if (options.dual === true) new DualTest(this as unknown as LockstepRunner)
    if (options.heavy === true)
      this.#heavy = new HeavyTest(this.world, () => this.#makeWorld(), (copy) => this.#play(copy, false))
  }

  /** Whether the seed is known and `onStart` was called. Until then no code of the game runs. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** The last tick that was stepped. */
  get tick(): Tick {
    return this.world.tick
  }

  /** Whether the last tick was the end of the match. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Steps the ticks that are due, and returns how many. */
  update(now: Millis): number {
    const most = this.#options.ticksPerUpdate ?? TICKS_PER_UPDATE
    let count = 0
    while (count < most && !this.#isEnded) {
      const tick = this.feed.poll(now)
      if (tick === 0) break
      this.#step(tick)
      count++
    }
    return count
  }

  /** When `update` may have something to do. */
  nextAt(): Millis {
    return this.#isEnded ? Infinity : this.feed.nextAt()
  }

  /**
   * Gives an order. 'refused': its check says no. 'too-large': its values need more bytes than an order may have.
   * 'closed': the match has not begun, or has ended. Throws if the values have the wrong types.
   */
  order<S extends Shape, N extends string>(
    now: Millis,
    kind: Order<S, N>,
    values: ViewOf<S>,
  ): 'sent' | 'refused' | 'too-large' | 'full' | 'closed' {
    const type = this.#typeOf(kind as unknown as AnyOrder)
    if (!this.#hasBegun) return 'closed'
    const data = encodeValues(kind.schema as unknown as Schema, values as Record<string, unknown>)
    const { orderBytesMax = ORDER_BYTES_MAX } = this.feed
    if (data === undefined || data.length > orderBytesMax) return 'too-large'
    const known = decodeValues(kind.schema as unknown as Schema, data, 0, data.length)
    const { player } = this.feed
    const isAllowed = known !== undefined && this.#isAllowed(kind as unknown as Order, player, known, this.world)
    if (!isAllowed) return 'refused'
    const result = this.feed.submit(now, type, data)
    if (result === 'sent') this.ownOrders.add(kind as unknown as AnyOrder, type, data, known)
    return result
  }

  /** Calls `listener` for own orders of a kind: 'issued' at once, then once 'executed', 'refused' or 'lost'. */
  onOrder<S extends Shape, N extends string>(kind: Order<S, N>, listener: OrderListener<S>): () => void {
    this.#typeOf(kind as unknown as AnyOrder)
    return this.ownOrders.on(kind as unknown as AnyOrder, listener as OrderListener<Shape>)
  }

  /** Asks for a pause. The match pauses in the same tick on every peer. */
  pause(now: Millis): void {
    this.#request(now, { name: 'pause', player: this.feed.player, value: 0 })
  }

  /** Asks to go on. */
  resume(now: Millis): void {
    this.#request(now, { name: 'resume', player: this.feed.player, value: 0 })
  }

  /** Asks for a speed: 1 is normal, 0.1 to 8. */
  setSpeed(now: Millis, speed: number): void {
    this.#request(now, { name: 'speed', player: 0, value: Math.round(speed * 100) })
  }

  /**
   * Steps a world of this game with a tick of the log, without reports and listeners. `roster` is that of the tick
   * before, and becomes that of the tick.
   */
  replay(world: World, roster: Roster, tick: Tick): void {
    this.#decode(tick, false)
    world.beginTick()
    for (const event of this.#events) roster.apply(event, tick)
    if (tick >= this.#beganAt) this.#play(world, false, roster)
    world.endTick()
  }

  /**
   * Goes on from an image of the world after a tick of the log, without stepping the ticks up to it. False: the bytes
   * are not an image of that tick, or the log does not reach it, and nothing has changed. `roster`: the players after
   * the tick; without it they are read from the log. Only a replay goes back.
   */
  jump(tick: Tick, image: Uint8Array, { roster, mayGoBack = false }: JumpOptions = {}): boolean {
    const { feed } = this
    if ((tick <= this.tick && !mayGoBack) || tick > feed.log.newest || feed.skipTo === undefined) return false
    const seed = this.#hasBegun ? this.world.seed : this.#seedUpTo(tick)
    const { world } = this
    const saved = world.external.save()
    const external = this.game.external?.()
    const copy = new World(this.game.entities, { seed, sharing: world, ...(external && { external }) })
    const isRight = seed !== 0 && restoreWorld(copy, image) === 'restored' && copy.tick === tick
    if (!isRight) world.external.load(saved)
    else this.#skip(tick, seed, copy, roster)
    for (const store of copy.stores) world.dropValuesOf(store)
    return isRight
  }

  /** Goes back to a past world of this match: the ticks after it are not in the match. */
  rewind(world: World, roster: Roster): void {
    copyWorld(world, this.world)
    this.roster.restore(roster)
    for (const cache of this.game.derived ?? []) cache.rebuild(this.world)
    this.#isEnded = false
    this.hash.update()
    this.feed.skipTo?.(world.tick, roster.speedPercent)
    this.ownOrders.reopen(world.tick)
    this.watch?.handleReplaced?.(world.tick)
    this.#options.onJump?.(world.tick)
  }

  /** Makes the world that after a tick of the log. */
  #skip(tick: Tick, seed: number, copy: World, roster: Roster | undefined): void {
    if (!this.#hasBegun) reseedWorld(this.world, seed)
    this.#hasBegun = true
    this.#isEnded = false
    if (roster !== undefined) this.roster.restore(roster)
    else this.#readRoster(tick)
    copyWorld(copy, this.world)
    for (const cache of this.game.derived ?? []) cache.rebuild(this.world)
    this.hash.update()
    this.feed.skipTo?.(tick, this.roster.speedPercent)
    this.watch?.handleReplaced?.(tick)
    this.#options.onJump?.(tick)
  }

  /** The players after a tick, from the events of the log. */
  #readRoster(tick: Tick): void {
    if (tick < this.tick) this.roster.restore(new Roster())
    for (let skipped = tick < this.tick ? 1 : this.tick + 1; skipped <= tick; skipped++) {
      this.#decode(skipped, false)
      this.#applyRoster(skipped)
    }
  }

  /** The seed that the players agree on in the ticks up to one; 0: they have not. Notes when the game begins. */
  #seedUpTo(tick: Tick): number {
    for (let each = this.tick + 1; each <= tick && this.feed.log.has(each); each++) {
      this.#decode(each, false)
      if (this.#reveals.length === 0) continue
      this.#beganAt = each
      return seedOf(this.#reveals)
    }
    return 0
  }

  #request(now: Millis, event: TickEvent): void {
    const bytes = new Uint8Array(16)
    this.feed.submit(now, TICK_EVENT[event.name], bytes.slice(0, putTickEvent(bytes, 0, event)))
  }

  #begin(): void {
    this.#hasBegun = true
    this.#guarded(() => this.game.onStart?.(this.world))
  }

  /** Runs code of the game, with traps if there are some. */
  #guarded(run: () => void): void {
    if (this.#options.traps === undefined) run()
    else this.#options.traps.run(this.world.tick, run)
  }

  #makeWorld(): World {
    const external = this.game.external?.()
    return new World(this.game.entities, { seed: this.world?.seed ?? this.feed.seed, ...(external && { external }) })
  }

  #typeOf(kind: AnyOrder): number {
    const type = this.game.orders.indexOf(kind)
    if (type < 0) throw new RangeError(`${kind.name}: not an order of this game. Fix: add it to \`orders\`.`)
    return type
  }

  #step(tick: Tick): void {
    if (tick !== this.world.tick + 1) throw new InvariantError('ticks are stepped one after the other')
    this.#decode(tick, true)
    if (!this.#hasBegun && this.#reveals.length > 0) {
      reseedWorld(this.world, seedOf(this.#reveals))
      this.#beganAt = tick
      this.#begin()
    }
    if (this.#hasBegun) this.#heavy?.begin()
    this.world.beginTick()
    this.#applyRoster(tick)
    if (this.#hasBegun) this.#guarded(() => this.#play(this.world, true))
    this.world.endTick()
    if (this.#hasBegun) this.#heavy?.check()
    const isWhole = this.roster.isHashFull || isCheckTick(tick, this.world, this.roster)
    const [low, high] = isWhole ? this.hash.update() : NO_ROOT
    this.feed.report(tick, isWhole ? (low ^ (low >>> 16)) & 0xffff : leanPulse(this.world), low, high)
    this.watch?.handleStepped(tick, low, high)
    for (const event of this.#events) this.#options.onEvent?.(event, tick)
    this.#options.onTick?.(tick, low, high)
  }

  /** The tick events and orders of a tick. */
  #decode(tick: Tick, isLive: boolean): void {
    const { log } = this.feed
    const reader = this.#reader
    this.#decoded = []
    this.#events = []
    this.#reveals = []
    reader.open(log.bytes, log.startOf(tick), log.endOf(tick))
    while (reader.next()) {
      const { player, type, dataAt, dataLength, timeUs } = reader
      const isOwn = isLive && player === this.feed.player && player !== 0
      if (type >= ORDER_TYPES_MAX) {
        const event = player === 0 ? readTickEvent(type, log.bytes, dataAt, dataLength) : undefined
        if (event !== undefined) this.#events.push(event)
        if (type === SEED_EVENT.reveal && player === 0) {
          const share = readSeedEvent(type, log.bytes, dataAt, dataLength)
          if (share !== undefined) this.#reveals.push(share.bytes)
        }
        continue
      }
      const kind = this.game.orders[type] as unknown as Order | undefined
      const values = kind && decodeValues(kind.schema, log.bytes, dataAt, dataLength)
      if (isOwn && !this.ownOrders.match(tick, type, log.bytes, dataAt, dataLength)) this.lastStranger = tick
      if (kind === undefined || values === undefined) {
        if (isLive) this.skipped++
        if (isOwn) this.ownOrders.settle('refused')
        continue
      }
      const given = { name: kind.name, by: player, at: timeUs, values } as GivenOrder<AnyOrder>
      this.#decoded.push({ kind, given, isOwn })
      if (isOwn) this.ownOrders.hold()
    }
  }

  #applyRoster(tick: Tick): void {
    for (const event of this.#events) {
      this.roster.apply(event, tick)
      if (event.name === 'end') this.#isEnded = true
    }
  }

  /** Steps a world with the decoded tick. `isLive`: this is the world of the match, and not a copy. */
  #play(world: World, isLive: boolean, roster: Roster = this.roster): void {
    const orders = roster === this.roster ? this.#orders : new GivenOrders(roster)
    for (const event of this.#events) this.#call(world, event)
    orders.tick = world.tick
    orders.list.length = 0
    for (const { kind, given, isOwn } of this.#decoded) {
      const { by, values } = given as { by: PeerId; values: Record<string, unknown> }
      const isAllowed = roster.has(by) && this.#isAllowed(kind, by, values, world)
      if (isAllowed) orders.list.push(given)
      if (!isLive) continue
      if (!isAllowed) this.skipped++
      if (isOwn) this.ownOrders.settleNext(isAllowed ? 'executed' : 'refused')
    }
    this.game.step(world, orders as unknown as TickOrders<O[number]>)
  }

  #call(world: World, { name, player, value }: TickEvent): void {
    const { game } = this
    if (name === 'join') game.onJoin?.(world, player)
    else if (name === 'leave') game.onLeave?.(world, player, END_REASONS[value] ?? 'left')
    else if (name === 'away') game.onAway?.(world, player)
    else if (name === 'back') game.onBack?.(world, player)
  }

  #isAllowed(kind: Order, by: PeerId, values: Record<string, unknown>, world: World): boolean {
    return kind.check === undefined || new CheckView(world).allows(kind, by, values, this.#options.checkPurity)
  }
}
