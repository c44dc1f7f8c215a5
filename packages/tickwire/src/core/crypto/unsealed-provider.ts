/**
 * A provider that seals nothing, for links inside one process: whoever could read them could read the memory as well.
 *
 * Packets keep their form, sixteen zeros for a tag, so everything above works as it does on a network. Handshakes are those
 * of the provider it is made from: one a connection. Both ends must be handed it. An end that seals and one that does not
 * never open each other's packets, and no byte on the wire asks for this: nobody can talk a server into it.
 *
 * It fails the self-test on purpose and is never discovered. It is not for networks, not even trusted ones.
 */

import { type AeadKey, CRYPTO_BYTES, type CryptoProvider } from './provider.ts'
import { pureProvider } from './pure-provider.ts'

const TAG_BYTES = CRYPTO_BYTES.tag

/** Nothing under no key. */
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

/** The primitives of `inner`, but for the cipher, of which there is none. */
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
