import { expect, test } from 'vitest'
import { ConfigError } from '../base/assert.ts'
import { CONNECTION_TIMERS, completeTimers } from './timers.ts'

test('an option that is left out has its default', () => {
  expect(completeTimers({ timeoutMs: 30_000 })).toEqual({ ...CONNECTION_TIMERS, timeoutMs: 30_000 })
})

test.each([
  [{ timeoutMs: 0 }],
  [{ keepaliveMs: Number.NaN }],
  [{ retryMsMin: 300 }],
  [{ keepaliveMs: 6000 }],
  [{ graceMs: Infinity }],
])('%j is refused at construction', (timers) => {
  expect(() => completeTimers(timers)).toThrow(ConfigError)
})
