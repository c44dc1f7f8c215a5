/**
 * Whom to answer when more ask than deserve it: whoever asks again.
 *
 * Up to 1000 requests a second are answered at once. More than that is a flood, and who floods under made-up addresses is
 * seldom heard twice from one of them, while an honest client repeats his request every 200 to 250 ms: so above that rate a
 * request is answered only when one from the same address was heard 100 ms to 2 s before. That costs the honest a quarter
 * second, and spares us the answer, which is the dearest part of a request: a MAC and a system call.
 *
 * Whoever repeats himself is answered ten times a second at most, at one address.
 *
 * Invariant: a fixed table; in it are four bytes of a hash and when, nothing of the stranger. Who is pushed out knocks again.
 *
 * It proves nothing: that is the cookie's business.
 */

import type { Entropy } from '../base/entropy.ts'
import { CHALLENGES_PER_SECOND, KNOCK_MS_MAX, KNOCK_MS_MIN, KNOCK_SETS, KNOCK_WAYS } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { readUint32 } from '../packet/header.ts'

/** Remembers, for a moment, that somebody asked. */
export class Knocks {
  #entropy: Entropy
  #left: number = CHALLENGES_PER_SECOND
  #refilledAt: Millis = -Infinity
  /** Drawn and made at the first flood: most endpoints never see one. */
  #seed: number = 0
  #tags: Uint32Array = new Uint32Array(0)
  /** Whole milliseconds, which wrap: what looks fresh again after 49 days is answered once. */
  #heardAt: Uint32Array = new Uint32Array(0)

  constructor(entropy: Entropy) {
    this.#entropy = entropy
  }

  /** Whether a request from there is answered now. */
  take(now: Millis, address: string): boolean {
    const refill = ((now - this.#refilledAt) * CHALLENGES_PER_SECOND) / 1000
    this.#left = Math.min(CHALLENGES_PER_SECOND, this.#left + Math.max(0, refill))
    this.#refilledAt = now
    if (this.#left >= 1) {
      this.#left--
      return true
    }
    if (this.#tags.length === 0) this.#furnish()
    return this.#isRepeated(Math.floor(now) >>> 0, hashOf(this.#seed, address))
  }

  #furnish(): void {
    const drawn = new Uint8Array(4)
    this.#entropy.fill(drawn)
    this.#seed = readUint32(drawn, 0)
    this.#tags = new Uint32Array(KNOCK_SETS * KNOCK_WAYS)
    this.#heardAt = new Uint32Array(KNOCK_SETS * KNOCK_WAYS)
  }

  #isRepeated(at: number, tag: number): boolean {
    const first = (tag & (KNOCK_SETS - 1)) * KNOCK_WAYS
    let place = first
    let oldest = -1
    for (let way = first; way < first + KNOCK_WAYS; way++) {
      const age = (at - this.#heardAt[way]) >>> 0
      if (this.#tags[way] === tag && age <= KNOCK_MS_MAX) {
        // Too soon: what was heard first still counts.
        if (age >= KNOCK_MS_MIN) this.#heardAt[way] = at
        return age >= KNOCK_MS_MIN
      }
      if (age > oldest) {
        oldest = age
        place = way
      }
    }
    this.#tags[place] = tag
    this.#heardAt[place] = at
    return false
  }
}

/** Who asks: not to be guessed without the seed, and no more than a hint. */
function hashOf(seed: number, address: string): number {
  let hash = seed
  for (let at = 0; at < address.length; at++) hash = Math.imul(hash ^ address.charCodeAt(at), 0x0100_0193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
