import { expect, test } from 'vitest'
import { LOG_LINES_PER_MINUTE } from '../core/base/limits.ts'
import { limitLines, type ServeLogEntry } from './status-log.ts'

test('[DOOR13] lines of one kind are limited, other kinds are not delayed, and omitted lines are counted', () => {
  let now = 0
  const written: ServeLogEntry[] = []
  const log = limitLines((entry) => written.push(entry), () => now)
  const fault = { level: 'error', event: 'auth-fault', message: 'onAuth threw' } as const
  for (let count = 0; count < 1000; count++) log(fault)
  expect(written).toHaveLength(LOG_LINES_PER_MINUTE)
  log({ ...fault, event: 'room-fault' })
  expect(written).toHaveLength(LOG_LINES_PER_MINUTE + 1)
  now = 60_000
  log(fault)
  log(fault)
  expect(written.slice(-2)).toEqual([{ ...fault, facts: { leftOut: 1000 - LOG_LINES_PER_MINUTE } }, fault])
})
