/** Requests, sockets and timers for a rendezvous, in a page or in a Worker. */

import type { Millis } from '../core/base/time.ts'
import type { RendezvousMachine } from '../core/client/rendezvous.ts'
import { textMachine } from '../core/client/text-machine.ts'

/** Calls `run` once, after `ms`. The returned function cancels it. */
export function later(ms: Millis, run: () => void): () => void {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

export const pageRendezvous: RendezvousMachine = textMachine({
  fetch: (url, init, ms) => fetch(url, { ...init, signal: AbortSignal.timeout(ms) }),
  openSocket: (url) => new WebSocket(url),
  now: () => performance.now(),
  later,
})
