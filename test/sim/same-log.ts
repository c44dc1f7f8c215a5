/** Whether the log of a client has the bytes of the relay's, as far as it has ticks. */

import type { TickLog } from '../../packages/tickwire/src/core/order/tick-log.ts'

/** Ticks from before an image may still be on their way: they are left out. */
export function isSameLog(own: TickLog, log: TickLog): boolean {
  if (own.length > log.length) return false
  for (let tick = 1; tick <= own.newest; tick++) {
    if (!own.has(tick)) continue
    if (own.endOf(tick) !== log.endOf(tick)) return false
    for (let at = own.startOf(tick); at < own.endOf(tick); at++) if (own.bytes[at] !== log.bytes[at]) return false
  }
  return true
}
