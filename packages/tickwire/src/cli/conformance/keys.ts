/**
 * Keys and sealing of the wire protocol, from the tables of docs/wire/STANDARD.md ("Seal", "Keys") and node:crypto
 * alone.
 *
 * A tool that checks other servers must not agree with them because it shares code with the engine: nothing in this
 * folder imports the engine.
 */

import {
  createCipheriv, createDecipheriv, createHash, createHmac, createPublicKey, diffieHellman, generateKeyPairSync, verify,
  type KeyObject,
} from 'node:crypto'

import { WIRE_VERSION } from './packets.ts'

const TAG_BYTES = 16
/** The DER bytes that precede the 32 bytes of a public key. */
const X25519_PREFIX = Buffer.from('302a300506032b656e032100', 'hex')
const ED25519_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')

/** An X25519 key that is used once. */
export interface Ephemeral {
  readonly secret: KeyObject
  readonly publicKey: Buffer
}

/** The key of one direction in one epoch: 32 bytes, and 8 bytes of salt in suite 2. */
export interface PacketKey {
  readonly suite: number
  readonly material: Buffer
}

export function createEphemeral(): Ephemeral {
  const { privateKey, publicKey } = generateKeyPairSync('x25519')
  return {
    secret: privateKey,
    publicKey: publicKey.export({ format: 'der', type: 'spki' }).subarray(X25519_PREFIX.length),
  }
}

export function agree(own: Ephemeral, peer: Uint8Array): Buffer {
  const publicKey = createPublicKey({ key: Buffer.concat([X25519_PREFIX, peer]), format: 'der', type: 'spki' })
  return diffieHellman({ privateKey: own.secret, publicKey })
}

export function extract(salt: Uint8Array, input: Uint8Array): Buffer {
  return createHmac('sha256', salt).update(input).digest()
}

/** The key for a purpose: `Expand(secret, label | suite | epoch | transcript)`, as long as the suite requires. */
export function packetKey(
  secret: Uint8Array,
  label: string,
  suite: number,
  epoch: number,
  transcript: Uint8Array,
): PacketKey {
  const number = Buffer.alloc(5)
  number[0] = suite
  number.writeUInt32LE(epoch, 1)
  const info = Buffer.concat([labelOf(label), number, transcript])
  const first = createHmac('sha256', secret).update(info).update(Buffer.of(1)).digest()
  const second = createHmac('sha256', secret).update(first).update(info).update(Buffer.of(2)).digest()
  return { suite, material: Buffer.concat([first, second]).subarray(0, suite === 1 ? 32 : 40) }
}

/** The digest of a handshake: the number, size and bytes of each part. */
export function transcriptOf(parts: readonly (readonly [number: number, bytes: Uint8Array])[]): Buffer {
  const hash = createHash('sha256').update(labelOf('transcript'))
  for (const [number, bytes] of parts) {
    const head = Buffer.alloc(5)
    head[0] = number
    head.writeUInt32LE(bytes.length, 1)
    hash.update(head).update(bytes)
  }
  return hash.digest()
}

/** Whether the server has proven that it has this identity key. */
export function isSignedBy(identity: Uint8Array, transcript: Uint8Array, signature: Uint8Array): boolean {
  const key = createPublicKey({ key: Buffer.concat([ED25519_PREFIX, identity]), format: 'der', type: 'spki' })
  return verify(null, Buffer.concat([labelOf('server-identity'), transcript]), key, signature)
}

/** Whether this identity key signed the key of a challenge, for this version of the protocol. */
export function isChallengeSignedBy(identity: Uint8Array, serverKey: Uint8Array, signature: Uint8Array): boolean {
  const key = createPublicKey({ key: Buffer.concat([ED25519_PREFIX, identity]), format: 'der', type: 'spki' })
  return verify(
    null,
    Buffer.concat([Buffer.from('tickwire/v3/challenge-key\0', 'latin1'), Buffer.of(WIRE_VERSION), serverKey]),
    key,
    signature,
  )
}

/** `head` in the clear, then `plain` sealed and its tag. */
export function seal(key: PacketKey, epoch: number, sequence: number, head: Uint8Array, plain: Uint8Array): Buffer {
  const secret = key.material.subarray(0, 32)
  const nonce = nonceOf(key, epoch, sequence)
  const options = { authTagLength: TAG_BYTES }
  const cipher = key.suite === 1
    ? createCipheriv('chacha20-poly1305', secret, nonce, options)
    : createCipheriv('aes-256-gcm', secret, nonce, options)
  cipher.setAAD(head, { plaintextLength: plain.length })
  const sealed = Buffer.concat([head, cipher.update(plain), cipher.final()])
  return Buffer.concat([sealed, cipher.getAuthTag()])
}

/** Opens what is sealed behind the first `at` bytes of a datagram; undefined when the key is wrong. */
export function unseal(
  key: PacketKey,
  epoch: number,
  sequence: number,
  datagram: Uint8Array,
  at: number,
): Buffer | undefined {
  const end = datagram.length - TAG_BYTES
  if (end < at) return undefined
  const secret = key.material.subarray(0, 32)
  const nonce = nonceOf(key, epoch, sequence)
  const options = { authTagLength: TAG_BYTES }
  const decipher = key.suite === 1
    ? createDecipheriv('chacha20-poly1305', secret, nonce, options)
    : createDecipheriv('aes-256-gcm', secret, nonce, options)
  decipher.setAAD(datagram.subarray(0, at), { plaintextLength: end - at })
  decipher.setAuthTag(datagram.subarray(end))
  try {
    return Buffer.concat([decipher.update(datagram.subarray(at, end)), decipher.final()])
  } catch {
    return undefined
  }
}

function nonceOf(key: PacketKey, epoch: number, sequence: number): Buffer {
  const nonce = Buffer.alloc(12)
  const low = sequence % 2 ** 32
  if (key.suite === 1) {
    nonce.writeUInt32LE(low, 0)
    nonce.writeUInt32LE((sequence - low) / 2 ** 32, 4)
    nonce[11] = epoch % 256
  } else {
    key.material.copy(nonce, 0, 32, 40)
    nonce.writeUInt32LE(low, 8)
  }
  return nonce
}

function labelOf(name: string): Buffer {
  return Buffer.from(`tickwire/v1/${name}\0`, 'latin1')
}
