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
import { PLAYERS_DEFAULT } from '../base/limits.ts'
import type { Millis, ObjectId, PeerId } from '../base/time.ts'
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
import { AllRelevant } from '../replication/relevance.ts'
import { Replicator } from '../replication/replicator.ts'
import { SnapshotSource } from '../replication/snapshot-source.ts'
import { WantedSink } from '../replication/wanted-rows.ts'
import type { Message } from '../schema/definition.ts'
import type { Shape } from '../schema/field.ts'
import type { ViewOf } from '../schema/value-types.ts'
import { FixedLoop } from '../time/fixed-loop.ts'
import { InputBuffer } from '../time/input-buffer.ts'
import { indexOf } from '../world/object-table.ts'
import { Timeline, windowTicks } from '../world/timeline.ts'
import { World } from '../world/world.ts'
import { CallDesk, requestOn, type CallOptions, type RequestOptions } from './call-desk.ts'
import type { Game, Peer } from './define-game.ts'
import { FRAME_KIND } from './frame-kinds.ts'
import { InputTable } from './input-table.ts'
import { MessageDesk } from './message-desk.ts'
import { encodeWelcome } from './welcome.ts'

export interface ServerHostOptions {
  readonly entropy: Entropy
  /** What packets are sealed with, who this server is, and whom it lets in. Default: sealed, unknown, everyone. */
  readonly security?: EndpointSecurity
  /** What one origin may ask. */
  readonly limits?: Partial<OriginLimits>
  /** How many may play at once. */
  readonly maxPlayers?: number
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
  readonly connection: Connection
  readonly inputs: InputBuffer
  readonly channels: ChannelSet
  readonly calls: RpcLine<Peer>
  /** The game knows of him. */
  isIn: boolean
  /** Why he went, once he did. */
  left: CloseReason | undefined
}

/** Makes the authority of a match. */
export function createServerHost<I extends Shape>(game: Game<I>, options: ServerHostOptions): ServerHost<I> {
  return new ServerHost(game, options)
}

export class ServerHost<I extends Shape = Shape> {
  readonly game: Game<I>
  readonly world: World
  /** The world of the last second or so, tick by tick. */
  readonly timeline: Timeline
  /** What all players are told from. */
  readonly replicator: Replicator
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

  constructor(game: Game<I>, options: ServerHostOptions) {
    this.game = game
    this.world = new World(game.entities)
    this.timeline = new Timeline(this.world, windowTicks(game.tickRate), game.tickRate)
    this.replicator = new Replicator(this.world, this.timeline)
    this.loop = new FixedLoop(game.tickRate)
    this.#options = options
    this.#inputs = new InputTable(game.input)
    this.#desk = new MessageDesk(game.messages)
    const { world } = this
    this.#calls = new CallDesk(game.rpcs, game.messages.length, {
      get tick() { return world.tick },
      isAuthority: true,
      ownerOf: (object) => world.objects.isAlive(object) ? world.objects.ownerAt(indexOf(object)) : -1,
    }, (error) => options.onFault?.(error))
    this.endpoint = createEndpoint({
      fingerprint: game.fingerprint,
      tickRate: game.tickRate,
      entropy: options.entropy,
      maxConnections: options.maxPlayers ?? PLAYERS_DEFAULT,
      ...(options.security && { security: options.security }),
      ...(options.limits && { limits: options.limits }),
      admit: (request) => encodeWelcome(request.connection),
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
    for (const seat of this.#seats.values()) {
      if (!this.#desk.receive(seat.channels, seat.peer, seat.calls)) seat.connection.close(now, 'kicked')
      seat.calls.expire(now)
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
    const seat = this.#seats.get(to.id)
    return seat ? this.#desk.send(seat.channels, message, values) : 'closed'
  }

  /** Sends a message to everyone. */
  broadcast<S extends Shape>(message: Message<S>, values: ViewOf<S>): void {
    for (const seat of this.#seats.values()) this.#desk.send(seat.channels, message, values)
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
      const sent = seat.calls.call(rpc, values, about?.id ?? 0)
      if (sent !== 'queued') worst = sent
    }
    return worst
  }

  /** Asks one player. The promise says how it ended, and never rejects. */
  request<A extends Shape, R extends Shape>(
    now: Millis, to: Peer, rpc: Rpc<A, R>, values: ViewOf<A>, options: RequestOptions = {},
  ): Promise<RpcResult<ViewOf<R>>> {
    return requestOn(this.#seats.get(to.id)?.calls, now, rpc, values, options)
  }

  /** What a player called that he may not, counted; undefined when he is not here. */
  rpcRefusals(peer: Peer): Readonly<RpcRefusals> | undefined {
    return this.#seats.get(peer.id)?.calls.refusals
  }

  /** Sends a player away. */
  kick(now: Millis, peer: Peer): void {
    this.#seats.get(peer.id)?.connection.close(now, 'kicked')
  }

  /** Ends the match for everyone. Go on draining until `endpoint.connections` is empty. */
  close(now: Millis): void {
    this.endpoint.close(now)
  }

  #step(): void {
    this.world.beginTick()
    this.#settleSeats()
    for (const seat of this.#seats.values()) {
      seat.inputs.take()
      this.#inputs.load(seat.peer.id, seat.inputs.current)
      seat.calls.deliver(this.world.tick)
    }
    this.game.step(this.world, this.#inputs)
    this.world.endTick()
    this.timeline.sample()
    this.#inputs.collectValues()
  }

  #assemble(connection: Connection): void {
    const peer = { id: connection.id }
    const channels = this.#desk.routes.createChannels()
    const seat: Seat = {
      peer, connection, channels,
      calls: this.#calls.createLine(peer, peer.id, channels),
      inputs: new InputBuffer(this.game.inputSchema, this.#inputs.heap),
      isIn: false,
      left: undefined,
    }
    this.#seats.set(peer.id, seat)
    this.#inputs.keepValuesOf(seat.inputs)
    // What must arrive goes before snapshots, what may be lost after them.
    for (const source of seat.channels.sourcesOf(0, 1)) connection.addSource(FRAME_KIND.channels, source)
    const snapshots = new SnapshotSource(this.replicator, new AllRelevant(this.world, peer.id), peer.id)
    connection.addSource(FRAME_KIND.snapshot, snapshots)
    for (const source of seat.channels.sourcesOf(1)) connection.addSource(FRAME_KIND.channels, source)
    connection.addSink(FRAME_KIND.channels, seat.channels)
    connection.addSink(FRAME_KIND.inputs, seat.inputs)
    connection.addSink(FRAME_KIND.wantedRows, new WantedSink((id) => snapshots.handleWanted(id)))
  }

  /** Players come and go on ticks, like everything else in the world. */
  #handleEvent(event: EndpointEvent): void {
    const seat = this.#seats.get(event.connection.id)
    if (!seat) return
    if (event.type === 'opened') {
      this.#inputs.add(seat.peer.id)
      this.#changes.push(seat)
    } else {
      seat.channels.close()
      seat.calls.close()
      seat.left = event.reason
      if (!this.#changes.includes(seat)) this.#changes.push(seat)
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

/** The seats that a call of the authority goes to. */
function receiversOf(rpc: Rpc, to: Peer | undefined, about: ObjectId, seats: ReadonlyMap<PeerId, Seat>, world: World): readonly Seat[] {
  if (rpc.target === 'server') throw new RangeError(`${rpc.args.name}: a call to the authority, made by the authority. Declare it \`to\` another.`)
  if (rpc.target === 'all') return [...seats.values()]
  const owner = about !== 0 && world.objects.isAlive(about) ? world.objects.ownerAt(indexOf(about)) : 0
  const seat = seats.get(rpc.target === 'owner' ? owner : to?.id ?? 0)
  return seat === undefined ? [] : [seat]
}
