/**
 * Noble's X25519 without Ed25519: noble's own ladder with the parameters of the curve (RFC 7748). Noble's `x25519`
 * imports all of its Edwards code to compute public keys three times faster, which adds 12 KB to a page that computes
 * one.
 *
 * Exponent and modulus are public, and the ladder is noble's, so nothing here depends on a secret in a way that noble's
 * own code does not.
 */

import { montgomery } from '@noble/curves/abstract/montgomery.js'
import type { NobleCurve } from './noble-keys.ts'

const P = 2n ** 255n - 19n

/** X25519. */
export const x25519: NobleCurve = /* @__PURE__ */ montgomery({
  P,
  type: 'x25519',
  adjustScalarBytes: clamp,
  powPminus2: invert,
})

/** RFC 7748, section 5: a multiple of eight with bit 254 as its highest. */
function clamp(scalar: Uint8Array): Uint8Array {
  scalar[0] &= 248
  scalar[31] &= 127
  scalar[31] |= 64
  return scalar
}

/** x to the power of P - 2, whose bits are all ones but the second and the fourth. */
function invert(x: bigint): bigint {
  let power = x
  for (let bit = 253; bit >= 0; bit--) {
    power = (power * power) % P
    if (bit !== 2 && bit !== 4) power = (power * x) % P
  }
  return power
}
