/**
 * Rules that every WebRTC provider follows.
 */

import { OFFER_PENDING_MS, OFFERS_PENDING_MAX, OFFERS_PENDING_PER_ORIGIN } from '../core/base/limits.ts'
import { OriginTally } from './origin-tally.ts'

/** Label of the only channel that a page opens. */
export const CHANNEL_LABEL = 'tickwire'

/** An answered offer whose channel has not opened. */
export class PendingOffer {
  readonly originIp: string
  /** Set by the provider: the offer was evicted or timed out, so everything that was made for it must be released. */
  onDropped: () => void = () => {}
  readonly #timer: NodeJS.Timeout
  readonly #onSettled: (offer: PendingOffer) => void

  constructor(originIp: string, onSettled: (offer: PendingOffer) => void) {
    this.originIp = originIp
    this.#onSettled = onSettled
    this.#timer = setTimeout(() => this.drop(), OFFER_PENDING_MS)
    this.#timer.unref()
  }

  /** Releases the place: the channel has opened, or the connection is gone. */
  settle(): void {
    clearTimeout(this.#timer)
    this.#onSettled(this)
  }

  drop(): void {
    this.settle()
    this.onDropped()
  }
}

/**
 * Pending offers. Each holds a socket, so their number is bounded, in total and per origin, and each has a deadline.
 * When all places are taken, the oldest offer of the origin with the most offers is dropped.
 */
export class PendingOffers {
  readonly #offers: Set<PendingOffer> = new Set()
  readonly #tally: OriginTally

  constructor(areLocalExempt: boolean) {
    this.#tally = new OriginTally(OFFERS_PENDING_PER_ORIGIN, areLocalExempt)
  }

  /** Throws when the origin has too many pending offers. */
  add(originIp: string): PendingOffer {
    if (!this.#tally.take(originIp)) throw new Error('too many channels of one address are opening at once')
    if (this.#offers.size >= OFFERS_PENDING_MAX) this.#makeRoom()
    const offer = new PendingOffer(originIp, (settled) => {
      if (this.#offers.delete(settled)) this.#tally.release(originIp)
    })
    this.#offers.add(offer)
    return offer
  }

  #makeRoom(): void {
    let most = 0
    let oldest: PendingOffer | undefined
    for (const offer of this.#offers) {
      const count = this.#tally.countOf(offer.originIp)
      if (count <= most) continue
      most = count
      oldest = offer
    }
    oldest?.drop()
  }
}

/** Rewrites the candidates of an SDP answer to the addresses that the server is reached at, if there are any. */
export function announce(sdp: string, addresses: readonly string[]): string {
  if (addresses.length === 0) return sdp
  const seen = new Set<string>()
  return sdp.split('\r\n').flatMap((line) => {
    const match = /^(a=candidate:\S+ \d+ udp \d+ )(\S+)( \d+ typ host.*)$/i.exec(line)
    if (match === null) return line.startsWith('a=candidate:') ? [] : [line]
    const [, head = '', , tail = ''] = match
    return addresses.map((address) => `${head}${address}${tail}`).filter((candidate) => {
      // One candidate for each port: the others differ only in the addresses that are replaced.
      const key = candidate.replace(/^a=candidate:\S+ \d+ udp \d+ /i, '')
      return seen.has(key) ? false : seen.add(key)
    })
  }).join('\r\n')
}
