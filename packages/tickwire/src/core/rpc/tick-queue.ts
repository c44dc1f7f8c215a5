/**
 * Items that wait for their tick: taken in ascending order of ticks, and in order of arrival within a tick.
 *
 * An item whose tick is never reached stays, and takes room in the queue of the peer that sent it.
 */

import type { Tick } from '../base/time.ts'

interface Waiting<T> {
  readonly tick: Tick
  readonly item: T
}

export class TickQueue<T> {
  readonly #capacity: number
  /** Ascending by tick; equal ticks in order of arrival. */
  readonly #waiting: Waiting<T>[] = []

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#waiting.length
  }

  /** Adds an item. Returns false when there is no room. */
  add(tick: Tick, item: T): boolean {
    const waiting = this.#waiting
    if (waiting.length >= this.#capacity) return false
    let at = waiting.length
    while (at > 0 && waiting[at - 1].tick > tick) at--
    waiting.splice(at, 0, { tick, item })
    return true
  }

  /** The next item whose tick has been reached, or undefined. */
  take(tick: Tick): T | undefined {
    const [first] = this.#waiting
    if (first === undefined || first.tick > tick) return undefined
    this.#waiting.shift()
    return first.item
  }
}
