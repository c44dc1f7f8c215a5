/**
 * A lockstep match in a room: an order relay, and the connections of its players and observers.
 *
 * It has no world and no game code. It knows a game by its card: fingerprint, tick rate and number of players.
 */

import { InvariantError } from '../base/assert.ts'
import type { Millis, PeerId, Tick } from '../base/time.ts'
import type { CloseReason, LeaveCode } from '../connection/close-reason.ts'
import type { Connection } from '../connection/connection.ts'
import type { LockstepCard } from '../order/lockstep-card.ts'
import { CLAIM_MESSAGE_BYTES_MAX, SYNC_MESSAGE_BYTES_MAX, SYNC_SMALL_BYTES_MAX } from '../base/limits.ts'
import { decodeSync, type Root } from '../order/sync-messages.ts'
import { SyncSink, SyncSource } from '../order/sync-stream.ts'
import { DesyncJudge, type JudgeEvent } from '../order-relay/desync-judge.ts'
import { LOCKSTEP_KIND } from '../order/lockstep-kinds.ts'
import { makeSeedShare, type Sha256 } from '../order/seed-share.ts'
import type { EndReason } from '../order/tick-event.ts'
import { TicksSource } from '../order/ticks-frame.ts'
import type { Takeover } from '../order-relay/handover-desk.ts'
import { standingOf } from '../order-relay/match-standing.ts'
import { OrderRelay } from '../order-relay/order-relay.ts'
import { RejoinDesk, type DonorCandidate } from '../order-relay/rejoin-desk.ts'
import { FIELD } from '../order-relay/relay-state.ts'
import type { RelayNotice } from '../order-relay/relay-watch.ts'
import { HostedRoom, type RoomIdentity, type RoomWiring } from '../rooms/hosted-room.ts'
import type { MatchImage } from '../rooms/room-image.ts'
import type { PacketTap } from '../rooms/room-match.ts'
import type { Complete, Member } from '../rooms/room-rules.ts'
import { HashMode } from './hash-mode.ts'
import { MatchKeeping, type RelayRecorder } from './match-keeping.ts'
import { RelayLanes } from './relay-lanes.ts'
import {
  endReasonOf, FEEDBACK_TICKS, feedbackFor, forgetRtt, ordersSink, release, sendSync, type Client, type RelaySecrets,
} from './relay-client.ts'
import { RelayExit } from './relay-exit.ts'
import { ConnectingLine } from './relay-line.ts'
import type { RelayRoomType } from './relay-room-type.ts'
import { drawMatch, matchName, matchOf, Succession } from './succession.ts'

export { RANKED_ROOM, type Referee, type RelayRoomType } from './relay-room-type.ts'

const OBSERVER_DELAY_TICKS = 60
/** While no tick is due the room is looked at this often: seats expire. */
const IDLE_MS = 100
/** After the last tick, clients have this long to receive it. */
const FAREWELL_MS = 2000
/** A match that goes on elsewhere is looked at this often: whether all clients have the last tick. */
const EXIT_LOOK_MS = 5

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
  keeping: MatchKeeping
  /** Lets the match go on at another relay. Undefined: none follows. */
  readonly succession: Succession | undefined
  /** Ends the match here, so that it goes on at the next relay at once. */
  readonly exit: RelayExit
  override readonly matchName: string | undefined
  readonly #card: LockstepCard
  readonly #clients = new Map<PeerId, Client>()
  readonly #delayTicks: number
  readonly #sha256: Sha256
  readonly #hashMode = new HashMode()
  #nextAt: Millis = 0
  #joined = 0
  #endedAt: Millis = Infinity

  constructor(identity: RoomIdentity, type: Complete<RelayRoomType>, wiring: RoomWiring, secrets: RelaySecrets) {
    super(identity, type, wiring)
    const { tickRate, players: [, players] } = type.game
    this.#card = type.game
    this.#delayTicks = type.observerDelayTicks ?? OBSERVER_DELAY_TICKS
    const { secret, entropy, sha256, succession } = secrets
    const { isClaimed = false } = identity
    this.#sha256 = sha256
    const isAgreed = type.seed === 'agreed' && !isClaimed
    const share = isAgreed ? makeSeedShare((bytes) => { entropy.fill(bytes) }, sha256) : undefined
    this.relay = new OrderRelay({
      ...type.relay, tickRate, players, secret, ...(share !== undefined && { seed: { share, sha256 } }),
    })
    this.lanes = new RelayLanes(wiring.fragments, (now, peer, bytes, length) => {
      const line = this.#clients.get(peer)?.line
      if (line?.stage === 'in-game') line.handleLarge(now, bytes, length)
    })
    const rules = { ...type.relay?.desync, hasReferee: type.referee !== undefined }
    this.judge = new DesyncJudge(this.relay.log, this.seed, () => this.#judged(), rules)
    this.keeping = this.#keep(isClaimed ? undefined : this.#record())
    this.desk = new RejoinDesk({
      log: this.relay.log, sha256, players: () => this.#judged(), newestFor: (peer) => this.#newestFor(peer),
      waitingBytes: (peer) => this.#clients.get(peer)?.sync.waitingBytes ?? 0, firstTicks: share === undefined ? 0 : 2,
    })
    const match = (isClaimed ? matchOf(this.id) : undefined) ?? drawMatch(entropy)
    const mayContinue = type.handover !== 'void'
    const { fingerprint } = type.game
    this.succession = succession
      && new Succession(succession, { relay: this.relay, match, seed: this.seed, fingerprint, mayContinue }, isClaimed)
    this.exit = new RelayExit(this.relay, this.succession, this.#clients, (peer) => this.#newestFor(peer))
    this.matchName = matchName(match)
    // A match that began elsewhere has only the players that it had there.
    this.isLocked = isClaimed
  }

  override get isOpenToClaims(): boolean {
    return this.succession?.desk !== undefined && this.succession.desk.stage !== 'done'
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
        takeFeedback: () => feedbackFor(client, relay.log.newest),
      }),
    }
    this.#clients.set(id, client)
    connection.addSource(LOCKSTEP_KIND.ticks, client.source)
    // A pulse that differs is not left for the next tick.
    const onTaken = (): void => { if (this.#handleNotices()) this.#carryOut() }
    connection.addSink(LOCKSTEP_KIND.orders, ordersSink(relay, id, client, onTaken))
    this.lanes.attach(this.now(), id, connection, isObserver, () => client.source.filledSequence)
    this.#attachSync(id, client)
    if (!isObserver) this.keeping.greet(id)
    this.succession?.attach(this.now(), id, isObserver)
    // A client of a match that began elsewhere gets ticks when it is known which of its own are in the match.
    client.isHeld = this.succession?.isClaimant(id) === true
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
    this.#forget(peer)
    this.relay.away(peer)
    this.#freezeIfEmpty()
  }

  leave(peer: PeerId, reason: CloseReason): void {
    this.#forget(peer)
    this.relay.leave(peer, endReasonOf(reason))
    this.#freezeIfEmpty()
  }

  #forget(peer: PeerId): void {
    this.#clients.get(peer)?.line.close()
    this.#clients.delete(peer)
    this.lanes.detach(peer)
    this.judge.handleGone(this.now(), peer)
    this.desk.handleGone(this.now(), peer)
    this.succession?.detach(peer)
  }

  tick(): number {
    const now = this.now()
    const { relay, exit } = this
    if (exit.isLeaving) return this.#leave(now)
    const closed = relay.tick(now)
    this.#handleNotices()
    this.judge.tick(now)
    this.desk.tick(now)
    this.keeping.tick(now, closed)
    for (const peer of this.desk.takeDropped(now)) this.#drop(peer, 'timed-out')
    this.#succeed(now)
    if (closed > 0) this.succession?.handleTicks()
    this.#carryOut()
    this.#clients.forEach(release)
    if (closed > 0) {
      if (relay.log.newest % FEEDBACK_TICKS < closed) {
        for (const client of this.#clients.values()) forgetRtt(client)
        this.#hashMode.look(relay)
      }
      for (const { source } of this.#clients.values()) source.wake()
      if (relay.hasEnded) this.#handleEnd(now)
    }
    // A desync of the last ticks is looked into first.
    if (now > this.#endedAt + FAREWELL_MS && this.judge.nextAt() === Infinity) this.end()
    this.#nextAt = Math.min(relay.nextAt(), this.judge.nextAt(), this.desk.nextAt(), now + IDLE_MS)
    return closed
  }

  override closeAll(code: LeaveCode | 'moved'): void {
    this.judge.close(this.now())
    this.#carryOut()
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

  saveMatch(): MatchImage | undefined { return undefined }
  restoreMatch(): string { return 'a lockstep match is not restored by its relay' }

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

  #attachSync(peer: PeerId, client: Client): void {
    const { connection, source, sync } = client
    const sink = new SyncSink()
    sync.takenSequence = () => source.filledSequence
    const isDonor = (): boolean => [this.judge, this.desk, this.keeping].some((each) => each.isDonor(peer))
    const smallMax = this.succession?.desk === undefined ? SYNC_SMALL_BYTES_MAX : CLAIM_MESSAGE_BYTES_MAX
    sink.limit = () => isDonor() ? SYNC_MESSAGE_BYTES_MAX : smallMax
    sink.onMessage = (now, bytes) => {
      const message = decodeSync(bytes)
      if (message === undefined) return
      this.judge.handleMessage(now, peer, message)
      client.isHeld ||= message.kind === 'wanted'
      this.desk.handleMessage(now, peer, message)
      this.keeping.handleMessage(peer, message)
      this.succession?.handleMessage(now, peer, message)
      this.#succeed(now)
      this.#carryOut()
    }
    connection.addSource(LOCKSTEP_KIND.sync, sync)
    connection.addSink(LOCKSTEP_KIND.sync, sink)
  }

  /** Sends the messages of the judge, and carries out its decisions. */
  #carryOut(): void {
    for (const event of this.judge.takeEvents()) this.#handleVerdict(event)
    const parts = [this.judge, this.desk, this.keeping, ...(this.succession ? [this.succession] : [])]
    for (const { to, message } of parts.flatMap((part) => part.take())) {
      const client = this.#clients.get(to)
      if (client !== undefined) sendSync(client, message)
    }
  }

  /** No more ticks are closed: the clients receive the rest, and go to the next relay. */
  #leave(now: Millis): number {
    this.#carryOut()
    if (this.exit.isDone(now)) this.ending ??= 'moved'
    this.#nextAt = now + EXIT_LOOK_MS
    return 0
  }

  /** Goes on with a match whose relay is lost, as soon as that is decided. */
  #succeed(now: Millis): void {
    const desk = this.succession?.desk
    if (desk === undefined || this.relay.log.newest > 0) return
    desk.tick(now)
    for (const id of desk.takeRefused()) this.kick({ id })
    if (desk.stage === 'failed') this.end()
    else if (desk.result !== undefined) this.#adopt(now, desk.result)
  }

  #adopt(now: Millis, takeover: Takeover): void {
    const { relay, seats } = this
    const standing = standingOf(takeover.log)
    this.#hashMode.adopt(standing.isHashFull)
    if (this.succession?.mayContinue === false) relay.end('relay-lost')
    relay.adopt(now, takeover.log, standing, (peer) => this.#clients.has(peer))
    seats.skipTo(standing.lastPlayer)
    for (const id of standing.players.keys()) if (seats.of(id) === undefined) this.holdSeat(id, 0, false)
    for (const { id, role } of this.members) if (role === 'player' && !standing.players.has(id)) this.kick({ id })
    this.keeping = this.#keep(this.#record(takeover))
    this.#joined = Math.max(standing.players.size, this.#card.players[0])
    for (const client of this.#clients.values()) this.#joinLobby(client)
    this.#startIfReady()
    if (relay.hasEnded) this.#handleEnd(now)
    this.succession?.begin()
  }

  /** A recorder: from the first tick on, or with the ticks of a relay that is lost. */
  #record(takeover?: Takeover): RelayRecorder | undefined {
    const { relay: { log }, seed, id, type: { game, record } } = this
    return record?.({ id, seed, game, log, ...(takeover && { takeover }) })
  }

  #keep(recorder: RelayRecorder | undefined): MatchKeeping {
    const { relay: { log, state }, type: { referee } } = this
    return new MatchKeeping(recorder, {
      log, sha256: this.#sha256, players: () => this.#judged(), seats: () => state.playerCount,
      hasReferee: referee !== undefined,
    })
  }

  #handleVerdict(event: JudgeEvent): void {
    switch (event.kind) {
      case 'report':
        return void this.guard.run('onDesync', 0, () => this.type.onDesync?.(event.report))
      case 'void':
        return this.relay.end('void')
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
      root = await this.type.referee?.judge(seed, log, tick, this.keeping.agreed)
    } catch {
      // reason: a referee that throws cannot decide
    }
    this.judge.decide(this.now(), tick, root)
    this.#carryOut()
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
