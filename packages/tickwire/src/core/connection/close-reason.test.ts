import { expect, test } from 'vitest'
import { type CloseReason, closeReasonFromByte, closeReasonToByte } from './close-reason.ts'

test('[CONN6] what I end is what my peer is told, and what broke the rules is the same on both sides', () => {
  const told = (reason: CloseReason): CloseReason | undefined => closeReasonFromByte(closeReasonToByte(reason))
  for (const code of ['left', 'kicked', 'shutdown', 'ended', 'fault', 'replaced'] as const) {
    expect(told({ by: 'local', code })).toEqual({ by: 'peer', code })
  }
  for (const code of ['version', 'schema', 'full', 'refused', 'broken', 'token', 'identity', 'flooding', 'no-room', 'locked', 'ticket'] as const) {
    expect(told({ by: 'protocol', code })).toEqual({ by: 'protocol', code })
  }
})

test('[CONN6] silence is told to nobody, and bytes that mean nothing mean nothing', () => {
  expect(closeReasonToByte({ by: 'network', code: 'timed-out' })).toBe(0)
  expect(closeReasonToByte({ by: 'network', code: 'reset' })).toBe(0)
  for (const byte of [0, 18, 200, 255]) expect(closeReasonFromByte(byte)).toBeUndefined()
})
