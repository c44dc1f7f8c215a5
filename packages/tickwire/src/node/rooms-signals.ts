/**
 * What the process does when it is told to end: everything that is served drains, then it exits with 0. Told twice, it exits at once.
 *
 * One pair of listeners for the whole process, there while something is served.
 */

/** Something that can be brought to an end. */
export interface Drainable {
  /** How long players may play on after SIGTERM. */
  readonly drainMs: number
  drain(ms: number): Promise<void>
}

const served = new Set<Drainable>()
let isEnding = false

/** From now on a signal ends `one` too, until what is returned is called. */
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

function handleTerm(): void {
  void end(({ drainMs }) => drainMs, 143)
}

/** Somebody at a keyboard does not want to wait. */
function handleInterrupt(): void {
  void end(() => 0, 130)
}

async function end(msOf: (one: Drainable) => number, impatientCode: number): Promise<void> {
  if (isEnding) process.exit(impatientCode)
  isEnding = true
  await Promise.allSettled([...served].map((one) => one.drain(msOf(one))))
  process.exit(0)
}
