/**
 * Hostile channel frames: all promises, large ones too, in one set of channels; and each frame twice in another packet.
 */

import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { ChannelSet } from '../../packages/tickwire/src/core/channel/channel-set.ts'
import { SEND_QUEUES } from '../../packages/tickwire/src/core/channel/send-queue.ts'
import { FragmentPool, FragmentQuota } from '../../packages/tickwire/src/core/delivery/fragment-pool.ts'
import type { FuzzTarget } from './target.ts'

const SPECS = [
  { promise: 'unreliable', queue: SEND_QUEUES.voice },
  { promise: 'sequenced', queue: SEND_QUEUES.state },
  { promise: 'unordered', queue: SEND_QUEUES.control },
  { promise: 'ordered', queue: SEND_QUEUES.control },
  { promise: 'unreliable', queue: SEND_QUEUES.bulk, isLarge: true },
  { promise: 'ordered', queue: SEND_QUEUES.bulk, isLarge: true },
] as const

const pool = new FragmentPool({ partsMax: 64, bytesMax: 2 ** 16 })
const out = new Uint8Array(2 ** 18)

const frames: FuzzTarget = {
  name: 'channel-frames',
  /** Input: frames, each after two bytes of length. */
  seeds: () =>
    [
      [0x00, 1, 0xaa],
      [0x14, 2, 1, 2, 0],
      [0x28, 0, 0, 1, 0xaa, 0],
      [0x3c, 0, 0, 1, 0xaa],
      [0x40, 2, 0, 9],
      [0x5c, 0, 0, 2, 0, 9],
      [0x5c, 0, 0, 0x80, 8, 1, 0, 0, 0, 1, ...new Array<number>(1019).fill(7), 10, 1, 0, 0, 1, 1, 1, 2, 3, 4, 5],
    ].map((frame) => Uint8Array.of(frame.length >>> 8, frame.length & 0xff, ...frame)),
  run(bytes) {
    const set = new ChannelSet(SPECS, new FragmentQuota(pool))
    for (let at = 0, sequence = 1; at + 1 < bytes.length; sequence++) {
      const length = Math.min(bytes[at]! * 256 + bytes[at + 1]!, bytes.length - at - 2)
      for (let repeat = 0; repeat < 2; repeat++)
        set.accept(sequence * 50, sequence * 2 + repeat, new BitReader(bytes.slice(at + 2, at + 2 + length)))
      at += 2 + length
    }
    SPECS.forEach((_, channel) => {
      let count = 0
      while (set.receive(channel, out) >= 0) if (++count > 600) throw new Error('more messages than any window holds')
    })
    if (pool.parts > 64) throw new Error('more is held than may be')
    set.release()
    if (pool.parts !== 0 || pool.bytes !== 0) throw new Error('memory leaks')
  },
}

export const targets: readonly FuzzTarget[] = [frames]
