/**
 * The client's side of a match: sends the player's inputs and maintains the view of the received state.
 *
 * It owns an endpoint but no socket and no clock. It is driven like the server host: receive, tick, send.
 */

import type { Millis, ObjectId, PeerId } from '../base/time.ts'
import { UserCode } from '../base/user-code.ts'
import type { SendResult } from '../channel/channel.ts'
import type { ChannelSet } from '../channel/channel-set.ts'
import type { Connection } from '../connection/connection.ts'
import type { ConnectionSecurity } from '../connection/connection-peer.ts'
import type { DatagramPort } from '../endpoint/datagram-port.ts'
import { drain } from '../endpoint/drain.ts'
import { createEndpoint, type ConnectPass, type Endpoint, type EndpointEvent } from '../endpoint/endpoint.ts'
import type { RpcFailure, RpcResult } from '../rpc/pending-calls.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { RpcHandler } from '../rpc/rpc-handlers.ts'
import type { RpcHost, RpcLine } from '../rpc/rpc-line.ts'
import type { Message } from '../schema/definition.ts'
import type { Shape } from '../schema/field.ts'
import type { ValueCounts } from '../schema/value-codec.ts'
import type { InitOf, ViewOf } from '../schema/value-types.ts'
import type { Predictor } from '../predict/predictor.ts'
import { TablesSink } from './tables-sink.ts'
import { TimingSink } from '../time/timing-frame.ts'
import type { Timeline } from '../world/timeline.ts'
import { CallDesk, requestOn, type CallOptions, type RequestOptions } from './call-desk.ts'
import { sharedAuthority, type AuthorityListener, type ClientAuthority } from './client-authority.ts'
import { CLIENT_FRAMES, type ClientLine } from './client-frames.ts'
import { ClientPlay } from './client-play.ts'
import { ClientView } from './client-view.ts'
import type { Game } from './define-game.ts'
import { addFrames } from './frame-table.ts'
import { AskAuthority, callsOf, Spectate } from './match-calls.ts'
import { MessageDesk, type Transfer } from './message-desk.ts'
import type { ClientHostOptions, ClientParts } from './client-host-options.ts'
import { ClientObservers, type ClientObserver } from './client-observers.ts'
import { ROLES, type RoleContext } from './role.ts'
import { encodeRequest } from './room-request.ts'
import { connectionTimers } from './settings.ts'
import type { AuthorityGrant } from './shared-authority.ts'
import type { EventListener } from './step-events.ts'
import type { View } from './view.ts'
import type { SentRequest } from '../rooms/join-body.ts'
import { decodeWelcome, type SeatWelcome } from '../rooms/welcome.ts'

/** The result of `ClientHost.insides`. */
export interface ClientInsides<I extends Shape = Shape> extends Pick<
  ClientView,
  'world' | 'snapshots' | 'renderClock' | 'interpolator'
> {
  readonly timing: TimingSink
  readonly play: ClientPlay<I>
  readonly channels: ChannelSet
}


/** All parts, for callers to whom the bundle size does not matter. */
const ALL_PARTS: ClientParts = { createEndpoint, createAuthority: sharedAuthority }

/** Creates the client's side of a match. */
export function createClientHost<I extends Shape>(game: Game<I>, options: ClientHostOptions): ClientHost<I> {
  return new ClientHost(game, options, ALL_PARTS)
}

/** The client's side of a match, driven by a loop of your own: receive, tick, send. */
export class ClientHost<I extends Shape = Shape> {
  /** The game that it plays. */
  readonly game: Game<I>
  /** The role of this process: a client. */
  readonly role: RoleContext = ROLES.client
  /** The endpoint with the connection to the server. */
  readonly endpoint: Endpoint
  /** Calls the game's code and counts what it throws. */
  readonly guard: UserCode
  /** The id of this client. 0 until the match has accepted it. */
  peer: PeerId = 0
  /** The seat and the ticket to resume it. Undefined until accepted, and in a match that is not a room. */
  seat: SeatWelcome | undefined = undefined
  /** How the server was authenticated, and which cipher is used. Undefined before `connect`. */
  security: Readonly<ConnectionSecurity> | undefined = undefined
  readonly #options: ClientHostOptions
  #isSpectator = false
  readonly #shared: ClientAuthority | undefined
  readonly #play: ClientPlay<I>
  readonly #view: ClientView
  readonly #observers: ClientObservers
  readonly #timing: TimingSink
  readonly #channels: ChannelSet
  readonly #desk: MessageDesk<void>
  readonly #calls: CallDesk<void>
  readonly #line: RpcLine<void>
  /** The latest time that was passed to any method. */
  readonly #now = new Float64Array(1)

  /** How often values of inputs, messages and calls were clamped to fit their fields. */
  get valueCounts(): ValueCounts {
    return this.#play.table.heap.counts
  }

  /** `createClientHost` passes all parts. */
  constructor(game: Game<I>, options: ClientHostOptions, parts: ClientParts) {
    this.game = game
    this.#options = options
    const code = new UserCode(options.onError)
    this.guard = code
    const onChanged: AuthorityListener = (object, owner) => {
      code.run('onAuthorityChanged', owner, () => options.onAuthorityChanged?.(object, owner))
    }
    this.#shared = game.entities.some(({ isShared }) => isShared) ? parts.createAuthority(game, onChanged) : undefined
    this.#play = new ClientPlay(game, code, options, this.#shared)
    this.#view = new ClientView(game, code, this.#shared)
    this.#timing = new TimingSink(this.#play)
    this.#observers = new ClientObservers(this.#play, code, () => this.endpoint.connections)
    this.#desk = new MessageDesk(game.messages, callsOf(game), code, {
      onEvent: (event) => this.#play.events.handleReceived(event),
      counts: this.valueCounts,
    })
    this.#channels = this.#desk.routes.createChannels()
    this.#calls = new CallDesk(callsOf(game), game.messages.length, this.#rpcHost(), code, this.valueCounts)
    this.#line = this.#calls.createLine(undefined, 0, this.#channels)
    this.endpoint = parts.createEndpoint({
      fingerprint: game.fingerprint,
      tickRate: game.tickRate,
      entropy: options.trace?.through(options.entropy) ?? options.entropy,
      timers: connectionTimers([game.net]),
      maxDatagramBytes: game.net.datagramBytesMax,
      ...(options.security && { security: options.security }),
      assemble: (connection) => this.#assemble(connection),
    })
    // Through the setter, so that the default input is traced too.
    this.sampleInput = this.#play.sampleInput
  }

  /** The view at the latest time that this host knows. `draw` updates it to a given time. */
  get view(): View {
    return this.draw(this.#now[0])
  }

  /** Continues the view of an earlier connection to this seat, so that its listeners stay. Returns the view in use. */
  adoptView(view: View | undefined): View {
    if (view !== undefined) this.#view.adopt(view)
    return this.#view.view
  }

  /** The rows that the authority sent, by tick. Sparse. */
  get confirmed(): Timeline {
    return this.#view.confirmed
  }

  /** The clock synchronisation, the current tick, and how early the inputs arrive at the authority. */
  get clock(): Pick<ClientPlay<I>, 'clock' | 'ticks' | 'lead' | 'lateInputs' | 'inputs'> {
    return this.#play
  }

  /** Internals behind the view and the clock, for development tools only. */
  get insides(): ClientInsides<I> {
    const { world, snapshots, renderClock, interpolator } = this.#view
    return {
      world,
      snapshots,
      renderClock,
      interpolator,
      timing: this.#timing,
      play: this.#play,
      channels: this.#channels,
    }
  }

  /** Adds an observer of packets, predictions and mistakes. The returned function removes it. */
  look(observer: ClientObserver): () => void {
    return this.#observers.add(observer)
  }

  /** The predictor. Undefined until accepted, and when nothing is predicted. */
  get predictor(): Predictor | undefined {
    return this.#play.predictor
  }

  /** The newest known tick of the authority. -1 before the first. */
  get serverTick(): number {
    return Math.max(this.#view.snapshots.tick, this.#timing.tick)
  }

  /** The tick, with its fraction, at which other objects are drawn. The next input carries it. -1 when unknown. */
  get viewTick(): number {
    return this.#view.viewTick(this.#now[0])
  }

  /** Called once per tick for the player's input. */
  set sampleInput(sample: () => InitOf<I>) {
    const { trace } = this.#options
    this.#play.sampleInput = trace === undefined ? sample : () => {
      let values: InitOf<I> = {}
      try {
        values = sample()
      } finally {
        trace.add({ kind: 'input', values })
      }
      return values
    }
  }

  /** Asks the authority at `to` for admission. With rooms, `join` selects the room. */
  connect(now: Millis, to: string, pass: ConnectPass = {}, join?: SentRequest): Connection {
    this.#now[0] = now
    const { role = this.#options.role ?? 'player' } = join ?? {}
    this.#isSpectator = role === 'spectator'
    this.#options.trace?.add({ kind: 'connect', now, to, pass, join })
    const request = join === undefined && !this.#isSpectator ? undefined : { ...join, role }
    const sent = encodeRequest(this.game, request, pass)
    const connection = this.endpoint.connect(now, to, sent.user, sent.pass)
    this.security = connection.security
    return connection
  }

  /** A datagram has arrived from `from`. `bytes` may be decrypted in place. */
  handleDatagram(now: Millis, from: string, bytes: Uint8Array, length: number): void {
    this.#options.trace?.datagram(now, from, bytes, length)
    this.#now[0] = now
    this.#pump(now, undefined, () => {
      this.endpoint.handleDatagram(now, from, bytes, length)
      // A digest covers one tick: it is checked before rows of the next tick arrive.
      this.#view.absorb()
      this.#play.predictor?.settle()
      this.#view.handleArrival(now, this.#timing.tick)
    })
  }

  /** The transport can no longer reach `address`. */
  handlePathClosed(address: string): void {
    this.#options.trace?.add({ kind: 'path-closed', from: address })
    this.endpoint.handlePathClosed(address)
  }

  /** Samples an input for every due tick and predicts up to it. Returns the number of ticks. */
  tick(now: Millis): number {
    this.#options.trace?.add({ kind: 'tick', now })
    this.#now[0] = now
    if (this.peer === 0) return 0
    const due = this.#pump(now, 0, () => {
      this.#view.prepare(now)
      return this.#isSpectator ? 0 : this.#play.tick(now, this.#view.viewTick(now))
    })
    if (due > 0) for (const connection of this.endpoint.connections) connection.wake()
    this.guard.rethrow()
    return due
  }

  /** The view at a given time. Call it before every repaint. */
  draw(now: Millis): View {
    this.#options.trace?.add({ kind: 'draw', now })
    this.#now[0] = now
    return this.#pump(now, this.#view.view, () => this.#view.draw(now))
  }

  /** Sends what is due. Returns when to call `tick` and `drain` again at the latest. */
  drain(now: Millis, port: Pick<DatagramPort, 'send'>): Millis {
    this.#options.trace?.add({ kind: 'drain', now })
    this.#now[0] = now
    this.#pump(now, undefined, () => {
      if (this.#desk.receive(now, this.#channels, undefined, this.#line) !== 'ok') this.endpoint.close(now, 'left')
      this.#line.expire(now)
      this.#line.deliver(Math.floor(this.#view.renderClock.renderTick))
    })
    const wakeAt = drain(this.endpoint, now, port, (event) => this.#handleEvent(now, event))
    this.guard.rethrow()
    return this.peer === 0 || this.guard.isBroken ? wakeAt : Math.min(wakeAt, this.#play.nextAt())
  }

  /** Calls `listener` for every message of this type from the authority. The returned function removes it. */
  on<S extends Shape>(message: Message<S>, listener: (values: ViewOf<S>) => void): () => void {
    return this.#desk.on(message, listener)
  }

  /** Calls `listener` once for every event in `step` (`world.emit`), predicted or received. Returns the remover. */
  onEvent<S extends Shape>(message: Message<S>, listener: EventListener<S>): () => void {
    return this.#play.events.on(message, listener)
  }

  /** Sends a message to the authority, with the delivery it was declared with. */
  send<S extends Shape>(message: Message<S>, values: ViewOf<S>): SendResult {
    this.#options.trace?.add({
      kind: 'send',
      message: this.game.messages.indexOf(message as unknown as Message),
      values,
    })
    return this.#desk.send(this.#channels, message, values)
  }

  /** Large messages and calls in progress, to and from the authority. */
  get transfers(): readonly Transfer[] {
    return this.#desk.transfers(this.#channels)
  }

  /** Registers `handler` for calls of the authority. The returned function removes it. */
  handle<A extends Shape, const R extends Shape>(rpc: Rpc<A, R>, handler: RpcHandler<A, R, void>): () => void {
    return this.#calls.handlers.on(rpc, handler)
  }

  /** Calls the authority, without a reply. */
  call<A extends Shape>(rpc: Rpc<A, Shape>, values: ViewOf<A>, { about }: CallOptions = {}): 'queued' | RpcFailure {
    this.#traceCall(rpc as unknown as Rpc, values, about?.id ?? 0, undefined, undefined)
    return this.#line.call(rpc, values, about?.id ?? 0)
  }

  /** Sends a request to the authority. The promise resolves with the outcome and never rejects. */
  request<A extends Shape, R extends Shape>(
    rpc: Rpc<A, R>, values: ViewOf<A>, options: RequestOptions = {},
  ): Promise<RpcResult<ViewOf<R>>> {
    const now = this.#now[0]
    this.#traceCall(rpc as unknown as Rpc, values, options.about?.id ?? 0, now, options.timeoutMs)
    return requestOn(this.#line, now, rpc, values, options)
  }

  /** Asks to write a shared object in view. The promise never rejects: without a reply, it is not granted. */
  async requestAuthority(object: { readonly id: ObjectId }): Promise<AuthorityGrant> {
    const result = await this.request(AskAuthority, { isWanted: true }, { about: object })
    return result.isOk ? result.values : { isGranted: false, tick: 0 }
  }

  /** Gives a shared object of this client back to the server. */
  releaseAuthority(object: { readonly id: ObjectId }): 'queued' | RpcFailure {
    return this.call(AskAuthority, { isWanted: false }, { about: object })
  }

  /** Asks to follow a player, as a spectator. Resolves with the followed player, or 0 for none; never rejects. */
  async spectate(whom: PeerId | 'next' | 'previous'): Promise<PeerId> {
    const values = typeof whom === 'number' ? { whom, step: 0 } : { whom: 0, step: whom === 'next' ? 1 : -1 }
    const result = await this.request(Spectate, values)
    return result.isOk ? result.values.whom : 0
  }

  /** Leaves the match. Keep draining until `endpoint.connections` is empty. */
  close(now: Millis): void {
    this.#options.trace?.add({ kind: 'close', now })
    this.#now[0] = now
    this.endpoint.close(now, 'left')
  }

  #traceCall(rpc: Rpc, values: unknown, about: ObjectId, now: Millis | undefined, timeoutMs: Millis | undefined): void {
    this.#options.trace?.add({ kind: 'call', rpc: callsOf(this.game).indexOf(rpc), values, about, now, timeoutMs })
  }

  #rpcHost(): RpcHost {
    const { world } = this.#view
    return { get tick() { return world.tick }, isAuthority: false, ownerOf: () => -1 }
  }

  /** Runs a part of the client. An error that escapes ends the connection with `fault`. */
  #pump<R>(now: Millis, otherwise: R, run: () => R): R {
    if (this.guard.isBroken) return otherwise
    try {
      return run()
    } catch (error) {
      this.guard.break('tickwire', error)
      this.endpoint.close(now, 'fault')
      return otherwise
    }
  }

  #assemble(connection: Connection): void {
    this.#observers.attach(connection)
    this.#play.rttMs = () => connection.rtt.samples > 0 ? connection.rtt.latestMs : 0
    const line: ClientLine = {
      inputs: this.#play.inputs,
      channels: this.#channels,
      snapshots: this.#view.snapshots,
      tables: new TablesSink((text) => this.game.codersBy(JSON.parse(text))),
      timing: this.#timing,
      peerInputs: this.game.predict === 'all' ? this.#play.others : undefined,
      shared: this.#shared,
    }
    addFrames(connection, line, CLIENT_FRAMES[this.#isSpectator ? 'spectator' : 'player'])
  }

  #handleEvent(now: Millis, event: EndpointEvent): void {
    if (event.type === 'opened') {
      const { peer, seed, seat } = decodeWelcome(event.welcome)
      this.peer = peer
      this.seat = seat
      if (!this.#isSpectator)
        this.#pump(now, undefined, () => this.#play.begin(peer, seed, this.#view.world, this.#view))
      this.#view.begin(this.#play.predictor, (now) => this.#play.ticks.ticksAt(now))
      this.#shared?.begin(
        peer,
        this.#view.world,
        this.#view.snapshots,
        (id) => this.#play.predictor?.isOurs(id) === true,
        () => this.#play.predictor?.receivedTick ?? 0,
      )
      this.guard.run('onOpened', peer, () => this.#options.onOpened?.())
    } else {
      this.#channels.close()
      this.#line.close()
      this.guard.run('onClosed', this.peer, () => this.#options.onClosed?.(event.reason))
    }
  }
}
