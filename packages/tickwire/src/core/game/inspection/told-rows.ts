/**
 * Every row that a client was told, by object and tick: gone through once, so that what a packet builds on is found wherever it is.
 */

import type { ObjectId, PeerId, Tick } from '../../base/time.ts'
import type { Playback } from '../../replay/playback.ts'
import type { ToldRows } from '../dissection/dissect-snapshot.ts'

interface History {
  readonly id: ObjectId
  readonly type: number
  readonly owner: PeerId
  /** When its row was another than before, and the rows. */
  readonly ticks: Tick[]
  readonly rows: Int32Array[]
}

/** Reads all of a playback of told rows, of a client that is `peer`. */
export function readToldRows(told: Playback, peer: PeerId): ToldRows {
  const histories = new Map<ObjectId, History>()
  for (let at = told.first; at !== -1; at = told.keyAfter(at)) {
    for (let played = told.seek(at); played === 'ok'; played = told.step()) {
      at = told.tick
      for (const store of told.world.stores) for (const handle of store.living()) {
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
    whoAt: (index, tick) => {
      // Whoever began last before that tick; a telling may be a little ahead of what is written of it.
      const lived = [...histories.values()].filter(({ id, ticks }) => id >>> 16 === index && ticks[0] <= tick)
      const who = lived.sort((a, b) => b.ticks[0] - a.ticks[0])[0]
      return who && { ...who, set: who.owner === peer ? 2 : 0 }
    },
  }
}

/** The place of the last tick that is not after one; -1 when all are. */
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
