/**
 * Retries with increasing pauses: the first connection (`connect`), and the way back after a lost one.
 *
 * A page that wakes, or whose network is back, tries at once. Time that the page slept does not count: when a laptop is
 * opened an hour later, the server decides whether the seat is still kept, and not a timer of the page.
 */

import type { Millis } from '../base/time.ts'
import { ConnectError } from './connect-error.ts'
import type { ClientPlatform } from './platform.ts'

const PAUSE_MS_MIN = 250
const PAUSE_MS_MAX = 4000
/** Attempts before giving up: about a minute of pauses, in addition to the time of the attempts. */
const ATTEMPTS_MAX = 18

/** Something that may end while it is waited for. */
export interface Ending {
  readonly isOver: boolean
  /** Called once, when it ends. The returned function removes the listener. */
  onOver(listener: () => void): () => void
}

/** A search for a connection. The caller ends it when the player leaves, or when it is not needed any more. */
export class Search implements Ending {
  isOver = false
  readonly #listeners = new Set<() => void>()

  onOver(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  end(): void {
    if (this.isOver) return
    this.isOver = true
    for (const listener of this.#listeners) listener()
  }
}

/** The result of `attempt` once it succeeds. Rejects with the server's refusal, or the last network error. */
export async function comeBack<T>(attempt: () => Promise<T>, platform: ClientPlatform, ending: Ending): Promise<T> {
  for (let count = 1, pauseMs = PAUSE_MS_MIN; ; count++, pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)) {
    try {
      return await attempt()
    } catch (error) {
      if (!isPassing(error) || count === ATTEMPTS_MAX || ending.isOver) throw error
    }
    await pause(pauseMs, platform, ending)
  }
}

/** The result of `attempt` once it succeeds, tried again for `ms` while the server may be starting. */
export async function retryFor<T>(ms: Millis, attempt: () => Promise<T>, platform: ClientPlatform): Promise<T> {
  const until = platform.now() + ms
  for (let pauseMs = PAUSE_MS_MIN; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)) {
    try {
      return await attempt()
    } catch (error) {
      const leftMs = until - platform.now()
      if (!isPassing(error) || leftMs <= 0) throw error
      await pause(Math.min(pauseMs, leftMs), platform)
    }
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof ConnectError && error.isPassing
}

/** Ends early when the network is back or the page is visible again, or when `ending` is over. */
function pause(ms: Millis, platform: ClientPlatform, ending?: Ending): Promise<void> {
  return new Promise((resolve) => {
    const undo: (() => void)[] = []
    const end = (): void => {
      for (const each of undo) each()
      resolve()
    }
    undo.push(platform.later(ms, end), platform.onWake(end))
    if (ending !== undefined) undo.push(ending.onOver(end))
  })
}
