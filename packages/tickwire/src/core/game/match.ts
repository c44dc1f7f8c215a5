/**
 * One match: the authority over a world, and the lines to those who play in it from elsewhere.
 *
 * It owns no endpoint, no socket and no clock, so that many matches can share one of each. Whoever has the endpoint says who comes
 * (`attach`, `enter`), whose line is gone (`detach`) and who has left (`leave`); in between he calls `tick` and `receive`.
 *
 *   attach ──▶ enter ──▶ detach ──▶ leave
 *     ▲                    │
 *     └────────────────────┘      his place was kept: the same player, by another line
 *
 * It does not decide who may come, nor how long a place is kept: `server-host.ts` and `rooms/` do.
 */

import { ConfigError } from '../base/assert.ts'
import type { Millis, ObjectId, PeerId } from '../base/time.ts'
import type { SendResult } from '../channel/channel.ts'
import type { ChannelSet } from '../channel/channel-set.ts'
import { LANES } from '../channel/lane.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import type { Connection } from '../connection/connection.ts'
import type { RpcResult, RpcFailure } from '../rpc/pending-calls.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { Priors } from '../codec/snapshot-codec.ts'
import type { RpcHandler } from '../rpc/rpc-handlers.ts'
import type { RpcLine, RpcRefusals } from '../rpc/rpc-line.ts'
import type { BandwidthReport } from '../replication/bit-account.ts'
import { ClientInterest } from '../replication/interest/client-interest.ts'
import { Interest, type InterestOptions } from '../replication/interest/interest.ts'
import type { SyncFault } from '../predict/sync-test.ts'
import { Replicator } from '../replication/replicator.ts'
import { SnapshotSource } from '../replication/snapshot-source.ts'
import { WantedSink } from '../replication/wanted-rows.ts'
import type { Recorder } from '../replay/recorder.ts'
import type { RecordingSink } from '../replay/recording-writer.ts'
import type { Message } from '../schema/definition.ts'
import { always } from '../schema/interest.ts'
import type { Shape } from '../schema/field.ts'
import type { InitOf, ViewOf } from '../schema/value-types.ts'
import { FixedLoop } from '../time/fixed-loop.ts'
import { InputBuffer } from '../time/input-buffer.ts'
import { PeerInputsSource } from '../time/peer-inputs.ts'
import { TimingSource, type TickPosition } from '../time/timing-frame.ts'
import { indexOf } from '../world/object-table.ts'
import type { Timeline } from '../world/timeline.ts'
import type { World } from '../world/world.ts'
import { Authority, type Player } from './authority.ts'
import { CallDesk, requestOn, type CallOptions, type RequestOptions } from './call-desk.ts'
import type { Game, Peer } from './define-game.ts'
import type { StepEvent } from './event-codec.ts'
import { EventMail } from './event-mail.ts'
import { FRAME_KIND } from './frame-kinds.ts'
import { GuardedSource } from './guarded-source.ts'
import { HostWatch, type HostRecordOptions } from './host-watch.ts'
import { callsOf, receiversOf } from './match-calls.ts'
import { MessageDesk } from './message-desk.ts'
import { LocalView } from './local-view.ts'
import { PacedSource } from './paced-source.ts'
import { Retraining } from './retraining.ts'
import { ROLES, type RoleContext } from './role.ts'
import { checkRate } from './settings.ts'
import type { SharedAuthority } from './shared-authority.ts'
import { Spectators, type SpectatorOptions } from './spectators.ts'
import type { EventListener } from './step-events.ts'
import type { View } from './view.ts'

/** What a match is told of itself. */
export interface MatchOptions {
  /** What this process is: a server without a face, a player's machine that others join, or one that nobody joins. */
  readonly role?: 'dedicated' | 'listen' | 'local'
  /** Who is with whom, from where each looks, and how objects are found by place. */
  readonly interest?: InterestOptions
  /**
   * Bytes of snapshots a second that one client is told at most, whatever his line would take: for all, or by who he is. Most urgent
   * first; what does not fit comes later. Infinity, and by default: only the line decides.
   */
  readonly bytesPerSecond?: number | ((peer: Peer) => number)
  /** For development: every tick is stepped again from so many ticks before, and must come out the same. */
  readonly syncTest?: number
  /** It did not. Without this, it throws. */
  readonly onSyncFault?: (fault: SyncFault) => void
  /** What who looks on may see, and when. */
  readonly spectators?: SpectatorOptions
  /** Someone has arrived. */
  readonly onJoined?: (peer: Peer) => void
  /** A handler of calls threw this. The caller hears `failed`, and the match goes on. */
  readonly onFault?: (error: unknown) => void
  /** A rule of the game threw while a flush asked it. Without this, the flush throws. */
  readonly onFlushFault?: (error: unknown) => void
  /** Someone has left, and why. */
  readonly onLeft?: (peer: Peer, reason: CloseReason) => void
}

/** How a player who is elsewhere is reached. */
interface Line {
  readonly player: Player
  readonly connection: Connection
  readonly channels: ChannelSet
  readonly calls: RpcLine<Peer>
  /** What he may know. */
  readonly interest: ClientInterest
  /** What happens in `step`. */
  readonly events: EventMail
  /** He sees the past, and must not hear of the present. */
  readonly isLate: boolean
}

const LOCAL_LEFT: CloseReason = { by: 'local', code: 'left' }

export class Match<I extends Shape = Shape> {
  readonly game: Game<I>
  readonly role: RoleContext
  /** Of all dice of the match, 32 bits. */
  readonly seed: number
  /** What all players are told from. */
  readonly replicator: Replicator
  /** Who may know what, by the rules of the entities. */
  readonly interest: Interest
  /** Tables that changed since the match began, and who has them. */
  readonly retraining: Retraining
  /** Recorders, and where the bits go. */
  readonly watch: HostWatch
  readonly loop: FixedLoop
  readonly #authority: Authority<I>
  readonly #desk: MessageDesk<Peer>
  readonly #calls: CallDesk<Peer>
  /** Who looks on. */
  readonly spectators: Spectators
  /** Of players who are elsewhere, by peer. */
  readonly #lines = new Map<PeerId, Line>()
  readonly #position: TickPosition
  readonly #localView: LocalView | undefined
  readonly #onFlushFault: ((error: unknown) => void) | undefined
  readonly #bytesPerSecond: (peer: Peer) => number

  constructor(game: Game<I>, seed: number, options: MatchOptions = {}) {
    const { syncTest = 0, onSyncFault, onJoined, onLeft, bytesPerSecond = Infinity } = options
    this.#bytesPerSecond = typeof bytesPerSecond === 'number' ? () => bytesPerSecond : bytesPerSecond
    if (typeof bytesPerSecond === 'number') checkRate(bytesPerSecond)
    this.game = game
    this.seed = seed
    this.#onFlushFault = options.onFlushFault
    this.role = ROLES[options.role ?? 'dedicated']
    const authority = new Authority(game, {
      seed, syncTest, onSyncFault, onJoined, onLeft,
      sendEvent: (event) => this.#sendEvents([event], this.spectators.eventsOf(event)),
    })
    this.#authority = authority
    const { world, timeline, inputs } = authority
    const loop = new FixedLoop(game.tickRate)
    this.loop = loop
    this.replicator = new Replicator(world, timeline, { coders: game.coders, strideTicks: game.snapshotTicks, births: world.objects, ...(authority.shared && { tokens: authority.shared.book }) })
    this.retraining = new Retraining(game)
    this.watch = new HostWatch(game, world, this.replicator, () => this.#lines, this.retraining)
    authority.watch = this.watch
    this.spectators = new Spectators(authority, this.watch, options.spectators ?? {}, options.interest, (error) => options.onFault?.(error))
    this.interest = new Interest(world, game.entities, options.interest)
    this.#localView = this.role.hasLocalView ? new LocalView(game, timeline, world) : undefined
    this.#desk = new MessageDesk(game.messages, callsOf(game).length, {
      onMessage: (message, values, from) => {
        if (authority.players.get(from.id)?.isSpectator === false) inputs.post(from.id, message, values)
        this.watch.handleHeard(from.id, message, values)
      },
    })
    this.#position = { get tick() { return world.tick }, alpha: (now) => loop.alpha(now) }
    this.#calls = new CallDesk(callsOf(game), game.messages.length, {
      get tick() { return world.tick },
      isAuthority: true,
      ownerOf: (object) => world.objects.isAlive(object) ? world.objects.ownerAt(indexOf(object)) : -1,
    }, (error) => options.onFault?.(error))
    authority.shared?.answer(this.#calls, (peer, id) => this.#lines.get(peer)?.interest.knows(id) === true)
  }

  get world(): World {
    return this.#authority.world
  }

  /** The world of the last second or so, tick by tick. */
  get timeline(): Timeline {
    return this.#authority.timeline
  }

  /** Everyone who is here, in the order in which they came. */
  get peers(): readonly Peer[] {
    return this.#authority.peers
  }

  /** Runs the ticks that are due; returns how many. */
  tick(now: Millis): number {
    const due = this.loop.due(now)
    for (let run = 0; run < due; run++) {
      this.#authority.step()
      this.spectators.update(this.world.tick)
      const { feed } = this.spectators
      if (feed !== undefined) this.#sendEvents([], feed.take())
      for (const { events, isLate } of this.#lines.values()) events.deliver(isLate ? this.spectators.tick : this.world.tick)
    }
    if (due > 0) for (const { connection } of this.#lines.values()) connection.wake()
    return due
  }

  /** Hands on what has arrived since the last call. Before every drain of the endpoint. */
  receive(now: Millis): void {
    for (const { player, channels, calls, connection } of this.#lines.values()) {
      if (!this.#desk.receive(channels, player.peer, calls)) connection.close(now, 'kicked')
      calls.expire(now)
    }
  }

  /** How a player is reached: his round trip, what was lost. Undefined while his line is gone, and for who plays here. */
  connectionOf(peer: Peer): Connection | undefined {
    return this.#lines.get(peer.id)?.connection
  }

  /** Calls `listener` for every message of a kind that a player sends. */
  on<S extends Shape>(message: Message<S>, listener: (values: ViewOf<S>, from: Peer) => void): void {
    this.#desk.on(message, listener)
  }

  /** Sends a message to one player, by the delivery it was declared with. */
  send<S extends Shape>(to: Peer, message: Message<S>, values: ViewOf<S>): SendResult {
    const line = this.#lines.get(to.id)
    if (line === undefined) return 'closed'
    this.watch.handleTold(message, values, to.id)
    return this.#desk.send(line.channels, message, values)
  }

  /** Sends a message to everyone. */
  broadcast<S extends Shape>(message: Message<S>, values: ViewOf<S>): void {
    this.watch.handleTold(message, values)
    for (const { channels } of this.#lines.values()) this.#desk.send(channels, message, values)
  }

  /** Records the match into a sink, from the next tick on, until the recorder is closed. Without one, `recorder.save()` gives the last minute. */
  record(sink?: RecordingSink, options: HostRecordOptions = {}): Recorder {
    return this.watch.record(sink, options)
  }

  /** From now on snapshots are told by what training found meanwhile, to each player as soon as he has it; gives the version. Nobody reconnects. */
  retrain(priors: Priors): number {
    return this.retraining.retrain(priors)
  }

  /** Where the bits go: to whom, of what and why; since the match began, or `watch.resetBandwidth`. */
  bandwidth(): BandwidthReport {
    return this.watch.bandwidth()
  }

  /** Calls `listener` for everything of a kind that `step` says has happened (`world.emit`). */
  onEvent<S extends Shape>(message: Message<S>, listener: EventListener<S>): void {
    this.#authority.events.on(message, listener)
  }

  /** Lets `handler` answer a call of players. It runs before the step of its tick, and may change the world. */
  handle<A extends Shape, R extends Shape>(rpc: Rpc<A, R>, handler: RpcHandler<A, R, Peer>): void {
    this.#calls.handlers.on(rpc, handler)
  }

  /** Calls whom a call is for: `to` for one player, `about` for the owner of an object or all who see it. */
  call<A extends Shape>(rpc: Rpc<A, Shape>, values: ViewOf<A>, options: CallOptions & { readonly to?: Peer } = {}): 'queued' | RpcFailure {
    const { to, about } = options
    const lines = receiversOf(rpc, to, about?.id ?? 0, this.#lines, this.world)
    let worst: 'queued' | RpcFailure = lines.length > 0 ? 'queued' : 'closed'
    for (const { calls } of lines) {
      const sent = calls.call(rpc, values, about?.id ?? 0)
      if (sent !== 'queued') worst = sent
    }
    return worst
  }

  /** Asks one player. The promise says how it ended, and never rejects. */
  request<A extends Shape, R extends Shape>(
    now: Millis, to: Peer, rpc: Rpc<A, R>, values: ViewOf<A>, options: RequestOptions = {},
  ): Promise<RpcResult<ViewOf<R>>> {
    return requestOn(this.#lines.get(to.id)?.calls, now, rpc, values, options)
  }

  /** What a player called that he may not, counted; undefined when he is not here. */
  rpcRefusals(peer: Peer): Readonly<RpcRefusals> | undefined {
    return this.#lines.get(peer.id)?.calls.refusals
  }

  /** Who writes the shared objects, and what was taken from them; undefined where the server writes everything. */
  get shared(): SharedAuthority | undefined {
    return this.#authority.shared
  }

  /** From the next tick on someone sees through another's eyes, and knows what that one knows; through his own again by himself. */
  follow(peer: Peer, whom: Peer): void {
    const line = this.#lines.get(peer.id)
    if (line !== undefined) line.interest.viewer = whom.id
    this.spectators.follow(peer.id, whom.id)
  }

  /** Sends a player away. */
  kick(now: Millis, peer: Peer): void {
    const line = this.#lines.get(peer.id)
    if (line !== undefined) line.connection.close(now, 'kicked')
    else this.leave(peer.id, LOCAL_LEFT)
  }

  /** Adds a player who thinks here: asked once a tick for what he holds, like anyone else is. Gone with `kick`. */
  addBot(think: (world: World, me: Peer) => InitOf<I>): Peer {
    return this.#authority.addLocal(think)
  }

  /** Lets the player at this very machine in; `draw` shows him the world. Only where there is somebody to look. */
  join(sampleInput: () => InitOf<I>): Peer {
    if (!this.role.hasLocalView) throw new ConfigError('role', `a ${this.role.name} host has no player of its own`, "Make it with role: 'listen' or 'local'.")
    return this.#authority.addLocal(sampleInput)
  }

  /** What the player at this machine may draw at a moment. */
  draw(now: Millis): View {
    if (this.#localView === undefined) throw new ConfigError('role', `a ${this.role.name} host has no view`, "Make it with role: 'listen' or 'local'.")
    return this.#localView.draw(this.loop.alpha(now))
  }

  /** Ties a connection to a player: to a new one, or to one whose line is gone. Whoever only looks on is no player to the game. */
  attach(connection: Connection, peer: Peer, isSpectator = false): void {
    const { inputs: table, digests } = this.#authority
    const channels = this.#desk.routes.createChannels()
    const inputs = new InputBuffer(this.game.inputSchema, table.heap, this.#position)
    const calls = this.#calls.createLine(peer, peer.id, channels, isSpectator ? this.spectators.handlers : undefined)
    const from = isSpectator ? this.spectators.sourcesOf(this.replicator, this.interest) : this
    const position = from === this.spectators.feed ? this.spectators : this.#position
    const interest = new ClientInterest(from.interest, peer.id)
    const player = this.#authority.seat(peer, inputs, isSpectator ? undefined : (tick) => calls.deliver(tick), isSpectator)
    const events = new EventMail(peer.id, interest, this.game.tickRate, (event) => this.#desk.sendEvent(channels, event))
    this.#lines.set(peer.id, { player, connection, channels, calls, interest, events, isLate: from === this.spectators.feed })
    digests.add(peer.id)
    const predicts = this.game.predict !== 'none' && !isSpectator
    connection.addSource(FRAME_KIND.timing, new TimingSource(position, inputs, () => predicts ? digests.of(peer.id) : NaN))
    const period = this.game.snapshotTicks
    if (this.game.predict === 'all' && !isSpectator) {
      connection.addSource(FRAME_KIND.peerInputs, new PeerInputsSource(this.game.inputSchema, table.heap, this.#authority, peer.id, period))
    }
    // What must arrive goes before snapshots; voices and chat share with them, or on a narrow path there would be none; bulk waits.
    for (const source of channels.sourcesOf(0, 1)) connection.addSource(FRAME_KIND.channels, source)
    const snapshots = new SnapshotSource(from.replicator, interest, peer.id, { bytesPerSecond: checkRate(this.#bytesPerSecond(peer)), tickRate: this.game.tickRate / period })
    const paced = period === 1 ? snapshots : new PacedSource(snapshots, period, () => from.replicator.timeline.newest)
    const told = this.#onFlushFault === undefined ? paced : new GuardedSource(paced, this.#onFlushFault)
    connection.addSource(FRAME_KIND.snapshot, told, LANES.state.weight)
    this.retraining.attach(connection, peer.id, from.replicator, snapshots)
    for (const source of channels.sourcesOf(1, 2)) connection.addSource(FRAME_KIND.channels, source, LANES.voice.weight + LANES.chat.weight)
    for (const source of channels.sourcesOf(2)) connection.addSource(FRAME_KIND.channels, source)
    connection.addSink(FRAME_KIND.channels, channels)
    connection.addSink(FRAME_KIND.inputs, isSpectator ? this.spectators.add(peer.id, interest, calls) : inputs)
    connection.addSink(FRAME_KIND.wantedRows, new WantedSink((id) => snapshots.handleWanted(id)))
    if (!isSpectator) this.shared?.attach(connection, peer.id)
  }

  /** Somebody was here before this process was; his line is gone, and he holds nothing. */
  restorePlayer(peer: Peer, isSpectator: boolean): void {
    this.#authority.restore(peer, isSpectator)
  }

  /** He comes in, with the next tick; who looks on does not. */
  enter(peer: PeerId): void {
    const player = this.#authority.players.get(peer)
    if (player?.isSpectator === false) this.#authority.enter(player)
  }

  #sendEvents(toPlayers: readonly StepEvent[], toSpectators: readonly StepEvent[]): void {
    for (const { events, player } of this.#lines.values()) {
      for (const event of player.isSpectator ? toSpectators : toPlayers) {
        events.post(event, this.#isEverybodys(event.object))
      }
    }
  }

  /** Whether an object is one that everybody always knows. */
  #isEverybodys(id: ObjectId): boolean {
    const { objects } = this.world
    return objects.isAlive(id) && this.game.entities[objects.typeAt(indexOf(id))].interest === always
  }

  /** His line is gone. He stays, holding nothing, until he is attached again or leaves. */
  detach(peer: PeerId): void {
    const line = this.#lines.get(peer)
    if (line === undefined) return
    line.channels.close()
    line.calls.close()
    this.#lines.delete(peer)
    this.shared?.detach(peer)
    this.retraining.detach(peer)
    this.spectators.remove(peer)
    this.#authority.idle(line.player)
  }

  /** He goes, with the next tick, and what he owns with him. */
  leave(peer: PeerId, reason: CloseReason): void {
    const player = this.#authority.players.get(peer)
    if (player !== undefined) this.#authority.leave(player, reason)
    this.detach(peer)
  }
}
