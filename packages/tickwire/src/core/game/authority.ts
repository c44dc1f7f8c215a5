/**
 * The authority over one world: who plays in it, what they hold in each tick, and the `step` that follows from it.
 *
 * It knows no network. Players come and go on ticks, like everything else; where their inputs come from is their own affair:
 * a connection's buffer, a bot's thoughts, the keyboard of this machine.
 *
 *   a tick    begin | what others write | who came and went | inputs of this tick, calls that are due | step | end | the Timeline samples
 */

import type { PeerId, Tick } from '../base/time.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import type { ToldTicks } from '../interpolate/pose.ts'
import { SyncTest, type SyncFault } from '../predict/sync-test.ts'
import type { Shape } from '../schema/field.ts'
import type { InitOf } from '../schema/value-types.ts'
import type { HeldByPeers } from '../time/peer-inputs.ts'
import { Timeline, windowTicks } from '../world/timeline.ts'
import type { ValueKeeper } from '../world/value-keeping.ts'
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
import { StepEvents } from './step-events.ts'

/** Someone in the match, as the authority keeps him. */
export interface Player {
  readonly peer: Peer
  inputs: HeldInput & ValueKeeper & { take(tick: Tick): void }
  /** Runs what he called for this tick; whether he called anything. Undefined for who plays in this process, and while his line is gone. */
  deliver: ((tick: Tick) => boolean) | undefined
  /** He looks on, and the game never knows of him. */
  readonly isSpectator: boolean
  /** The game knows of him. */
  isIn: boolean
  /** Why he went, once he did. */
  left: CloseReason | undefined
}

export interface AuthorityOptions {
  readonly seed: number
  /** Step every tick again, from so many ticks before, and see whether it comes out the same. 0: do not. */
  readonly syncTest: number
  readonly onSyncFault: ((fault: SyncFault) => void) | undefined
  readonly onJoined: ((peer: Peer) => void) | undefined
  readonly onLeft: ((peer: Peer, reason: CloseReason) => void) | undefined
  /** Sends what happened in `step` to everyone. */
  readonly sendEvent: (event: StepEvent) => void
}

/** Numbers of those who play in this process: no connection ever has them. */
const LOCAL_PEERS_FROM = 0x8000_0000

export class Authority<I extends Shape> implements HeldByPeers {
  readonly game: Game<I>
  readonly world: World
  /** The world of the last second or so, tick by tick. */
  readonly timeline: Timeline
  readonly inputs: InputTable<I>
  readonly events: StepEvents
  readonly digests: OwnerDigests
  /** Undefined in games where the server writes everything. */
  readonly shared: SharedAuthority | undefined
  /** By peer, in the order in which they came. */
  readonly players: Map<PeerId, Player> = new Map<PeerId, Player>()
  /** Who looks on. */
  watch: HostWatch | undefined = undefined
  readonly #options: AuthorityOptions
  /** Who came or went since the last tick. */
  readonly #changes: Player[] = []
  readonly #syncTest: SyncTest | undefined
  readonly #log: InputLog<I> | undefined
  #localCount = 0

  constructor(game: Game<I>, options: AuthorityOptions) {
    const { tickRate, net, entities, messages } = game
    this.game = game
    this.#options = options
    this.world = new World(entities, { seed: options.seed, ...(game.external && { external: game.external() }) })
    this.timeline = new Timeline(this.world, windowTicks(tickRate, net.historyMs), tickRate)
    this.inputs = new InputTable(game.input)
    this.events = new StepEvents(messages, () => this.world, options.sendEvent)
    this.world.listener = this.events
    if (game.hitboxes !== undefined) this.world.rewinding = new AuthorityRewinding(game, this.world, this.timeline, this.#eyes())
    this.shared = entities.some(({ isShared }) => isShared) ? new SharedAuthority(game, this.world) : undefined
    this.digests = new OwnerDigests(this.world, tickRate, game.predict === 'all')
    if (options.syncTest === 0) return
    this.#log = new InputLog(this.inputs, options.syncTest)
    this.#syncTest = new SyncTest(this.world, options.syncTest, () => this.#stepAgain(), options.onSyncFault)
  }

  /** Everyone who is here, in the order in which they came. */
  get peers(): readonly Peer[] {
    return [...this.players.values()].filter(({ isIn, left }) => isIn && left === undefined).map(({ peer }) => peer)
  }

  get tick(): Tick {
    return this.world.tick
  }

  /** What everybody held in the tick that was run last. */
  forEachHeld(each: (peer: PeerId, row: Int32Array) => void): void {
    for (const { peer, inputs, isIn } of this.players.values()) if (isIn) each(peer.id, inputs.current)
  }

  /** Makes a place for somebody, who comes in with `enter`; or lets one who is here hold these inputs from now on. */
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

  /** Somebody was here before this process was: the game knows of him already. */
  restore(peer: Peer, isSpectator: boolean): void {
    const player = this.seat(peer, new LocalInput(this.game.inputSchema, this.inputs.heap, () => ({})), undefined, isSpectator)
    if (isSpectator) return
    this.inputs.add(peer.id)
    player.isIn = true
  }

  /** From now on somebody who is here holds nothing, until he is seated again. */
  idle(player: Player): void {
    if (player.left === undefined) this.seat(player.peer, new LocalInput(this.game.inputSchema, this.inputs.heap, () => ({})), undefined)
  }

  /** Somebody comes in, with the next tick. */
  enter(player: Player): void {
    this.inputs.add(player.peer.id)
    this.#changes.push(player)
  }

  /** Somebody goes, with the next tick. */
  leave(player: Player, reason: CloseReason): void {
    if (player.left !== undefined) return
    player.left = reason
    if (!this.#changes.includes(player)) this.#changes.push(player)
  }

  /** Adds a player who thinks here: asked once a tick for what he holds, like anyone else is. */
  addLocal(think: (world: World, me: Peer) => InitOf<I>): Peer {
    const peer = { id: LOCAL_PEERS_FROM + this.#localCount++ }
    this.enter(this.seat(peer, new LocalInput(this.game.inputSchema, this.inputs.heap, () => think(this.world, peer)), undefined))
    return peer
  }

  /** Moves the world by one tick. */
  step(): void {
    const { world, inputs } = this
    world.beginTick()
    const isWritten = this.shared?.writes.apply() === true
    let isChanged = this.#settle() || isWritten
    for (const { peer, inputs: held, deliver, isSpectator } of this.players.values()) {
      if (isSpectator) continue
      held.take(world.tick)
      inputs.load(peer.id, held)
      this.watch?.handleInput(peer.id, held, inputs.heap)
      // Handlers may do anything to the world, and run once: a tick with a call is not stepped again from before it.
      if (deliver?.(world.tick) === true) isChanged = true
    }
    inputs.sortMessages()
    this.#log?.write(world.tick, this.players.values())
    this.#syncTest?.begin(isChanged)
    this.events.begin()
    this.game.step(world, inputs)
    world.endTick()
    this.#syncTest?.check()
    this.shared?.book.update()
    inputs.forgetMessages()
    this.timeline.sample()
    this.watch?.handleTick()
    inputs.collectValues()
  }

  /** What is known of what players see: when, and of which ticks they are told. */
  #eyes(): Eyes {
    const period = this.game.snapshotTicks
    const told: ToldTicks = { wasTold: (_id, tick) => tick % period === 0 }
    return { viewTick: (peer) => this.inputs.viewTick(peer), toldTicks: () => period === 1 ? undefined : told }
  }

  /** Steps the tick that the world is in again, unheard. */
  #stepAgain(): void {
    this.#log?.read(this.world.tick)
    this.events.isMuted = true
    this.events.begin()
    this.game.step(this.world, this.inputs)
    this.events.isMuted = false
  }

  /** Lets in who came and sees off who went since the last tick. Whether anybody did. */
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
        this.game.onJoin?.(this.world, peer)
        this.watch?.handleJoined(peer.id)
        this.#options.onJoined?.(peer)
      }
      if (left !== undefined) this.#seeOff(player, left)
    }
    this.#changes.length = 0
    return true
  }

  #seeOff(player: Player, reason: CloseReason): void {
    const { peer } = player
    this.game.onLeave?.(this.world, peer)
    for (const store of this.world.stores) {
      for (const handle of store.living()) {
        if (handle.owner === peer.id && this.shared?.inherit(handle.id) !== true) this.world.despawn(handle)
      }
    }
    this.#forget(player)
    this.watch?.handleLeft(peer.id, reason)
    this.#options.onLeft?.(peer, reason)
  }

  #forget({ peer, inputs }: Player): void {
    this.players.delete(peer.id)
    this.inputs.remove(peer.id)
    this.inputs.dropValuesOf(inputs)
    this.digests.remove(peer.id)
  }
}
