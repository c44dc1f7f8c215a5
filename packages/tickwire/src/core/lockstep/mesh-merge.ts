/**
 * One tick of a mesh from the batches of all players: events first, then orders by (time, player).
 *
 * Every peer computes the same bytes from the same batches. A batch may be hostile: its orders count as those of the
 * player that sent it, whatever it contains, and events that this player may not cause are left out.
 */

import { ORDER_TYPES_MAX } from '../base/limits.ts'
import type { PeerId, Tick } from '../base/time.ts'
import { TickBodyReader, TickBodyWriter } from '../order/tick-body.ts'
import { putTickEvent, readTickEvent, TICK_EVENT, type TickEvent } from '../order/tick-event.ts'
import type { TickLog } from '../order/tick-log.ts'

/** The batches of one player. */
export interface MeshBatches {
  readonly player: PeerId
  readonly log: TickLog
}

interface MergedOrder {
  readonly player: PeerId
  readonly timeUs: number
  readonly type: number
  readonly log: TickLog
  readonly at: number
  readonly length: number
}

const SPEED_MIN = 10
const SPEED_MAX = 800

export class MeshMerge {
  /** The events of the last merged tick. */
  readonly events: TickEvent[] = []
  readonly body: TickBodyWriter = new TickBodyWriter()
  readonly #reader = new TickBodyReader()
  readonly #windowUs: number
  readonly #eventBytes = new Uint8Array(16)
  #orders: MergedOrder[] = []

  constructor(tickRate: number) {
    this.#windowUs = 1_000_000 / tickRate
  }

  /** Merges a tick into `body`. `first`: events that all peers know without a batch. `lead`: may set the deadline. */
  merge(tick: Tick, batches: readonly MeshBatches[], lead: PeerId, first: readonly TickEvent[]): void {
    const { body, events } = this
    events.length = 0
    events.push(...first)
    this.#orders = []
    for (const { player, log } of batches) this.#read(tick, player, log, lead)
    body.begin()
    for (const event of events)
      body.add(0, 0, TICK_EVENT[event.name], this.#eventBytes, 0, putTickEvent(this.#eventBytes, 0, event))
    // Sorting keeps the sequence of one player's orders of one time.
    const orders = this.#orders.sort((a, b) => a.timeUs - b.timeUs || a.player - b.player)
    for (const { player, timeUs, type, log, at, length } of orders)
      body.add(player, timeUs, type, log.bytes, at, length)
    body.end()
  }

  #read(tick: Tick, player: PeerId, log: TickLog, lead: PeerId): void {
    const reader = this.#reader
    reader.open(log.bytes, log.startOf(tick), log.endOf(tick))
    while (reader.next()) {
      const { type, dataAt, dataLength } = reader
      if (type < ORDER_TYPES_MAX) {
        const timeUs = Math.min(reader.timeUs, this.#windowUs - 1) | 0
        this.#orders.push({ player, timeUs, type, log, at: dataAt, length: dataLength })
        continue
      }
      const event = readTickEvent(type, log.bytes, dataAt, dataLength)
      const allowed = event && allow(event, player, lead)
      if (allowed !== undefined) this.events.push(allowed)
    }
  }
}

/** The event as it happens, or undefined if the player may not cause it. */
function allow({ name, value }: TickEvent, player: PeerId, lead: PeerId): TickEvent | undefined {
  if (name === 'pause' || name === 'resume') return { name, player, value: 0 }
  if (name === 'leave') return { name, player, value: 0 }
  if (name === 'speed') return { name, player: 0, value: Math.max(SPEED_MIN, Math.min(value, SPEED_MAX)) }
  return name === 'deadline' && player === lead ? { name, player: 0, value } : undefined
}
