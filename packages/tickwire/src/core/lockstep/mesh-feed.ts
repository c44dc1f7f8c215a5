/**
 * Ticks of a match of two or three peers without a relay. Each peer puts the orders of its window into a batch, empty
 * ones too, and sends it to all others. Tick k is stepped when the batches of all players have arrived.
 *
 *   submit ──▶ the open window ──▶ own log of batches ──▶ mesh frames to all others (`mesh-link.ts`)
 *   poll ──▶ all batches of tick k have arrived, and it is due ──▶ merged (`mesh-merge.ts`) ──▶ the log of the match
 *
 * A batch is final: no peer can add to a tick, or take from it, so all peers merge the same bytes. The deadline only
 * decides when a tick is stepped. `mesh-watch.ts` decides what happens when a peer is silent.
 */

import { ConfigError } from '../base/assert.ts'
import { MESH_PLAYERS_MAX, MESH_TICKS_AHEAD_MAX } from '../base/limits.ts'
import type { Millis, PeerId, Tick } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import { MeshHead, MeshRun, POSITION_UNITS } from '../order/mesh-frame.ts'
import { readTickEvent, TICK_EVENT, type TickEvent } from '../order/tick-event.ts'
import { TickLog } from '../order/tick-log.ts'
import type { FrameVerdict } from '../packet/frame-source.ts'
import { MeshClock } from './mesh-clock.ts'
import { MeshDeadline } from './mesh-deadline.ts'
import { MeshMerge } from './mesh-merge.ts'
import { MeshPeer } from './mesh-peer.ts'
import { MeshWindow } from './mesh-window.ts'
import { MeshWatch, type MeshTimes } from './mesh-watch.ts'
import type { FeedDiagnostics, FeedStatus, SubmitResult, TickFeed } from './tick-feed.ts'

/** How a feed of a mesh is made. */
export interface MeshFeedOptions extends Partial<MeshTimes> {
  /** Ticks per second. */
  readonly tickRate: number
  /** How many players there are, with the numbers from 1 on: 2 or 3. */
  readonly players: number
  /** The local player. */
  readonly player: PeerId
  /** The seed of the match. All peers have the same. */
  readonly seed: number
}

/** How the match ended for this peer: `line-lost` has no loser. */
export type MeshEnd = 'line-lost' | 'log-full' | 'left'

/** Windows that may be open beyond the deadline, in ticks. */
const SLACK_TICKS = 4
/** A player that leaves waits for its own last tick at most this long: in a pause it does not come. */
const LEAVE_MS = 5000
/** While nothing happens, silence is looked at this often. */
const LOOK_MS = 100

/** A feed of ticks that the peers of a mesh make together. */
export class MeshFeed implements TickFeed {
  readonly log: TickLog = new TickLog()
  seed: number
  readonly player: PeerId
  /** The other players. */
  readonly peers: readonly MeshPeer[]
  /** The local batches, and the local pulses. */
  readonly self: MeshPeer
  /** Decides what happens when a peer is silent. */
  readonly watch: MeshWatch
  /** The state of a player differs from the local one. Called once for each player. */
  onDiffers: (player: PeerId, tick: Tick) => void = () => {}
  /** There is something to send. */
  onWake: () => void = () => {}
  /** The smoothed round trip of the slowest connection, in ms. */
  rttMs: () => number = () => 0
  /** Pieces of batches that were invalid. */
  corrupted = 0
  readonly #tickRate: number
  readonly #clock: MeshClock
  readonly #deadline: MeshDeadline
  readonly #merge: MeshMerge
  readonly #head = new MeshHead()
  readonly #run = new MeshRun()
  readonly #window: MeshWindow
  readonly #differing = new Set<PeerId>()
  #taken: Tick = 0
  #pulse = 0
  #executed: Tick = 0
  #isPaused = false
  #isLeaving = false
  #leftAt: Millis = Infinity
  #ended: MeshEnd | undefined
  #lookedAt: Millis = -Infinity

  constructor({ tickRate, players, player, seed, ...times }: MeshFeedOptions) {
    if (!(Number.isInteger(players) && players >= 2 && players <= MESH_PLAYERS_MAX)) {
      throw new ConfigError(
        'mesh.peers',
        `invalid number of players (expected 2 to ${MESH_PLAYERS_MAX}, got ${players})`,
        'use hosting() or relay(url) for more players, and local() for one.',
      )
    }
    this.#tickRate = tickRate
    this.seed = seed
    this.player = player
    this.self = new MeshPeer(player)
    this.peers = Array.from({ length: players }, (_, at) => at + 1).filter((each) => each !== player)
      .map((each) => new MeshPeer(each))
    this.#clock = new MeshClock(1000 / tickRate)
    this.#deadline = new MeshDeadline(1000 / tickRate)
    this.#merge = new MeshMerge(tickRate)
    this.#window = new MeshWindow(player)
    this.watch = new MeshWatch(this.self, this.peers, times)
  }

  /** Why the match is over for this peer. Undefined while it is not. */
  get ended(): MeshEnd | undefined {
    return this.#ended
  }

  /** Whether all others have all of the local batches. */
  get isAcknowledged(): boolean {
    const { log } = this.self
    return this.#present(this.#taken).every((peer) => peer === this.self || peer.held[this.player] >= log.length)
  }

  /** Another player. Undefined for the local one, and when there is none. */
  peerOf(player: PeerId): MeshPeer | undefined {
    return this.peers.find((peer) => peer.player === player)
  }

  submit(now: Millis, type: number, data: Uint8Array): SubmitResult {
    if (this.#ended !== undefined || this.#isLeaving) return 'closed'
    this.#advance(now)
    if (type >= TICK_EVENT.join) {
      this.#request(now, type, data)
      return 'sent'
    }
    const { position } = this.#clock
    const timeUs = Math.floor((position - Math.floor(position)) * (1_000_000 / this.#tickRate))
    return this.#window.push(timeUs, type, data) ? 'sent' : 'full'
  }

  /** Leaves the match with the next batch. */
  leave(now: Millis): void {
    if (this.#isLeaving || this.#ended !== undefined) return
    this.#isLeaving = true
    this.#leftAt = now
    this.#window.events.push({ name: 'leave', player: this.player, value: 0 })
    if (this.#clock.position > 0) this.#close(now)
  }

  poll(now: Millis): Tick {
    if (this.#ended !== undefined) return 0
    this.#advance(now)
    this.#look(now)
    const next = this.#taken + 1
    if (this.#isPaused && !this.#hasResume(next)) return 0
    if (this.#clock.position < this.#deadline.dueAt(next)) return 0
    if (!this.#isComplete(next)) {
      for (const peer of this.#present(next)) if (!hasBatch(peer, next)) peer.blockedAt = Math.min(peer.blockedAt, now)
      return 0
    }
    for (const peer of this.peers) peer.blockedAt = Infinity
    if (!this.#mergeTick(now, next)) return 0
    this.#taken = next
    return next
  }

  nextAt(): Millis {
    if (this.#ended !== undefined) return Infinity
    const next = this.#taken + 1
    const dueAt = this.#isComplete(next) ? this.#clock.timeOf(this.#deadline.dueAt(next)) : Infinity
    return Math.min(dueAt, this.#clock.timeOf(this.self.log.newest + 1), this.#lookedAt + LOOK_MS)
  }

  report(tick: Tick, pulse: number): void {
    this.#executed = tick
    this.#pulse = pulse
    this.self.notePulse(tick, pulse)
    for (const peer of this.peers) if (peer.differs(tick, pulse)) this.#noteDiffers(peer.player, tick)
  }

  /** Whether ticks follow, and whether the next is there. */
  status(): FeedStatus {
    if (this.#ended !== undefined) return 'ended'
    if (!this.#clock.isRunning && this.#taken === 0) return 'connecting'
    return this.#isComplete(this.#taken + 1) ? 'ready' : 'waiting'
  }

  /** Numbers for an overlay. */
  diagnostics(): FeedDiagnostics {
    return {
      newest: this.log.newest, taken: this.#taken, rttMs: this.rttMs(), holdMs: this.#deadline.ms,
      waitingOrders: this.#window.orderCount, timing: undefined, corrupted: this.corrupted,
    }
  }

  /** Writes the head of a frame to any peer. */
  fillHead(now: Millis, head: MeshHead): void {
    head.position = Math.floor(this.#clock.position * POSITION_UNITS)
    head.needUs = Math.round(this.#deadline.needMs * 1000)
    head.executed = this.#executed
    head.pulse = this.#pulse
    head.peerCount = this.peers.length
    this.peers.forEach((peer, each) => {
      const report = head.peers[each]
      report.player = peer.player
      report.isReceived = this.watch.receives(now, peer)
      if (!report.isReceived) peer.deniedAt = now
      report.held = peer.log.length
      report.isRemoved = peer.verdict !== undefined
      report.reason = peer.verdict?.reason ?? 0
      report.newest = peer.verdict?.newest ?? 0
    })
  }

  /** The logs of which `to` needs bytes: the local one, and those of players that it does not receive. */
  *wanted(to: MeshPeer): Iterable<MeshPeer> {
    if (to.held[this.player] < this.self.log.length) yield this.self
    for (const peer of this.peers) {
      if (peer === to || to.receives[peer.player] === 1) continue
      if (to.held[peer.player] < peer.log.endOf(peer.log.newest)) yield peer
    }
  }

  /** A frame of a peer. `isNewest`: no later one has come before. */
  handleFrame(now: Millis, from: MeshPeer, frame: BitReader, isNewest: boolean, wayMs: number): FrameVerdict {
    const head = this.#head
    head.read(frame)
    if (frame.failed) return 'broken'
    // The removal of a player is final: its later frames have no effect.
    if (from.verdict !== undefined) return 'ok'
    if (isNewest) {
      from.note(now, head)
      from.notePulse(head.executed, head.pulse)
      if (this.self.differs(head.executed, head.pulse)) this.#noteDiffers(from.player, head.executed)
      if (from.player === this.#lead() && head.position > 0) this.#follow(now, head.position / POSITION_UNITS, wayMs)
    }
    for (let each = 0; each < head.runCount; each++) {
      this.#run.read(frame)
      if (frame.failed) return 'broken'
      if (!this.#receive(now, from)) return 'broken'
    }
    return frame.finish() ? 'ok' : 'broken'
  }

  /** The bytes of the run that was read. False when a peer's own bytes are invalid. */
  #receive(now: Millis, from: MeshPeer): boolean {
    const { owner, offset, length, last, bytes } = this.#run
    const peer = this.peerOf(owner)
    if (peer === undefined || (peer !== from && this.watch.receives(now, peer))) return true
    const { log } = peer
    const known = log.length - offset
    if (known < 0 || known >= length || last > this.#taken + MESH_TICKS_AHEAD_MAX) return true
    // Nothing is added to the batches of a removed player that no judge has.
    if (peer.verdict !== undefined && last >= this.watch.goneFrom(peer)) return true
    const before = log.newest
    const verdict = log.receive(bytes, known, length - known, last)
    if (verdict !== 'ok') {
      this.corrupted++
      log.dropPart()
      return peer !== from
    }
    for (let tick = before + 1; tick <= log.newest; tick++) this.#deadline.note(this.#clock.position - tick)
    return true
  }

  #follow(now: Millis, position: number, wayMs: number): void {
    if (!this.#isPaused) this.#clock.start(now)
    this.#clock.follow(now, position, wayMs)
  }

  /** The lowest player that is in the match: its clock leads, and it announces the deadline. */
  #lead(tick: Tick = this.#taken + 1): PeerId {
    return this.#present(tick).reduce((least, { player }) => Math.min(least, player), Infinity)
  }

  /** The players of a tick, ascending. */
  #present(tick: Tick): MeshPeer[] {
    return [this.self, ...this.peers].filter(({ goneFrom }) => tick < goneFrom).sort((a, b) => a.player - b.player)
  }

  #isComplete(tick: Tick): boolean {
    return this.#present(tick).every((peer) => hasBatch(peer, tick))
  }

  /** Closes the windows that are over. */
  #advance(now: Millis): void {
    const clock = this.#clock
    if (!clock.isRunning && this.#taken === 0 && this.player === this.#lead() && this.watch.areAllConnected(now)) {
      clock.start(now)
    }
    // A peer that waits for another does not open windows far ahead: their orders would be executed late.
    const limit = this.#taken + this.#deadline.ticks + SLACK_TICKS
    const position = clock.advance(now, limit)
    while (position >= this.self.log.newest + 1 && !this.#hasLeft() && this.#ended === undefined) this.#close(now)
  }

  #hasLeft(): boolean {
    return this.#isLeaving && this.#window.events.length === 0
  }

  /** The open window is over: its orders are a batch. */
  #close(now: Millis): void {
    const { log } = this.self
    if (this.player === this.#lead(log.newest + 1)) this.#announce(log.newest + 1)
    if (!this.#window.close(log)) this.#end('log-full')
    this.#look(now)
    this.onWake()
  }

  /** The leading peer says when ticks are stepped. */
  #announce(tick: Tick): void {
    const present = this.#present(tick)
    const needMs = present.reduce((most, peer) => Math.max(most, peer === this.self ? 0 : peer.needUs / 1000), 0)
    const us = this.#deadline.announce(tick, Math.max(needMs, this.#deadline.needMs))
    if (us > 0) this.#window.events.push({ name: 'deadline', player: 0, value: us })
  }

  #mergeTick(now: Millis, tick: Tick): boolean {
    const present = this.#present(tick)
    const first: TickEvent[] = []
    if (tick === 1) for (const { player } of present) first.push({ name: 'join', player, value: 0 })
    for (const { player, goneFrom, goneReason } of this.peers)
      if (goneFrom === tick && goneReason >= 0) first.push({ name: 'leave', player, value: goneReason })
    this.#merge.merge(tick, present, this.#lead(tick), first)
    const { body, events } = this.#merge
    if (!this.log.append(body.bytes, body.length)) {
      this.#end('log-full')
      return false
    }
    for (const event of events) this.#apply(now, tick, event)
    return true
  }

  /** Applies an event of the stream to the feed itself. */
  #apply(now: Millis, tick: Tick, { name, player, value }: TickEvent): void {
    if (name === 'deadline') this.#deadline.set(value / 1000)
    else if (name === 'speed') {
      this.#clock.setSpeed(value)
      this.#deadline.setSpeed(this.#clock.tickMs)
    } else if (name === 'pause' && !this.#hasResume(tick + 1)) {
      this.#isPaused = true
      this.#clock.stop()
    } else if (name === 'resume' && this.#isPaused) {
      this.#isPaused = false
      this.#clock.start(now)
    } else if (name === 'leave') {
      const peer = player === this.player ? this.self : this.peerOf(player)
      if (peer !== undefined) peer.goneFrom = Math.min(peer.goneFrom, tick + 1)
      this.#clock.forget()
      if (player === this.player) this.#end('left')
    }
  }

  /** Whether a batch from `tick` on has a resume. */
  #hasResume(tick: Tick): boolean {
    return [this.self, ...this.peers].some((peer) => peer.hasEvent(tick, TICK_EVENT.resume))
  }

  #request(now: Millis, type: number, data: Uint8Array): void {
    const event = readTickEvent(type, data, 0, data.length)
    if (event === undefined) return
    const { events } = this.#window
    if (event.name === 'speed') events.push(event)
    else if (event.name === 'pause' && !this.#isPaused) events.push({ ...event, player: this.player })
    else if (event.name === 'resume' && this.#isPaused && !this.#hasResume(this.#taken + 1)) {
      events.push({ ...event, player: this.player })
      this.#close(now)
    }
  }

  #look(now: Millis): void {
    this.#lookedAt = now
    // Others wait for the batches of this peer, too: after a resume all of them close their windows.
    if (this.#isPaused && this.#hasResume(this.#taken + 1)) {
      this.#isPaused = false
      this.#clock.start(now)
    }
    if (now - this.#leftAt > LEAVE_MS) this.#end('left')
    if (this.#taken === 0 || this.#isPaused) return
    // The others close the connections of a player whose leave they have stepped.
    if (this.watch.look(now, this.#taken + 1) === 'line-lost') this.#end(this.#isLeaving ? 'left' : 'line-lost')
  }

  #noteDiffers(player: PeerId, tick: Tick): void {
    if (this.#differing.has(player)) return
    this.#differing.add(player)
    this.onDiffers(player, tick)
  }

  #end(reason: MeshEnd): void {
    this.#ended ??= reason
    this.onWake()
  }
}

function hasBatch({ log }: MeshPeer, tick: Tick): boolean {
  return log.newest >= tick
}
