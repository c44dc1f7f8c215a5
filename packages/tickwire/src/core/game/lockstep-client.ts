/**
 * The client's side of a lockstep match: connects to a relay, receives ticks and steps them.
 *
 * It owns an endpoint but no socket and no clock. It is driven like every host: receive, tick, send.
 */

import { IMAGE_WAIT_MS, REJOIN_BEHIND_TICKS } from '../base/limits.ts'
import type { Millis, PeerId, Tick } from '../base/time.ts'
import type { Connection } from '../connection/connection.ts'
import { DelayBasedController } from '../delivery/congestion/delay-based.ts'
import { nobleHashes } from '../crypto/noble-hashes.ts'
import type { DatagramPort } from '../endpoint/datagram-port.ts'
import { drain } from '../endpoint/drain.ts'
import {
  createEndpoint as createAnyEndpoint, type ConnectPass, type Endpoint, type EndpointEvent,
} from '../endpoint/endpoint.ts'
import type { LockstepGame } from '../lockstep/define-lockstep.ts'
import { LockstepRunner } from '../lockstep/lockstep-runner.ts'
import type { AnyOrder } from '../lockstep/order.ts'
import { HandoverPapers } from '../lockstep/handover-papers.ts'
import { PastTicks } from '../lockstep/past-ticks.ts'
import { RelayFeed } from '../lockstep/relay-feed.ts'
import { Roster } from '../lockstep/roster.ts'
import { DesyncAgent } from '../lockstep/desync/desync-agent.ts'
import { LOCKSTEP_KIND } from '../order/lockstep-kinds.ts'
import type { NextRelay } from '../order/handover-messages.ts'
import { makeSeedShare, type Sha256 } from '../order/seed-share.ts'
import { decodeSync, encodeSync, splitSnapshot, type SyncMessage } from '../order/sync-messages.ts'
import { SyncSink, SyncSource } from '../order/sync-stream.ts'
import { encodeJoin, type SentRequest } from '../rooms/join-body.ts'
import { decodeWelcome, type SeatWelcome } from '../rooms/welcome.ts'
import type { LockstepClientOptions } from './lockstep-client-options.ts'
import { LockstepLanes } from './lockstep-lanes.ts'
import { Silence } from './silence.ts'

export type { LockstepClientOptions } from './lockstep-client-options.ts'

/**
 * How far a client is. Connecting: it has no connection. Authorized: the relay has accepted it, and it has no tick.
 * Downloading: it waits for a state. Catching-up: it steps old ticks. Active: it is at most a tick behind.
 */
export type LockstepStatus = 'connecting' | 'authorized' | 'downloading' | 'catching-up' | 'active'

type State = Extract<SyncMessage, { kind: 'state' }>

const NO_BYTES = new Uint8Array(0)
/** A client that is at most this many ticks behind has caught up: half a second at 30 Hz. */
const NEAR_TICKS = 15

/** The client's side of a lockstep match, driven by a loop of your own: receive, tick, send. */
export class LockstepClient<O extends readonly AnyOrder[] = readonly AnyOrder[]> {
  /** The game that it plays. */
  readonly game: LockstepGame<O>
  /** The endpoint with the connection to the relay. */
  readonly endpoint: Endpoint
  /** The ticks from the relay. A new seat has a new feed. */
  feed: RelayFeed
  /** Steps the game. Undefined until the relay has accepted the client. */
  runner: LockstepRunner<O> | undefined = undefined
  /** The seat and the ticket to resume it. Undefined until accepted. */
  seat: SeatWelcome | undefined = undefined
  /** Takes part in finding and repairing differences. Undefined until accepted, and for an observer. */
  agent: DesyncAgent | undefined = undefined
  /** Messages to and from the other players. */
  readonly lanes: LockstepLanes = new LockstepLanes()
  readonly #options: LockstepClientOptions
  #isObserver = false
  /** A state from the relay, until the next tick. */
  #state: State | undefined
  #past: PastTicks
  /** Until then the client waits for an image. */
  #waitUntil: Millis = 0
  #isActive = false
  /** Whether it has asked for an image on this connection. */
  #hasAsked = false
  #sync = new SyncSource()
  /** What lets the match go on at another relay. Undefined: the client has no key. */
  readonly #papers: HandoverPapers | undefined
  readonly #silence = new Silence()
  /** The seat at a relay that is asked to go on with the match. */
  #claimed: { seat: SeatWelcome | undefined } | undefined
  /** Orders are given again when this tick was stepped or read. Infinity: none wait for that. */
  #giveAgainAt: Tick = Infinity
  /** The newest tick that is in the match, while the world is past it and an image is to come. Infinity: it is not. */
  #lostAfter: Tick = Infinity

  constructor(game: LockstepGame<O>, options: LockstepClientOptions) {
    this.game = game
    this.#options = options
    this.feed = new RelayFeed({ tickRate: game.tickRate })
    this.#past = this.#makePast()
    this.#papers = options.signer && new HandoverPapers(options.signer)
    const { createEndpoint = createAnyEndpoint } = options
    this.endpoint = createEndpoint({
      fingerprint: game.fingerprint,
      tickRate: game.tickRate,
      entropy: options.entropy,
      // As at the relay: images and the ticks of a handover need the whole rate of a path that loses packets.
      congestion: () => new DelayBasedController(),
      ...(options.security && { security: options.security }),
      assemble: (connection) => this.#assemble(connection),
    })
  }

  /** The id of the local player. 0 until accepted, and for an observer. */
  get player(): PeerId {
    return this.feed.player
  }

  /**
   * Asks the relay at `to` for a seat. With the ticket of a lost connection the match goes on where it was. Without it
   * the seat is a new one, maybe in another match: the client begins with the first tick, as another player.
   */
  connect(now: Millis, to: string, join?: SentRequest, pass: ConnectPass = {}): Connection {
    this.#isObserver = join?.role === 'spectator'
    if (join === undefined || !('resume' in join)) this.#beginAnew()
    // The first packet may be written before the connection says that it is open.
    this.feed.orders.restart()
    return this.#open(now, to, join, pass)
  }

  /** The relays at which the match may go on if this one is lost, in order. Empty: there are none. */
  get nextRelays(): readonly NextRelay[] {
    return this.#papers?.relays ?? []
  }

  /** Whether a relay has accepted the claim to the seat, and gathers the other players. */
  get isGathering(): boolean {
    return this.#claimed?.seat !== undefined
  }

  /** How long the relay was silent, in ms. Time in which this program slept does not count. */
  get silentMs(): Millis {
    return this.#silence.ms
  }

  /** Asks the relay at `to` to go on with the match, whose relay is lost. `key`: the public key of the relay. */
  claim(now: Millis, to: string, key: Uint8Array, pass: ConnectPass = {}): Connection {
    this.feed.hold()
    const data = this.#papers?.claimData(key, this.feed.log) ?? NO_BYTES
    const role = this.#isObserver ? { role: 'spectator' as const } : {}
    this.#claimed = { seat: undefined }
    return this.#open(now, to, { claim: true, ...role }, { ...pass, server: key, data })
  }

  #open(now: Millis, to: string, join: SentRequest | undefined, pass: ConnectPass): Connection {
    this.#waitUntil = 0
    this.#hasAsked = false
    this.#silence.reset()
    return this.endpoint.connect(now, to, join === undefined ? NO_BYTES : encodeJoin(join), pass)
  }

  /** The transport can no longer reach `address`. */
  handlePathClosed(address: string): void {
    this.endpoint.handlePathClosed(address)
  }

  /** A datagram has arrived from `from`. `bytes` may be decrypted in place. */
  handleDatagram(now: Millis, from: string, bytes: Uint8Array, length: number): void {
    this.endpoint.handleDatagram(now, from, bytes, length)
    let packets = 0
    for (const { stats } of this.endpoint.connections) packets += stats.packetsReceived
    this.#silence.note(packets)
  }

  /** Steps the ticks that are due. Returns how many. */
  tick(now: Millis): number {
    if (this.#state !== undefined) this.#jump(this.#state)
    this.lanes.drain()
    this.#silence.pass(now)
    this.#papers?.pump(this.feed.log, () => this.#sync.waitingBytes, (message) => this.#sync.send(encodeSync(message)))
    if (this.#lostAfter !== Infinity) return this.#askAgain(now)
    if (this.#isWaiting(now)) return 0
    this.#waitUntil = 0
    const count = this.runner?.update(now) ?? 0
    const behind = this.feed.log.newest - (this.runner?.tick ?? 0)
    if (behind > NEAR_TICKS) this.#isActive = false
    else if (count > 0 && behind <= 1) this.#isActive = true
    if (!this.feed.log.isWhole) this.#fetchPast(now)
    this.#giveAgain(now)
    return count
  }

  /** How far the client is. */
  get status(): LockstepStatus {
    if (this.runner === undefined || this.endpoint.connections.length === 0) return 'connecting'
    if (this.#waitUntil > 0) return 'downloading'
    if (this.#isActive) return 'active'
    return this.feed.log.newest === 0 ? 'authorized' : 'catching-up'
  }

  /** Sends what is due. Returns when to call `tick` and `drain` again at the latest. */
  drain(now: Millis, port: Pick<DatagramPort, 'send'>): Millis {
    const wakeAt = drain(this.endpoint, now, port, (event) => this.#handleEvent(now, event))
    return Math.min(wakeAt, this.#isWaiting(now) ? this.#waitUntil : (this.runner?.nextAt() ?? Infinity))
  }

  /** Leaves the match. Keep draining until `endpoint.connections` is empty. */
  close(now: Millis): void {
    this.endpoint.close(now, 'left')
  }

  /** A new seat has other order numbers, another player and perhaps another match: the old state is discarded. */
  #beginAnew(): void {
    if (this.runner === undefined) return
    this.feed.close()
    this.feed = new RelayFeed({ tickRate: this.game.tickRate })
    this.runner = undefined
    this.agent = undefined
    this.seat = undefined
    this.#state = undefined
    this.#past = this.#makePast()
    this.#papers?.clear()
    this.#giveAgainAt = Infinity
    this.#lostAfter = Infinity
  }

  /** While the client catches up, the line is for the newest ticks. */
  #fetchPast(now: Millis): void {
    const { feed: { log }, runner } = this
    const tick = runner?.tick ?? 0
    if (log.newest - tick <= NEAR_TICKS || !log.has(tick + 1)) this.#past.update(now)
  }

  #makePast(): PastTicks {
    return new PastTicks(this.feed.log, (message) => { this.#sync.send(encodeSync(message)) })
  }

  get #sha256(): Sha256 {
    const { security: { provider = nobleHashes } = {} } = this.#options
    return (bytes) => provider.sha256(bytes)
  }

  /** Goes on from the state. If it is not one, the ticks up to it are stepped when they have arrived. */
  #jump({ tick, snapshot }: State): void {
    this.#state = undefined
    this.#isActive = false
    const parts = splitSnapshot(snapshot)
    const roster = parts && Roster.decode(parts.roster)
    if (parts === undefined || roster === undefined) return
    const { runner } = this
    const isBack = this.#lostAfter !== Infinity
    const last = isBack ? this.#lostAfter : (runner?.tick ?? 0)
    if (runner?.jump(tick, parts.image, { roster, mayGoBack: isBack }) !== true) return
    if (isBack) runner.ownOrders.reopen(last)
    runner.ownOrders.skip(last, tick)
    this.#lostAfter = Infinity
  }

  /** The match has gone on at another relay after `tick`. Own ticks after `keep` are not in it. */
  #handleContinued(now: Millis, tick: Tick, keep: Tick): void {
    const { runner } = this
    if (this.#claimed === undefined || runner === undefined) return
    this.seat = this.#claimed.seat
    this.#claimed = undefined
    this.#papers?.moveOn()
    const isAhead = runner.tick > keep
    this.feed.moveOn(tick, Math.min(keep, this.feed.log.newest))
    this.agent?.restart()
    if (isAhead && this.agent?.rewind(keep) !== true) this.#lostAfter = keep
    if (this.#lostAfter !== Infinity) this.#askAgain(now)
    this.#giveAgainAt = tick
    this.#options.onContinued?.(tick)
    this.#options.onOpened?.()
  }

  /** Gives orders again that are in no tick: all ticks up to the handover were stepped or, after an image, read. */
  #giveAgain(now: Millis): void {
    const { runner, feed } = this
    if (runner?.ownOrders.readSkipped(feed.log, feed.player) !== true || runner.tick < this.#giveAgainAt) return
    this.#giveAgainAt = Infinity
    feed.giveAgain(now, runner.ownOrders.waiting)
  }

  /** The world is past the match: it waits for an image, and asks again if there is none yet. */
  #askAgain(now: Millis): number {
    if (now < this.#waitUntil) return 0
    this.#waitUntil = now + IMAGE_WAIT_MS
    this.#hasAsked = true
    this.#sync.send(encodeSync({ kind: 'wanted', tick: 0, isWhole: true }))
    return 0
  }

  /** Whether an image is to come that makes stepping needless. */
  #isWaiting(now: Millis): boolean {
    return now < this.#waitUntil
  }

  /** A state to go on from. Tick 0: there is none. */
  #handleState(now: Millis, state: State): void {
    this.#waitUntil = 0
    if (state.tick === 0 || !this.feed.skipLog(now, state.ticks, state.tick, state.position)) return
    this.#state = state
    this.#past.begin(now)
  }

  /** The match is at a tick. A client that is far behind asks for an image, and waits for it. */
  #handleNewest(now: Millis, tick: Tick): void {
    if (this.#hasAsked || tick - (this.runner?.tick ?? 0) <= REJOIN_BEHIND_TICKS) return
    this.#hasAsked = true
    this.#waitUntil = now + IMAGE_WAIT_MS
    this.#sync.send(encodeSync({ kind: 'wanted', tick: 0, isWhole: true }))
  }

  #makeAgent(runner: LockstepRunner<O>): DesyncAgent {
    const { machine = '', signer, sourceLine, onFinding, onReport } = this.#options
    return new DesyncAgent(runner as unknown as LockstepRunner, {
      machine, sha256: this.#sha256, send: (message) => { this.#sync.send(encodeSync(message)) },
      ...(signer && { signer }), ...(sourceLine && { sourceLine }),
      ...(onFinding && { onFinding }), ...(onReport && { onReport }),
    })
  }

  #assemble(connection: Connection): void {
    this.feed.rttMs = () => connection.rtt.smoothedMs
    connection.addSource(LOCKSTEP_KIND.orders, this.feed.orders)
    connection.addSink(LOCKSTEP_KIND.ticks, this.feed.ticks)
    const { orders, ticks } = this.feed
    ticks.onNewest = (now, newest) => this.#handleNewest(now, newest)
    this.lanes.attach(connection, () => orders.filledSequence)
    this.feed.sendLarge = (type, data) => {
      const result = this.lanes.sendOrder(type, data)
      return result === 'queued' ? 'sent' : result === 'closed' ? 'closed' : 'full'
    }
    const sink = new SyncSink()
    const sync = new SyncSource()
    this.#sync = sync
    sync.takenSequence = () => orders.filledSequence
    sink.onMessage = (now, bytes) => {
      // Of several attempts to connect, an earlier one may have succeeded: answers go where the question came from.
      this.#sync = sync
      const message = decodeSync(bytes)
      if (message?.kind === 'state') this.#handleState(now, message)
      else if (message?.kind === 'past') this.#past.handlePiece(message)
      else if (message?.kind === 'continued') this.#handleContinued(now, message.tick, message.keep)
      else if (message !== undefined) this.#handleSync(now, message)
    }
    connection.addSource(LOCKSTEP_KIND.sync, sync)
    connection.addSink(LOCKSTEP_KIND.sync, sink)
  }

  #handleSync(now: Millis, message: SyncMessage): void {
    this.agent?.handleMessage(now, message)
    const answer = this.#papers?.handleMessage(message, this.player)
    if (answer !== undefined) this.#sync.send(encodeSync(answer))
  }

  #handleEvent(now: Millis, event: EndpointEvent): void {
    if (this.#claimed !== undefined) this.#handleClaim(event, this.#claimed)
    else this.#handleOwn(now, event)
  }

  /** The connection to a relay that is asked to go on with the match. */
  #handleClaim(event: EndpointEvent, claimed: { seat: SeatWelcome | undefined }): void {
    if (event.type === 'opened') {
      claimed.seat = decodeWelcome(event.welcome).seat
      if (this.#papers !== undefined) this.#sync.send(encodeSync(this.#papers.claim(this.feed.log)))
      return
    }
    this.#claimed = undefined
    this.feed.release()
    this.feed.close()
    this.lanes.detach()
    this.#options.onClosed?.(event.reason)
  }

  #handleOwn(now: Millis, event: EndpointEvent): void {
    const { entropy } = this.#options
    const sha256 = this.#sha256
    if (event.type === 'opened') {
      const { peer, seed, seat } = decodeWelcome(event.welcome)
      this.seat = seat
      if (this.runner === undefined) {
        this.feed.seed = seed
        this.feed.player = this.#isObserver ? 0 : peer
        this.feed.reopen()
        const isNew = seat?.isBack !== true
        const share = isNew ? makeSeedShare((bytes) => { entropy.fill(bytes) }, sha256) : undefined
        if (seed === 0) this.feed.agree(now, sha256, share)
        this.runner = new LockstepRunner(this.game, this.feed, this.#options.runner)
        if (!this.#isObserver) this.agent = this.#makeAgent(this.runner)
      } else {
        this.feed.reopen()
        this.agent?.restart()
        this.#past.restart()
      }
      this.#options.onOpened?.()
    } else {
      this.feed.close()
      this.lanes.detach()
      this.#options.onClosed?.(event.reason)
    }
  }
}
