/** The tick events that wait for the next tick. */

import type { TickBodyWriter } from '../order/tick-body.ts'
import { putTickEvent, TICK_EVENT, type TickEvent, type TickEventName } from '../order/tick-event.ts'

export class RelayEvents {
  /** Whether the end of the match was written. */
  hasEnded = false
  #list: TickEvent[] = []
  readonly #bytes = new Uint8Array(16)

  /** The next tick has this event. */
  add(name: TickEventName, player: number, value: number): void {
    // A player that leaves before its join was written never joined.
    if (name === 'leave' && this.#list.some((event) => event.name === 'join' && event.player === player)) {
      this.#list = this.#list.filter((event) => event.player !== player || event.name === 'pause')
      return
    }
    this.#list.push({ name, player, value })
  }

  /** Writes the events into a tick. With `isDue`, the others wait for a later tick. */
  write(body: TickBodyWriter, isDue: (event: TickEvent) => boolean = () => true): void {
    if (this.#list.length === 0) return
    const due = this.#list.filter(isDue)
    this.#list = this.#list.filter((event) => !due.includes(event))
    for (const event of due) {
      const length = putTickEvent(this.#bytes, 0, event)
      body.add(0, 0, TICK_EVENT[event.name], this.#bytes, 0, length)
      if (event.name === 'end') this.hasEnded = true
    }
  }
}
