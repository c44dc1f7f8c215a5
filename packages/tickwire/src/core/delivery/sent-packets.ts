/**
 * Packets whose fate we await, and who must be told of it.
 *
 * A ring of parallel columns, indexed by sequence. For each packet it keeps when it went, how long it was and which
 * sources had frames in it, as a set of bits; what was in those frames, each source remembers itself.
 *
 * Invariant: a source hears exactly once of every packet it put a frame into: `onDelivered` or `onLost` (ACK6). A
 * packet is sent once and never again under the same sequence.
 *
 * It does not retransmit and holds no bytes.
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
/** Newer packets acknowledged before an older one may be called overtaken, as in every TCP since 1990. */
const OVERTAKEN_BY = 3
const PLACES_KEPT = 16

// Imported constants as the module's own: read through an import they are loaded anew each time.
const PACKETS_MAX = SENT_PACKETS_MAX
const DELAY_SATURATED = ACK_DELAY_SATURATED
const OVERTAKEN = OVERTAKEN_AGE
const ANY = LOST_AGE

/** Where fates of packets with frames are counted. */
export interface DeliveryCounts {
  packetsDelivered: number
  packetsLost: number
}

const NOBODY: DeliveryWatcher = { onRtt() {}, onAcked() {}, onLost() {} }

/** The sending half of acknowledgements. */
export class SentPackets {
  #sources: readonly FrameSource[]
  #rtt: RttEstimator
  #counts: DeliveryCounts
  #watcher: DeliveryWatcher
  #sentAt: Float64Array = new Float64Array(PACKETS_MAX)
  #sourceSet: Uint16Array = new Uint16Array(PACKETS_MAX)
  #bytes: Uint16Array = new Uint16Array(PACKETS_MAX)
  #fate: Uint8Array = new Uint8Array(PACKETS_MAX)
  /** The newest packet sent; the oldest whose fate is open (newest + 1 when none is); the newest delivered. */
  #newest: number = 0
  #oldest: number = 1
  #newestDelivered: number = 0
  /** Open packets that carry frames: only those are worth a timer. */
  #awaited: number = 0

  /** `sources` may still grow; their places in it must not change. */
  constructor(
    sources: readonly FrameSource[], rtt: RttEstimator, counts: DeliveryCounts, watcher: DeliveryWatcher = NOBODY,
  ) {
    this.#sources = sources
    this.#rtt = rtt
    this.#counts = counts
    this.#watcher = watcher
  }

  /**
   * Whether a packet with frames may be sent without giving up an older one. A few places are kept for packets
   * without: acks must go out even when nothing else may.
   */
  get hasRoom(): boolean {
    return this.#newest - this.#oldest < PACKETS_MAX - PLACES_KEPT
  }

  /**
   * Remembers packet `sequence`, the one after the last. `sourceSet` has bit i for source i. `bytes` 0: the watcher is not
   * told, for the loss of a probe says something about its size and nothing about the path's load. @hot
   */
  add(now: Millis, sequence: number, sourceSet: number, bytes: number = 0): void {
    assert(sequence === this.#newest + 1, 'packets are numbered without gaps')
    while (sequence - this.#oldest >= PACKETS_MAX) this.#settle(now, this.#oldest, LOST)
    const at = sequence & MASK
    this.#sentAt[at] = now
    this.#sourceSet[at] = sourceSet
    this.#bytes[at] = bytes
    this.#fate[at] = IN_FLIGHT
    this.#newest = sequence
    if (sourceSet !== 0) this.#awaited++
  }

  /** Whether `block` names only packets that were sent. A peer that acknowledges the unsent lies. @hot */
  isHonest(block: AckBlock): boolean {
    return expand16AtMost(block.latest, this.#newest) >= 0
  }

  /** Takes a block of the peer in: deliveries, the round trip, and losses that follow from both. @hot */
  handleAck(now: Millis, block: AckBlock): void {
    const latest = expand16AtMost(block.latest, this.#newest)
    if (latest > this.#newest - PACKETS_MAX && latest > 0) {
      this.#measure(now, latest, block.delayUnits)
      this.#deliver(now, latest)
    }
    // Everything below #oldest is settled, so the walk through the vector may end there.
    for (let bit = 0; bit < 64; bit++) {
      const sequence = latest - 1 - bit
      if (sequence < this.#oldest) break
      const word = bit < 32 ? block.lo : block.hi
      if ((word >>> (bit & 31)) & 1) this.#deliver(now, sequence)
    }
    this.detectLoss(now)
  }

  /** Gives up packets that are overtaken or too old. @hot */
  detectLoss(now: Millis): void {
    const { ages } = this.#rtt
    while (this.#oldest <= this.#newest) {
      const sequence = this.#oldest
      if (this.#fate[sequence & MASK] === IN_FLIGHT) {
        const isOvertaken = this.#newestDelivered - sequence >= OVERTAKEN_BY
        // The very sum that `lower` compares with: `now - sentAt >= lostMs` rounds differently, and a timer would spin.
        // Every later packet is younger and overtaken by fewer: none of them can be lost if this one is not.
        if (now < this.#sentAt[sequence & MASK] + ages[isOvertaken ? OVERTAKEN : ANY]) return
        this.#settle(now, sequence, LOST)
      } else {
        this.#oldest++
      }
    }
  }

  /** When `detectLoss` will next find something; Infinity when no packet with frames is open. */
  nextLossAt(): Millis {
    const deadline = Float64Array.of(Infinity)
    this.lower(deadline)
    return deadline[0]
  }

  /** Lowers a deadline to when `detectLoss` will next find something: in a cell, for a double that is returned is boxed. @hot */
  lower(deadline: Float64Array): void {
    if (this.#awaited === 0) return
    let sequence = this.#oldest
    while (this.#fate[sequence & MASK] !== IN_FLIGHT) sequence++
    const isOvertaken = this.#newestDelivered - sequence >= OVERTAKEN_BY
    const lostAt = this.#sentAt[sequence & MASK] + this.#rtt.ages[isOvertaken ? OVERTAKEN : ANY]
    if (lostAt < deadline[0]) deadline[0] = lostAt
  }

  /** Settles everything that is open as lost: the connection is over. */
  abandon(now: Millis): void {
    while (this.#oldest <= this.#newest) this.#settle(now, this.#oldest, LOST)
  }

  #measure(now: Millis, latest: number, delayUnits: number): void {
    // The first ack of a packet measures it, even one that was given up: that is how a timeout too short is learnt.
    if (this.#fate[latest & MASK] === DELIVERED || delayUnits === DELAY_SATURATED) return
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
    // Nobody is owed an ack of a packet without frames, so its silence says nothing about the path.
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
