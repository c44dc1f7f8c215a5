/**
 * The lists of other trackers, for the page of this one. They are asked every ten seconds while the page is used, and
 * never for a request: the addresses come from the operator.
 */

import { checkTrackers } from 'tickwire/engine'
import { browse, type BrowsedGame, type TrackerSource } from 'tickwire/node'

const REFRESH_MS = 10_000
/** Without a visitor for so long, nothing is asked, in ms. */
const IDLE_MS = 60_000

export class Federation {
  readonly #trackers: readonly TrackerSource[]
  #games: readonly BrowsedGame[] = []
  #askedAt = -Infinity
  #asking: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #usedAt = -Infinity

  /** Throws `ConfigError` for more than 10 trackers, or an address without https. */
  constructor(trackers: readonly (string | TrackerSource)[]) {
    this.#trackers = checkTrackers('--federate', trackers)
  }

  /** What the trackers last answered. The first visitor waits for them. */
  async games(): Promise<readonly BrowsedGame[]> {
    this.#usedAt = performance.now()
    if (this.#trackers.length === 0) return []
    if (performance.now() - this.#askedAt > REFRESH_MS) this.#asking ??= this.#ask()
    if (this.#askedAt === -Infinity) await this.#asking
    return this.#games
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  async #ask(): Promise<void> {
    const { games } = await browse({ trackers: this.#trackers })
    this.#games = games
    this.#askedAt = performance.now()
    this.#asking = undefined
    clearTimeout(this.#timer)
    if (performance.now() - this.#usedAt > IDLE_MS) return
    this.#timer = setTimeout(() => { this.#asking ??= this.#ask() }, REFRESH_MS)
    this.#timer.unref()
  }
}
