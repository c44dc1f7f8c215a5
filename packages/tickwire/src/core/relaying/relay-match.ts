/**
 * A lockstep match in a room: an order relay, and the connections of its players and observers.
 *
 * It has no world and no game code. It knows a game by its card: fingerprint, tick rate and number of players.
 */

import { InvariantError } from '../base/assert.ts'
import type { Entropy } from '../base/entropy.ts'
import type { Millis, PeerId, Tick } from '../base/time.ts'
import type { CloseReason, LeaveCode } from '../connection/close-reason.ts'
import type { Connection } from '../connection/connection.ts'
import type { LockstepCard } from '../order/lockstep-card.ts'
import { SYNC_MESSAGE_BYTES_MAX, SYNC_SMALL_BYTES_MAX } from '../base/limits.ts'
import { decodeSync, encodeSync, type Root } from '../order/sync-messages.ts'
import { SyncSink, SyncSource } from '../order/sync-stream.ts'
import { DesyncJudge, type JudgeEvent } from '../order-relay/desync-judge.ts'
import { LOCKSTEP_KIND } from '../order/lockstep-kinds.ts'
import { makeSeedShare, type Sha256 } from '../order/seed-share.ts'
import type { EndReason } from '../order/tick-event.ts'
import { TicksSource, type TimingFeedback } from '../order/ticks-frame.ts'
import { OrderRelay } from '../order-relay/order-relay.ts'
import { RejoinDesk, type DonorCandidate } from '../order-relay/rejoin-desk.ts'
import { FIELD } from '../order-relay/relay-state.ts'
import type { RelayNotice } from '../order-relay/relay-watch.ts'
import type { FrameSink } from '../packet/frame-source.ts'
import { HostedRoom, type RoomIdentity, type RoomWiring } from '../rooms/hosted-room.ts'
import type { MatchImage } from '../rooms/room-image.ts'
import type { PacketTap } from '../rooms/room-match.ts'
import type { Complete, Member } from '../rooms/room-rules.ts'
import { HashMode } from './hash-mode.ts'
import { MatchKeeping } from './match-keeping.ts'
import { RelayLanes } from './relay-lanes.ts'
import { ConnectingLine, type Line } from './relay-line.ts'
import type { RelayRoomType } from './relay-room-type.ts'

export { RANKED_ROOM, type Referee, type RelayRoomType } from './relay-room-type.ts'

/** The secrets of a match, and its source of random bytes. */
export interface RelaySecrets {
  /** Liveness tokens are made from it. */
  readonly secret: number
  /** The source of random bytes. */
  readonly entropy: Entropy
  /** SHA-256. */
  readonly sha256: Sha256
}

/** The connection of one client. */
interface Client {
  readonly connection: Connection
  readonly source: TicksSource
  readonly sync: SyncSource
  readonly isObserver: boolean
  /** The newest handle of its line. */
  line: Line<'authenticated'> | Line<'in-lobby'> | Line<'in-game'>
  /** The shortest round trip of this connection, in ms. */
  leastRttMs: number
  /** The tick of the last feedback. */
  feedbackTick: Tick
  /** Whether it waits for a state, and gets no ticks. */
  isHeld: boolean
  /** The tick of the state that is on its way; 0: none is. */
  stateTick: Tick
}

const OBSERVER_DELAY_TICKS = 60
const FEEDBACK_TICKS = 30
/** While no tick is due the room is looked at this often: seats expire. */
const IDLE_MS = 100
/** After the last tick, clients have this long to receive it. */
const FAREWELL_MS = 2000

const NO_TAP: PacketTap = { hasPacketRecorders: false, handleDatagram: () => {}, tap: (port) => port }

/** A lockstep match, as a room. */
export class RelayMatch extends HostedRoom<RelayRoomType> {
  readonly watch: PacketTap = NO_TAP
  readonly relay: OrderRelay
  /** Messages between players, and large orders. */
  readonly lanes: RelayLanes
  /** Decides desyncs. */
  readonly judge: DesyncJudge
  /** Gives images to clients that are far behind. */
  readonly desk: RejoinDesk
  /** The recording of the match. */
  readonly keeping: MatchKeeping
  readonly #card: LockstepCard
  readonly #clients = new Map<PeerId, Client>()
  readonly #delayTicks: number
  readonly #hashMode = new HashMode()
  #nextAt: Millis = 0
  #joined = 0
  #endedAt: Millis = Infinity

  constructor(identity: RoomIdentity, type: Complete<RelayRoomType>, wiring: RoomWiring, secrets: RelaySecrets) {
    super(identity, type, wiring)
    const { tickRate, players: [, players] } = type.game
    this.#card = type.game
    this.#delayTicks = type.observerDelayTicks ?? OBSERVER_DELAY_TICKS
    const { secret, entropy, sha256 } = secrets
    const share = type.seed === 'agreed' ? makeSeedShare((bytes) => { entropy.fill(bytes) }, sha256) : undefined
    this.relay = new OrderRelay({
      ...type.relay, tickRate, players, secret, ...(share !== undefined && { seed: { share, sha256 } }),
    })
    this.lanes = new RelayLanes(wiring.fragments, (now, peer, bytes, length) => {
      const line = this.#clients.get(peer)?.line
      if (line?.stage === 'in-game') line.handleLarge(now, bytes, length)
    })
    const rules = { ...type.relay?.desync, hasReferee: type.referee !== undefined }
    this.judge = new DesyncJudge(this.relay.log, this.seed, () => this.#judged(), rules)
    const recorder = type.record?.({ id: this.id, seed: this.seed, game: type.game, log: this.relay.log })
    this.keeping = new MatchKeeping(recorder, this.relay.log, sha256, () => this.#judged())
    this.desk = new RejoinDesk({
      log: this.relay.log, sha256, players: () => this.#judged(), newestFor: (peer) => this.#newestFor(peer),
      waitingBytes: (peer) => this.#clients.get(peer)?.sync.waitingBytes ?? 0, firstTicks: share === undefined ? 0 : 2,
    })
  }

  attach(connection: Connection, { id, role }: Member): void {
    const isObserver = role === 'spectator'
    const { relay } = this
    const line = new ConnectingLine(relay).authenticate(id, isObserver)
    if (line === 'bad-signature') throw new InvariantError('a member of a room has an id')
    const client: Client = {
      connection, isObserver, line, leastRttMs: Infinity, feedbackTick: 0, sync: new SyncSource(),
      isHeld: false, stateTick: 0,
      source: new TicksSource({
        log: relay.log,
        newest: () => client.isHeld ? 0 : this.#newestFor(id),
        tokenOf: (tick) => client.line.stage === 'in-game' ? client.line.token(tick) : 0,
        takeFeedback: () => this.#feedback(client),
      }),
    }
    this.#clients.set(id, client)
    connection.addSource(LOCKSTEP_KIND.ticks, client.source)
    connection.addSink(LOCKSTEP_KIND.orders, this.#sink(id, client))
    this.lanes.attach(this.now(), id, connection, isObserver, () => client.source.filledSequence)
    this.#attachSync(id, client)
    if (!isObserver) this.keeping.greet(id)
    // A new player joins when its first packets have arrived. A player with a slot and an observer join at once.
    if (isObserver || relay.slotOf(id) >= 0) this.#joinLobby(client)
  }

  enter(peer: PeerId): void {
    const client = this.#clients.get(peer)
    if (client === undefined || !this.#joinLobby(client)) return
    this.#joined++
    this.handleJoined(peer)
    this.#startIfReady()
  }

  detach(peer: PeerId): void {
    this.#clients.get(peer)?.line.close()
    this.#clients.delete(peer)
    this.lanes.detach(peer)
    this.judge.handleGone(this.now(), peer)
    this.desk.handleGone(this.now(), peer)
    this.relay.away(peer)
    this.#freezeIfEmpty()
  }

  leave(peer: PeerId, reason: CloseReason): void {
    this.#clients.get(peer)?.line.close()
    this.#clients.delete(peer)
    this.lanes.detach(peer)
    this.judge.handleGone(this.now(), peer)
    this.desk.handleGone(this.now(), peer)
    this.relay.leave(peer, endReasonOf(reason))
    this.#freezeIfEmpty()
  }

  tick(): number {
    const now = this.now()
    const { relay } = this
    const closed = relay.tick(now)
    this.#handleNotices()
    this.judge.tick(now)
    this.desk.tick(now)
    this.keeping.tick(now, closed)
    for (const peer of this.desk.takeDropped(now)) this.#drop(peer, 'timed-out')
    this.#carryOut()
    for (const client of this.#clients.values()) this.#release(client)
    if (closed > 0) {
      if (relay.log.newest % FEEDBACK_TICKS < closed) {
        this.#measure()
        this.#hashMode.look(relay)
      }
      for (const { source } of this.#clients.values()) source.wake()
      if (relay.hasEnded) this.#handleEnd(now)
    }
    if (now > this.#endedAt + FAREWELL_MS) this.end()
    this.#nextAt = Math.min(relay.nextAt(), this.judge.nextAt(), this.desk.nextAt(), now + IDLE_MS)
    return closed
  }

  override closeAll(code: LeaveCode): void {
    this.keeping.close(this.now())
    super.closeAll(code)
  }

  nextAt(): Millis {
    return this.#nextAt
  }

  receive(): void {
    this.lanes.drain(this.now())
    this.#nextAt = Math.min(this.#nextAt, this.relay.nextAt())
  }

  saveMatch(): MatchImage | undefined {
    return undefined
  }

  restoreMatch(): string {
    return 'a lockstep match is not restored by its relay'
  }

  restorePlayer(): void {}

  dropUnclaimed(): void {}

  #joinLobby(client: Client): boolean {
    if (client.line.stage !== 'authenticated') return false
    const lobby = client.line.joinLobby(this.now())
    if (lobby === 'full') return false
    client.line = lobby
    if (!client.isObserver) this.#startIfReady()
    return true
  }

  #handleEnd(now: Millis): void {
    this.#endedAt = Math.min(this.#endedAt, now)
    for (const client of this.#clients.values())
      if (client.line.stage === 'in-game') client.line = client.line.endGame()
  }

  /** Whether there were any. */
  #handleNotices(): boolean {
    const notices = this.relay.notices()
    for (const notice of notices) this.#handleNotice(notice)
    return notices.length > 0
  }

  #handleNotice(notice: RelayNotice): void {
    if (notice.kind === 'lagging' && this.type.lagging === 'drop') this.#drop(notice.peer, 'lagging')
    if (notice.kind === 'no-share') this.kick({ id: notice.peer })
    if (notice.kind === 'differs') this.judge.handleDifference(this.now(), notice.peer, notice.tick)
    this.guard.run('onNotice', notice.peer, () => this.type.onNotice?.(notice))
  }

  /** The player leaves with the next tick, and its connection ends. */
  #drop(id: PeerId, reason: EndReason): void {
    this.relay.leave(id, reason)
    this.kick({ id })
  }

  #sink(peer: PeerId, client: Client): FrameSink {
    return {
      accept: (now, _sequence, frame) => {
        const { line, connection: { rtt } } = client
        const slot = this.relay.slotOf(peer)
        // An observer has no orders.
        if (client.isObserver) return 'ok'
        // The first packet of a player arrives before its join. The client sends it again: if it were acknowledged, its
        // orders would be lost, and all later ones would wait for them.
        if (slot < 0 || line.stage === 'authenticated') return 'no-ack'
        if (rtt.samples > 0) {
          client.leastRttMs = Math.min(client.leastRttMs, rtt.latestMs)
          this.relay.setLeastUp(slot, client.leastRttMs / 2)
        }
        const verdict = line.stage === 'in-game' ? line.handleOrders(now, frame) : line.handlePrelude(now, frame)
        if (verdict !== 'ok') return verdict
        client.source.noteExecuted(this.relay.lastExecuted)
        // A different pulse is handled at once, not in the next tick.
        if (this.#handleNotices()) this.#carryOut()
        return verdict
      },
    }
  }

  #attachSync(peer: PeerId, client: Client): void {
    const { connection, source, sync } = client
    const sink = new SyncSink()
    sync.takenSequence = () => source.filledSequence
    const isDonor = (): boolean => [this.judge, this.desk, this.keeping].some((each) => each.isDonor(peer))
    sink.limit = () => isDonor() ? SYNC_MESSAGE_BYTES_MAX : SYNC_SMALL_BYTES_MAX
    sink.onMessage = (now, bytes) => {
      const message = decodeSync(bytes)
      if (message === undefined) return
      this.judge.handleMessage(now, peer, message)
      client.isHeld ||= message.kind === 'wanted'
      this.desk.handleMessage(now, peer, message)
      this.keeping.handleMessage(peer, message)
      this.#carryOut()
    }
    connection.addSource(LOCKSTEP_KIND.sync, sync)
    connection.addSink(LOCKSTEP_KIND.sync, sink)
  }

  /** Sends the messages of the judge, and carries out its decisions. */
  #carryOut(): void {
    for (const event of this.judge.takeEvents()) this.#handleVerdict(event)
    for (const { to, message } of [...this.judge.take(), ...this.desk.take(), ...this.keeping.take()]) {
      const client = this.#clients.get(to)
      const isSent = client?.sync.send(encodeSync(message)) === true
      if (client === undefined || message.kind !== 'state') continue
      client.stateTick = isSent ? message.tick : 0
      if (client.stateTick === 0) client.isHeld = false
    }
  }

  /** A client to which a state was sent gets the ticks after it. Those that arrive before it are sent again. */
  #release(client: Client): void {
    if (!client.isHeld || client.stateTick === 0 || !client.sync.isSent) return
    client.isHeld = false
    client.source.noteExecuted(client.stateTick)
    client.source.wake()
  }

  #handleVerdict(event: JudgeEvent): void {
    switch (event.kind) {
      case 'report':
        this.guard.run('onDesync', 0, () => this.type.onDesync?.(event.report))
        break
      case 'void':
        this.relay.end('void')
        break
      case 'desynced':
        this.#drop(event.peer, 'desynced')
        break
      case 'referee':
        void this.#ask(event.tick)
        break
    }
  }

  async #ask(tick: Tick): Promise<void> {
    const { relay: { log }, seed } = this
    let root: Root | undefined
    try {
      root = await this.type.referee?.judge(seed, log, tick)
    } catch {
      // reason: a referee that throws cannot decide
    }
    this.judge.decide(this.now(), tick, root)
    this.#carryOut()
  }

  #feedback(client: Client): TimingFeedback | undefined {
    const { newest } = this.relay.log
    if (client.line.stage !== 'in-game' || newest < client.feedbackTick + FEEDBACK_TICKS) return undefined
    client.feedbackTick = newest
    return client.line.takeFeedback()
  }

  /** The newest tick that a client may receive. */
  #newestFor(peer: PeerId): Tick {
    const { newest } = this.relay.log
    return this.#clients.get(peer)?.isObserver === true ? Math.max(0, newest - this.#delayTicks) : newest
  }

  /** Players that are connected, with their round trips and the newest ticks that they have stepped. */
  #judged(): DonorCandidate[] {
    const judged: DonorCandidate[] = []
    for (const [peer, { connection, isObserver }] of this.#clients) {
      const slot = isObserver ? -1 : this.relay.slotOf(peer)
      if (slot < 0) continue
      const executed = this.relay.state.get(slot, FIELD.executed)
      judged.push({ peer, rttMs: connection.rtt.smoothedMs, executed })
    }
    return judged
  }

  /** Paths change, so the shortest round trip grows slowly. */
  #measure(): void {
    for (const client of this.#clients.values()) {
      const { smoothedMs } = client.connection.rtt
      if (client.leastRttMs < Infinity) client.leastRttMs += (smoothedMs - client.leastRttMs) / 100
    }
  }

  #startIfReady(): void {
    const { relay } = this
    if (this.#joined < this.#card.players[0] || relay.hasEnded) return
    if (!relay.isRunning) relay.start(this.now())
    for (const client of this.#clients.values())
      if (client.line.stage === 'in-lobby') client.line = client.line.startGame() ?? client.line
  }

  #freezeIfEmpty(): void {
    for (const { isObserver } of this.#clients.values()) if (!isObserver) return
    this.relay.freeze()
  }
}

function endReasonOf({ by, code }: CloseReason): EndReason {
  if (code === 'kicked') return 'kicked'
  return by === 'network' ? 'timed-out' : 'left'
}
