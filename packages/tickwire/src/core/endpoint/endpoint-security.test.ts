import { expect, test } from 'vitest'
import { CRYPTO_BYTES } from '../crypto/provider.ts'
import { completeSecurity } from './endpoint-security.ts'

/** As Node's Buffer does: what `slice` gives shares its bytes with who gave it. */
class SharingBytes extends Uint8Array {
  override slice(start?: number, end?: number): SharingBytes {
    return this.subarray(start, end) as SharingBytes
  }
}

test("[CRYPTO22] a server's secret is copied, and the caller's copy is never wiped", () => {
  const identity = new SharingBytes(CRYPTO_BYTES.key).fill(7)
  completeSecurity({ identity }, { fill: (bytes) => { bytes.fill(1) } }, true)
  expect([...identity]).toEqual(new Array(CRYPTO_BYTES.key).fill(7))
})
