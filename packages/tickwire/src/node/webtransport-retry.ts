/**
 * Retry tokens (RFC 9000, 8.1.3): a client that returns its token has proven its address.
 *
 * ```
 * token   seconds(8) | original connection id | MAC(32)      MAC over all before it, the client's address, and the id
 * issued
 * ```
 *
 * The server keeps no state. A token is valid for 10 s, from one address, for one connection id.
 */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { monotonicNow } from './clock.ts'

const MAC_BYTES = 32
const TIME_BYTES = 8
const GOOD_MS = 10_000

export class RetryTokens {
  readonly #key: Buffer = randomBytes(32)

  /** A token for the client at `from` that used connection id `original` and was issued `name`. */
  make(from: string, name: Uint8Array, original: Uint8Array): Buffer {
    const time = Buffer.alloc(TIME_BYTES)
    time.writeDoubleBE(monotonicNow())
    const content = Buffer.concat([time, original])
    return Buffer.concat([content, this.#mac(content, from, name)])
  }

  /** The client's original connection id; undefined when the token is forged, another client's, or expired. */
  recognise(token: Uint8Array, from: string, name: Uint8Array): Uint8Array | undefined {
    if (token.length < TIME_BYTES + MAC_BYTES) return undefined
    const content = Buffer.from(token.subarray(0, token.length - MAC_BYTES))
    if (!timingSafeEqual(this.#mac(content, from, name), token.subarray(token.length - MAC_BYTES))) return undefined
    const isFresh = monotonicNow() - content.readDoubleBE() < GOOD_MS
    return isFresh ? content.subarray(TIME_BYTES) : undefined
  }

  #mac(content: Buffer, from: string, name: Uint8Array): Buffer {
    return createHmac('sha256', this.#key).update(content).update(`|${from}|`).update(name).digest()
  }
}
