import { expect, test } from 'vitest'
import { DATAGRAM_BYTES_SAFE } from '../core/base/limits.ts'
import { mayCarryPackets } from './webtransport.ts'

test('[LADDER1] a browser that does not know yet how large a datagram may be is tried; one that knows it to be too small is not', () => {
  // Chromium 150 says 1024 of every path, 156 what it has measured.
  expect([DATAGRAM_BYTES_SAFE, DATAGRAM_BYTES_SAFE + 20, 65_535, 1024].map(mayCarryPackets)).toEqual([true, true, true, true])
  expect([0, 512, 1023, 1025, DATAGRAM_BYTES_SAFE - 1].map(mayCarryPackets)).toEqual([false, false, false, false, false])
})
