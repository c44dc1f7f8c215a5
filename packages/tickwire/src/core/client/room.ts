/**
 * A match as a client sees it, in a page and in Node: the view to draw, the inputs, the messages.
 *
 * A room has a `Line` to the server. When it is lost, the room gets another (`line-keeper.ts`), and reports this by
 * `onAway` and `onBack`. Listeners and `play` stay; packets in flight are lost, as with a reload.
 *
 * A page in the background has slow timers or none, but arriving packets wake it: it continues on the server's packets,
 * catches up by a few ticks at most (`FixedLoop`), and sends neutral input, because its player is not at the keys.
 */

import type { ObjectId, PeerId } from '../base/time.ts'
import type { SendResult } from '../channel/channel.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import type { ConnectionSecurity } from '../connection/connection-peer.ts'
import type { Connection } from '../connection/connection.ts'
import type { DatagramPortStats } from '../endpoint/datagram-port.ts'
import type { CallOptions, RequestOptions } from '../game/call-desk.ts'
import type { ClientHost } from '../game/client-host.ts'
import type { Transfer } from '../game/message-desk.ts'
import type { AuthorityGrant } from '../game/shared-authority.ts'
import type { View } from '../game/view.ts'
import type { RpcFailure, RpcResult } from '../rpc/pending-calls.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { RpcHandler } from '../rpc/rpc-handlers.ts'
import type { Message } from '../schema/definition.ts'
import type { Shape } from '../schema/field.ts'
import type { InitOf, ViewOf } from '../schema/value-types.ts'
import { Listeners, UserCode, type CodeFault, type FaultListener } from '../base/user-code.ts'
import type { PathName, TransportName } from './client-link.ts'
import type { Line, Taps } from './line.ts'
import { LineKeeper, type Return } from './line-keeper.ts'
import type { ClientPlatform } from './platform.ts'

/** What a page does in a match. */
export interface Play<I extends Shape> {
  /** Called once a tick: the player's current input. Missing fields have their initial value. */
  input(): InitOf<I>
  /** Called before every repaint, with the view to draw. Default: nothing is drawn, as for a bot. */
  draw?(view: View): void
  /** Called after `draw` while tools show ghosts: the newest state from the server, neither predicted nor smoothed. */
  drawGhosts?(truth: View): void
}

/** Hooks that tools may put between a room and the network, and callbacks for them. Empty unless a tool is in use. */
export interface RoomTools<I extends Shape = Shape> extends Taps {
  /** The host of the current connection. It changes when the page reconnects. */
  readonly host: ClientHost<I>
  /** Calls `listener` with the current host, and with each later one. The returned function removes the listener. */
  onHost(listener: (host: ClientHost<I>) => void): () => void
  /** The current connection. It changes when the page reconnects. */
  readonly connection: Connection
  /** `send` passes to the transport, `receive` to the match. */
  readonly network: { send(bytes: Uint8Array, length: number): void; receive(bytes: Uint8Array, length: number): void }
  /** The view that ghosts are drawn from. */
  truth: (() => View) | undefined
}

/** The input of a hidden page. */
const NOTHING_HELD = {}

/** A seat in a match, from `connect` until it is over. It survives lost connections. */
export class Room<I extends Shape = Shape> {
  /** Resolves when the match is over for this page, with the reason. */
  readonly closed: Promise<CloseReason>
  /** For tools only. */
  readonly tools: RoomTools<I>
  readonly #platform: ClientPlatform
  readonly #keeper: LineKeeper<I>
  /** Calls the page's code, and reports what it throws. */
  readonly #guard: UserCode = new UserCode((fault) => this.#handleFault(fault))
  readonly #errors: Listeners<[CodeFault]>
  readonly #transports: Listeners<[TransportName | 'none']> = new Listeners(this.#guard, 'onTransport')
  readonly #aways: Listeners<[CloseReason]> = new Listeners(this.#guard, 'onAway')
  readonly #backs: Listeners<['same' | 'new']> = new Listeners(this.#guard, 'onBack')
  /** What the page registered on the host, with its undo. Each new host gets the same registrations. */
  readonly #wirings = new Set<{ readonly wire: (host: ClientHost<I>) => () => void; undo: () => void }>()
  readonly #forgetGone: () => void
  #view: View | undefined = undefined
  #settle: (reason: CloseReason) => void = () => {}

  /** `line` is open. Without `back`, the room ends when its line is lost. */
  constructor(line: Line<I>, back: Return<I> | undefined, platform: ClientPlatform) {
    this.#platform = platform
    this.#keeper = new LineKeeper(line, back, platform, {
      onLine: (next) => this.#handleLine(next),
      onAway: (reason) => this.#aways.call(0, reason),
      onBack: (seat) => this.#backs.call(0, seat),
      onEnd: (reason) => this.#handleEnd(reason),
      onFault: (error) => this.#guard.report('connect', error),
    })
    this.#errors = new Listeners(new UserCode(platform.reportFault), 'onError')
    this.closed = new Promise((resolve) => { this.#settle = resolve })
    const current = (): Line<I> => this.#line
    this.tools = {
      get host() {
        return current().host
      },
      get connection() {
        return current().connection
      },
      onHost: (listener) =>
        this.#wire((host) => {
          this.#guard.run('onHost', 0, () => listener(host))
          return () => {}
        }),
      network: {
        send: (bytes, length) => current().transmit(bytes, length),
        receive: (bytes, length) => current().receive(bytes, length),
      },
      send: undefined,
      receive: undefined,
      onTicked: undefined,
      truth: undefined,
    }
    this.#keeper.start()
    // A vanished page's data channel takes the server ten seconds to detect; other transports report it by themselves.
    this.#forgetGone = platform.onGone(() => this.#keeper.abandon())
    platform.noteRoom(this as unknown as Room, true)
  }

  get #line(): Line<I> {
    return this.#keeper.line
  }

  /** The peer id of this client. */
  get peer(): PeerId {
    return this.#line.host.peer
  }

  /** The id of the room on the server. */
  get id(): string {
    return this.#line.host.seat?.room ?? ''
  }

  /** Whether nothing arrives from the server: it has stopped, or the connection is lost and the room reconnects. */
  get isAway(): boolean {
    return this.#keeper.isAway
  }

  /** Whether this seat was held before, by this page or by the one that was reloaded. */
  get isBack(): boolean {
    return this.#line.host.seat?.isBack ?? false
  }

  /**
   * Whether the server's identity is proven. `identity` is 'verified' when the server proved the identity key that the
   * token, the `server` option or the page's own https server named. It is 'unverified' when the page knew none: then
   * an attacker on the path may have answered. `suite` is the cipher of the packets.
   */
  get security(): Readonly<ConnectionSecurity> {
    return this.#line.connection.security
  }

  /** The transport that carries the match; 'none' while it looks for one. */
  get transport(): TransportName | 'none' {
    return this.#line.link.transport
  }

  /** Why this transport is used: what happened to the better ones. */
  get transportReason(): string {
    return this.#line.link.reason
  }

  /**
   * How data reaches the host: `direct`, `relay`, `websocket` (a relay, because UDP is blocked) or `none`. It changes
   * while the match runs: a match that is joined by a code begins by relay.
   */
  get path(): PathName {
    const { path, transport } = this.#line.link
    return path ?? (transport === 'none' ? 'none' : 'direct')
  }

  /** Why it is this path, in one sentence. */
  get pathReason(): string {
    return this.#line.link.pathReason ?? 'the server was named by its address'
  }

  /** Datagrams sent, received and dropped, over all transports. */
  get transportStats(): Readonly<DatagramPortStats> {
    return this.#line.link.stats
  }

  /** Tries the better transports again, now, as it does by itself from time to time. The match continues meanwhile. */
  climb(): void {
    this.#line.link.climb()
  }

  /** Round trip to the authority, smoothed. */
  get rttMs(): number {
    return this.#line.connection.rtt.smoothedMs
  }

  /** The view to draw now. It is one object for the life of the room, and keeps its listeners over a reconnect. */
  get view(): View {
    return this.#line.host.view
  }

  /**
   * Calls `listener` when another transport carries the match. The returned function removes it, as for every `on…`.
   */
  onTransport(listener: (transport: TransportName | 'none') => void): () => void {
    return this.#transports.add(listener)
  }

  /**
   * Calls `listener` when nothing has arrived from the server for 1.2 s, or the connection is lost. The room reconnects
   * by itself.
   */
  onAway(listener: (reason: CloseReason) => void): () => void {
    return this.#aways.add(listener)
  }

  /**
   * Calls `listener` when packets arrive again: 'same' in the same seat, with the same objects; 'new' if that seat is
   * gone, so that the client is a new player (`peer` has changed), such as in a restarted server.
   */
  onBack(listener: (seat: 'same' | 'new') => void): () => void {
    return this.#backs.add(listener)
  }

  /**
   * Calls `listener` with errors thrown by callbacks of the game or the page. Without a listener they are
   * reported as uncaught errors of a page, or on the console of Node.
   */
  onError(listener: FaultListener): () => void {
    return this.#errors.add(listener)
  }

  /** Starts sampling input and drawing, until the match is over. */
  play({ input, draw, drawGhosts }: Play<I>): void {
    this.#wire((host) => {
      host.sampleInput = () => (this.#platform.isHidden() ? NOTHING_HELD : input())
      return () => {}
    })
    if (draw === undefined) return
    const repaint = (): void => {
      if (this.#keeper.isOver) return
      const view = this.#line.host.draw(this.#platform.now())
      this.#guard.run('draw', 0, () => draw(view))
      const { truth } = this.tools
      if (truth !== undefined) this.#guard.run('drawGhosts', 0, () => drawGhosts?.(truth()))
      this.#platform.repaint(repaint)
    }
    this.#platform.repaint(repaint)
  }

  /** Calls `listener` for every message of a type from the authority. */
  on<S extends Shape>(message: Message<S>, listener: (values: ViewOf<S>) => void): () => void {
    return this.#wire((host) => host.on(message, listener))
  }

  /** Calls `listener` once for every event of a type that `step` emits (`world.emit`). */
  onEvent<S extends Shape>(message: Message<S>, listener: (values: ViewOf<S>) => void): () => void {
    return this.#wire((host) => host.onEvent(message, listener))
  }

  /** Sends a message to the authority, reliably and in order. */
  send<S extends Shape>(message: Message<S>, values: ViewOf<S>): SendResult {
    return this.#act((host) => host.send(message, values))
  }

  /**
   * Sends a request to the authority. Resolves with its reply, or with the reason why there is none: `closed` if the
   * connection is lost meanwhile. Never rejects. `timeoutMs`: 5,000 by default.
   */
  request<A extends Shape, R extends Shape>(
    rpc: Rpc<A, R>, values: ViewOf<A>, options: RequestOptions = {},
  ): Promise<RpcResult<ViewOf<R>>> {
    return this.#act((host) => host.request(rpc, values, options))
  }

  /** Calls the authority, without a reply. `about`: the object that the call is about, by default none. */
  call<A extends Shape>(rpc: Rpc<A, Shape>, values: ViewOf<A>, options: CallOptions = {}): 'queued' | RpcFailure {
    return this.#act((host) => host.call(rpc, values, options))
  }

  /** Registers `handler` for calls of the authority. It is called when the view reaches the tick of the call. */
  handle<A extends Shape, const R extends Shape>(rpc: Rpc<A, R>, handler: RpcHandler<A, R, void>): () => void {
    return this.#wire((host) => host.handle(rpc, handler))
  }

  /** Asks to write a shared object in view. Never rejects: without a reply, it is not granted. */
  requestAuthority(object: { readonly id: ObjectId }): Promise<AuthorityGrant> {
    return this.#act((host) => host.requestAuthority(object))
  }

  /** Gives a shared object of this client back to the server. */
  releaseAuthority(object: { readonly id: ObjectId }): 'queued' | RpcFailure {
    return this.#act((host) => host.releaseAuthority(object))
  }

  /** Large messages and calls in progress to and from the authority: how much of each has arrived. */
  get transfers(): readonly Transfer[] {
    return this.#line.host.transfers
  }

  /** Lets a spectator follow a player. Resolves to the player it follows now, or 0 for none; never rejects. */
  spectate(whom: PeerId | 'next' | 'previous'): Promise<PeerId> {
    return this.#act((host) => host.spectate(whom))
  }

  /** Leaves the match. */
  leave(): void {
    this.#keeper.leave()
  }

  /** Runs `act` at the current time, and sends what it queued. */
  #act<T>(act: (host: ClientHost<I>) => T): T {
    // The host learns the time first: a page that slept would otherwise count the timeout of a request from long ago.
    this.#line.wake()
    const result = act(this.#line.host)
    this.#line.wake()
    return result
  }

  #wire(wire: (host: ClientHost<I>) => () => void): () => void {
    const entry = { wire, undo: wire(this.#line.host) }
    this.#wirings.add(entry)
    return () => {
      this.#wirings.delete(entry)
      entry.undo()
    }
  }

  /** The room continues on this line. */
  #handleLine(line: Line<I>): void {
    line.taps = this.tools
    line.onError = (fault) => this.#handleFault(fault)
    line.link.onSwitched = () => this.#handleSwitched()
    const isFirst = this.#view === undefined
    this.#view = line.host.adoptView(this.#view)
    for (const entry of this.#wirings) entry.undo = entry.wire(line.host)
    if (!isFirst) this.#transports.call(0, this.transport)
  }

  #handleFault(fault: CodeFault): void {
    if (this.#errors.size > 0) this.#errors.call(fault.peer, fault)
    else this.#platform.reportFault(fault)
  }

  /** Resets the path measurements: they were of another path. */
  #handleSwitched(): void {
    if (this.#line.link.provenCount > 1) {
      this.#line.connection.gate.reset(this.#platform.now())
      this.#line.connection.rtt.reset()
    }
    this.#transports.call(0, this.transport)
  }

  #handleEnd(reason: CloseReason): void {
    this.#forgetGone()
    this.#platform.noteRoom(this as unknown as Room, false)
    this.#settle(reason)
  }
}
