/**
 * Handles SIGTERM and SIGINT: everything that is served drains, then the process exits with 0. A second signal makes it
 * exit at once.
 *
 * There is one pair of listeners for the whole process, installed while something is served.
 */

/** Something that can be drained. */
export interface Drainable {
  /** How long players may play on after SIGTERM. */
  readonly drainMs: number
  /** Admits no more players, and resolves when all have left or after `ms`. */
  drain(ms: number): Promise<void>
}

const served = new Set<Drainable>()
let isEnding = false

/** Makes a signal drain `one` too, until the returned function is called. */
export function drainOnSignals(one: Drainable): () => void {
  if (served.size === 0) {
    process.on('SIGTERM', handleTerm)
    process.on('SIGINT', handleInterrupt)
  }
  served.add(one)
  return () => {
    served.delete(one)
    if (served.size > 0 || isEnding) return
    process.off('SIGTERM', handleTerm)
    process.off('SIGINT', handleInterrupt)
  }
}

/** Does what SIGTERM does, if signals drain `one`; else only drains it. A second call does nothing. */
export function endAsBySignal(one: Drainable): void {
  if (!served.has(one)) void one.drain(one.drainMs)
  else if (!isEnding) handleTerm()
}

function handleTerm(): void {
  void end(({ drainMs }) => drainMs, 143)
}

/** SIGINT comes from a person at a keyboard, who does not want to wait. */
function handleInterrupt(): void {
  void end(() => 0, 130)
}

async function end(msOf: (one: Drainable) => number, impatientCode: number): Promise<void> {
  if (isEnding) process.exit(impatientCode)
  isEnding = true
  await Promise.allSettled([...served].map((one) => one.drain(msOf(one))))
  process.exit(0)
}
