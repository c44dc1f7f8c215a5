/**
 * During a flood of requests, answers only requests that are repeated.
 *
 * Up to 1000 requests per second are answered at once. More than that is a flood. A flood with forged addresses seldom
 * uses one address twice, while an honest client repeats its request every 200 to 250 ms. So above that rate a request
 * is answered only when a request from the same address arrived 100 ms to 2 s earlier. That delays honest clients by a
 * quarter of a second. It saves the answer, which is the most expensive part of a request: a MAC and a system call.
 *
 * An address that repeats its requests is answered at most ten times per second.
 *
 * Invariant: the table has a fixed size. An entry holds four bytes of a hash and a time, and no address. A client whose
 * entry was replaced simply repeats its request.
 *
 * This file does not prove any address: the cookie does.
 */

import type { Entropy } from '../base/entropy.ts'
import { CHALLENGES_PER_SECOND, KNOCK_MS_MAX, KNOCK_MS_MIN, KNOCK_SETS, KNOCK_WAYS } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { readUint32 } from '../packet/header.ts'

/** Remembers recent requests for a short time. */
export class Knocks {
  #entropy: Entropy
  #left: number = CHALLENGES_PER_SECOND
  #refilledAt: Millis = -Infinity
  /** The seed is drawn and the tables are allocated at the first flood: most endpoints never see one. */
  #seed: number = 0
  #tags: Uint32Array = new Uint32Array(0)
  /** Whole milliseconds, which wrap: an entry that looks fresh again after 49 days causes one extra answer. */
  #receivedAt: Uint32Array = new Uint32Array(0)

  constructor(entropy: Entropy) {
    this.#entropy = entropy
  }

  /** Whether a request from `address` is answered now. */
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
    this.#receivedAt = new Uint32Array(KNOCK_SETS * KNOCK_WAYS)
  }

  #isRepeated(at: number, tag: number): boolean {
    const first = (tag & (KNOCK_SETS - 1)) * KNOCK_WAYS
    let place = first
    let oldest = -1
    for (let way = first; way < first + KNOCK_WAYS; way++) {
      const age = (at - this.#receivedAt[way]) >>> 0
      if (this.#tags[way] === tag && age <= KNOCK_MS_MAX) {
        // Too soon: the time of the first request still counts.
        if (age >= KNOCK_MS_MIN) this.#receivedAt[way] = at
        return age >= KNOCK_MS_MIN
      }
      if (age > oldest) {
        oldest = age
        place = way
      }
    }
    this.#tags[place] = tag
    this.#receivedAt[place] = at
    return false
  }
}

/** Hash of the address. It cannot be predicted without the seed. Collisions are acceptable. */
function hashOf(seed: number, address: string): number {
  let hash = seed
  for (let at = 0; at < address.length; at++) hash = Math.imul(hash ^ address.charCodeAt(at), 0x0100_0193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
