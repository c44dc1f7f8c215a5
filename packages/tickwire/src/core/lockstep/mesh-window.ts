/** The open window of a peer of a mesh: its orders and events, until they are a batch. */

import { ORDER_BYTES_BURST, ORDERS_PER_TICK_MAX, ORDERS_WAITING_MAX } from '../base/limits.ts'
import type { PeerId } from '../base/time.ts'
import { TickBodyWriter } from '../order/tick-body.ts'
import { putTickEvent, TICK_EVENT, type TickEvent } from '../order/tick-event.ts'
import type { TickLog } from '../order/tick-log.ts'

interface WaitingOrder {
  readonly timeUs: number
  readonly type: number
  readonly data: Uint8Array
}

export class MeshWindow {
  /** Events of the next batch. */
  readonly events: TickEvent[] = []
  readonly #player: PeerId
  readonly #body = new TickBodyWriter()
  readonly #eventBytes = new Uint8Array(16)
  #orders: WaitingOrder[] = []

  constructor(player: PeerId) {
    this.#player = player
  }

  get orderCount(): number {
    return this.#orders.length
  }

  /** Adds an order. False when too many wait. */
  push(timeUs: number, type: number, data: Uint8Array): boolean {
    if (this.#orders.length >= ORDERS_WAITING_MAX) return false
    this.#orders.push({ timeUs, type, data })
    return true
  }

  /** Appends the batch to the local log. False when the log is full. */
  close(log: TickLog): boolean {
    const body = this.#body
    body.begin()
    for (const event of this.events)
      body.add(0, 0, TICK_EVENT[event.name], this.#eventBytes, 0, putTickEvent(this.#eventBytes, 0, event))
    this.events.length = 0
    let [count, bytes, lastUs] = [0, 0, 0]
    for (; count < this.#orders.length && count < ORDERS_PER_TICK_MAX && bytes < ORDER_BYTES_BURST; count++) {
      const { timeUs, type, data } = this.#orders[count]
      lastUs = Math.max(lastUs, timeUs)
      body.add(this.#player, lastUs, type, data, 0, data.length)
      bytes += data.length
    }
    // Orders that did not fit are the first of the next window.
    this.#orders = this.#orders.slice(count).map((order) => ({ ...order, timeUs: 0 }))
    body.end()
    return log.append(body.bytes, body.length)
  }
}
