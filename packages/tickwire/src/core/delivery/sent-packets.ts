/**
 * Sent packets that are neither acknowledged nor lost yet, and which sources must be notified.
 *
 * A ring of parallel arrays, indexed by sequence. For each packet it stores when it was sent, its length, and which
 * sources had frames in it, as a set of bits. Each source remembers the content of its own frames.
 *
 * Invariant: a source is notified exactly once about every packet with a frame of its own: `onDelivered` or `onLost`
 * (ACK6). A packet is sent once and never again under the same sequence.
 *
 * This class does not retransmit and stores no packet bytes.
 */

import { assert } from '../base/assert.ts'
import { SENT_PACKETS_MAX } from '../base/limits.ts'
import { expand16AtMost } from '../base/sequence.ts'
import type { Millis } from '../base/time.ts'
import { ACK_DELAY_SATURATED, type AckBlock } from '../packet/ack-block.ts'
import type { FrameSource } from '../packet/frame-source.ts'
import { LOST_AGE, OVERTAKEN_AGE, type RttEstimator } from './rtt.ts'
import type { DeliveryWatcher } from './send-gate.ts'

const MASK = SENT_PACKETS_MAX - 1
const IN_FLIGHT = 1
const LOST = 2
const DELIVERED = 3
/** How many newer packets must be acknowledged before an older one counts as overtaken, as in every TCP since 1990. */
const OVERTAKEN_BY = 3
const PLACES_KEPT = 16

/** Counters of delivered and lost packets with frames. */
export interface DeliveryCounts {
  packetsDelivered: number
  packetsLost: number
}

const NO_WATCHER: DeliveryWatcher = { onRtt() {}, onAcked() {}, onLost() {} }

/** The sending half of acknowledgements. Arrays are indexed by `sequence & MASK`. */
export class SentPackets {
  #sources: readonly FrameSource[]
  #rtt: RttEstimator
  #counts: DeliveryCounts
  #watcher: DeliveryWatcher
  #sentAt: Float64Array = new Float64Array(SENT_PACKETS_MAX)
  #sourceSet: Uint16Array = new Uint16Array(SENT_PACKETS_MAX)
  #bytes: Uint16Array = new Uint16Array(SENT_PACKETS_MAX)
  #fate: Uint8Array = new Uint8Array(SENT_PACKETS_MAX)
  /** The newest packet sent; the oldest undecided packet (newest + 1 when there is none); the newest delivered. */
  #newest: number = 0
  #oldest: number = 1
  #newestDelivered: number = 0
  /** Undecided packets that carry frames: only those need a timer. */
  #awaited: number = 0

  /** `sources` may still grow; their indices in it must not change. */
  constructor(
    sources: readonly FrameSource[], rtt: RttEstimator, counts: DeliveryCounts, watcher: DeliveryWatcher = NO_WATCHER,
  ) {
    this.#sources = sources
    this.#rtt = rtt
    this.#counts = counts
    this.#watcher = watcher
  }

  /**
   * Whether a packet with frames may be sent without giving up an older one. A few places are reserved for packets
   * without frames: acks must be sent even when nothing else may be.
   */
  get hasRoom(): boolean {
    return this.#newest - this.#oldest < SENT_PACKETS_MAX - PLACES_KEPT
  }

  /**
   * Records packet `sequence`, the one after the last. `sourceSet` has bit i for source i. With `bytes` 0 the watcher
   * is not notified: the loss of a probe says something about its size and nothing about congestion. @hot
   */
  add(now: Millis, sequence: number, sourceSet: number, bytes: number = 0): void {
    assert(sequence === this.#newest + 1, 'packets are numbered without gaps')
    while (sequence - this.#oldest >= SENT_PACKETS_MAX) this.#settle(now, this.#oldest, LOST)
    const at = sequence & MASK
    this.#sentAt[at] = now
    this.#sourceSet[at] = sourceSet
    this.#bytes[at] = bytes
    this.#fate[at] = IN_FLIGHT
    this.#newest = sequence
    if (sourceSet !== 0) this.#awaited++
  }

  /** Whether `block` names only packets that were sent. A peer that acknowledges unsent packets is dishonest. @hot */
  isHonest(block: AckBlock): boolean {
    return expand16AtMost(block.latest, this.#newest) >= 0
  }

  /** Processes an ack block of the peer: deliveries, the round trip, and losses that follow from both. @hot */
  handleAck(now: Millis, block: AckBlock): void {
    const latest = expand16AtMost(block.latest, this.#newest)
    if (latest > this.#newest - SENT_PACKETS_MAX && latest > 0) {
      this.#measure(now, latest, block.delayUnits)
      this.#deliver(now, latest)
    }
    // All packets below #oldest are decided, so the loop over the vector may end there.
    for (let bit = 0; bit < 64; bit++) {
      const sequence = latest - 1 - bit
      if (sequence < this.#oldest) break
      const word = bit < 32 ? block.lo : block.hi
      if ((word >>> (bit & 31)) & 1) this.#deliver(now, sequence)
    }
    this.detectLoss(now)
  }

  /** Declares packets lost that are overtaken or too old. @hot */
  detectLoss(now: Millis): void {
    const { ages } = this.#rtt
    while (this.#oldest <= this.#newest) {
      const sequence = this.#oldest
      if (this.#fate[sequence & MASK] === IN_FLIGHT) {
        const isOvertaken = this.#newestDelivered - sequence >= OVERTAKEN_BY
        // Exactly the sum that `lower` compares with: `now - sentAt >= lostMs` rounds differently, and a timer would
        // spin. Every later packet is younger and overtaken by fewer, so none of them can be lost if this one is not.
        if (now < this.#sentAt[sequence & MASK] + ages[isOvertaken ? OVERTAKEN_AGE : LOST_AGE]) return
        this.#settle(now, sequence, LOST)
      } else {
        this.#oldest++
      }
    }
  }

  /** When `detectLoss` will next find a loss; Infinity when no packet with frames is undecided. */
  nextLossAt(): Millis {
    const deadline = Float64Array.of(Infinity)
    this.lower(deadline)
    return deadline[0]
  }

  /**
   * Lowers a deadline to when `detectLoss` will next find a loss. Uses a typed array, because a returned double is
   * boxed. @hot
   */
  lower(deadline: Float64Array): void {
    if (this.#awaited === 0) return
    let sequence = this.#oldest
    while (this.#fate[sequence & MASK] !== IN_FLIGHT) sequence++
    const isOvertaken = this.#newestDelivered - sequence >= OVERTAKEN_BY
    const lostAt = this.#sentAt[sequence & MASK] + this.#rtt.ages[isOvertaken ? OVERTAKEN_AGE : LOST_AGE]
    if (lostAt < deadline[0]) deadline[0] = lostAt
  }

  /** Declares all undecided packets lost: the connection is over. */
  abandon(now: Millis): void {
    while (this.#oldest <= this.#newest) this.#settle(now, this.#oldest, LOST)
  }

  #measure(now: Millis, latest: number, delayUnits: number): void {
    // The first ack of a packet is a sample, even if the packet was declared lost: this corrects a timeout that is too
    // short.
    if (this.#fate[latest & MASK] === DELIVERED || delayUnits === ACK_DELAY_SATURATED) return
    this.#rtt.sampleSince(now, this.#sentAt, latest & MASK, delayUnits)
    this.#watcher.onRtt(now, this.#rtt)
  }

  #deliver(now: Millis, sequence: number): void {
    const at = sequence & MASK
    if (this.#fate[at] === LOST) this.#fate[at] = DELIVERED
    else if (this.#fate[at] === IN_FLIGHT) this.#settle(now, sequence, DELIVERED)
    if (sequence > this.#newestDelivered) this.#newestDelivered = sequence
  }

  #settle(now: Millis, sequence: number, fate: number): void {
    const at = sequence & MASK
    if (sequence === this.#oldest) this.#oldest++
    if (this.#fate[at] !== IN_FLIGHT) return
    this.#fate[at] = fate
    const sourceSet = this.#sourceSet[at]
    // The peer need not acknowledge a packet without frames, so a missing ack says nothing about the path.
    if (sourceSet === 0) return
    this.#awaited--
    if (fate === DELIVERED) {
      this.#counts.packetsDelivered++
      if (this.#bytes[at] > 0) this.#watcher.onAcked(now, this.#bytes[at])
    } else {
      this.#counts.packetsLost++
      if (this.#bytes[at] > 0) this.#watcher.onLost(now, this.#bytes[at])
    }
    for (let index = 0; index < this.#sources.length; index++) {
      if (((sourceSet >>> index) & 1) === 0) continue
      if (fate === DELIVERED) this.#sources[index].onDelivered(now, sequence)
      else this.#sources[index].onLost(now, sequence)
    }
  }
}
