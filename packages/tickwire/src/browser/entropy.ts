/**
 * Randomness in a browser: the Web Crypto generator, which every page has, secure context or not.
 */

import type { Entropy } from '../core/base/entropy.ts'

/** Unpredictable bytes. */
export const systemEntropy: Entropy = {
  fill(bytes: Uint8Array): void {
    // The platform refuses to fill shared memory, and a Uint8Array may be a view of it.
    const fresh = new Uint8Array(bytes.length)
    crypto.getRandomValues(fresh)
    bytes.set(fresh)
  },
}
