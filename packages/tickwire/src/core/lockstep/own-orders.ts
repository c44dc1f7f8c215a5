/**
 * The states of the local player's orders. A relay keeps the orders of one player in their order, so the next own order
 * in the stream is the oldest with the same bytes; older ones were dropped.
 */

import { ORDER_BYTES_MAX, ORDER_TYPES_MAX, ORDERS_WAITING_MAX } from '../base/limits.ts'
import type { PeerId, Tick } from '../base/time.ts'
import { TickBodyReader } from '../order/tick-body.ts'
import type { TickLog } from '../order/tick-log.ts'
import type { Shape } from '../schema/field.ts'
import type { ViewOf } from '../schema/value-types.ts'
import type { AnyOrder } from './order.ts'

/** 'issued' comes first, in the call that gives the order; one of the others follows. */
export type OrderState = 'issued' | 'executed' | 'refused' | 'lost'

/** Called with the values of the order and its new state. */
export type OrderListener<S extends Shape> = (values: ViewOf<S>, state: OrderState) => void

interface OwnOrder {
  /** Own orders are counted as they are given. */
  readonly number: number
  readonly kind: AnyOrder
  readonly type: number
  readonly data: Uint8Array
  readonly values: Record<string, unknown>
  /** The tick that it was found in; 0: none yet. */
  tick: Tick
  /** Whether its listeners know what became of it. */
  isReported: boolean
}

export class OwnOrders {
  #given = 0
  #waiting: OwnOrder[] = []
  readonly #held: (OwnOrder | undefined)[] = []
  readonly #listeners = new Map<AnyOrder, Set<OrderListener<Shape>>>()
  #matched: OwnOrder | undefined
  /** The last ones that were found in ticks: if their ticks are not in the match after all, they are given again. */
  #found: OwnOrder[] = []
  /** Ticks that were skipped: own orders may be in them. The first one that was not looked at, and the last. */
  #skipped: { tick: Tick; readonly last: Tick }[] = []
  readonly #reader = new TickBodyReader()

  on(kind: AnyOrder, listener: OrderListener<Shape>): () => void {
    const listeners = this.#listeners.get(kind) ?? new Set()
    this.#listeners.set(kind, listeners)
    listeners.add(listener)
    return () => { listeners.delete(listener) }
  }

  add(kind: AnyOrder, type: number, data: Uint8Array, values: Record<string, unknown>): void {
    const own = { number: ++this.#given, kind, type, data, values, tick: 0, isReported: false }
    this.#waiting.push(own)
    // A relay that drops orders never mentions them.
    if (this.#waiting.length > ORDERS_WAITING_MAX) this.#call(this.#waiting.shift() ?? own, 'lost')
    this.#call(own, 'issued')
  }

  /** An own order is in the stream. Older ones that are not are lost. False: it was not given here. */
  match(tick: Tick, type: number, bytes: Uint8Array, at: number, length: number): boolean {
    const isSame = ({ data }: OwnOrder): boolean =>
      data.length === length && data.every((byte, each) => byte === bytes[at + each])
    const found = this.#waiting.findIndex((own) => own.type === type && isSame(own))
    this.#matched = undefined
    if (found < 0) return false
    const passed = this.#waiting.splice(0, found + 1)
    this.#matched = passed.pop()
    if (this.#matched !== undefined) this.#keep(this.#matched, tick)
    // Large orders go another way: the two kinds may overtake each other. Older orders may be in skipped ticks.
    const isLost = ({ data }: OwnOrder): boolean => !this.#isSkipped(tick)
      && (data.length > ORDER_BYTES_MAX) === (length > ORDER_BYTES_MAX)
    this.#waiting.unshift(...passed.filter((own) => !isLost(own)))
    for (const lost of passed.filter(isLost)) this.#call(lost, 'lost')
    return true
  }

  /** The ticks after one, up to another, are not stepped: they come later, or never. */
  skip(tick: Tick, last: Tick): void {
    if (this.#waiting.length > 0) this.#skipped.push({ tick: tick + 1, last })
  }

  /** Looks for own orders in the skipped ticks that have come. False: some are missing. */
  readSkipped(log: TickLog, player: PeerId): boolean {
    for (let [part] = this.#skipped; part !== undefined; [part] = this.#skipped) {
      for (; part.tick <= part.last; part.tick++) {
        if (!log.has(part.tick)) return false
        this.#read(log, player, part.tick)
      }
      this.#skipped.shift()
    }
    return true
  }

  #read(log: TickLog, player: PeerId, tick: Tick): void {
    const reader = this.#reader
    reader.open(log.bytes, log.startOf(tick), log.endOf(tick))
    while (reader.next()) {
      const { type, dataAt, dataLength } = reader
      const isOwn = reader.player === player && type < ORDER_TYPES_MAX
      if (isOwn && this.match(tick, type, log.bytes, dataAt, dataLength)) this.settle('executed')
    }
  }

  /** Whether skipped ticks before one were not looked at. */
  #isSkipped(before: Tick): boolean {
    return this.#skipped.some(({ tick }) => tick < before)
  }

  /** Orders that are in no tick, oldest first. */
  get waiting(): readonly { readonly type: number; readonly data: Uint8Array }[] {
    return this.#waiting
  }

  /** The ticks after one are not in the match: the orders in them wait again. */
  reopen(tick: Tick): void {
    const again = this.#found.filter((own) => own.tick > tick)
    this.#found = this.#found.filter((own) => own.tick <= tick)
    this.#waiting = [...this.#waiting, ...again].toSorted((a, b) => a.number - b.number)
    this.#skipped = this.#skipped.filter((part) => part.tick <= tick)
      .map((part) => ({ tick: part.tick, last: Math.min(part.last, tick) }))
  }

  #keep(own: OwnOrder, tick: Tick): void {
    own.tick = tick
    this.#found.push(own)
    if (this.#found.length > ORDERS_WAITING_MAX) this.#found.shift()
  }

  /** The matched order waits for its check. */
  hold(): void {
    this.#held.push(this.#matched)
  }

  /** The matched order has its final state. */
  settle(state: OrderState): void {
    if (this.#matched !== undefined) this.#call(this.#matched, state)
  }

  /** The oldest held order has its final state. */
  settleNext(state: OrderState): void {
    const own = this.#held.shift()
    if (own !== undefined) this.#call(own, state)
  }

  #call(own: OwnOrder, state: OrderState): void {
    if (own.isReported) return
    own.isReported = state !== 'issued'
    for (const listener of this.#listeners.get(own.kind) ?? []) listener(own.values as ViewOf<Shape>, state)
  }
}
