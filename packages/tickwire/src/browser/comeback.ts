/**
 * Back to a seat after the line was lost: asks at once, then again and again, ever more rarely, until we sit or the server says no.
 *
 * A page that wakes, or whose network is back, asks at once. Time that it slept through does not count: whoever opens his laptop an hour
 * later is told by the server whether the seat is kept, and not by a clock of ours.
 */

import { ConnectError } from './connect-error.ts'

const PAUSE_MS_MIN = 250
const PAUSE_MS_MAX = 4000
/** Pauses until we give up: about a minute of them, beside what the attempts take. */
const ATTEMPTS_MAX = 18

/** What `attempt` gives at last. Rejects with why not: what the server said, or the last that the network did. */
export async function comeBack<T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let count = 1, pauseMs = PAUSE_MS_MIN; ; count++, pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)) {
    try {
      return await attempt()
    } catch (error) {
      const isOfNetwork = error instanceof ConnectError && error.reason.by === 'network'
      if (!isOfNetwork || count === ATTEMPTS_MAX || signal.aborted) throw error
    }
    await pause(pauseMs, signal)
  }
}

/** Ends early when there is reason to hope. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const events = [[globalThis, 'online'], [globalThis.document, 'visibilitychange'], [signal, 'abort']] as const
    const end = (): void => {
      clearTimeout(timer)
      for (const [target, name] of events) target?.removeEventListener?.(name, end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    for (const [target, name] of events) target?.addEventListener?.(name, end)
  })
}
