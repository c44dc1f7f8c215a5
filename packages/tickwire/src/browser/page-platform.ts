/** A page as a room sees it: its clock, timers and repaints, whether it is visible, and when it is unloaded. */

import type { ClientPlatform } from '../core/client/platform.ts'
import { monotonicNow } from './clock.ts'
import { systemEntropy } from './entropy.ts'
import { keepTicket, takeTicket } from './kept-ticket.ts'
import { noteClosed, noteOpened } from './open-rooms.ts'
import { reportFault } from './report-fault.ts'

export const pagePlatform: ClientPlatform = {
  now: monotonicNow,
  entropy: systemEntropy,
  later(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
  repaint: (draw) => requestAnimationFrame(draw),
  isHidden: () => globalThis.document?.hidden === true,
  onWake(listener) {
    const sources = [[globalThis, 'online'], [globalThis.document, 'visibilitychange']] as const
    for (const [target, name] of sources) target?.addEventListener?.(name, listener)
    return () => {
      for (const [target, name] of sources) target?.removeEventListener?.(name, listener)
    }
  },
  onGone(listener) {
    // A page in the back/forward cache may be restored.
    const handle = (event: PageTransitionEvent): void => {
      if (!event.persisted) listener()
    }
    globalThis.addEventListener?.('pagehide', handle)
    return () => globalThis.removeEventListener?.('pagehide', handle)
  },
  ageMs: () => performance.now(),
  reportFault,
  noteRoom: (room, isOpen) => (isOpen ? noteOpened(room) : noteClosed(room)),
  seats: { take: takeTicket, keep: keepTicket },
}
