import { expect, test } from 'vitest'
import { resetSecretOf } from './reset-secret.ts'

const identity = new Uint8Array(32).fill(7)

test('[SEC7] S10: a process has the same reset secret at every start, and no other process has it', () => {
  const secret = resetSecretOf(identity, 4000, 'one')
  expect(secret).toHaveLength(32)
  expect(resetSecretOf(identity, 4000, 'one')).toEqual(secret)
  expect(resetSecretOf(identity, 4010, 'one')).not.toEqual(secret)
  expect(resetSecretOf(identity, 4000, 'another')).not.toEqual(secret)
  expect(resetSecretOf(new Uint8Array(32).fill(8), 4000, 'one')).not.toEqual(secret)
  expect(secret).not.toEqual(identity)
})
