/**
 * Ticks of a match of another engine, through a bridge that translates its protocol.
 *
 * The bridge has the connection and the format; this feed has the rules that hold for every bridge: orders that the
 * other engine does not know are dropped and counted, ticks come one after the other, an observer gives no orders, and
 * the match is never ranked. A bridge cannot make two simulations equal: it says how far it can compare them.
 */

import type { Millis, PeerId, Tick } from '../base/time.ts'
import type { TimedOrder } from '../order/order-codec.ts'
import { TickBodyWriter } from '../order/tick-body.ts'
import { TickLog } from '../order/tick-log.ts'
import type { FeedDiagnostics, FeedStatus, SubmitResult, TickFeed } from './tick-feed.ts'

/** The meaning of a type of order on the other side: the same, a similar one, or none. */
export type OrderSupport = 'same' | 'mapped' | 'none'

/** What a bridge can do. Both sides agree on it before the match. */
export interface BridgeAbilities {
  /** Indexed by the type of the order. Types that are not listed have no support. */
  readonly orders: readonly OrderSupport[]
  /** How the other side orders time: by ticks of its own, or by windows of a relay. */
  readonly timing: 'ticks' | 'windows'
  /** What the hashes of the other side can be compared with: nothing, or the local hashes. */
  readonly hashes: 'none' | 'own'
  /** Which side is trusted: a relay, all peers, or the other side while this one only watches. */
  readonly trust: 'relay' | 'peers' | 'observer'
}

/** Translates between a match here and the protocol of another engine. */
export interface ProtocolBridge {
  /** Names the protocol, for messages. */
  readonly name: string
  /** What the bridge can do. */
  readonly abilities: BridgeAbilities
  /** The seed of the match. */
  readonly seed: number
  /** The local player. 0: an observer. */
  readonly player: PeerId
  /** Sends an own order. */
  submit(now: Millis, order: TimedOrder): SubmitResult
  /** The orders of the next tick, by time and player, or undefined while it has not arrived. */
  poll(now: Millis): readonly TimedOrder[] | undefined
  /** A tick was stepped, with this hash. Returns whether the other side agrees; undefined: it is not known. */
  report(tick: Tick, low: number, high: number): boolean | undefined
  /** Whether ticks follow. */
  status(): FeedStatus
}

/** Numbers about a bridge, for an overlay. */
export interface BridgeDiagnostics extends FeedDiagnostics {
  /** Own orders that the other side does not know, and that were dropped. */
  readonly dropped: number
  /** Own orders that have only a similar meaning on the other side. */
  readonly mapped: number
  /** Ticks after which the other side reported a different state. */
  readonly differing: number
  /** What this bridge cannot do, in words. */
  readonly warnings: readonly string[]
}

/** A feed of ticks from a bridge. */
export class BridgeFeed implements TickFeed {
  readonly log: TickLog = new TickLog()
  /** A match through a bridge never counts for a ranking. */
  readonly isRanked: false = false
  readonly #bridge: ProtocolBridge
  readonly #body = new TickBodyWriter()
  #taken: Tick = 0
  #dropped = 0
  #mapped = 0
  #differing = 0
  #corrupted = 0

  constructor(bridge: ProtocolBridge) {
    this.#bridge = bridge
  }

  get seed(): number {
    return this.#bridge.seed
  }

  get player(): PeerId {
    return this.#bridge.abilities.trust === 'observer' ? 0 : this.#bridge.player
  }

  submit(now: Millis, type: number, data: Uint8Array): SubmitResult {
    if (this.player === 0) return 'closed'
    const support = this.#bridge.abilities.orders[type] ?? 'none'
    if (support === 'none') {
      this.#dropped++
      return 'closed'
    }
    if (support === 'mapped') this.#mapped++
    return this.#bridge.submit(now, { player: this.player, timeUs: 0, type, data })
  }

  poll(now: Millis): Tick {
    const orders = this.#bridge.poll(now)
    if (orders === undefined || !this.#append(orders)) return 0
    return ++this.#taken
  }

  nextAt(): Millis {
    return Infinity
  }

  report(tick: Tick, _pulse: number, low: number, high: number): void {
    if (this.#bridge.report(tick, low, high) === false) this.#differing++
  }

  /** Whether ticks follow, and whether the next is there. */
  status(): FeedStatus {
    return this.#bridge.status()
  }

  /** Numbers for an overlay. */
  diagnostics(): BridgeDiagnostics {
    return {
      newest: this.log.newest, taken: this.#taken, rttMs: 0, holdMs: 0, waitingOrders: 0, timing: undefined,
      corrupted: this.#corrupted, dropped: this.#dropped, mapped: this.#mapped, differing: this.#differing,
      warnings: this.#warnings(),
    }
  }

  #warnings(): string[] {
    const { name, abilities: { orders, hashes, trust } } = this.#bridge
    const warnings = [`${name}: the match is not ranked`]
    if (hashes === 'none') warnings.push(`${name}: states are not compared`)
    if (trust === 'peers') warnings.push(`${name}: every peer is trusted`)
    if (orders.some((support) => support !== 'same')) warnings.push(`${name}: some orders mean something else there`)
    return warnings
  }

  /** One encoding for one tick: a bridge that breaks the sequence of orders is counted, and its tick is sorted. */
  #append(orders: readonly TimedOrder[]): boolean {
    const sorted = orders.toSorted((a, b) => a.timeUs - b.timeUs || a.player - b.player)
    if (sorted.some((order, at) => order !== orders[at])) this.#corrupted++
    this.#body.begin()
    for (const { player, timeUs, type, data } of sorted) this.#body.add(player, timeUs, type, data, 0, data.length)
    this.#body.end()
    return this.log.append(this.#body.bytes, this.#body.length)
  }
}
