/**
 * The authority of one match: runs `step`, and tells every player what he must know.
 *
 * It owns an endpoint but no socket and no clock. The pump is receive, tick, send:
 *
 *   host.handleDatagram(now, from, bytes, length)     whenever bytes come
 *   host.tick(now)                                    runs the ticks that are due
 *   host.drain(now, port)                             sends; returns when to call again at the latest
 */

import type { Entropy } from '../base/entropy.ts'
import { ConfigError } from '../base/assert.ts'
import { PLAYERS_DEFAULT } from '../base/limits.ts'
import type { Millis, ObjectId, PeerId, Tick } from '../base/time.ts'
import type { SendResult } from '../channel/channel.ts'
import type { ChannelSet } from '../channel/channel-set.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import type { Connection } from '../connection/connection.ts'
import type { DatagramPort } from '../endpoint/datagram-port.ts'
import { drain } from '../endpoint/drain.ts'
import { createEndpoint, type Endpoint, type EndpointEvent } from '../endpoint/endpoint.ts'
import type { EndpointSecurity } from '../endpoint/endpoint-security.ts'
import type { OriginLimits } from '../endpoint/origin-limits.ts'
import type { RpcResult, RpcFailure } from '../rpc/pending-calls.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { RpcHandler } from '../rpc/rpc-handlers.ts'
import type { RpcLine, RpcRefusals } from '../rpc/rpc-line.ts'
import { ClientInterest } from '../replication/interest/client-interest.ts'
import { Interest, type InterestOptions } from '../replication/interest/interest.ts'
import { Replicator } from '../replication/replicator.ts'
import { SnapshotSource } from '../replication/snapshot-source.ts'
import { WantedSink } from '../replication/wanted-rows.ts'
import type { Message } from '../schema/definition.ts'
import type { Shape } from '../schema/field.ts'
import type { InitOf, ViewOf } from '../schema/value-types.ts'
import { FixedLoop } from '../time/fixed-loop.ts'
import { InputBuffer } from '../time/input-buffer.ts'
import { TimingSource, type TickPosition } from '../time/timing-frame.ts'
import { indexOf } from '../world/object-table.ts'
import { Timeline, windowTicks } from '../world/timeline.ts'
import type { ValueKeeper } from '../world/value-keeping.ts'
import { World } from '../world/world.ts'
import { CallDesk, requestOn, type CallOptions, type RequestOptions } from './call-desk.ts'
import type { Game, Peer } from './define-game.ts'
import { FRAME_KIND } from './frame-kinds.ts'
import { InputTable, type HeldInput } from './input-table.ts'
import { MessageDesk } from './message-desk.ts'
import { LocalInput } from './local-input.ts'
import { LocalView } from './local-view.ts'
import { OwnerDigests } from './owner-digests.ts'
import { ROLES, type RoleContext } from './role.ts'
import type { View } from './view.ts'
import { AuthorityRewinding } from './rewinding.ts'
import { encodeWelcome } from './welcome.ts'

export interface ServerHostOptions {
  readonly entropy: Entropy
  /** What packets are sealed with, who this server is, and whom it lets in. Default: sealed, unknown, everyone. */
  readonly security?: EndpointSecurity
  /** What one origin may ask. */
  readonly limits?: Partial<OriginLimits>
  /** How many may play at once. */
  readonly maxPlayers?: number
  /** What this process is: a server without a face, a player's machine that others join, or one that nobody joins. */
  readonly role?: 'dedicated' | 'listen' | 'local'
  /** Of all dice of the match, 32 bits. Default: drawn. */
  readonly seed?: number
  /** Who is with whom, from where each looks, and how objects are found by place. */
  readonly interest?: InterestOptions
  /** Someone has arrived. */
  readonly onJoined?: (peer: Peer) => void
  /** A handler of calls threw this. The caller hears `failed`, and the match goes on. */
  readonly onFault?: (error: unknown) => void
  /** Someone has left, and why. */
  readonly onLeft?: (peer: Peer, reason: CloseReason) => void
}

/** One player's place at the authority. */
interface Seat {
  readonly peer: Peer
  readonly inputs: (HeldInput & ValueKeeper & { take(tick: Tick): void })
  /** Undefined for who plays in this process. */
  readonly line: Line | undefined
  /** The game knows of him. */
  isIn: boolean
  /** Why he went, once he did. */
  left: CloseReason | undefined
}

/** How a player who is elsewhere is reached. */
interface Line {
  readonly connection: Connection
  readonly channels: ChannelSet
  readonly calls: RpcLine<Peer>
  /** What he may know. */
  readonly interest: ClientInterest
}

/** Numbers of those who play in this process: no connection ever has them. */
const LOCAL_PEERS_FROM = 0x8000_0000
const LOCAL_LEFT: CloseReason = { by: 'local', code: 'left' }

/** Makes the authority of a match. */
export function createServerHost<I extends Shape>(game: Game<I>, options: ServerHostOptions): ServerHost<I> {
  return new ServerHost(game, options)
}

export class ServerHost<I extends Shape = Shape> {
  readonly game: Game<I>
  readonly role: RoleContext
  readonly world: World
  /** The world of the last second or so, tick by tick. */
  readonly timeline: Timeline
  /** What all players are told from. */
  readonly replicator: Replicator
  /** Who may know what, by the rules of the entities. */
  readonly interest: Interest
  readonly endpoint: Endpoint
  readonly loop: FixedLoop
  readonly #options: ServerHostOptions
  readonly #inputs: InputTable<I>
  readonly #desk: MessageDesk<Peer>
  readonly #calls: CallDesk<Peer>
  /** By peer, ascending: a peer's number only grows. */
  readonly #seats = new Map<PeerId, Seat>()
  /** Seats whose player came or went since the last tick. */
  readonly #changes: Seat[] = []
  readonly #digests: OwnerDigests
  readonly #position: TickPosition
  readonly #localView: LocalView | undefined
  readonly #seed: number
  #localCount = 0

  constructor(game: Game<I>, options: ServerHostOptions) {
    this.game = game
    this.role = ROLES[options.role ?? 'dedicated']
    this.#seed = options.seed ?? drawSeed(options.entropy)
    this.world = new World(game.entities, { seed: this.#seed, ...(game.external && { external: game.external() }) })
    this.timeline = new Timeline(this.world, windowTicks(game.tickRate, game.net.historyMs), game.tickRate)
    this.replicator = new Replicator(this.world, this.timeline, { births: this.world.objects })
    this.interest = new Interest(this.world, game.entities, options.interest)
    this.#digests = new OwnerDigests(this.world, game.tickRate)
    this.#localView = this.role.hasLocalView ? new LocalView(game, this.timeline, this.world) : undefined
    this.loop = new FixedLoop(game.tickRate)
    this.#options = options
    this.#inputs = new InputTable(game.input)
    if (game.hitboxes !== undefined) this.world.rewinding = new AuthorityRewinding(game, this.world, this.timeline, this.#inputs)
    this.#desk = new MessageDesk(game.messages, (message, values, from) => this.#inputs.post(from.id, message, values))
    const { world, loop } = this
    this.#position = { get tick() { return world.tick }, alpha: (now) => loop.alpha(now) }
    this.#calls = new CallDesk(game.rpcs, game.messages.length, {
      get tick() { return world.tick },
      isAuthority: true,
      ownerOf: (object) => world.objects.isAlive(object) ? world.objects.ownerAt(indexOf(object)) : -1,
    }, (error) => options.onFault?.(error))
    this.endpoint = createEndpoint({
      fingerprint: game.fingerprint,
      tickRate: game.tickRate,
      entropy: options.entropy,
      timers: { keepaliveMs: game.net.heartbeatMs, timeoutMs: game.net.timeoutMs },
      maxConnections: this.role.name === 'local' ? 0 : options.maxPlayers ?? PLAYERS_DEFAULT,
      ...(options.security && { security: options.security }),
      ...(options.limits && { limits: options.limits }),
      admit: (request) => encodeWelcome({ peer: request.connection, seed: this.#seed }),
      assemble: (connection) => this.#assemble(connection),
    })
  }

  /** Everyone who is here, by number. */
  get peers(): readonly Peer[] {
    return [...this.#seats.values()].filter((seat) => seat.isIn && seat.left === undefined).map((seat) => seat.peer)
  }

  handleDatagram(now: Millis, from: string, bytes: Uint8Array, length: number): void {
    this.endpoint.handleDatagram(now, from, bytes, length)
  }

  handlePathClosed(address: string): void {
    this.endpoint.handlePathClosed(address)
  }

  /** Runs the ticks that are due; returns how many. */
  tick(now: Millis): number {
    const due = this.loop.due(now)
    for (let run = 0; run < due; run++) this.#step()
    return due
  }

  /** Sends what is owed, and returns when to call `tick` and `drain` again at the latest. */
  drain(now: Millis, port: Pick<DatagramPort, 'send'>): Millis {
    for (const { line, peer } of this.#seats.values()) {
      if (line === undefined) continue
      if (!this.#desk.receive(line.channels, peer, line.calls)) line.connection.close(now, 'kicked')
      line.calls.expire(now)
    }
    const wakeAt = drain(this.endpoint, now, port, (event) => this.#handleEvent(event))
    return Math.min(wakeAt, this.loop.nextAt())
  }

  /** Calls `listener` for every message of a kind that a player sends. */
  on<S extends Shape>(message: Message<S>, listener: (values: ViewOf<S>, from: Peer) => void): void {
    this.#desk.on(message, listener)
  }

  /** Sends a message to one player, by the delivery it was declared with. */
  send<S extends Shape>(to: Peer, message: Message<S>, values: ViewOf<S>): SendResult {
    const line = this.#seats.get(to.id)?.line
    return line ? this.#desk.send(line.channels, message, values) : 'closed'
  }

  /** Sends a message to everyone. */
  broadcast<S extends Shape>(message: Message<S>, values: ViewOf<S>): void {
    for (const { line } of this.#seats.values()) if (line) this.#desk.send(line.channels, message, values)
  }

  /** Lets `handler` answer a call of players. It runs before the step of its tick, and may change the world. */
  handle<A extends Shape, R extends Shape>(rpc: Rpc<A, R>, handler: RpcHandler<A, R, Peer>): void {
    this.#calls.handlers.on(rpc, handler)
  }

  /** Calls whom a call is for: `to` for one player, `about` for the owner of an object or all who see it. */
  call<A extends Shape>(rpc: Rpc<A, Shape>, values: ViewOf<A>, options: CallOptions & { readonly to?: Peer } = {}): 'queued' | RpcFailure {
    const { to, about } = options
    const seats = receiversOf(rpc, to, about?.id ?? 0, this.#seats, this.world)
    let worst: 'queued' | RpcFailure = seats.length > 0 ? 'queued' : 'closed'
    for (const seat of seats) {
      const sent = seat.line?.calls.call(rpc, values, about?.id ?? 0) ?? 'closed'
      if (sent !== 'queued') worst = sent
    }
    return worst
  }

  /** Asks one player. The promise says how it ended, and never rejects. */
  request<A extends Shape, R extends Shape>(
    now: Millis, to: Peer, rpc: Rpc<A, R>, values: ViewOf<A>, options: RequestOptions = {},
  ): Promise<RpcResult<ViewOf<R>>> {
    return requestOn(this.#seats.get(to.id)?.line?.calls, now, rpc, values, options)
  }

  /** What a player called that he may not, counted; undefined when he is not here. */
  rpcRefusals(peer: Peer): Readonly<RpcRefusals> | undefined {
    return this.#seats.get(peer.id)?.line?.calls.refusals
  }

  /** From the next tick on someone sees through another's eyes, and knows what that one knows; through his own again by himself. */
  follow(peer: Peer, whom: Peer): void {
    const line = this.#seats.get(peer.id)?.line
    if (line !== undefined) line.interest.viewer = whom.id
  }

  /** Sends a player away. */
  kick(now: Millis, peer: Peer): void {
    const seat = this.#seats.get(peer.id)
    if (seat?.line !== undefined) seat.line.connection.close(now, 'kicked')
    else if (seat !== undefined) this.#leave(seat, LOCAL_LEFT)
  }

  /** Adds a player who thinks here: asked once a tick for what he holds, like anyone else is. Gone with `kick`. */
  addBot(think: (world: World, me: Peer) => InitOf<I>): Peer {
    const peer = { id: LOCAL_PEERS_FROM + this.#localCount++ }
    const inputs = new LocalInput(this.game.inputSchema, this.#inputs.heap, () => think(this.world, peer))
    this.#sit({ peer, inputs, line: undefined, isIn: false, left: undefined })
    return peer
  }

  /** Lets the player at this very machine in; `draw` shows him the world. Only where there is somebody to look. */
  join(sampleInput: () => InitOf<I>): Peer {
    if (!this.role.hasLocalView) throw new ConfigError('role', `a ${this.role.name} host has no player of its own`, "Make it with role: 'listen' or 'local'.")
    return this.addBot(sampleInput)
  }

  /** What the player at this machine may draw at a moment. */
  draw(now: Millis): View {
    if (this.#localView === undefined) throw new ConfigError('role', `a ${this.role.name} host has no view`, "Make it with role: 'listen' or 'local'.")
    return this.#localView.draw(this.loop.alpha(now))
  }

  /** Ends the match for everyone. Go on draining until `endpoint.connections` is empty. */
  close(now: Millis): void {
    this.endpoint.close(now)
  }

  #step(): void {
    this.world.beginTick()
    this.#settleSeats()
    const { tick } = this.world
    for (const { peer, inputs, line } of this.#seats.values()) {
      inputs.take(tick)
      this.#inputs.load(peer.id, inputs)
      line?.calls.deliver(tick)
    }
    this.#inputs.sortMessages()
    this.game.step(this.world, this.#inputs)
    this.#inputs.forgetMessages()
    this.world.endTick()
    this.timeline.sample()
    this.#inputs.collectValues()
  }

  #assemble(connection: Connection): void {
    const peer = { id: connection.id }
    const channels = this.#desk.routes.createChannels()
    const inputs = new InputBuffer(this.game.inputSchema, this.#inputs.heap, this.#position)
    const calls = this.#calls.createLine(peer, peer.id, channels)
    const interest = new ClientInterest(this.interest, peer.id)
    this.#seats.set(peer.id, { peer, inputs, line: { connection, channels, calls, interest }, isIn: false, left: undefined })
    this.#inputs.keepValuesOf(inputs)
    this.#digests.add(peer.id)
    const predicts = this.game.predict !== 'none'
    connection.addSource(FRAME_KIND.timing, new TimingSource(this.#position, inputs, () => predicts ? this.#digests.of(peer.id) : NaN))
    // What must arrive goes before snapshots, what may be lost after them.
    for (const source of channels.sourcesOf(0, 1)) connection.addSource(FRAME_KIND.channels, source)
    const snapshots = new SnapshotSource(this.replicator, interest, peer.id)
    connection.addSource(FRAME_KIND.snapshot, snapshots)
    for (const source of channels.sourcesOf(1)) connection.addSource(FRAME_KIND.channels, source)
    connection.addSink(FRAME_KIND.channels, channels)
    connection.addSink(FRAME_KIND.inputs, inputs)
    connection.addSink(FRAME_KIND.wantedRows, new WantedSink((id) => snapshots.handleWanted(id)))
  }

  #sit(seat: Seat): void {
    this.#seats.set(seat.peer.id, seat)
    this.#inputs.keepValuesOf(seat.inputs)
    this.#inputs.add(seat.peer.id)
    this.#changes.push(seat)
  }

  #leave(seat: Seat, reason: CloseReason): void {
    seat.left = reason
    if (!this.#changes.includes(seat)) this.#changes.push(seat)
  }

  /** Players come and go on ticks, like everything else in the world. */
  #handleEvent(event: EndpointEvent): void {
    const seat = this.#seats.get(event.connection.id)
    if (!seat) return
    if (event.type === 'opened') {
      this.#inputs.add(seat.peer.id)
      this.#changes.push(seat)
    } else {
      seat.line?.channels.close()
      seat.line?.calls.close()
      this.#leave(seat, event.reason)
    }
  }

  /** Lets in who came and sees off who went since the last tick. */
  #settleSeats(): void {
    for (const seat of this.#changes) {
      const { peer, left } = seat
      if (!seat.isIn) {
        seat.isIn = true
        this.game.onJoin?.(this.world, peer)
        this.#options.onJoined?.(peer)
      }
      if (left === undefined) continue
      this.game.onLeave?.(this.world, peer)
      this.#despawnAllOf(peer.id)
      this.#seats.delete(peer.id)
      this.#inputs.remove(peer.id)
      this.#inputs.dropValuesOf(seat.inputs)
      this.#digests.remove(peer.id)
      this.#options.onLeft?.(peer, left)
    }
    this.#changes.length = 0
  }

  #despawnAllOf(peer: PeerId): void {
    for (const store of this.world.stores) {
      for (const handle of store.living()) if (handle.owner === peer) this.world.despawn(handle)
    }
  }
}

function drawSeed(entropy: Entropy): number {
  const bytes = new Uint8Array(4)
  entropy.fill(bytes)
  return (bytes[0] | bytes[1] << 8 | bytes[2] << 16 | bytes[3] << 24) >>> 0
}

/** The seats that a call of the authority goes to. */
function receiversOf(rpc: Rpc, to: Peer | undefined, about: ObjectId, seats: ReadonlyMap<PeerId, Seat>, world: World): readonly Seat[] {
  if (rpc.target === 'server') throw new RangeError(`${rpc.args.name}: a call to the authority, made by the authority. Declare it \`to\` another.`)
  if (rpc.target === 'all') return [...seats.values()]
  const owner = about !== 0 && world.objects.isAlive(about) ? world.objects.ownerAt(indexOf(about)) : 0
  const seat = seats.get(rpc.target === 'owner' ? owner : to?.id ?? 0)
  return seat === undefined ? [] : [seat]
}
