/**
 * Reports each event once: in the tick in which it was predicted, or when the authority sends it, whichever comes
 * first.
 *
 * An event is identified by tick, message, object and ordinal: its position among equal events of that object in that
 * tick. An object that was spawned here is identified by its birth, because its id changes. A tick that is stepped
 * again repeats its events.
 */

import type { Tick } from '../base/time.ts'

export class Once {
  readonly #windowTicks: number
  /** Events that were reported. Indexed by tick. */
  readonly #reported = new Map<Tick, Set<string>>()
  /** How often each event has happened in the tick that is being stepped. Indexed by key. */
  readonly #counts = new Map<string, number>()

  constructor(windowTicks: number) {
    this.#windowTicks = windowTicks
  }

  /** Call before a tick is stepped, for the first time or again. */
  begin(): void {
    if (this.#counts.size > 0) this.#counts.clear()
  }

  /** The ordinal of the next event with this key in the current tick. */
  ordinal(key: string): number {
    const count = this.#counts.get(key) ?? 0
    this.#counts.set(key, count + 1)
    return count
  }

  /** Whether the event was not reported before. Marks it as reported. */
  isNews(tick: Tick, key: string, ordinal: number): boolean {
    let reported = this.#reported.get(tick)
    if (reported === undefined) {
      this.#reported.set(tick, reported = new Set())
      for (const known of this.#reported.keys()) if (known < tick - this.#windowTicks) this.#reported.delete(known)
    }
    const name = `${key} ${ordinal}`
    if (reported.has(name)) return false
    reported.add(name)
    return true
  }
}
