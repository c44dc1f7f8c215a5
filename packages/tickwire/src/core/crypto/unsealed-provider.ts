/**
 * A provider that does not encrypt, for links inside one process: code that could read the packets could read the
 * memory as well.
 *
 * Packets keep their format, with sixteen zeros as the tag, so everything above works as on a network. Handshakes use
 * the provider that it is created from, one handshake per connection. Both ends must be given this provider. An end
 * that seals and an end that does not never open each other's packets. No byte on the wire requests this provider, so a
 * remote peer cannot make a server use it.
 *
 * It fails the self-test on purpose and is never discovered. It is not for networks, not even trusted ones.
 */

import { type AeadKey, CRYPTO_BYTES, type CryptoProvider } from './provider.ts'
import { pureProvider } from './pure-provider.ts'

const TAG_BYTES = CRYPTO_BYTES.tag

/** A cipher that does not encrypt. */
const UNSEALED: AeadKey = {
  seal(_nonce, bytes, headerLength, plaintextLength) {
    const end = headerLength + plaintextLength
    for (let at = end; at < end + TAG_BYTES; at++) bytes[at] = 0
  },
  open(_nonce, bytes, headerLength, sealedLength) {
    const end = headerLength + sealedLength
    let sum = sealedLength < TAG_BYTES ? 1 : 0
    for (let at = Math.max(headerLength, end - TAG_BYTES); at < end; at++) sum |= bytes[at]
    return sum === 0
  },
  wipe() {},
}

/** The primitives of `inner` without encryption. */
export function unsealedProvider(inner: CryptoProvider = pureProvider): CryptoProvider {
  return {
    name: 'none, for links inside one process',
    importAead: () => UNSEALED,
    importAgreement: (secret) => inner.importAgreement(secret),
    importSigning: (seed) => inner.importSigning(seed),
    importVerifying: (publicKey) => inner.importVerifying(publicKey),
    sha256: (bytes) => inner.sha256(bytes),
    hmacSha256: (key, bytes) => inner.hmacSha256(key, bytes),
  }
}
