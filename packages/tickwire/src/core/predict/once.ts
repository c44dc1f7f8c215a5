/**
 * What happened is told once: in the tick that it was predicted in, or when the authority says so, whichever comes first.
 *
 * Something is known by tick, message, object and ordinal: the how manieth such it is of that object in that tick. An object
 * that was born here is known by its birth, for its id changes. A tick that is stepped again repeats what it said.
 */

import type { Tick } from '../base/time.ts'

export class Once {
  readonly #windowTicks: number
  /** What was told, by tick. */
  readonly #told = new Map<Tick, Set<string>>()
  /** How often each thing has happened in the tick that is being stepped. */
  readonly #counts = new Map<string, number>()

  constructor(windowTicks: number) {
    this.#windowTicks = windowTicks
  }

  /** A tick is about to be stepped, for the first time or again. */
  begin(): void {
    if (this.#counts.size > 0) this.#counts.clear()
  }

  /** The ordinal of what happens in this tick to whom `key` names. */
  ordinal(key: string): number {
    const count = this.#counts.get(key) ?? 0
    this.#counts.set(key, count + 1)
    return count
  }

  /** Whether it was not told before; from now on it was. */
  isNews(tick: Tick, key: string, ordinal: number): boolean {
    let told = this.#told.get(tick)
    if (told === undefined) {
      this.#told.set(tick, told = new Set())
      for (const known of this.#told.keys()) if (known < tick - this.#windowTicks) this.#told.delete(known)
    }
    const name = `${key} ${ordinal}`
    if (told.has(name)) return false
    told.add(name)
    return true
  }
}
