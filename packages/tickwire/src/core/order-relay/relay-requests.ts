/**
 * Requests of players that the relay decides: pause, resume and speed. A pause stops the windows; connections go on.
 */

import type { Millis } from '../base/time.ts'
import { readTickEvent, TICK_EVENT, type TickEvent } from '../order/tick-event.ts'
import type { CompleteRelayOptions } from './relay-options.ts'
import { FIELD, type RelayState } from './relay-state.ts'

export class Requests {
  isPaused = false
  /** When the match goes on. Infinity: no resume was asked for. */
  resumeAt: Millis = Infinity
  readonly #state: RelayState
  readonly #options: CompleteRelayOptions
  #resumedBy = 0

  constructor(state: RelayState, options: CompleteRelayOptions) {
    this.#state = state
    this.#options = options
  }

  /** The event that follows from a request. Undefined when it is refused or needs time. */
  handle(now: Millis, slot: number, type: number, data: Uint8Array, length: number): TickEvent | undefined {
    const { peer, pauses } = FIELD
    const player = this.#state.get(slot, peer)
    if (type === TICK_EVENT.speed) {
      const event = readTickEvent(type, data, 0, length)
      return event === undefined ? undefined : { ...event, player }
    }
    if (type === TICK_EVENT.pause && !this.isPaused && this.#state.get(slot, pauses) < this.#options.pausesMax) {
      this.#state.add(slot, pauses, 1)
      this.resumeAt = now + this.#options.pauseMsMax
      this.#resumedBy = 0
      return { name: 'pause', player, value: 0 }
    }
    if (type === TICK_EVENT.resume && this.isPaused) {
      this.resumeAt = Math.min(this.resumeAt, now + this.#options.countdownMs)
      this.#resumedBy = player
    }
    return undefined
  }

  /** The resume that is due. */
  takeResume(now: Millis): TickEvent | undefined {
    if (!this.isPaused || now < this.resumeAt) return undefined
    this.isPaused = false
    this.resumeAt = Infinity
    return { name: 'resume', player: this.#resumedBy, value: 0 }
  }
}
