/** What every implementation of `Signaling` promises. `signaling.test.ts` has a stage for each. */

import { describe, expect, test } from 'vitest'
import type { Signal, Signaling } from '../../packages/tickwire/src/core/nat/signaling.ts'

/** Two members that can reach each other by these names. */
export interface SignalingStage {
  readonly host: Signaling
  readonly guest: Signaling
  /** Waits until everything that was sent has arrived. */
  settle(): Promise<void>
  close(): Promise<void>
}

const OFFER: Signal = {
  kind: 'offer', identity: 'ab'.repeat(32), key: 'cd'.repeat(16),
  candidates: [
    { kind: 'seen', address: '8.8.8.8:4000' },
    { kind: 'relay', address: '8.8.4.4:7777', allocation: '0123456789abcdef' },
  ],
}
const SIGNALS: readonly Signal[] = [
  OFFER, { ...OFFER, kind: 'answer', sdp: 'v=0' }, { kind: 'candidate', candidates: [OFFER.candidates[0]!] },
  { kind: 'reject', reason: 'full' },
]

export function signalingContract(name: string, open: () => Promise<SignalingStage>): void {
  describe(name, () => {
    test('the four messages arrive as they were sent, with the name of their sender', async () => {
      const stage = await open()
      let arrivals = 0
      stage.host.onArrival = () => arrivals++
      for (const signal of SIGNALS) stage.guest.send('host', signal)
      await stage.settle()
      expect(arrivals).toBe(SIGNALS.length)
      expect(SIGNALS.map(() => stage.host.poll())).toEqual(SIGNALS.map((signal) => ['guest', signal]))
      expect(stage.host.poll()).toBeUndefined()
      stage.host.send('guest', OFFER)
      await stage.settle()
      expect(stage.guest.poll()).toEqual(['host', OFFER])
      await stage.close()
    })

    test('a message to an unknown peer, or after the end, has no effect', async () => {
      const stage = await open()
      stage.guest.send('stranger', OFFER)
      stage.guest.close()
      stage.guest.send('host', OFFER)
      stage.host.send('guest', OFFER)
      await stage.settle()
      expect([stage.host.poll(), stage.guest.poll()]).toEqual([undefined, undefined])
      await stage.close()
    })

    test('a flood is dropped beyond 64 waiting messages', async () => {
      const stage = await open()
      for (let index = 0; index < 200; index++) stage.guest.send('host', OFFER)
      await stage.settle()
      let count = 0
      while (stage.host.poll() !== undefined) count++
      expect(count).toBeLessThanOrEqual(64)
      await stage.close()
    })
  })
}
