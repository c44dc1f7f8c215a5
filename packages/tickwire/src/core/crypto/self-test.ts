/**
 * Self-test of a crypto library: known answers, and inputs that must be refused.
 *
 * It runs once before a provider that was found on the machine is trusted. A library that is broken, patched, or built
 * for a different processor is skipped. Otherwise it would seal packets that no peer can open, or open forged packets.
 * The full vectors of the RFCs and of NIST are in test/vectors/crypto-standards.json; here is one of each.
 */

import { isEqualConstantTime } from './constant-time.ts'
import { CRYPTO_BYTES, SUITE, type CryptoProvider, type SuiteId } from './provider.ts'

/** RFC 8439, section 2.8.2. */
const CHACHA = {
  suite: SUITE.chacha20Poly1305,
  key: '808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f',
  nonce: '070000004041424344454647',
  header: '50515253c0c1c2c3c4c5c6c7',
  plaintext:
    '4c616469657320616e642047656e746c656d656e206f662074686520636c617373206f66202739393a204966204920636f756c64206f66666572'
    + '20796f75206f6e6c79206f6e652074697020666f7220746865206675747572652c2073756e73637265656e20776f756c642062652069742e',
  sealed:
    'd31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6'
    + 'a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc3ff4def08e4b7a9de576d26586cec64b6116'
    + '1ae10b594f09e26a7e902ecbd0600691',
} as const

/** The GCM specification's test case 16. */
const GCM = {
  suite: SUITE.aes256Gcm,
  key: 'feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308',
  nonce: 'cafebabefacedbaddecaf888',
  header: 'feedfacedeadbeeffeedfacedeadbeefabaddad2',
  plaintext:
    'd9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39',
  sealed:
    '522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662'
    + '76fc6ece0f4e1768cddf8853bb2d551b',
} as const

/** RFC 7748, section 6.1. */
const AGREEMENT = {
  secret: '77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a',
  public: '8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a',
  peer: 'de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f',
  shared: '4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742',
} as const

/** RFC 8032, section 7.1, test 3. */
const SIGNATURE = {
  seed: 'c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7',
  public: 'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
  message: 'af82',
  signature:
    '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac'
    + '18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
} as const

/** RFC 4231, test case 2, and FIPS 180-4, "abc". */
const HMAC = {
  key: '4a656665',
  message: '7768617420646f2079612077616e7420666f72206e6f7468696e673f',
  mac: '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
} as const
const HASH = { message: '616263', hash: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad' } as const

const CHECKS: readonly { readonly name: string; passes(provider: CryptoProvider): boolean }[] = [
  { name: 'ChaCha20-Poly1305', passes: (provider) => isAead(provider, CHACHA) },
  { name: 'AES-256-GCM', passes: (provider) => isAead(provider, GCM) },
  { name: 'X25519', passes: isAgreement },
  { name: 'Ed25519', passes: isSignature },
  { name: 'SHA-256', passes: (provider) => isHex(provider.sha256(unhex(HASH.message)), HASH.hash) },
  {
    name: 'HMAC-SHA256',
    passes: (provider) => isHex(provider.hmacSha256(unhex(HMAC.key), unhex(HMAC.message)), HMAC.mac),
  },
]

/** The name of the first primitive that fails; undefined when none does. Never throws. */
export function findFaultyPrimitive(provider: CryptoProvider): string | undefined {
  return CHECKS.find(({ passes }) => {
    try {
      return !passes(provider)
    } catch {
      return true
    }
  })?.name
}

interface AeadAnswer {
  readonly suite: SuiteId
  readonly key: string
  readonly nonce: string
  readonly header: string
  readonly plaintext: string
  readonly sealed: string
}

function isAead(provider: CryptoProvider, answer: AeadAnswer): boolean {
  const key = provider.importAead(answer.suite, unhex(answer.key))
  const nonce = unhex(answer.nonce)
  const header = unhex(answer.header).length
  const plaintext = unhex(answer.plaintext).length
  const sealedLength = plaintext + CRYPTO_BYTES.tag
  const packet = unhex(answer.header + answer.plaintext + '00'.repeat(CRYPTO_BYTES.tag))
  key.seal(nonce, packet, header, plaintext)
  if (!isHex(packet, answer.header + answer.sealed)) return false
  // Flips a bit of the header, of the body and of the tag: a library that accepts such a packet must not be trusted.
  for (const at of [0, header, packet.length - 1]) {
    const forged = packet.slice()
    forged[at] ^= 1
    if (key.open(nonce, forged, header, sealedLength)) return false
  }
  const isOpened = key.open(nonce, packet, header, sealedLength)
  return isOpened && isHex(packet.subarray(0, header + plaintext), answer.header + answer.plaintext)
}

function isAgreement(provider: CryptoProvider): boolean {
  const key = provider.importAgreement(unhex(AGREEMENT.secret))
  const shared = key.agree(unhex(AGREEMENT.peer))
  const isRight = isHex(key.publicKey, AGREEMENT.public) && shared !== undefined && isHex(shared, AGREEMENT.shared)
  // Zero is a point of small order: every key would agree with it on the same secret.
  return isRight && key.agree(new Uint8Array(CRYPTO_BYTES.publicKey)) === undefined
}

function isSignature(provider: CryptoProvider): boolean {
  const message = unhex(SIGNATURE.message)
  const signing = provider.importSigning(unhex(SIGNATURE.seed))
  if (!isHex(signing.publicKey, SIGNATURE.public) || !isHex(signing.sign(message), SIGNATURE.signature)) return false
  const verifying = provider.importVerifying(unhex(SIGNATURE.public))
  const forged = unhex(SIGNATURE.signature)
  forged[0] ^= 1
  return verifying.verify(message, unhex(SIGNATURE.signature)) && !verifying.verify(message, forged)
}

function isHex(bytes: Uint8Array, hex: string): boolean {
  return isEqualConstantTime(bytes, unhex(hex))
}

function unhex(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, index) =>
    Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16),
  )
}
