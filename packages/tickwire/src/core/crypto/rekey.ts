/**
 * How the two ends of a connection agree on new keys, in band: two messages, reliable and in order.
 *
 * ```
 *            0       1        2
 * Offer      │ 1     │ epoch  │ public key, 32 │       the epoch that will begin, its low byte
 * Answer     │ 2     │ epoch  │ public key, 32 │
 * ```
 *
 * Either side may offer. The side that answers can open the new epoch from then on, and continues to seal with the old
 * one until it opens a packet of the new one. The side that receives the answer seals with the new epoch at once. When
 * both offer at the same time the server's offer wins: the client drops its own offer and answers, and the server
 * ignores the client's offer.
 *
 * Invariant: both sides install the same secret for the same epoch, or neither does, whatever other packets are lost or
 * late.
 *
 * This class does not send. It produces messages for a reliable, ordered channel and is given the messages received on
 * it.
 */

import { assert } from '../base/assert.ts'
import type { Entropy } from '../base/entropy.ts'
import { REKEY_GAP_MS } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { wipe } from './constant-time.ts'
import type { KeyRing } from './key-ring.ts'
import { CRYPTO_BYTES, type AgreementKey, type CryptoProvider } from './provider.ts'

/** Bytes of each message. */
export const REKEY_MESSAGE_BYTES: number = 2 + CRYPTO_BYTES.publicKey

const OFFER = 1
const ANSWER = 2

/** One side of the key exchange of a connection. */
export class Rekey {
  /** Exchanges completed on this side. */
  completed: number = 0
  #ring: KeyRing
  #provider: CryptoProvider
  #entropy: Entropy
  /** The secret key of our offer, until it is answered or dropped. */
  #offered: AgreementKey | undefined = undefined
  /**
   * The key of the peer's offer, while it is too early to answer. Key pairs are expensive: a peer gets one per second.
   */
  #asked: Uint8Array | undefined = undefined
  #outgoing: Uint8Array | undefined = undefined
  #answeredAt: Millis = -Infinity

  constructor(ring: KeyRing, provider: CryptoProvider, entropy: Entropy) {
    this.#ring = ring
    this.#provider = provider
    this.#entropy = entropy
  }

  /** Our offer has not been answered yet. */
  get isOffering(): boolean {
    return this.#offered !== undefined
  }

  /** Offers new keys when they are due, and answers an offer that had to wait. Call it at every poll. */
  poll(now: Millis): 'ok' | 'broken' {
    if (now >= this.#ring.retireAt) this.#ring.retire()
    if (this.#asked !== undefined) return this.#answer(now, this.#asked)
    if (this.#offered === undefined && this.#ring.rekeyReason(now) !== undefined) {
      this.#offered = this.#draw()
      this.#outgoing = encode(OFFER, this.#ring.newestEpoch + 1, this.#offered.publicKey)
    }
    return 'ok'
  }

  /** Lowers a deadline to when `poll` is next due. Uses a typed array, because a returned double is boxed. @hot */
  lower(deadline: Float64Array): void {
    if (this.#asked === undefined) this.#ring.lower(deadline, this.#offered === undefined)
    else {
      this.#ring.lower(deadline, false)
      if (this.#answeredAt + REKEY_GAP_MS < deadline[0]) deadline[0] = this.#answeredAt + REKEY_GAP_MS
    }
  }

  /** The message to send next, reliably and in order. Undefined when there is none. */
  takeMessage(): Uint8Array | undefined {
    const message = this.#outgoing
    this.#outgoing = undefined
    return message
  }

  /** Processes a message of the peer. 'broken': no honest peer sends this, and the connection must be closed. */
  handleMessage(now: Millis, message: Uint8Array): 'ok' | 'broken' {
    const isNext = message[1] === ((this.#ring.newestEpoch + 1) & 0xff)
    if (message.length !== REKEY_MESSAGE_BYTES || !isNext) return 'broken'
    const peerKey = message.slice(2)
    switch (message[0]) {
      case OFFER: return this.#handleOffer(now, peerKey)
      case ANSWER: return this.#handleAnswer(now, peerKey)
      default: return 'broken'
    }
  }

  /** Wipes the pending exchange: the connection is over. */
  wipe(): void {
    this.#offered?.wipe()
    this.#offered = undefined
    this.#asked = undefined
    this.#outgoing = undefined
  }

  #handleOffer(now: Millis, peerKey: Uint8Array): 'ok' | 'broken' {
    if (this.#asked !== undefined || !this.#ring.canInstall) return 'broken'
    if (this.#offered !== undefined) {
      if (this.#ring.role === 'server') return 'ok'
      this.wipe()
    }
    return this.#answer(now, peerKey)
  }

  #answer(now: Millis, peerKey: Uint8Array): 'ok' | 'broken' {
    if (now < this.#answeredAt + REKEY_GAP_MS) {
      this.#asked = peerKey
      return 'ok'
    }
    const own = this.#draw()
    const shared = own.agree(peerKey)
    own.wipe()
    if (shared === undefined) return 'broken'
    this.#asked = undefined
    this.#answeredAt = now
    this.#outgoing = encode(ANSWER, this.#ring.newestEpoch + 1, own.publicKey)
    this.#ring.install(now, shared, false)
    this.completed++
    return 'ok'
  }

  #handleAnswer(now: Millis, peerKey: Uint8Array): 'ok' | 'broken' {
    const shared = this.#offered?.agree(peerKey)
    this.wipe()
    if (shared === undefined) return 'broken'
    this.#ring.install(now, shared, true)
    this.completed++
    return 'ok'
  }

  #draw(): AgreementKey {
    const secret = new Uint8Array(CRYPTO_BYTES.key)
    this.#entropy.fill(secret)
    const key = this.#provider.importAgreement(secret)
    wipe(secret)
    return key
  }
}

function encode(kind: number, epoch: number, publicKey: Uint8Array): Uint8Array {
  assert(publicKey.length === CRYPTO_BYTES.publicKey, 'a public key has 32 bytes')
  const bytes = new Uint8Array(REKEY_MESSAGE_BYTES)
  bytes[0] = kind
  bytes[1] = epoch
  bytes.set(publicKey, 2)
  return bytes
}
