/**
 * The authority over one world: its players, their inputs in each tick, and the call to `step`.
 *
 * It knows no network. Players join and leave on ticks. The source of a player's inputs is hidden behind an interface:
 * a connection's buffer, a bot's input function, or the keyboard of this machine.
 *
 *   a tick    begin | writes to shared objects | joins, leaves | inputs, due calls | step | end | the Timeline samples
 */

import type { PeerId, Tick } from '../base/time.ts'
import { refusePromise, type UserCode } from '../base/user-code.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import type { AckedTicks } from '../interpolate/pose.ts'
import { SyncTest, type SyncFault } from '../predict/sync-test.ts'
import type { Shape } from '../schema/field.ts'
import type { InitOf } from '../schema/value-types.ts'
import type { HeldByPeers } from '../time/peer-inputs.ts'
import { windowTicks } from '../world/timeline-window.ts'
import { Timeline } from '../world/timeline.ts'
import type { ValueKeeper } from '../world/value-keeping.ts'
import { HeavyTest } from '../world/heavy-test.ts'
import { World } from '../world/world.ts'
import type { Game, Peer } from './define-game.ts'
import type { StepEvent } from './event-codec.ts'
import type { HostWatch } from './host-watch.ts'
import { InputLog } from './input-log.ts'
import { InputTable, type HeldInput } from './input-table.ts'
import { LocalInput } from './local-input.ts'
import { OwnerDigests } from './owner-digests.ts'
import { AuthorityRewinding, type Eyes } from './rewinding.ts'
import { SharedAuthority } from './shared-authority.ts'
import { StepChecks, type StepWarning } from './step-checks.ts'
import { StepEvents } from './step-events.ts'

/** A player or spectator, as the authority stores it. */
export interface Player {
  readonly peer: Peer
  inputs: HeldInput & ValueKeeper & { take(tick: Tick): void }
  /**
   * Runs the calls of this player that are due in the tick. Returns whether there were any. Undefined for a local
   * player, and while the player is disconnected.
   */
  deliver: ((tick: Tick) => boolean) | undefined
  /** A spectator. The game never learns of it. */
  readonly isSpectator: boolean
  /** `game.onJoin` has run for this player. */
  isIn: boolean
  /** Why the player left. Undefined while it has not. */
  left: CloseReason | undefined
}

export interface AuthorityOptions {
  readonly seed: number
  /** Step every tick again from this many ticks before, and check that the result is the same. 0: off. */
  readonly syncTest: number
  readonly onSyncFault: ((fault: SyncFault) => void) | undefined
  /** Encode, decode and step a copy of the world in every tick, and check that the result is the same. */
  readonly heavy: boolean
  /** Development mode: called once for each mistake in `step`. Undefined: off. */
  readonly onWarning: ((warning: StepWarning) => void) | undefined
  /** The join data of a player. */
  readonly dataOf: (peer: PeerId) => object
  /** A player has joined or left, in the tick that is being stepped. */
  readonly onJoined: (peer: Peer) => void
  readonly onLeft: (peer: Peer, reason: CloseReason) => void
  /** Passes an event from `step` on to the connected clients. */
  readonly sendEvent: (event: StepEvent) => void
}

/** Peer ids of players in this process start here. No connection ever has such an id. */
export const LOCAL_PEERS_FROM = 0x8000_0000

export class Authority<I extends Shape> implements HeldByPeers {
  readonly game: Game<I>
  readonly world: World
  /** The world of about the last second, tick by tick. */
  readonly timeline: Timeline
  readonly inputs: InputTable<I>
  readonly events: StepEvents
  readonly digests: OwnerDigests
  /** Undefined in games without shared objects. */
  readonly shared: SharedAuthority | undefined
  /** By peer id, in the order of arrival. */
  readonly players: Map<PeerId, Player> = new Map<PeerId, Player>()
  /** Recorders and the bandwidth account of this match. */
  watch: HostWatch | undefined = undefined
  readonly #code: UserCode
  readonly #options: AuthorityOptions
  /** Players that joined or left since the last tick. */
  readonly #changes: Player[] = []
  readonly #syncTest: SyncTest | undefined
  readonly #log: InputLog<I> | undefined
  readonly #heavyTest: HeavyTest | undefined
  /** The checks of development mode. Undefined: off. */
  readonly #checks: StepChecks | undefined
  readonly #testEveryTicks: number
  #localCount = 0
  /** Bots of a restored match that no `addLocal` has taken over yet. Their objects are in the world. */
  #awaitedBots: PeerId[] = []

  constructor(game: Game<I>, code: UserCode, options: AuthorityOptions) {
    this.#code = code
    const { tickRate, net, entities, messages } = game
    this.game = game
    this.#options = options
    this.world = this.#makeWorld()
    this.timeline = new Timeline(this.world, windowTicks(tickRate, net.historyMs), tickRate)
    this.inputs = new InputTable(game.input)
    this.events = new StepEvents(messages, () => this.world, code, options.sendEvent)
    this.world.listener = this.events
    if (game.hitboxes !== undefined)
      this.world.rewinding = new AuthorityRewinding(game, this.world, this.timeline, this.#eyes())
    this.shared = entities.some(({ isShared }) => isShared) ? new SharedAuthority(game, this.world) : undefined
    this.digests = new OwnerDigests(this.world, tickRate, game.predict === 'all')
    if (options.heavy)
      this.#heavyTest = new HeavyTest(this.world, () => this.#makeCopy(), (copy) => this.#callStep(copy))
    const { syncTest, onSyncFault, onWarning } = options
    this.#checks = onWarning && new StepChecks(onWarning, game.predict, entities)
    // In development mode, one tick a second is stepped twice. Without prediction no client steps, and none differs.
    const isSampled = syncTest === 0 && this.#checks !== undefined && game.predict !== 'none'
    this.#testEveryTicks = isSampled ? tickRate : 1
    const depth = isSampled ? 1 : syncTest
    if (depth === 0) return
    this.#log = new InputLog(this.inputs, depth)
    const handleFault = isSampled ? (fault: SyncFault): void => this.#checks?.handleFault(fault) : onSyncFault
    this.#syncTest = new SyncTest(this.world, depth, () => this.#stepAgain(), handleFault)
  }

  /** All players in the match, in the order of arrival. */
  get peers(): readonly Peer[] {
    return [...this.players.values()].filter(({ isIn, left }) => isIn && left === undefined).map(({ peer }) => peer)
  }

  get tick(): Tick {
    return this.world.tick
  }

  /** The input of every player in the tick that ran last. */
  forEachHeld(each: (peer: PeerId, row: Int32Array) => void): void {
    for (const { peer, inputs, isIn } of this.players.values()) if (isIn) each(peer.id, inputs.current)
  }

  /** Adds a player, which joins with `enter`. If the player exists already, only replaces its input source. */
  seat(peer: Peer, inputs: Player['inputs'], deliver: Player['deliver'], isSpectator = false): Player {
    const known = this.players.get(peer.id)
    if (known !== undefined) this.inputs.dropValuesOf(known.inputs)
    const player: Player = known ?? { peer, inputs, deliver, isSpectator, isIn: false, left: undefined }
    player.inputs = inputs
    player.deliver = deliver
    this.players.set(peer.id, player)
    this.inputs.keepValuesOf(inputs)
    return player
  }

  /** Adds a player of a restored match. The game already knows this player. */
  restore(peer: Peer, isSpectator: boolean): void {
    const player = this.seat(peer, this.#localInput(peer, () => ({})), undefined, isSpectator)
    if (!isSpectator) this.#admit(player)
  }

  /** Marks a player as joined without calling `onJoin`. */
  #admit(player: Player): void {
    this.inputs.add(player.peer.id)
    player.isIn = true
  }

  /** The player stays but has empty inputs, until it is seated again. */
  idle(player: Player): void {
    if (player.left === undefined) this.seat(player.peer, this.#localInput(player.peer, () => ({})), undefined)
  }

  /** The player joins with the next tick. */
  enter(player: Player): void {
    this.inputs.add(player.peer.id)
    this.#changes.push(player)
  }

  /** The player leaves with the next tick. */
  leave(player: Player, reason: CloseReason): void {
    if (player.left !== undefined) return
    player.left = reason
    if (!this.#changes.includes(player)) this.#changes.push(player)
  }

  /**
   * Adds a player whose input function runs here. In a restored match, it takes over a bot of the image with its
   * objects, if there is one left.
   */
  addLocal(think: (world: World, me: Peer) => InitOf<I>): Peer {
    const restored = this.#awaitedBots.shift()
    const peer = { id: restored ?? LOCAL_PEERS_FROM + this.#localCount++ }
    const player = this.seat(peer, this.#localInput(peer, () => think(this.world, peer)), undefined)
    if (restored === undefined) this.enter(player)
    else this.#admit(player)
    return peer
  }

  /** Peer ids of the bots that go into an image. */
  get bots(): readonly PeerId[] {
    const inMatch = [...this.players.values()].filter(
      ({ peer, isIn, left }) => peer.id >= LOCAL_PEERS_FROM && isIn && left === undefined,
    )
    return [...inMatch.map(({ peer }) => peer.id), ...this.#awaitedBots]
  }

  /** Sets the bots of a restored match. `addLocal` takes them over. */
  restoreBots(bots: readonly PeerId[]): void {
    this.#awaitedBots = [...bots]
    this.#localCount = bots.reduce((most, id) => Math.max(most, id - LOCAL_PEERS_FROM + 1), 0)
  }

  /** Removes the restored bots that were not taken over, and their objects. */
  dropAwaitedBots(reason: CloseReason): void {
    for (const id of this.#awaitedBots.splice(0)) {
      this.restore({ id }, false)
      const player = this.players.get(id)
      if (player !== undefined) this.leave(player, reason)
    }
  }

  /** Advances the world by one tick. */
  step(): void {
    const { world, inputs } = this
    this.#checks?.beforeTick(world)
    this.#heavyTest?.begin()
    world.beginTick()
    const isWritten = this.shared?.writes.apply() === true
    let isChanged = this.#settle() || isWritten
    for (const { peer, inputs: held, deliver, isSpectator } of this.players.values()) {
      if (isSpectator) continue
      held.take(world.tick)
      inputs.load(peer.id, held)
      this.watch?.handleInput(peer.id, held, inputs.heap)
      // Call handlers may change the world in any way, and run only once. So the sync test does not replay across this
      // tick.
      if (deliver?.(world.tick) === true) isChanged = true
    }
    inputs.sortMessages()
    const syncTest = world.tick % this.#testEveryTicks === 0 ? this.#syncTest : undefined
    this.#log?.write(world.tick, this.players.values())
    syncTest?.begin(isChanged)
    this.events.begin()
    if (this.#checks === undefined) this.#callStep()
    else this.#checks.step(world, () => this.#callStep())
    world.endTick()
    syncTest?.check()
    if (!isChanged) this.#heavyTest?.check()
    this.shared?.book.update()
    inputs.forgetMessages()
    this.timeline.sample()
    this.watch?.handleTick()
    inputs.collectValues()
    this.#checks?.afterTick(world)
  }

  /** What a rewind must know about a player's view: its moment, and which ticks the player was sent. */
  #eyes(): Eyes {
    const period = this.game.snapshotTicks
    const acked: AckedTicks = { wasAcked: (_id, tick) => tick % period === 0 }
    return { viewTick: (peer) => this.inputs.viewTick(peer), ackedTicks: () => period === 1 ? undefined : acked }
  }

  #callStep(world: World = this.world): void {
    this.#code.must('step', 0, () => this.game.step(world, this.inputs))
  }

  #makeWorld(): World {
    const external = this.game.external?.()
    refusePromise('external', external)
    return new World(this.game.entities, { seed: this.#options.seed, ...(external && { external }) })
  }

  /** An empty world for the heavy test. Its past is the one of the match. */
  #makeCopy(): World {
    const copy = this.#makeWorld()
    if (this.game.hitboxes !== undefined)
      copy.rewinding = new AuthorityRewinding(this.game, copy, this.timeline, this.#eyes())
    return copy
  }

  #localInput(peer: Peer, sample: () => InitOf<I>): LocalInput<I> {
    return new LocalInput(this.game.inputSchema, this.inputs.heap, this.#code, peer.id, sample)
  }

  /** Steps the current tick again, without emitting events. */
  #stepAgain(): void {
    this.#log?.read(this.world.tick)
    this.events.isMuted = true
    this.events.begin()
    this.#callStep()
    this.events.isMuted = false
  }

  /** Runs the joins and leaves since the last tick. Returns whether there were any. */
  #settle(): boolean {
    if (this.#changes.length === 0) return false
    for (const player of this.#changes) {
      const { peer, left } = player
      if (player.isSpectator) {
        this.#forget(player)
        continue
      }
      if (!player.isIn) {
        player.isIn = true
        const data = this.#options.dataOf(peer.id) as never
        this.#code.must('game.onJoin', peer.id, () => this.game.onJoin?.(this.world, peer, data))
        this.watch?.handleJoined(peer.id)
        this.#options.onJoined(peer)
      }
      if (left !== undefined) this.#seeOff(player, left)
    }
    this.#changes.length = 0
    return true
  }

  #seeOff(player: Player, reason: CloseReason): void {
    const { peer } = player
    this.#code.must('game.onLeave', peer.id, () => this.game.onLeave?.(this.world, peer))
    for (const store of this.world.stores) {
      for (const handle of store.living()) {
        if (handle.owner === peer.id && this.shared?.inherit(handle.id) !== true) this.world.despawn(handle)
      }
    }
    this.#forget(player)
    this.watch?.handleLeft(peer.id, reason)
    this.#options.onLeft(peer, reason)
  }

  #forget({ peer, inputs }: Player): void {
    this.players.delete(peer.id)
    this.inputs.remove(peer.id)
    this.inputs.dropValuesOf(inputs)
    this.digests.remove(peer.id)
  }
}
