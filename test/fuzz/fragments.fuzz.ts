/**
 * Hostile fragments: a script of fragments into a reassembler whose memory is small, so that every limit is reached.
 */

import { FRAGMENT_BYTES } from '../../packages/tickwire/src/core/base/limits.ts'
import { FragmentPool, FragmentQuota } from '../../packages/tickwire/src/core/delivery/fragment-pool.ts'
import { Reassembler } from '../../packages/tickwire/src/core/delivery/reassembly.ts'
import type { FuzzTarget } from './target.ts'

const PARTS_MAX = 12

const fragments: FuzzTarget = {
  name: 'fragments',
  /** Input: fragments as heads of four bytes (group, index, last, length: full, or this many bytes of data). */
  seeds: () => [
    Uint8Array.of(1, 0, 1, 255, 1, 1, 1, 9),
    Uint8Array.of(1, 2, 2, 7, 2, 0, 1, 255, 1, 0, 2, 255, 2, 1, 1, 200, 1, 1, 2, 255),
    Uint8Array.of(...Array.from({ length: 40 }, (_, group) => [group, 0, 255, 255]).flat()),
  ],
  run(bytes) {
    const pool = new FragmentPool({ partsMax: PARTS_MAX, bytesMax: PARTS_MAX * FRAGMENT_BYTES })
    const reassembler = new Reassembler(
      new FragmentQuota(pool, { partsMax: PARTS_MAX - 2, bytesMax: PARTS_MAX * FRAGMENT_BYTES }),
    )
    const fragment = new Uint8Array(1024)
    const out = new Uint8Array(PARTS_MAX * FRAGMENT_BYTES)
    for (let at = 0; at + 3 < bytes.length; at += 4) {
      const size = bytes[at + 3]! === 255 ? FRAGMENT_BYTES : bytes[at + 3]!
      fragment.set([1, 0, bytes[at]!, bytes[at + 1]!, bytes[at + 2]!])
      const verdict = reassembler.insert(at, fragment, 5 + size)
      if (verdict === 'complete' && reassembler.take(out) > (PARTS_MAX - 2) * FRAGMENT_BYTES)
        throw new Error('more bytes were received than its quota')
      if (pool.parts > PARTS_MAX - 2 || pool.bytes > PARTS_MAX * FRAGMENT_BYTES)
        throw new Error('more is held than may be')
      if (verdict === 'no-room') reassembler.abandonOldest()
    }
    reassembler.clear()
    if (pool.parts !== 0 || pool.bytes !== 0) throw new Error('memory leaks')
  },
}

export const targets: readonly FuzzTarget[] = [fragments]
