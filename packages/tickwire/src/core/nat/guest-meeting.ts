/**
 * A guest's side of signalling: it offers itself to the host, once a second until the host has answered.
 */

import { OFFER_AGAIN_MS } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { Signal, Signaling, SignalOffer } from './signaling.ts'

/** The name of the host in signalling. */
export const HOST_NAME = 'host'

/**
 * Sends `offer` to the host until it answers, and resolves with the answer. Rejects after `ms`. Other messages of the
 * host go to `onSignal`, also later.
 */
export function meetHost(
  signaling: Signaling,
  offer: () => SignalOffer,
  later: (ms: Millis, run: () => void) => () => void,
  ms: Millis,
  onSignal: (signal: Signal) => void,
): Promise<SignalOffer> {
  return new Promise((resolve, reject) => {
    const { key } = offer()
    let isMet = false
    let cancelOffer = (): void => {}
    const offerAgain = (): void => {
      signaling.send(HOST_NAME, offer())
      cancelOffer = later(OFFER_AGAIN_MS, offerAgain)
    }
    const cancelLimit = later(ms, () => {
      cancelOffer()
      reject(new Error('the host has not answered'))
    })
    signaling.onArrival = () => {
      for (let next = signaling.poll(); next !== undefined; next = signaling.poll()) {
        const [, signal] = next
        if (signal.kind !== 'answer' || signal.key !== key || isMet) {
          onSignal(signal)
          continue
        }
        isMet = true
        cancelOffer()
        cancelLimit()
        resolve(signal)
      }
    }
    offerAgain()
    signaling.onArrival()
  })
}
