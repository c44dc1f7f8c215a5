/** Packets of a sealed connection that tests hold back and deliver by hand. */

import { expect } from 'vitest'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import { Pair } from '../../packages/tickwire/src/testing/pair.ts'

/** The next packet of the client, kept from the wire. */
export function nextOf(pair: Pair, later = 1500): Uint8Array {
  const out = createTransmit()
  expect(pair.client.endpoint.pollTransmit(pair.now + later, out)).toBe(true)
  return out.bytes.slice(0, out.length)
}
