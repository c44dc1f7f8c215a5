/**
 * Limits for each origin: challenges and handshakes per second, and connections at the same time.
 *
 * Rates are token buckets in a table of fixed size. The table has sets of four entries. A keyed hash of the origin
 * chooses the set, so an attacker cannot aim at another origin's entry. The least recently used of the four entries is
 * replaced. Connections are not counted here but where they are stored.
 *
 * IPv6 addresses are counted at three prefix sizes. Otherwise the owner of a large network would count as one origin
 * for each /64 in it:
 *
 *   /64 one origin        /56 the limits of 4 origins        /48 the limits of 16 origins
 *
 * The rate for challenges is generous and the rate for handshakes is strict. A challenge is cheap and the sender's
 * address is not proven yet, so with a strict rate an attacker with forged addresses could lock other clients out. A
 * client that answers a challenge has proven its address.
 *
 * Addresses that are not IP addresses (a socket's number, a cable) have no origin and are not limited here. `originOf`
 * can map them to the IP address behind them.
 */

import { ConfigError } from '../base/assert.ts'
import type { Entropy } from '../base/entropy.ts'
import {
  CHALLENGES_PER_ORIGIN_PER_SECOND, CONNECTIONS_PER_ORIGIN, GUESTS_PER_ORIGIN, HANDSHAKES_PER_ORIGIN_PER_SECOND,
  IPV6_48_TIMES, IPV6_56_TIMES, ORIGIN_SETS, ORIGIN_WAYS,
} from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { readUint32 } from '../packet/header.ts'
import { OriginKey, originKey } from './origin-key.ts'

/** Limits for one origin. */
export interface OriginLimits {
  /** Connections at the same time. Default: 5. */
  readonly connections: number
  /** Handshakes (key agreements) per second. Default: 10. */
  readonly handshakes: number
  /** Challenges sent in answer to requests, per second. Default: 50. */
  readonly challenges: number
  /** Addresses of this machine and of its local network are not limited. Default true. */
  readonly areLocalExempt: boolean
  /** Maps an address of the transport to the IP address behind it. Default: the address itself. */
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
    if (!(complete[name] >= 1))
      throw new ConfigError(
        `limits.${name}`,
        `invalid limit (expected 1 or more, got ${complete[name]})`,
        'give 1 or more; Infinity removes the limit.',
      )
  }
  return complete
}

/** The counted prefixes of an IPv6 address: a mask over address bits 32 to 63, and how many times the limits apply. */
export const PREFIXES: readonly { readonly bits: number; readonly mask: number; readonly times: number }[] = [
  { bits: 64, mask: 0xffff_ffff, times: 1 },
  { bits: 56, mask: 0xffff_ff00, times: IPV6_56_TIMES },
  { bits: 48, mask: 0xffff_0000, times: IPV6_48_TIMES },
]

/** How many prefix sizes are counted. An IPv4 address is one origin and has no counted prefixes. */
export function sizesOf(family: 4 | 6): number {
  return family === 6 ? PREFIXES.length : 1
}

/** Takes from the smallest prefix first, so that a refused origin uses up nothing of the larger prefixes. */
export function takeAll(tables: readonly RateTable[], now: Millis, key: OriginKey): boolean {
  for (let size = 0; size < sizesOf(key.family); size++) if (!tables[size].take(now, key)) return false
  return true
}

/** Enforces the limits for each origin. */
export class OriginGuard {
  #limits: OriginLimits
  #challenges: readonly RateTable[]
  #handshakes: readonly RateTable[]
  #key: OriginKey = new OriginKey()

  constructor(limits: OriginLimits, entropy: Entropy) {
    this.#limits = limits
    this.#challenges = PREFIXES.map(({ mask, times }) => new RateTable(limits.challenges * times, mask, entropy))
    this.#handshakes = PREFIXES.map(({ mask, times }) => new RateTable(limits.handshakes * times, mask, entropy))
  }

  /** Whether a request from `address` is answered with a challenge. */
  mayChallenge(now: Millis, address: string): boolean {
    const key = this.#limited(address)
    return key === undefined || takeAll(this.#challenges, now, key)
  }

  /** Whether a response from `address`, which is proven by now, is processed. */
  mayShakeHands(now: Millis, address: string): boolean {
    const key = this.#limited(address)
    return key === undefined || takeAll(this.#handshakes, now, key)
  }

  /** Whether the origin of `address` has no connection left. `others`: the addresses of existing connections. */
  isCrowded(address: string, others: Iterable<string>): boolean {
    return this.#isTooMany(address, others, this.#limits.connections)
  }

  /** Whether the origin of `address` has no guest left. `others`: the addresses of existing guests. */
  hasManyGuests(address: string, others: Iterable<string>): boolean {
    return this.#isTooMany(address, others, GUESTS_PER_ORIGIN)
  }

  /** Whether `others` already has `limit` addresses from the origin of `address`, or reaches the limit of a prefix. */
  #isTooMany(address: string, others: Iterable<string>, limit: number): boolean {
    const key = this.#limited(address)
    if (key === undefined) return false
    const { family, high, low } = key
    const counts = [0, 0, 0]
    for (const other of others) {
      const theirs = this.#limited(other)
      if (theirs === undefined || theirs.family !== family || theirs.high !== high) continue
      for (let size = 0; size < sizesOf(family); size++)
        if (((theirs.low ^ low) & PREFIXES[size].mask) === 0) counts[size]++
    }
    return PREFIXES.some(({ times }, size) => counts[size] >= limit * times)
  }

  /** The origin of an address, or undefined if it is not limited. Valid until the next call. */
  #limited(address: string): OriginKey | undefined {
    return limitedOrigin(this.#limits, address, this.#key)
  }
}

/** The origin of an address, written into `key`, or undefined if it is not limited. */
export function limitedOrigin(limits: OriginLimits, address: string, key: OriginKey): OriginKey | undefined {
  const origin = originKey(limits.originOf(address), key)
  return origin === undefined || (limits.areLocalExempt && origin.isLocal) ? undefined : origin
}

/** Token buckets, one for each origin. Arrays are indexed by entry. */
export class RateTable {
  #perSecond: number
  #burst: number
  #mask: number
  #seed: number
  #tokens: Float64Array = new Float64Array(ORIGIN_SETS * ORIGIN_WAYS)
  #at: Float64Array = new Float64Array(ORIGIN_SETS * ORIGIN_WAYS).fill(-Infinity)
  #high: Uint32Array = new Uint32Array(ORIGIN_SETS * ORIGIN_WAYS)
  #low: Uint32Array = new Uint32Array(ORIGIN_SETS * ORIGIN_WAYS)
  #family: Uint8Array = new Uint8Array(ORIGIN_SETS * ORIGIN_WAYS)

  /** `mask`: which bits of `OriginKey.low` count. `burst`: what a bucket holds. Default: the tokens of a second. */
  constructor(perSecond: number, mask: number, entropy: Entropy, burst: number = perSecond) {
    this.#perSecond = perSecond
    this.#burst = burst
    this.#mask = mask
    const drawn = new Uint8Array(4)
    entropy.fill(drawn)
    this.#seed = readUint32(drawn, 0)
  }

  take(now: Millis, key: OriginKey): boolean {
    if (this.#perSecond === Infinity) return true
    const low = (key.low & this.#mask) >>> 0
    const place = this.#placeOf(key, low)
    if (this.#family[place] !== key.family || this.#high[place] !== key.high || this.#low[place] !== low) {
      this.#family[place] = key.family
      this.#high[place] = key.high
      this.#low[place] = low
      this.#tokens[place] = this.#burst
    } else {
      const refill = ((now - this.#at[place]) * this.#perSecond) / 1000
      this.#tokens[place] = Math.min(this.#burst, this.#tokens[place] + refill)
    }
    this.#at[place] = now
    if (this.#tokens[place] < 1) return false
    this.#tokens[place]--
    return true
  }

  /** The entry of this origin, or the entry to replace if it has none. */
  #placeOf(key: OriginKey, low: number): number {
    let hash = Math.imul(this.#seed ^ low, 0x9e37_79b1)
    hash = Math.imul((hash ^ (hash >>> 15)) ^ key.high ^ key.family, 0x85eb_ca77)
    const first = ((hash ^ (hash >>> 13)) & (ORIGIN_SETS - 1)) * ORIGIN_WAYS
    let oldest = first
    for (let place = first; place < first + ORIGIN_WAYS; place++) {
      if (this.#family[place] === key.family && this.#high[place] === key.high && this.#low[place] === low) return place
      if (this.#at[place] < this.#at[oldest]) oldest = place
    }
    return oldest
  }
}
