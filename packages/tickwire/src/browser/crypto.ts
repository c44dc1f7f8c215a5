/**
 * Primitives in a browser: plain JavaScript. WebCrypto is asynchronous, and packets are sealed in the middle of a poll.
 */

import type { CryptoProvider } from '../core/crypto/provider.ts'
import { pureProvider } from '../core/crypto/pure-provider.ts'

/** The provider of this platform. Its `name` belongs in the log. */
export function bestProvider(): CryptoProvider {
  return pureProvider
}
