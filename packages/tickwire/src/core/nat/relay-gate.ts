/**
 * Which requests to a relay are answered at all: limits for each origin, and for the relay as a whole.
 */

import type { Entropy } from '../base/entropy.ts'
import {
  RELAY_REQUESTS_PER_ORIGIN_PER_SECOND, RELAY_REQUESTS_PER_SECOND, RELAY_TOKENS_PER_ORIGIN_PER_SECOND,
  STUN_PER_ORIGIN_PER_SECOND, STUN_PER_SECOND,
} from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { OriginKey, originKey } from '../endpoint/origin-key.ts'
import { OriginGuard, completeLimits } from '../endpoint/origin-limits.ts'

/** How origins are found and which are exempt. */
export interface GateOptions {
  /** Whether this machine and its local network are exempt. */
  readonly areLocalExempt: boolean
  /** The IP address behind a transport's address. */
  readonly addressOf: (address: string) => string
}

/** The limits of one relay. */
export class RelayGate {
  #options: GateOptions
  #requests: OriginGuard
  #stun: OriginGuard
  #allRequests: Bucket = new Bucket(RELAY_REQUESTS_PER_SECOND)
  /** Their answers are longer than the questions, so little may be saved up. */
  #allStun: Bucket = new Bucket(STUN_PER_SECOND, STUN_PER_SECOND / 10)
  #key: OriginKey = new OriginKey()

  constructor(options: GateOptions, entropy: Entropy) {
    const guard = (challenges: number, handshakes: number): OriginGuard =>
      new OriginGuard(
        completeLimits({
          challenges, handshakes, areLocalExempt: options.areLocalExempt, originOf: options.addressOf,
        }),
        entropy,
      )
    this.#options = options
    this.#requests = guard(RELAY_REQUESTS_PER_ORIGIN_PER_SECOND, RELAY_TOKENS_PER_ORIGIN_PER_SECOND)
    this.#stun = guard(STUN_PER_ORIGIN_PER_SECOND, STUN_PER_ORIGIN_PER_SECOND)
  }

  /** Whether a control message from `address` is answered. */
  mayAsk(now: Millis, address: string): boolean {
    return this.#requests.mayChallenge(now, address) && this.#allRequests.take(now)
  }

  /** Whether a signature is checked for `address`, which is proven by now. */
  mayVerify(now: Millis, address: string): boolean {
    return this.#requests.mayShakeHands(now, address)
  }

  /** Whether a STUN request from `address` is answered. */
  mayStun(now: Millis, address: string): boolean {
    return this.#stun.mayChallenge(now, address) && this.#allStun.take(now)
  }

  /** The origin that allocations are counted by; '' when it is exempt or not an IP address. */
  originOf(address: string): string {
    const key = originKey(this.#options.addressOf(address), this.#key)
    if (key === undefined || (this.#options.areLocalExempt && key.isLocal)) return ''
    const { family, high, low } = key
    // Five characters: the shortest text that a map can have as a key.
    return String.fromCharCode(family, high >>> 16, high & 0xffff, low >>> 16, low & 0xffff)
  }
}

/** A rate for all senders together, with a burst of one second unless another is given. */
class Bucket {
  #perSecond: number
  #burst: number
  #tokens: number
  #at: Millis = -Infinity

  constructor(perSecond: number, burst: number = perSecond) {
    this.#perSecond = perSecond
    this.#burst = burst
    this.#tokens = burst
  }

  take(now: Millis): boolean {
    this.#tokens = Math.min(this.#burst, this.#tokens + ((now - this.#at) * this.#perSecond) / 1000)
    this.#at = now
    if (this.#tokens < 1) return false
    this.#tokens--
    return true
  }
}
