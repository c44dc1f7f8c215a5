import { expect, test } from 'vitest'
import { DATAGRAM_BYTES_SAFE } from '../core/base/limits.ts'
import { mayCarryPackets } from './path-port.ts'

test('[LADDER1] a browser that does not report its datagram size is tried, one that reports too few is not', () => {
  // Chromium 150 reports 1024 for every path, 156 reports the measured size.
  expect([DATAGRAM_BYTES_SAFE, DATAGRAM_BYTES_SAFE + 20, 65_535, 1024].map(mayCarryPackets)).toEqual([
    true,
    true,
    true,
    true,
  ])
  expect([0, 512, 1023, 1025, DATAGRAM_BYTES_SAFE - 1].map(mayCarryPackets)).toEqual([
    false,
    false,
    false,
    false,
    false,
  ])
})
