/**
 * Delivers events from `step` to one client. A client receives only events of objects that are in its view.
 *
 *   the client's own object, or an entity with interest `always`   at once
 *   in view at the last update, which includes a dying object      at once
 *   otherwise                                                      when it enters the view within 250 ms, or never
 *
 * An object that spawned in this tick is in no view yet, so its events have to wait. Only the interest rules decide, so
 * that events do not reveal an object that the client may not know of.
 */

import { EVENTS_WAITING_MAX } from '../base/limits.ts'
import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import type { StepEvent } from './event-codec.ts'

/** How long an event waits for its object to come into view. */
const WAIT_MS = 250

export class EventMail {
  readonly #peer: PeerId
  readonly #view: { knows(id: ObjectId): boolean }
  readonly #waitTicks: number
  readonly #send: (event: StepEvent) => void
  /** In the order of the events. */
  readonly #waiting: StepEvent[] = []

  constructor(
    peer: PeerId,
    view: { knows(id: ObjectId): boolean },
    tickRate: number,
    send: (event: StepEvent) => void,
  ) {
    this.#peer = peer
    this.#view = view
    this.#waitTicks = Math.ceil(WAIT_MS * tickRate / 1000)
    this.#send = send
  }

  /** Sends an event or stores it. `isForAll`: the object's entity has interest `always`. */
  post(event: StepEvent, isForAll: boolean): void {
    if (isForAll || event.birth[1] === this.#peer || this.#view.knows(event.object)) {
      this.#send(event)
      return
    }
    if (this.#waiting.length === EVENTS_WAITING_MAX) this.#waiting.shift()
    this.#waiting.push(event)
  }

  /** Sends stored events whose objects have come into view, and drops those that have waited too long. */
  deliver(tick: Tick): void {
    const waiting = this.#waiting
    if (waiting.length === 0) return
    let kept = 0
    for (let at = 0; at < waiting.length; at++) {
      const event = waiting[at]
      if (this.#view.knows(event.object)) this.#send(event)
      else if (event.tick + this.#waitTicks >= tick) waiting[kept++] = event
    }
    waiting.length = kept
  }
}
