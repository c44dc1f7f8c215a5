/**
 * The lanes of all clients of a lockstep match (`channel/lanes.ts`): the relay passes messages of a player on to all
 * other players, with the id of the sender in front, and takes large orders.
 *
 * A player has a budget of bytes: one that sends more waits on reliable lanes and loses messages on the others. A slow
 * receiver loses messages and never blocks a sender. Observers neither send nor receive: they are late on purpose.
 */

import {
  LANE_BYTES_BURST, LANE_BYTES_PER_SECOND, LANE_MESSAGE_BYTES_MAX, ORDER_LARGE_BYTES_MAX,
} from '../base/limits.ts'
import type { Millis, PeerId } from '../base/time.ts'
import { isReliablePromise } from '../channel/channel.ts'
import { ChannelSet } from '../channel/channel-set.ts'
import { ApartSource, LANE_SPECS, LANE_NAMES } from '../channel/lanes.ts'
import { FragmentQuota, type FragmentPool } from '../delivery/fragment-pool.ts'
import type { Connection } from '../connection/connection.ts'
import { putVarint } from '../order/leb128.ts'
import { LOCKSTEP_KIND } from '../order/lockstep-kinds.ts'

/** The lanes of one client. */
interface Party {
  readonly channels: ChannelSet
  readonly isObserver: boolean
  budget: number
  budgetAt: Millis
}

const MS_PER_SECOND = 1000
const ORDERS: number = LANE_NAMES.indexOf('orders')
/** The longest large order, whatever its type. Indexed by the type. */
const LIMITS: Uint32Array = new Uint32Array(256).fill(ORDER_LARGE_BYTES_MAX + 1)
/** The most bytes of the id of a sender. */
const SENDER_BYTES_MAX = 8

export class RelayLanes {
  /** Messages that a receiver had no room for. */
  dropped = 0
  readonly #parties = new Map<PeerId, Party>()
  readonly #fragments: FragmentPool
  readonly #onOrder: (now: Millis, peer: PeerId, bytes: Uint8Array, length: number) => void
  readonly #bytes = new Uint8Array(Math.max(ORDER_LARGE_BYTES_MAX + 1, LANE_MESSAGE_BYTES_MAX) + 1024)
  readonly #message = new Uint8Array(SENDER_BYTES_MAX + LANE_MESSAGE_BYTES_MAX)

  /** `fragments`: the memory for parts of large orders. `onOrder`: a large order of a player has arrived. */
  constructor(
    fragments: FragmentPool, onOrder: (now: Millis, peer: PeerId, bytes: Uint8Array, length: number) => void,
  ) {
    this.#fragments = fragments
    this.#onOrder = onOrder
  }

  /** A client is connected. `taken`: the newest packet with ticks for it. */
  attach(now: Millis, peer: PeerId, connection: Connection, isObserver: boolean, taken: () => number): void {
    const channels = new ChannelSet(LANE_SPECS, new FragmentQuota(this.#fragments), LIMITS)
    this.#parties.set(peer, { channels, isObserver, budget: LANE_BYTES_BURST, budgetAt: now })
    connection.addSink(LOCKSTEP_KIND.lanes, channels)
    for (const source of channels.sources) connection.addSource(LOCKSTEP_KIND.lanes, new ApartSource(source, taken))
  }

  /** The client is gone. */
  detach(peer: PeerId): void {
    this.#parties.get(peer)?.channels.release()
    this.#parties.delete(peer)
  }

  /** Passes on what has arrived. */
  drain(now: Millis): void {
    for (const [peer, party] of this.#parties) if (party.channels.hasArrivals) this.#receive(now, peer, party)
  }

  #receive(now: Millis, peer: PeerId, party: Party): void {
    const { channels } = party
    let isBlocked = false
    const earned = (now - party.budgetAt) / MS_PER_SECOND * LANE_BYTES_PER_SECOND
    party.budget = Math.min(LANE_BYTES_BURST, party.budget + earned)
    party.budgetAt = now
    for (let lane = 0; lane < LANE_SPECS.length; lane++) {
      const isReliable = isReliablePromise(LANE_SPECS[lane].promise)
      for (;;) {
        if (isReliable && party.budget <= 0) {
          isBlocked = true
          break
        }
        const length = channels.receive(lane, this.#bytes)
        if (length < 0) break
        party.budget -= length
        if (party.isObserver) continue
        if (lane === ORDERS) this.#onOrder(now, peer, this.#bytes, length)
        else if (party.budget > 0) this.#forward(peer, lane, length)
        else this.dropped++
      }
    }
    if (!isBlocked) channels.settle()
  }

  #forward(from: PeerId, lane: number, length: number): void {
    if (length > LANE_MESSAGE_BYTES_MAX) return
    const at = putVarint(this.#message, 0, from)
    this.#message.set(this.#bytes.subarray(0, length), at)
    const message = this.#message.subarray(0, at + length)
    for (const [peer, { channels, isObserver }] of this.#parties)
      if (peer !== from && !isObserver && channels.send(lane, message) !== 'queued') this.dropped++
  }
}
