/**
 * What waits for its tick: taken out ascending by tick, and in the order of arrival within one.
 *
 * What is stamped with a tick that never comes stays, and fills the queue of whoever stamped it.
 */

import type { Tick } from '../base/time.ts'

interface Waiting<T> {
  readonly tick: Tick
  readonly item: T
}

export class TickQueue<T> {
  readonly #capacity: number
  /** Ascending by tick; equal ticks in the order they came. */
  readonly #waiting: Waiting<T>[] = []

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#waiting.length
  }

  /** Takes an item in; false when there is no room. */
  add(tick: Tick, item: T): boolean {
    const waiting = this.#waiting
    if (waiting.length >= this.#capacity) return false
    let at = waiting.length
    while (at > 0 && waiting[at - 1].tick > tick) at--
    waiting.splice(at, 0, { tick, item })
    return true
  }

  /** The next item whose tick has come, or undefined. */
  take(tick: Tick): T | undefined {
    const [first] = this.#waiting
    if (first === undefined || first.tick > tick) return undefined
    this.#waiting.shift()
    return first.item
  }
}
