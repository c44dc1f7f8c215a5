import { expect, test } from 'vitest'
import { LARGE_MESSAGE_BYTES_MAX, MESSAGE_BYTES_MAX } from '../base/limits.ts'
import { message } from '../schema/definition.ts'
import { bytes, u8 } from '../schema/field-kinds.ts'
import { bytesMaxOf, isLargeMessage, longestMessage, receiveLimits } from './message-sizes.ts'

const Small = message({ hue: u8 }, 'Small')
const Chart = message({ squares: bytes(10_000) }, 'Chart')
const Lossy = message({ hue: u8 }, 'Lossy', { delivery: 'unreliable' })

test('[LANE8] a reliable message is large when its longest encoding exceeds a packet', () => {
  expect(longestMessage(Small)).toBe(2)
  expect(longestMessage(Chart)).toBeGreaterThan(10_000)
  expect([Small, Chart, Lossy].map(isLargeMessage)).toEqual([false, true, false])
  expect([bytesMaxOf(false), bytesMaxOf(true)]).toEqual([MESSAGE_BYTES_MAX, LARGE_MESSAGE_BYTES_MAX])
})

test('[LANE8] a peer may send the longest encoding of each large type; only the authority sends events', () => {
  const limits = receiveLimits([Small, Chart, Lossy], [], true)
  expect([...limits.subarray(0, 5)]).toEqual([0, longestMessage(Chart), 0, 0, 0])
  expect(receiveLimits([Small, Chart, Lossy], [], false)[3]).toBeGreaterThan(longestMessage(Chart))
  expect(receiveLimits([Small], [], false).every((limit) => limit === 0)).toBe(true)
})
