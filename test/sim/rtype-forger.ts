/** Datagrams of addresses that belong to no R-Type client: requests, noise, changed packets, and claims of seats. */

import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { ReferenceClient } from '../reference/rtype-client.ts'

/** The name in the requests of a forger. */
export const FORGER = 'Eve'

/** A datagram, and the address that it seems to come from. */
export interface Forged {
  readonly from: string
  readonly bytes: Uint8Array
}

const HEARTBEAT_BYTES = 16
const CLAIM_RATE = 0.02

export class RtypeForger {
  readonly #dice: Dice
  /** A generator for claims alone, so that the worlds of older seeds stay the same. */
  readonly #claims: Dice
  readonly #claimRate: number

  constructor(seed: number, dice: Dice) {
    this.#dice = dice
    this.#claims = new Dice(seed ^ 0xc1a1)
    this.#claimRate = this.#claims.chance(0.5) ? CLAIM_RATE : 0
  }

  /** A request, noise, or a changed packet of another. */
  request(): Forged {
    const from = this.#address(this.#dice)
    const client = new ReferenceClient(FORGER, 7)
    let [bytes] = client.poll(0)
    if (this.#dice.chance(0.5)) {
      const at = Math.floor(this.#dice.fraction() * bytes!.length)
      bytes = bytes!.slice(0, 12 + Math.floor(this.#dice.fraction() * 40))
      if (at < bytes.length) bytes[at] = bytes[at]! ^ (1 << Math.floor(this.#dice.fraction() * 8))
    }
    return { from, bytes: bytes! }
  }

  /** Sometimes: a heartbeat with a player id that this address has never received. */
  claim(): Forged | undefined {
    if (!this.#claims.chance(this.#claimRate)) return undefined
    const bytes = new Uint8Array(HEARTBEAT_BYTES)
    bytes.set([0x52, 0x54, 0x05, 0])
    for (let at = 7; at < HEARTBEAT_BYTES; at++) bytes[at] = Math.floor(this.#claims.fraction() * 256)
    return { from: this.#address(this.#claims), bytes }
  }

  #address(dice: Dice): string {
    return `198.51.100.${Math.floor(dice.fraction() * 20)}:9`
  }
}
