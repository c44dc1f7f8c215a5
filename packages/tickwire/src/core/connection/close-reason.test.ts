import { expect, test } from 'vitest'
import { type CloseReason, closeReasonFromByte, closeReasonToByte } from './close-reason.ts'

test('[CONN6] a local close is a close by the peer on the other side, and a violation is the same on both', () => {
  const sentToPeer = (reason: CloseReason): CloseReason | undefined => closeReasonFromByte(closeReasonToByte(reason))
  for (const code of ['left', 'kicked', 'shutdown', 'ended', 'fault', 'replaced'] as const) {
    expect(sentToPeer({ by: 'local', code })).toEqual({ by: 'peer', code })
  }
  for (const code of [
    'version',
    'schema',
    'full',
    'refused',
    'broken',
    'token',
    'identity',
    'flooding',
    'no-room',
    'locked',
    'ticket',
    'password',
    'moved',
  ] as const) {
    expect(sentToPeer({ by: 'protocol', code })).toEqual({ by: 'protocol', code })
  }
})

test('[CONN6] a timeout has no byte, and unknown bytes give no reason', () => {
  expect(closeReasonToByte({ by: 'network', code: 'timed-out' })).toBe(0)
  expect(closeReasonToByte({ by: 'network', code: 'reset' })).toBe(0)
  for (const byte of [0, 21, 200, 255]) expect(closeReasonFromByte(byte)).toBeUndefined()
})
