/**
 * The events of a simulated world, as one hash: every datagram that was sent, every event, every message, and when.
 *
 * Invariant: the hash depends only on the noted events and their order. The same world gives the same hash in every
 * process.
 */

import { hashCombine, hashHex } from '../../packages/tickwire/src/core/base/hash.ts'

/** A running hash. */
export class Trace {
  readonly #words = new Uint32Array(2)

  /** An event of `who`. */
  note(who: number, what: number): void {
    hashCombine(this.#words, 0, what, who)
  }

  /** When something happened, to the microsecond. */
  noteTime(now: number): void {
    hashCombine(this.#words, 0, (now * 1000) >>> 0, 0)
  }

  /** Adds the trace of a whole world. */
  fold(hex: string): void {
    hashCombine(this.#words, 0, Number.parseInt(hex.slice(8), 16), Number.parseInt(hex.slice(0, 8), 16))
  }

  get hex(): string {
    return hashHex(this.#words, 0)
  }
}
