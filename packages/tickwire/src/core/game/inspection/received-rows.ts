/**
 * All rows that a client received, by object and tick. Read once, so that the baseline of any packet can be found.
 */

import type { ObjectId, PeerId, Tick } from '../../base/time.ts'
import type { Playback } from '../../replay/playback.ts'
import type { ReceivedRows } from '../dissection/dissect-snapshot.ts'

interface History {
  readonly id: ObjectId
  readonly type: number
  readonly owner: PeerId
  /** The ticks at which the row changed, and the rows. */
  readonly ticks: Tick[]
  readonly rows: Int32Array[]
}

/** Reads a whole playback of received rows. `peer` is the client that received them. */
export function readReceivedRows(received: Playback, peer: PeerId): ReceivedRows {
  const histories = new Map<ObjectId, History>()
  for (let at = received.first; at !== -1; at = received.keyAfter(at)) {
    for (let played = received.seek(at); played === 'ok'; played = received.step()) {
      at = received.tick
      for (const store of received.world.stores) for (const handle of store.living()) {
        const { id, owner } = handle
        const { laneCount } = store.schema
        const from = store.slotOf(handle) * laneCount
        const history = histories.get(id) ?? { id, type: store.type, owner, ticks: [], rows: [] }
        histories.set(id, history)
        const last = history.rows.at(-1)
        if (last !== undefined && isSame(last, store.rows, from)) continue
        history.ticks.push(at)
        history.rows.push(store.rows.slice(from, from + laneCount))
      }
    }
  }
  return {
    rowAt: (id, tick) => {
      const history = histories.get(id)
      return history && history.rows[placeOf(history.ticks, tick)]
    },
    objectAt: (index, tick) => {
      // The object that appeared last at or before that tick. A packet may be slightly ahead of the track written from
      // it.
      const lived = [...histories.values()].filter(({ id, ticks }) => id >>> 16 === index && ticks[0] <= tick)
      const object = lived.sort((a, b) => b.ticks[0] - a.ticks[0])[0]
      return object && { ...object, set: object.owner === peer ? 2 : 0 }
    },
  }
}

/** The position of the last tick that is at most `tick`. -1 when there is none. */
function placeOf(ticks: readonly Tick[], tick: Tick): number {
  let low = 0
  let high = ticks.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ticks[middle] <= tick) low = middle + 1
    else high = middle
  }
  return low - 1
}

function isSame(row: Int32Array, rows: Int32Array, from: number): boolean {
  for (let lane = 0; lane < row.length; lane++) if (row[lane] !== rows[from + lane]) return false
  return true
}
