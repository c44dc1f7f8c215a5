/**
 * One match: the authority over a world, the connections of its remote players, and the room around them.
 *
 * A `RoomHost` owns the endpoint, admits clients and drives the match (`rooms/room-match.ts`). It owns no socket and no
 * clock, so many matches can share them.
 */

import { ConfigError } from '../base/assert.ts'
import type { Millis, ObjectId, PeerId } from '../base/time.ts'
import type { SendResult } from '../channel/channel.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import type { Connection } from '../connection/connection.ts'
import type { RpcResult, RpcFailure } from '../rpc/pending-calls.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { Priors } from '../codec/snapshot-codec.ts'
import type { RpcHandler } from '../rpc/rpc-handlers.ts'
import type { RpcRefusals } from '../rpc/rpc-line.ts'
import type { BandwidthReport } from '../bandwidth/bit-account.ts'
import { Interest } from '../replication/interest/interest.ts'
import { Replicator } from '../replication/replicator.ts'
import type { Recorder } from '../replay/recorder.ts'
import type { RecordingSink } from '../replay/recording-writer.ts'
import type { Message } from '../schema/definition.ts'
import { always } from '../schema/interest.ts'
import type { Shape } from '../schema/field.ts'
import type { InitOf, ViewOf } from '../schema/value-types.ts'
import { FixedLoop } from '../time/fixed-loop.ts'
import type { TickPosition } from '../time/timing-frame.ts'
import { indexOf } from '../world/object-table.ts'
import type { Timeline } from '../world/timeline.ts'
import type { World } from '../world/world.ts'
import { encodeWorld, restoreWorld } from '../world/world-image.ts'
import { HostedRoom, type RoomIdentity, type RoomWiring } from '../rooms/hosted-room.ts'
import type { MatchImage } from '../rooms/room-image.ts'
import type { Complete, Member } from '../rooms/room-rules.ts'
import { Authority, LOCAL_PEERS_FROM } from './authority.ts'
import { CallDesk, requestOn, type CallOptions, type RequestOptions } from './call-desk.ts'
import type { Game, Peer } from './define-game.ts'
import type { StepEvent } from './event-codec.ts'
import { HostWatch, type HostRecordOptions } from './host-watch.ts'
import { callsOf, receiversOf } from './match-calls.ts'
import { MatchCounting, type MatchCounters } from './match-counters.ts'
import { bindInterest } from './match-interest.ts'
import { MatchLines } from './match-lines.ts'
import { ratesOf } from './match-options.ts'
import { MessageDesk, type Transfer } from './message-desk.ts'
import { LocalView } from './local-view.ts'
import { Retraining } from './retraining.ts'
import { ROLES, type RoleContext } from './role.ts'
import type { MatchType } from './room-type.ts'
import type { SharedAuthority } from './shared-authority.ts'
import { Spectators } from './spectators.ts'
import type { EventListener } from './step-events.ts'
import type { View } from './view.ts'

const NO_DATA = new Uint8Array(0)

/** A match on the server: its world, its clients, and their messages and calls. */
export class Match<I extends Shape = Shape> extends HostedRoom<MatchType> {
  /** The game that is played. */
  readonly game: Game<I>
  readonly role: RoleContext
  /** The source of all snapshots to players. */
  readonly replicator: Replicator
  /** Which client may know which objects, by the interest rules of the entities. */
  readonly interest: Interest
  /** Entropy tables that changed since the match began, and which client has which. */
  readonly retraining: Retraining
  /** Recorders and the bandwidth account. */
  readonly watch: HostWatch
  /** Decides when the next tick is due. */
  readonly loop: FixedLoop
  readonly #authority: Authority<I>
  readonly #desk: MessageDesk<Peer>
  readonly #calls: CallDesk<Peer>
  /** The spectators of the match. */
  readonly spectators: Spectators
  readonly #lines: MatchLines
  readonly #counting = new MatchCounting()
  readonly #localView: LocalView | undefined

  constructor(identity: RoomIdentity, type: Complete<MatchType>, wiring: RoomWiring) {
    super(identity, type, wiring)
    const { syncTest = 0, onSyncFault, heavy = false, role = 'dedicated', onWarning } = type
    const game = type.game as unknown as Game<I>
    const code = this.guard
    this.game = game
    this.role = ROLES[role]
    const bytesPerSecond = ratesOf(type, code)
    const authority = new Authority(game, code, {
      seed: this.seed, syncTest, onSyncFault, heavy,
      onWarning: onWarning && ((warning) => code.run('onWarning', 0, () => onWarning(warning))),
      onJoined: (peer) => {
        if (peer.id < LOCAL_PEERS_FROM) this.handleJoined(peer.id)
        else code.run('onJoined', peer.id, () => type.onLocalJoined?.(peer))
      },
      onLeft: (peer, reason) => {
        if (peer.id >= LOCAL_PEERS_FROM) code.run('onLeft', peer.id, () => type.onLocalLeft?.(peer, reason))
      },
      dataOf: (peer) => (this.member(peer)?.data ?? game.joinCodec.decode(NO_DATA)) as object,
      sendEvent: (event) => this.#sendEvents([event], this.spectators.eventsOf(event)),
    })
    this.#authority = authority
    const { world, timeline, inputs } = authority
    const loop = new FixedLoop(game.tickRate)
    this.loop = loop
    this.replicator = new Replicator(world, timeline, {
      coders: game.coders,
      strideTicks: game.snapshotTicks,
      births: world.objects,
      ...(authority.shared && { claims: authority.shared.book }),
    })
    this.retraining = new Retraining(game)
    this.watch = new HostWatch(game, world, this.replicator, code, () => this.#lines.byPeer, this.retraining, this.now)
    authority.watch = this.watch
    const interest = bindInterest(type.interest, this as unknown as Match)
    this.spectators = new Spectators(authority, this.watch, type.watching ?? {}, interest, code)
    this.interest = new Interest(world, game.entities, interest)
    this.#localView = this.role.hasLocalView ? new LocalView(game, timeline, world, code) : undefined
    this.#desk = new MessageDesk(game.messages, callsOf(game), code, {
      onMessage: (message, values, from) => {
        if (authority.players.get(from.id)?.isSpectator === false) inputs.post(from.id, message, values)
        this.watch.handleMessageReceived(from.id, message, values)
      },
      counts: world.valueCounts, isAuthority: true, fragments: wiring.fragments,
    })
    this.#calls = new CallDesk(callsOf(game), game.messages.length, {
      get tick() { return world.tick },
      isAuthority: true,
      ownerOf: (object) => world.objects.isAlive(object) ? world.objects.ownerAt(indexOf(object)) : -1,
    }, code, world.valueCounts)
    const position: TickPosition = { get tick() { return world.tick }, alpha: (now) => loop.alpha(now) }
    this.#lines = new MatchLines({
      authority: authority as unknown as Authority<Shape>, desk: this.#desk, calls: this.#calls, position, code,
      spectators: this.spectators, replicator: this.replicator, interest: this.interest, retraining: this.retraining,
      counting: this.#counting, bytesPerSecond,
    })
    authority.shared?.answer(this.#calls, (peer, id) => this.#lines.byPeer.get(peer)?.interest.knows(id) === true)
  }

  /** The world of the match. */
  get world(): World {
    return this.#authority.world
  }

  /** The world of about the last second, tick by tick. */
  get timeline(): Timeline {
    return this.#authority.timeline
  }

  /** All players in the match, in the order of arrival. */
  get peers(): readonly Peer[] {
    return this.#authority.peers
  }

  nextAt(): Millis {
    return this.loop.nextAt()
  }

  /** Runs the due ticks and returns how many ran. Runs none after a fatal error in the game's code. */
  tick(): number {
    if (this.guard.isBroken) return 0
    const due = this.loop.due(this.now())
    let ran = 0
    while (ran < due && this.#step()) ran++
    if (due > 0) for (const { connection } of this.#lines.byPeer.values()) connection.wake()
    return ran
  }

  /** Advances the match by one tick. False after a fatal error in the game's code. */
  #step(): boolean {
    try {
      this.#authority.step()
      this.spectators.update(this.world.tick)
      const { feed } = this.spectators
      if (feed !== undefined) this.#sendEvents([], feed.take())
      for (const { events, isLate } of this.#lines.byPeer.values())
        events.deliver(isLate ? this.spectators.tick : this.world.tick)
      return true
    } catch (error) {
      this.guard.break('tick', error)
      return false
    }
  }

  /** Processes the messages and calls that have arrived. Call it before every drain of the endpoint. */
  receive(): void {
    const now = this.now()
    for (const line of this.#lines.byPeer.values()) {
      if (line.calls.isWaiting) line.calls.expire(now)
      if (!line.channels.hasArrivals) continue
      const { player, channels, calls, connection, messages } = line
      const verdict = this.#desk.receive(now, channels, player.peer, calls, messages)
      connection.stats.drops.messages = messages.floodCount
      if (verdict !== 'ok') connection.close(now, verdict === 'flooding' ? 'flooding' : 'kicked')
    }
  }

  /** The connection of a player, for its round trip and loss. Undefined while disconnected, and for a local player. */
  connectionOf(peer: Peer): Connection | undefined {
    return this.#lines.byPeer.get(peer.id)?.connection
  }

  /** Calls `listener` for every message of this type from a player. The returned function removes it. */
  on<S extends Shape>(message: Message<S>, listener: (values: ViewOf<S>, from: Peer) => void): () => void {
    return this.#desk.on(message, listener)
  }

  /** Sends a message to one player, with the delivery it was declared with. */
  send<S extends Shape>(to: Peer, message: Message<S>, values: ViewOf<S>): SendResult {
    const line = this.#lines.byPeer.get(to.id)
    if (line === undefined) return 'closed'
    this.watch.handleMessageSent(message, values, to.id)
    return this.#desk.send(line.channels, message, values)
  }

  /** Large messages and calls in progress, to and from a player. */
  transfers(peer: Peer): readonly Transfer[] {
    const line = this.#lines.byPeer.get(peer.id)
    return line === undefined ? [] : this.#desk.transfers(line.channels)
  }

  /** Sends a message to all connected clients. */
  broadcast<S extends Shape>(message: Message<S>, values: ViewOf<S>): void {
    this.watch.handleMessageSent(message, values)
    for (const { channels } of this.#lines.byPeer.values()) this.#desk.send(channels, message, values)
  }

  /** Records from the next tick until the recorder is closed. No sink: `recorder.save()` has the last minute. */
  record(sink?: RecordingSink, options: HostRecordOptions = {}): Recorder {
    return this.watch.record(sink, options)
  }

  /** Changes the priors of snapshots. Each client switches once it has them; none reconnects. Returns the version. */
  retrain(priors: Priors): number {
    return this.retraining.retrain(priors)
  }

  /** Packets, bytes, rows and inputs of all players, including those that left. */
  counters(): MatchCounters {
    return this.#counting.sum(this.#lines.byPeer.values(), this.bandwidth())
  }

  /** The bandwidth by client, by content and by reason, since the match began or `watch.resetBandwidth`. */
  bandwidth(): BandwidthReport {
    return this.watch.bandwidth()
  }

  /** Calls `listener` for every event of this type in `step` (`world.emit`). The returned function removes it. */
  onEvent<S extends Shape>(message: Message<S>, listener: EventListener<S>): () => void {
    return this.#authority.events.on(message, listener)
  }

  /** Registers `handler` for calls of players. It runs before `step` and may change the world. Returns the remover. */
  handle<A extends Shape, const R extends Shape>(rpc: Rpc<A, R>, handler: RpcHandler<A, R, Peer>): () => void {
    return this.#calls.handlers.on(rpc, handler)
  }

  /** Calls the receivers of an RPC. `to`: one player. `about`: the owner of an object or all clients that see it. */
  call<A extends Shape>(
    rpc: Rpc<A, Shape>,
    values: ViewOf<A>,
    options: CallOptions & { readonly to?: Peer } = {},
  ): 'queued' | RpcFailure {
    const { to, about } = options
    const lines = receiversOf(rpc, to, about?.id ?? 0, this.#lines.byPeer, this.world)
    let worst: 'queued' | RpcFailure = lines.length > 0 ? 'queued' : 'closed'
    for (const { calls } of lines) {
      const sent = calls.call(rpc, values, about?.id ?? 0)
      if (sent !== 'queued') worst = sent
    }
    return worst
  }

  /** Sends a request to one player. The promise resolves with the outcome and never rejects. */
  request<A extends Shape, R extends Shape>(
    to: Peer, rpc: Rpc<A, R>, values: ViewOf<A>, options: RequestOptions = {},
  ): Promise<RpcResult<ViewOf<R>>> {
    return requestOn(this.#lines.byPeer.get(to.id)?.calls, this.now(), rpc, values, options)
  }

  /** Counts of calls that a player made without permission. Undefined if the player is not connected. */
  rpcRefusals(peer: Peer): Readonly<RpcRefusals> | undefined {
    return this.#lines.byPeer.get(peer.id)?.calls.refusals
  }

  /** The owners of shared objects, and refused writes. Undefined in games without shared objects. */
  get shared(): SharedAuthority | undefined {
    return this.#authority.shared
  }

  /** From the next tick on, `peer` sees and knows what `whom` does. Pass the peer itself to undo it. */
  follow(peer: Peer, whom: Peer): void {
    const line = this.#lines.byPeer.get(peer.id)
    if (line !== undefined) line.interest.viewer = whom.id
    this.spectators.follow(peer.id, whom.id)
  }

  /**
   * Adds a bot: a player whose input function runs here, once per tick. `kick` removes it. In a room that `keepRooms`
   * restored, it takes over a bot of the previous process with its objects, if there is one left.
   */
  addBot(think: (world: World, me: Peer) => InitOf<I>): Peer {
    return this.#authority.addLocal(think)
  }

  /** Adds the player on this machine, for which `draw` returns the view. Only for hosts with a local view. */
  join(sampleInput: () => InitOf<I>): Peer {
    if (!this.role.hasLocalView)
      throw new ConfigError(
        'role',
        `a ${this.role.name} host has no player of its own`,
        "create it with role: 'listen' or 'local'.",
      )
    return this.#authority.addLocal(sampleInput)
  }

  /** The view of the player on this machine, at the time of the last `tick` of the room host. */
  draw(): View {
    if (this.#localView === undefined)
      throw new ConfigError('role', `a ${this.role.name} host has no view`, "create it with role: 'listen' or 'local'.")
    return this.#localView.draw(this.loop.alpha(this.now()))
  }

  attach(connection: Connection, { id, role }: Member): void {
    this.#lines.attach(connection, { id }, role)
  }

  enter(peer: PeerId): void {
    const player = this.#authority.players.get(peer)
    if (player?.isSpectator === false) this.#authority.enter(player)
  }

  #sendEvents(toPlayers: readonly StepEvent[], toSpectators: readonly StepEvent[]): void {
    for (const { events, player } of this.#lines.byPeer.values()) {
      for (const event of player.isSpectator ? toSpectators : toPlayers) {
        events.post(event, this.#isForAll(event.object))
      }
    }
  }

  /** Whether the object's entity has interest `always`. */
  #isForAll(id: ObjectId): boolean {
    const { objects } = this.world
    return objects.isAlive(id) && this.game.entities[objects.typeAt(indexOf(id))].interest === always
  }

  detach(peer: PeerId): void {
    this.#lines.detach(peer)
  }

  /** The player leaves with the next tick, together with its objects. */
  leave(peer: PeerId, reason: CloseReason): void {
    const player = this.#authority.players.get(peer)
    if (player !== undefined) this.#authority.leave(player, reason)
    this.detach(peer)
  }

  saveMatch(): MatchImage | undefined {
    const world = encodeWorld(this.world)
    return world && { world, bots: this.#authority.bots }
  }

  restoreMatch(image: MatchImage): string {
    const verdict = restoreWorld(this.world, image.world)
    if (verdict === 'restored') this.#authority.restoreBots(image.bots)
    return verdict
  }

  restorePlayer({ id, role }: Member): void {
    this.#authority.restore({ id }, role === 'spectator')
  }

  /** Restored bots that no `addBot` has taken over leave. */
  dropUnclaimed(reason: CloseReason): void {
    this.#authority.dropAwaitedBots(reason)
  }
}
