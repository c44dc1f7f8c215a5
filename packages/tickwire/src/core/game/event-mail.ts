/**
 * What happens in `step`, on its way to one client: he hears of what happens to objects that are in his view, and of nothing else.
 *
 *   his own, or of an entity that everybody always knows          at once
 *   in his view when it was last looked at, so also who dies now   at once
 *   else                                                           when it comes into his view, within a quarter second; or never
 *
 * Who was born in this tick is in nobody's view yet: that is what waiting is for. It is the rule of interest and no other that
 * decides, so that what a client may not know is not heard through walls either.
 */

import { EVENTS_WAITING_MAX } from '../base/limits.ts'
import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import type { StepEvent } from './event-codec.ts'

/** So long somebody may take to come into view after something happened to him. */
const WAIT_MS = 250

export class EventMail {
  readonly #peer: PeerId
  readonly #view: { knows(id: ObjectId): boolean }
  readonly #waitTicks: number
  readonly #send: (event: StepEvent) => void
  /** In the order in which it happened. */
  readonly #waiting: StepEvent[] = []

  constructor(peer: PeerId, view: { knows(id: ObjectId): boolean }, tickRate: number, send: (event: StepEvent) => void) {
    this.#peer = peer
    this.#view = view
    this.#waitTicks = Math.ceil(WAIT_MS * tickRate / 1000)
    this.#send = send
  }

  /** Something happened. `isEverybodys`: to an object that everybody always knows. */
  post(event: StepEvent, isEverybodys: boolean): void {
    if (isEverybodys || event.birth[1] === this.#peer || this.#view.knows(event.object)) {
      this.#send(event)
      return
    }
    if (this.#waiting.length === EVENTS_WAITING_MAX) this.#waiting.shift()
    this.#waiting.push(event)
  }

  /** It is this tick: who has come into view since is heard of, and what is too long ago is not any more. */
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
