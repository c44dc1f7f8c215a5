import { expect, test } from 'vitest'
import { MemorySignaling } from '../../packages/tickwire/src/core/nat/memory-signaling.ts'
import { decodeSignal } from '../../packages/tickwire/src/core/nat/signaling.ts'
import { signalingContract } from './signaling.contract.ts'

signalingContract('[SIGNAL1, SIGNAL2] memory', () => {
  const members = new Map<string, MemorySignaling>()
  const [host, guest] = [new MemorySignaling(members, 'host'), new MemorySignaling(members, 'guest')]
  return Promise.resolve({ host, guest, settle: () => Promise.resolve(), close: () => Promise.resolve() })
})

test('[SIGNAL2] text that is no message is refused, and candidates in it are checked', () => {
  const refused = [
    '', 'x', '5', 'null', '[]', '{}', '{"kind":"offer"}', '{"kind":"reject","reason":5}', '{"kind":"candidate"}',
    '{"kind":"offer","identity":"ab","key":"cd","candidates":[]}', JSON.stringify({ kind: 'other', candidates: [] }),
    JSON.stringify({ kind: 'reject', reason: 'x'.repeat(20_000) }),
  ]
  expect(refused.filter((text) => decodeSignal(text) !== undefined)).toEqual([])
  const text = JSON.stringify({ kind: 'candidate', candidates: [{ kind: 'seen', address: '127.0.0.1:22' }] })
  expect(decodeSignal(text)).toEqual({ kind: 'candidate', candidates: [] })
})
