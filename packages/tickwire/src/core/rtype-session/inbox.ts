/**
 * Received packets by priority: those with the flag RELIABLE or PRIORITY and those of connection and game control
 * first, then inputs and events, then snapshots. Within a priority they keep their order.
 *
 * Invariant: each priority holds at most RTYPE_INBOX_MAX; the oldest is dropped and counted.
 */

import { RTYPE_INBOX_MAX } from '../base/limits.ts'
import { RTYPE_FLAG, rtypeCategory, type RtypeHeader } from '../rtype/header.ts'

/** 0 is the highest. */
type Priority = 0 | 1 | 2

/** The priority of a packet, by its header. */
export function priorityOf({ code, flags }: RtypeHeader): Priority {
  if ((flags & (RTYPE_FLAG.RELIABLE | RTYPE_FLAG.PRIORITY)) !== 0) return 0
  const category = rtypeCategory(code)
  if (category === 'connection' || category === 'control' || category === 'rtype' || category === 'protocol') return 0
  return category === 'snapshot' ? 2 : 1
}

/** Items by priority. */
export class Inbox<Item> {
  readonly #queues: readonly Item[][] = [[], [], []]
  /** Dropped because nothing polled in time. */
  dropped: number = 0

  /** Adds an item behind those of its priority. */
  add(priority: Priority, item: Item): void {
    const queue = this.#queues[priority]
    queue.push(item)
    if (queue.length <= RTYPE_INBOX_MAX) return
    queue.shift()
    this.dropped++
  }

  /** The first of the highest priority. */
  poll(): Item | undefined {
    for (const queue of this.#queues) if (queue.length > 0) return queue.shift()
    return undefined
  }
}
