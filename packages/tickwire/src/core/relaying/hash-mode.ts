/**
 * Decides whether every tick is hashed whole: while every player needs at most 40 % of a tick to step and hash. The
 * mode is an event of the tick stream, so all players hash the same ticks.
 */

import type { OrderRelay } from '../order-relay/order-relay.ts'
import { FIELD } from '../order-relay/relay-state.ts'

const FULL_SHARE = 0.4
/** Without the hash a step is shorter: the way back needs more room. */
const BACK_SHARE = 0.25

/** The mode of one match. */
export class HashMode {
  #isFull = true

  /** The mode of a match that began at another relay. */
  adopt(isFull: boolean): void {
    this.#isFull = isFull
  }

  /** Looks at what players measured. Called once a second. */
  look(relay: OrderRelay): void {
    let slowest = 0
    for (let slot = 0; slot < relay.options.players; slot++) {
      const isHere = relay.state.get(slot, FIELD.peer) !== 0 && relay.state.get(slot, FIELD.away) === 0
      if (isHere) slowest = Math.max(slowest, relay.state.get(slot, FIELD.stepMs))
    }
    const isFull = slowest <= (this.#isFull ? FULL_SHARE : BACK_SHARE) * relay.tickMs
    if (isFull === this.#isFull) return
    this.#isFull = isFull
    relay.events.add('hash', 0, isFull ? 1 : 0)
  }
}
