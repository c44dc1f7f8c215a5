/**
 * Randomness on Node: the operating system's generator, through node:crypto.
 */

import { randomFillSync } from 'node:crypto'
import type { Entropy } from '../core/base/entropy.ts'

/** Unpredictable bytes. */
export const systemEntropy: Entropy = {
  fill(bytes: Uint8Array): void {
    randomFillSync(bytes)
  },
}
