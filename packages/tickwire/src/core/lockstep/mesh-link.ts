/**
 * The frames between this peer of a mesh and another one, on one connection. A new connection has a new link; the state
 * of the peer stays.
 *
 * Every frame has all bytes that the peer is not known to have, so a lost packet costs no round trip. Each frame says
 * which bytes its sender has.
 */

import { LOCKSTEP_FRAME_BYTES_MAX } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { MeshHead, MeshRun } from '../order/mesh-frame.ts'
import type { FrameSink, FrameSource, FrameVerdict } from '../packet/frame-source.ts'
import type { MeshFeed } from './mesh-feed.ts'
import type { MeshPeer } from './mesh-peer.ts'

const IDLE_MS = 100
const FRAMES_PER_FLUSH_MAX = 4
/** A smaller piece is not worth its head. */
const RUN_BYTES_MIN = 32
/** Flags, three varints, the pulse, two peers with their verdicts, and two counts. */
const HEAD_BYTES_MAX = 1 + 3 * 8 + 2 + 2 * (2 + 8 + 1 + 8) + 2

export class MeshLink implements FrameSource, FrameSink {
  readonly peer: MeshPeer
  /** Half of the shortest round trip of the connection, in ms. */
  wayMs: () => number = () => 0
  readonly #feed: MeshFeed
  readonly #head = new MeshHead()
  readonly #run = new MeshRun()
  /** Indexed by player: from where this flush goes on. */
  readonly #next = new Float64Array(4)
  #newestTick = -1
  #sentAt: Millis = -Infinity
  #inFlush = 0
  #filledSequence = -1
  #receivedSequence = -1
  #wake: () => void = () => {}

  constructor(feed: MeshFeed, peer: MeshPeer) {
    this.#feed = feed
    this.peer = peer
  }

  /** There is a batch to send. */
  wake(): void {
    this.#wake()
  }

  attach(wake: () => void): void {
    this.#wake = wake
  }

  begin(): void {
    this.#inFlush = 0
    this.#next.set(this.peer.held)
  }

  wantsAt(now: Millis): Millis {
    return this.#feed.self.log.newest > this.#newestTick ? now : this.#sentAt + IDLE_MS
  }

  fill(now: Millis, sequence: number, out: BitWriter): boolean {
    if (sequence === this.#filledSequence || this.#inFlush >= FRAMES_PER_FLUSH_MAX) return false
    const wanted = [...this.#feed.wanted(this.peer)]
      .filter(({ player, log }) => this.#next[player] < log.endOf(log.newest))
    if (this.#inFlush === 0 ? this.wantsAt(now) > now : wanted.length === 0) return false
    const head = this.#head
    this.#feed.fillHead(now, head)
    const room = Math.min(out.bitsLeft >>> 3, LOCKSTEP_FRAME_BYTES_MAX) - HEAD_BYTES_MAX
    if (room < RUN_BYTES_MIN * wanted.length) return false
    head.runCount = wanted.length
    const share = Math.floor(room / Math.max(1, wanted.length))
    head.write(out)
    for (const { player, log } of wanted)
      this.#next[player] = this.#run.write(out, player, log, this.#next[player], share)
    if (out.failed) return false
    this.#inFlush++
    this.#sentAt = now
    this.#filledSequence = sequence
    this.#newestTick = this.#feed.self.log.newest
    return true
  }

  onDelivered(): void {}

  onLost(): void {}

  accept(now: Millis, sequence: number, frame: BitReader): FrameVerdict {
    const isNewest = sequence > this.#receivedSequence
    if (isNewest) this.#receivedSequence = sequence
    return this.#feed.handleFrame(now, this.peer, frame, isNewest, this.wayMs())
  }
}
