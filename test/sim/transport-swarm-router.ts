/** A router that gives the old address of a client to another client, as when a port is free again. */

import type { SimNet } from '../../packages/tickwire/src/testing/sim-net.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import type { Party } from './transport-swarm-party.ts'
import type { WorldCounts } from './transport-swarm-report.ts'

export class ReusingRouter {
  readonly #net: SimNet
  readonly #counts: WorldCounts
  /** A separate generator, so that the worlds of older seeds stay the same. */
  readonly #dice: Dice
  readonly #reuse: number

  constructor(net: SimNet, seed: number, counts: WorldCounts) {
    this.#net = net
    this.#counts = counts
    this.#dice = new Dice(seed ^ 0xa8e)
    this.#reuse = this.#dice.chance(0.3) ? 0.005 * this.#dice.fraction() : 0
  }

  /** Sometimes one client moves away, and another gets its address. */
  stir(now: number, clients: readonly Party[]): void {
    if (clients.length < 2 || !this.#dice.chance(this.#reuse)) return
    const at = this.#dice.word() % clients.length
    const [from, to] = [clients[at]!.node, clients[(at + 1) % clients.length]!.node]
    const { address } = from
    this.#net.rebind(now, from, 'port')
    this.#net.rebind(now, to, { address })
    this.#counts.reused++
  }
}
