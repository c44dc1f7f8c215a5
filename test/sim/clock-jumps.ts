/**
 * Clocks of machines that jump ahead, in worlds whose time comes from `drift` and `offsetMs` of each client, and the
 * times that clients measure with them (I19).
 */

import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { hold } from './invariants.ts'

const RATE = 0.002
/** Shorter than any timeout: after a jump a client may not take others for silent. */
const JUMP_MS_MAX = 3000

interface Machine {
  jump(now: number, ms: number): void
}

/** What a client has measured. */
interface Measured {
  readonly feed: { diagnostics(): { readonly rttMs: number; readonly holdMs: number } }
  readonly endpoint: { readonly connections: readonly Pick<Connection, 'rtt'>[] }
}

/** Draws the jumps of one world. A third of the seeds has some, by a generator of their own. */
export class ClockJumps {
  readonly #dice: Dice
  readonly #rate: number

  constructor(seed: number) {
    this.#dice = new Dice(seed ^ 0xcb0a)
    this.#rate = this.#dice.chance(1 / 3) ? RATE : 0
  }

  /** One step of time: some clocks jump. */
  strike(now: number, machines: readonly Machine[], onJump: () => void): void {
    for (const machine of machines) {
      if (!this.#dice.chance(this.#rate)) continue
      machine.jump(now, JUMP_MS_MAX * this.#dice.fraction())
      onJump()
    }
  }
}

/** No time that a client has measured is negative. */
export function checkTimes(clients: readonly { readonly client: Measured }[]): void {
  clients.forEach(({ client: { feed, endpoint } }, number) => {
    const { rttMs, holdMs } = feed.diagnostics()
    const isPast = rttMs >= 0 && holdMs >= 0
    hold(isPast, 'I19', () => `client ${number}: a round trip of ${rttMs} ms, a hold of ${holdMs} ms`)
    for (const { rtt: { samples, latestMs, smoothedMs } } of endpoint.connections) {
      const isReal = samples === 0 || (latestMs >= 0 && smoothedMs >= 0)
      hold(isReal, 'I19', () => `client ${number}: a round trip took ${latestMs} ms, ${smoothedMs} ms on average`)
    }
  })
}
