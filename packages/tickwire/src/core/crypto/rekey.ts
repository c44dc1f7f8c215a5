/**
 * How two ends of a connection agree on new keys, in band: two messages, reliable and in order.
 *
 * ```
 *            0       1        2
 * Offer      │ 1     │ epoch  │ public key, 32 │       the epoch that will begin, its low byte
 * Answer     │ 2     │ epoch  │ public key, 32 │
 * ```
 *
 * Either side may offer. Whoever answers can open the new epoch from then on and goes on sealing with the old one until
 * it opens a packet of the new; whoever is answered seals with the new at once. When both offer at the same time the
 * server's offer holds: the client drops its own and answers, the server passes over the client's.
 *
 * Invariant: both sides install the same secret for the same epoch or none, whatever is lost or late around the messages
 * themselves.
 *
 * It does not send: it makes bytes for a reliable, ordered channel and is handed what came out of one.
 */

import { assert } from '../base/assert.ts'
import type { Entropy } from '../base/entropy.ts'
import { REKEY_GAP_MS } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { wipe } from './constant-time.ts'
import type { KeyRing } from './key-ring.ts'
import { CRYPTO_BYTES, type AgreementKey, type CryptoProvider } from './provider.ts'

/** Bytes of both messages. */
export const REKEY_MESSAGE_BYTES: number = 2 + CRYPTO_BYTES.publicKey

const OFFER = 1
const ANSWER = 2

// Imported constants as the module's own: read through an import they are loaded anew each time.
const GAP_MS = REKEY_GAP_MS

/** One connection's side of the exchange. */
export class Rekey {
  /** Exchanges that were completed here. */
  completed: number = 0
  #ring: KeyRing
  #provider: CryptoProvider
  #entropy: Entropy
  /** The secret of our offer, until it is answered or given up. */
  #offered: AgreementKey | undefined = undefined
  /** The key of the peer's offer, while it is too soon to answer: keys cost time, and a peer gets one pair a second. */
  #asked: Uint8Array | undefined = undefined
  #outgoing: Uint8Array | undefined = undefined
  #answeredAt: Millis = -Infinity

  constructor(ring: KeyRing, provider: CryptoProvider, entropy: Entropy) {
    this.#ring = ring
    this.#provider = provider
    this.#entropy = entropy
  }

  /** Our offer is under way. */
  get isOffering(): boolean {
    return this.#offered !== undefined
  }

  /** Offers new keys when they are due, and answers an offer that had to wait. Call it whenever the connection is polled. */
  poll(now: Millis): 'ok' | 'broken' {
    if (now >= this.#ring.retireAt) this.#ring.retire()
    if (this.#asked !== undefined) return this.#answer(now, this.#asked)
    if (this.#offered === undefined && this.#ring.rekeyReason(now) !== undefined) {
      this.#offered = this.#draw()
      this.#outgoing = encode(OFFER, this.#ring.newestEpoch + 1, this.#offered.publicKey)
    }
    return 'ok'
  }

  /** Lowers a deadline to when `poll` next has something to do: in a cell, for a double that is returned is boxed. @hot */
  lower(deadline: Float64Array): void {
    if (this.#asked === undefined) this.#ring.lower(deadline, this.#offered === undefined)
    else {
      this.#ring.lower(deadline, false)
      if (this.#answeredAt + GAP_MS < deadline[0]) deadline[0] = this.#answeredAt + GAP_MS
    }
  }

  /** The message to send next, reliably and in order. Undefined when there is none. */
  takeMessage(): Uint8Array | undefined {
    const message = this.#outgoing
    this.#outgoing = undefined
    return message
  }

  /** Takes in a message of the peer. 'broken': no honest peer would say that, and the connection must end. */
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

  /** Forgets what is open: the connection is over. */
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
