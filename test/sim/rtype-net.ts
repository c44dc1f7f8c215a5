/** The network of an R-Type world: it loses, delays, reorders and duplicates datagrams, as a seed says. */

import { LinkTally } from '../../packages/tickwire/src/testing/link-model-tally.ts'
import type { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'

/** A datagram on its way. */
export interface Flight {
  readonly at: number
  readonly from: string
  readonly to: string
  readonly bytes: Uint8Array
}

/** Changes datagrams on their way: for planted bugs. Returns the datagram, or undefined to drop it. */
export type RtypePlant = (bytes: Uint8Array, toClient: boolean) => Uint8Array | undefined

/** Of a calm that is not perfect, on the way to clients only: a heartbeat that is lost may cost the seat. */
const LOSS_MIN = 0.05
const CALM = { loss: 0, duplication: 0, latencyMs: 10, jitterMs: 0 }

export class RtypeNet {
  readonly tally = new LinkTally()
  isStorm = true
  /** Until then the server stands still, and what comes for it waits. */
  stillUntil = 0
  /** Until then the calm loses datagrams to clients. */
  lossyUntil = 0
  readonly #dice: Dice
  readonly #plant: RtypePlant
  readonly #weather: typeof CALM
  #flights: Flight[] = []

  constructor(dice: Dice, plant: RtypePlant) {
    this.#dice = dice
    this.#plant = plant
    this.#weather = {
      loss: 0.1 + (dice.chance(0.2) ? 0.2 * dice.fraction() : 0), duplication: 0.15 * dice.fraction(),
      latencyMs: 100 * dice.fraction(), jitterMs: dice.chance(0.3) ? 300 * dice.fraction() : 40 * dice.fraction(),
    }
  }

  send(now: number, from: string, to: string, original: Uint8Array): void {
    const { duplication, latencyMs, jitterMs, loss: most } = this.isStorm ? this.#weather : CALM
    const loss = from === 'server' && now < this.lossyUntil ? Math.max(LOSS_MIN, most) : most
    const bytes = this.#plant(original.slice(), from === 'server')
    this.tally.sent++
    if (this.#dice.chance(loss) || bytes === undefined) {
      this.tally.lost++
      return
    }
    const copies = this.#dice.chance(duplication) ? 2 : 1
    this.tally.copies += copies - 1
    for (let copy = 0; copy < copies; copy++) {
      this.#flights.push({ at: now + latencyMs + jitterMs * this.#dice.fraction(), to, from, bytes })
    }
  }

  /** A datagram of an attacker, which arrives for certain. */
  inject(flight: Flight): void {
    this.#flights.push(flight)
  }

  /** What arrives until now, in the order of arrival. */
  poll(now: number): Flight[] {
    const isDue = ({ at, to }: Flight): boolean => at <= now && (to !== 'server' || now >= this.stillUntil)
    const due = this.#flights.filter(isDue).sort((one, other) => one.at - other.at)
    this.#flights = this.#flights.filter((flight) => !isDue(flight))
    this.tally.delivered += due.length
    return due
  }
}
