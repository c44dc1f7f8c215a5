/**
 * What one origin may ask of us: so many challenges and handshakes a second, so many connections at once.
 *
 * Rates are token buckets in a table of fixed size: sets of four, chosen by a keyed hash of the origin, so that nobody can
 * aim at another's place; of four the one unheard longest makes room. Connections are counted where they are kept.
 *
 * Challenges have a generous rate and handshakes a strict one: a challenge is cheap and its asker's address unproven, so
 * that a strict rate would let a forger lock others out; who shakes hands is where he says he is.
 *
 * Addresses that are no IP address (a socket's number, a cable) have no origin and are not limited here: `originOf` can
 * tell which IP address stands behind them.
 */

import { ConfigError } from '../base/assert.ts'
import type { Entropy } from '../base/entropy.ts'
import {
  CHALLENGES_PER_ORIGIN_PER_SECOND, CONNECTIONS_PER_ORIGIN, GUESTS_PER_ORIGIN, HANDSHAKES_PER_ORIGIN_PER_SECOND, ORIGIN_SETS, ORIGIN_WAYS,
} from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { readUint32 } from '../packet/header.ts'
import { OriginKey, originKey } from './origin-key.ts'

/** What one origin may ask. */
export interface OriginLimits {
  /** At once. */
  readonly connections: number
  /** Agreements on keys, a second. */
  readonly handshakes: number
  /** Answers to requests, a second. */
  readonly challenges: number
  /** This machine and its own network are not limited. Default true. */
  readonly areLocalExempt: boolean
  /** The IP address behind an address of the transport; the address itself by default. */
  readonly originOf: (address: string) => string
}

/** The defaults. */
export const ORIGIN_LIMITS: OriginLimits = {
  connections: CONNECTIONS_PER_ORIGIN,
  handshakes: HANDSHAKES_PER_ORIGIN_PER_SECOND,
  challenges: CHALLENGES_PER_ORIGIN_PER_SECOND,
  areLocalExempt: true,
  originOf: (address) => address,
}

/** Completes and checks what the user configured. */
export function completeLimits(limits: Partial<OriginLimits>): OriginLimits {
  const complete = { ...ORIGIN_LIMITS, ...limits }
  for (const name of ['connections', 'handshakes', 'challenges'] as const) {
    if (!(complete[name] >= 1)) throw new ConfigError(`limits.${name}`, `is ${complete[name]}`, 'Give 1 or more; Infinity lifts it.')
  }
  return complete
}

/** Counts what origins ask. */
export class OriginGuard {
  #limits: OriginLimits
  #challenges: RateTable
  #handshakes: RateTable
  #key: OriginKey = new OriginKey()

  constructor(limits: OriginLimits, entropy: Entropy) {
    this.#limits = limits
    this.#challenges = new RateTable(limits.challenges, entropy)
    this.#handshakes = new RateTable(limits.handshakes, entropy)
  }

  /** Whether a request from there is answered. */
  mayChallenge(now: Millis, address: string): boolean {
    const key = this.#limited(address)
    return key === undefined || this.#challenges.take(now, key)
  }

  /** Whether a response from there, which is proven to be from there, is looked at. */
  mayShakeHands(now: Millis, address: string): boolean {
    const key = this.#limited(address)
    return key === undefined || this.#handshakes.take(now, key)
  }

  /** Whether one more connection from there is one too many, besides those at `others`. */
  isCrowded(address: string, others: Iterable<string>): boolean {
    return this.#count(address, others) >= this.#limits.connections
  }

  /** Whether one more guest from there is one too many, besides those at `others`. */
  hasManyGuests(address: string, others: Iterable<string>): boolean {
    return this.#count(address, others) >= GUESTS_PER_ORIGIN
  }

  /** How many of `others` are of the origin of `address`; 0 where it is not limited. */
  #count(address: string, others: Iterable<string>): number {
    const key = this.#limited(address)
    if (key === undefined) return 0
    const { family, high, low } = key
    let count = 0
    for (const other of others) {
      const theirs = this.#limited(other)
      if (theirs !== undefined && theirs.family === family && theirs.high === high && theirs.low === low) count++
    }
    return count
  }

  /** The origin of an address, if it has one that is limited. Valid until the next. */
  #limited(address: string): OriginKey | undefined {
    const key = originKey(this.#limits.originOf(address), this.#key)
    return key === undefined || (this.#limits.areLocalExempt && key.isLocal) ? undefined : key
  }
}

/** Token buckets, one for an origin. A bucket holds a second's worth. */
class RateTable {
  #perSecond: number
  #seed: number
  #tokens: Float64Array = new Float64Array(ORIGIN_SETS * ORIGIN_WAYS)
  #at: Float64Array = new Float64Array(ORIGIN_SETS * ORIGIN_WAYS).fill(-Infinity)
  #high: Uint32Array = new Uint32Array(ORIGIN_SETS * ORIGIN_WAYS)
  #low: Uint32Array = new Uint32Array(ORIGIN_SETS * ORIGIN_WAYS)
  #family: Uint8Array = new Uint8Array(ORIGIN_SETS * ORIGIN_WAYS)

  constructor(perSecond: number, entropy: Entropy) {
    this.#perSecond = perSecond
    const drawn = new Uint8Array(4)
    entropy.fill(drawn)
    this.#seed = readUint32(drawn, 0)
  }

  take(now: Millis, key: OriginKey): boolean {
    if (this.#perSecond === Infinity) return true
    const place = this.#placeOf(key)
    if (this.#family[place] !== key.family || this.#high[place] !== key.high || this.#low[place] !== key.low) {
      this.#family[place] = key.family
      this.#high[place] = key.high
      this.#low[place] = key.low
      this.#tokens[place] = this.#perSecond
    } else {
      const refill = ((now - this.#at[place]) * this.#perSecond) / 1000
      this.#tokens[place] = Math.min(this.#perSecond, this.#tokens[place] + refill)
    }
    this.#at[place] = now
    if (this.#tokens[place] < 1) return false
    this.#tokens[place]--
    return true
  }

  /** Where this origin is, or may be. */
  #placeOf(key: OriginKey): number {
    let hash = Math.imul(this.#seed ^ key.low, 0x9e37_79b1)
    hash = Math.imul((hash ^ (hash >>> 15)) ^ key.high ^ key.family, 0x85eb_ca77)
    const first = ((hash ^ (hash >>> 13)) & (ORIGIN_SETS - 1)) * ORIGIN_WAYS
    let oldest = first
    for (let place = first; place < first + ORIGIN_WAYS; place++) {
      if (this.#family[place] === key.family && this.#high[place] === key.high && this.#low[place] === key.low) return place
      if (this.#at[place] < this.#at[oldest]) oldest = place
    }
    return oldest
  }
}
