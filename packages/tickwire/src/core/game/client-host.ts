/**
 * One player's side of a match: sends what he holds, keeps the view of what he was told.
 *
 * It owns an endpoint but no socket and no clock. The pump is that of the server host: receive, tick, send.
 */

import type { Entropy } from '../base/entropy.ts'
import type { Millis, ObjectId, PeerId } from '../base/time.ts'
import type { SendResult } from '../channel/channel.ts'
import type { ChannelSet } from '../channel/channel-set.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import type { Connection } from '../connection/connection.ts'
import type { DatagramPort } from '../endpoint/datagram-port.ts'
import { drain } from '../endpoint/drain.ts'
import { createEndpoint, type ConnectPass, type Endpoint, type EndpointEvent } from '../endpoint/endpoint.ts'
import type { ClientEndpointConfig } from '../endpoint/endpoint-config.ts'
import type { EndpointSecurity } from '../endpoint/endpoint-security.ts'
import type { RpcFailure, RpcResult } from '../rpc/pending-calls.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { RpcHandler } from '../rpc/rpc-handlers.ts'
import type { RpcHost, RpcLine } from '../rpc/rpc-line.ts'
import type { Message } from '../schema/definition.ts'
import type { Shape } from '../schema/field.ts'
import type { InitOf, ViewOf } from '../schema/value-types.ts'
import type { Predictor } from '../predict/predictor.ts'
import type { SyncFault } from '../predict/sync-test.ts'
import { retrainedSink, TablesSink } from '../replication/tables-sink.ts'
import { TimingSink } from '../time/timing-frame.ts'
import type { Timeline } from '../world/timeline.ts'
import { CallDesk, requestOn, type CallOptions, type RequestOptions } from './call-desk.ts'
import { sharedAuthority, type AuthorityListener, type ClientAuthority } from './client-authority.ts'
import { ClientPlay } from './client-play.ts'
import type { ClientTrace } from './client-trace.ts'
import { ClientView } from './client-view.ts'
import type { Game } from './define-game.ts'
import { FRAME_KIND } from './frame-kinds.ts'
import { AskAuthority, callsOf, Spectate } from './match-calls.ts'
import { MessageDesk } from './message-desk.ts'
import { Onlookers, type Onlooker } from './onlookers.ts'
import { ROLES, type RoleContext } from './role.ts'
import type { AuthorityGrant } from './shared-authority.ts'
import type { EventListener } from './step-events.ts'
import type { View } from './view.ts'
import { encodeJoin, type JoinRequest } from './rooms/join-body.ts'
import { decodeWelcome, type SeatWelcome } from './welcome.ts'

export interface ClientHostOptions {
  readonly entropy: Entropy
  /** What packets are sealed with. Default: plain JavaScript, on every platform. */
  readonly security?: EndpointSecurity
  /** Whether we play, the default, or look on. Who looks on sends no inputs and predicts nothing. */
  readonly role?: 'player' | 'spectator'
  /** For development: remembers all that is handed to this client, so that it can be played again (`replayTrace`). */
  readonly trace?: ClientTrace
  /** For development: every tick is stepped again from so many ticks before, and must come out the same. */
  readonly syncTest?: number
  /** It did not. Without this, it throws. */
  readonly onSyncFault?: (fault: SyncFault) => void
  /** The match has let us in; from now on `peer` says who we are. */
  readonly onOpened?: () => void
  /** A handler of calls threw this. */
  readonly onFault?: (error: unknown) => void
  /** A shared object that is in view has another writer; 0 is the server. */
  readonly onAuthorityChanged?: AuthorityListener
  /** It is over, and why. Called once. */
  readonly onClosed?: (reason: CloseReason) => void
}

/** What `ClientHost.insides` shows. */
export interface ClientInsides<I extends Shape = Shape> extends Pick<ClientView, 'world' | 'snapshots' | 'renderClock' | 'interpolator'> {
  readonly timing: TimingSink
  readonly play: ClientPlay<I>
  readonly channels: ChannelSet
}

const NO_BYTES = new Uint8Array(0)

/** What a host is made of, beside what every host needs: a page leaves out what its game does not. */
export interface ClientParts {
  createEndpoint(config: Omit<ClientEndpointConfig, 'security'> & { readonly security?: EndpointSecurity }): Endpoint
  /** Only asked for where objects are shared. */
  createAuthority(game: Game<Shape>, listener: AuthorityListener | undefined): ClientAuthority
}

/** Everything: for who is not counting bytes. */
const ALL_PARTS: ClientParts = { createEndpoint, createAuthority: sharedAuthority }

/** Makes one player's side of a match. */
export function createClientHost<I extends Shape>(game: Game<I>, options: ClientHostOptions): ClientHost<I> {
  return new ClientHost(game, options, ALL_PARTS)
}

export class ClientHost<I extends Shape = Shape> {
  readonly game: Game<I>
  readonly role: RoleContext = ROLES.client
  readonly endpoint: Endpoint
  /** Who we are; 0 until the match has let us in. */
  peer: PeerId = 0
  /** Where we sit, and the ticket to come back there; undefined until we are in, and in a match that is no room. */
  seat: SeatWelcome | undefined = undefined
  readonly #options: ClientHostOptions
  #isSpectator = false
  readonly #shared: ClientAuthority | undefined
  readonly #play: ClientPlay<I>
  readonly #view: ClientView
  readonly #onlookers: Onlookers
  readonly #timing: TimingSink
  readonly #channels: ChannelSet
  readonly #desk: MessageDesk<void>
  readonly #calls: CallDesk<void>
  readonly #line: RpcLine<void>
  /** The latest time that anybody told us. */
  readonly #now = new Float64Array(1)

  /** `createClientHost` knows all parts. */
  constructor(game: Game<I>, options: ClientHostOptions, parts: ClientParts) {
    this.game = game
    this.#options = options
    this.#shared = game.entities.some(({ isShared }) => isShared) ? parts.createAuthority(game, options.onAuthorityChanged) : undefined
    this.#play = new ClientPlay(game, options, this.#shared)
    this.#view = new ClientView(game, this.#shared)
    this.#timing = new TimingSink(this.#play)
    this.#onlookers = new Onlookers(this.#play, () => this.endpoint.connections)
    this.#desk = new MessageDesk(game.messages, callsOf(game).length, { onEvent: (event) => this.#play.events.handleTold(event) })
    this.#channels = this.#desk.routes.createChannels()
    this.#calls = new CallDesk(callsOf(game), game.messages.length, this.#rpcHost(), (error) => options.onFault?.(error))
    this.#line = this.#calls.createLine(undefined, 0, this.#channels)
    this.endpoint = parts.createEndpoint({
      fingerprint: game.fingerprint,
      tickRate: game.tickRate,
      entropy: options.trace?.through(options.entropy) ?? options.entropy,
      timers: { keepaliveMs: game.net.heartbeatMs, timeoutMs: game.net.timeoutMs },
      ...(options.security && { security: options.security }),
      assemble: (connection) => this.#assemble(connection),
    })
    // Also who holds nothing is traced.
    this.sampleInput = this.#play.sampleInput
  }

  /** What may be drawn, as of the last call that said what time it is; `draw` brings it up to a moment. */
  get view(): View {
    return this.draw(this.#now[0])
  }

  /** What the authority told, by tick: sparse. */
  get confirmed(): Timeline {
    return this.#view.confirmed
  }

  /** How our clock follows the authority's, which tick we play, and how far ahead of need our inputs are. */
  get clock(): Pick<ClientPlay<I>, 'clock' | 'ticks' | 'lead' | 'lateInputs' | 'inputs'> {
    return this.#play
  }

  /** For tools that look on, and for nobody else: what is behind the view and the clock. */
  get insides(): ClientInsides<I> {
    const { world, snapshots, renderClock, interpolator } = this.#view
    return { world, snapshots, renderClock, interpolator, timing: this.#timing, play: this.#play, channels: this.#channels }
  }

  /** Lets a tool look on: it is told of packets, predictions and mistakes until the function that is returned is called. */
  look(onlooker: Onlooker): () => void {
    return this.#onlookers.add(onlooker)
  }

  /** What is predicted here; undefined until we are in, and when nothing is. */
  get predictor(): Predictor | undefined {
    return this.#play.predictor
  }

  /** The newest tick of the authority that is known here; -1 before the first. */
  get serverTick(): number {
    return Math.max(this.#view.snapshots.tick, this.#timing.tick)
  }

  /** The moment of others that is drawn, a fractional tick: what the next input carries. -1 before anything is known. */
  get viewTick(): number {
    return this.#view.viewTick(this.#now[0])
  }

  /** Asked once a tick for what the player holds. */
  set sampleInput(sample: () => InitOf<I>) {
    const { trace } = this.#options
    this.#play.sampleInput = trace === undefined ? sample : () => {
      const values = sample()
      trace.add({ kind: 'input', values })
      return values
    }
  }

  /** Asks the authority at `to` to be let in; where there are rooms, `join` says into which. */
  connect(now: Millis, to: string, pass: ConnectPass = {}, join?: JoinRequest): Connection {
    const { role = this.#options.role ?? 'player' } = join ?? {}
    this.#isSpectator = role === 'spectator'
    this.#options.trace?.add({ kind: 'connect', now, to, pass, join })
    return this.endpoint.connect(now, to, join === undefined && !this.#isSpectator ? NO_BYTES : encodeJoin({ ...join, role }), pass)
  }

  handleDatagram(now: Millis, from: string, bytes: Uint8Array, length: number): void {
    this.#options.trace?.datagram(now, from, bytes, length)
    this.endpoint.handleDatagram(now, from, bytes, length)
    // A digest is of one tick: it is judged before rows of the next come.
    this.#view.absorb()
    this.#play.predictor?.settle()
    this.#view.handleArrival(now, this.#timing.tick)
    this.#now[0] = now
  }

  handlePathClosed(address: string): void {
    this.#options.trace?.add({ kind: 'path-closed', from: address })
    this.endpoint.handlePathClosed(address)
  }

  /** Samples an input for every tick that is due, and predicts what comes of it; returns how many. */
  tick(now: Millis): number {
    this.#options.trace?.add({ kind: 'tick', now })
    this.#now[0] = now
    if (this.peer === 0) return 0
    this.#view.prepare(now)
    if (this.#isSpectator) return 0
    const due = this.#play.tick(now, this.#view.viewTick(now))
    if (due > 0) for (const connection of this.endpoint.connections) connection.wake()
    return due
  }

  /** What may be drawn at a moment: call it before every repaint. */
  draw(now: Millis): View {
    this.#options.trace?.add({ kind: 'draw', now })
    this.#now[0] = now
    return this.#view.draw(now)
  }

  /** Sends what is owed, and returns when to call `tick` and `drain` again at the latest. */
  drain(now: Millis, port: Pick<DatagramPort, 'send'>): Millis {
    this.#options.trace?.add({ kind: 'drain', now })
    if (!this.#desk.receive(this.#channels, undefined, this.#line)) this.endpoint.close(now, 'left')
    this.#line.expire(now)
    this.#line.deliver(Math.floor(this.#view.renderClock.renderTick))
    const wakeAt = drain(this.endpoint, now, port, (event) => this.#handleEvent(event))
    return this.peer === 0 ? wakeAt : Math.min(wakeAt, this.#play.nextAt())
  }

  /** Calls `listener` for every message of a kind that the authority sends. */
  on<S extends Shape>(message: Message<S>, listener: (values: ViewOf<S>) => void): void {
    this.#desk.on(message, listener)
  }

  /** Calls `listener` once for everything of a kind that happens in `step` (`world.emit`): here as predicted, or as told. */
  onEvent<S extends Shape>(message: Message<S>, listener: EventListener<S>): void {
    this.#play.events.on(message, listener)
  }

  /** Sends a message to the authority, by the delivery it was declared with. */
  send<S extends Shape>(message: Message<S>, values: ViewOf<S>): SendResult {
    this.#options.trace?.add({ kind: 'send', message: this.game.messages.indexOf(message as unknown as Message), values })
    return this.#desk.send(this.#channels, message, values)
  }

  /** Lets `handler` answer a call of the authority. */
  handle<A extends Shape, R extends Shape>(rpc: Rpc<A, R>, handler: RpcHandler<A, R, void>): void {
    this.#calls.handlers.on(rpc, handler)
  }

  /** Calls the authority. */
  call<A extends Shape>(rpc: Rpc<A, Shape>, values: ViewOf<A>, { about }: CallOptions = {}): 'queued' | RpcFailure {
    this.#traceCall(rpc as unknown as Rpc, values, about?.id ?? 0, undefined, undefined)
    return this.#line.call(rpc, values, about?.id ?? 0)
  }

  /** Asks the authority. The promise says how it ended, and never rejects. */
  request<A extends Shape, R extends Shape>(
    now: Millis, rpc: Rpc<A, R>, values: ViewOf<A>, options: RequestOptions = {},
  ): Promise<RpcResult<ViewOf<R>>> {
    this.#traceCall(rpc as unknown as Rpc, values, options.about?.id ?? 0, now, options.timeoutMs)
    return requestOn(this.#line, now, rpc, values, options)
  }

  /** Asks to write a shared object that is in view. The promise never rejects: who got no answer was not granted it. */
  async requestAuthority(now: Millis, object: { readonly id: ObjectId }): Promise<AuthorityGrant> {
    const result = await this.request(now, AskAuthority, { isWanted: true }, { about: object })
    return result.isOk ? result.values : { isGranted: false, tick: 0 }
  }

  /** Gives a shared object of ours back to the server. */
  releaseAuthority(object: { readonly id: ObjectId }): 'queued' | RpcFailure {
    return this.call(AskAuthority, { isWanted: false }, { about: object })
  }

  /** Who looks on asks for the eyes of a player. The promise never rejects; it says whom he follows now, 0 when nobody. */
  async spectate(now: Millis, whom: PeerId | 'next' | 'previous'): Promise<PeerId> {
    const values = typeof whom === 'number' ? { whom, step: 0 } : { whom: 0, step: whom === 'next' ? 1 : -1 }
    const result = await this.request(now, Spectate, values)
    return result.isOk ? result.values.whom : 0
  }

  /** Leaves the match. Go on draining until `endpoint.connections` is empty. */
  close(now: Millis): void {
    this.#options.trace?.add({ kind: 'close', now })
    this.endpoint.close(now, 'left')
  }

  #traceCall(rpc: Rpc, values: unknown, about: ObjectId, now: Millis | undefined, timeoutMs: Millis | undefined): void {
    this.#options.trace?.add({ kind: 'call', rpc: callsOf(this.game).indexOf(rpc), values, about, now, timeoutMs })
  }

  #rpcHost(): RpcHost {
    const { view } = this.#view
    return { get tick() { return view.tick }, isAuthority: false, ownerOf: () => -1 }
  }

  #assemble(connection: Connection): void {
    this.#onlookers.attach(connection)
    this.#play.rttMs = () => connection.rtt.samples > 0 ? connection.rtt.latestMs : 0
    if (!this.#isSpectator) connection.addSource(FRAME_KIND.inputs, this.#play.inputs)
    for (const source of this.#channels.sources) connection.addSource(FRAME_KIND.channels, source)
    connection.addSink(FRAME_KIND.channels, this.#channels)
    connection.addSource(FRAME_KIND.wantedRows, this.#view.snapshots.wanted)
    connection.addSink(FRAME_KIND.snapshot, this.#view.snapshots)
    const tables = new TablesSink((text) => this.game.codersBy(JSON.parse(text)))
    connection.addSink(FRAME_KIND.tables, tables)
    connection.addSink(FRAME_KIND.retrained, retrainedSink(tables, this.#view.snapshots))
    connection.addSink(FRAME_KIND.timing, this.#timing)
    if (!this.#isSpectator) this.#shared?.attach(connection)
    if (this.game.predict === 'all') connection.addSink(FRAME_KIND.peerInputs, this.#play.others)
  }

  #handleEvent(event: EndpointEvent): void {
    if (event.type === 'opened') {
      const { peer, seed, seat } = decodeWelcome(event.welcome)
      this.peer = peer
      this.seat = seat
      if (!this.#isSpectator) this.#play.begin(peer, seed, this.#view.world, this.#view)
      this.#view.begin(this.#play.predictor, (now) => this.#play.ticks.ticksAt(now))
      this.#shared?.begin(peer, this.#view.world, this.#view.snapshots, (id) => this.#play.predictor?.isOurs(id) === true, () => this.#play.predictor?.heard ?? 0)
      this.#options.onOpened?.()
    } else {
      this.#channels.close()
      this.#line.close()
      this.#options.onClosed?.(event.reason)
    }
  }
}
