/**
 * Reads Tickwire's sealed packets, keys, cookies and tokens by docs/spec/crypto.md alone: slow, clear, and independent
 * of the engine. It imports nothing but node:crypto, and returns what bytes mean or throws the reason why they are
 * invalid.
 */

import {
  createDecipheriv, createHash, createHmac, createPrivateKey, createPublicKey, diffieHellman, hkdfSync, verify,
} from 'node:crypto'

/** All bytes are hexadecimal. */
type Hex = string

const bytes = (hex: Hex): Buffer => Buffer.from(hex, 'hex')
const ascii = (text: string): Buffer => Buffer.from(`${text}\0`, 'latin1')

function need(condition: boolean, why: string): asserts condition {
  if (!condition) throw new Error(why)
}

function littleEndian(value: bigint, size: number): Buffer {
  return Buffer.from(Array.from({ length: size }, (_, index) => Number((value >> BigInt(8 * index)) & 0xffn)))
}

function fromLittleEndian(buffer: Buffer): bigint {
  return [...buffer].reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n)
}

// #region packets

/** What a sealed packet says. */
export interface OpenedPacket {
  readonly type: number
  readonly connection: Hex
  readonly epoch: number
  readonly sequence: number
  readonly plaintext: Hex
}

/** Opens a packet of the given suite under key material: 32 bytes of key, and 8 of salt in suite 2. */
export function openPacket(suite: number, material: Hex, packet: Hex): OpenedPacket {
  const all = bytes(packet)
  need(all.length >= 15 && all.subarray(0, 4).toString('hex') === '544b5703', 'not ours, or not sealed')
  let sequence = 0n
  let end = 14
  for (let index = 0; ; index++) {
    const byte = all[end++]
    need(byte !== undefined && index < 8, 'ends inside the sequence')
    sequence += BigInt(byte & 0x7f) << BigInt(7 * index)
    if (byte < 0x80) break
  }
  const epoch = all[13]!
  need(all.length >= end + 16, 'no room for a tag')
  const nonce = suite === 1
    ? littleEndian((BigInt(epoch) << 88n) + sequence, 12)
    : Buffer.concat([bytes(material).subarray(32, 40), littleEndian(sequence % 2n ** 32n, 4)])
  const key = bytes(material).subarray(0, 32)
  const body = all.subarray(end, all.length - 16)
  const cipher = suite === 1
    ? createDecipheriv('chacha20-poly1305', key, nonce, { authTagLength: 16 })
    : createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 })
  cipher.setAAD(all.subarray(0, end), { plaintextLength: body.length })
  cipher.setAuthTag(all.subarray(all.length - 16))
  const plaintext = Buffer.concat([cipher.update(body), cipher.final()]).toString('hex')
  return {
    type: all[4]!,
    connection: all.subarray(5, 13).reverse().toString('hex'),
    epoch,
    sequence: Number(sequence),
    plaintext,
  }
}

// #endregion
// #region keys

/** The inputs of both sides to the keys of a session. */
export interface SessionParts {
  readonly suite: number
  readonly clientSecret: Hex
  readonly serverSecret: Hex
  readonly challenge: Hex
  readonly serverRandom: Hex
  /** By number, each with its bytes. */
  readonly transcriptParts: readonly (readonly [number, Hex])[]
  /** Later exchanges: two secrets each. */
  readonly rekeys: readonly (readonly [Hex, Hex])[]
}

/** The resulting keys. */
export interface SessionKeys {
  readonly clientPublic: Hex
  readonly serverPublic: Hex
  readonly shared: Hex
  readonly helloTranscript: Hex
  readonly transcript: Hex
  readonly hello: Hex
  readonly epochs: readonly { readonly secret: Hex; readonly client: Hex; readonly server: Hex }[]
}

/** The parts of the transcript that both sides know before the client's first sealed message is opened. */
const HELLO_PARTS = [1, 2, 4, 5, 6, 11]

/** Derives everything. */
export function deriveSession(parts: SessionParts): SessionKeys {
  const shared = agree(parts.clientSecret, publicOf(parts.serverSecret))
  const helloTranscript = transcriptHash(parts.transcriptParts.filter(([number]) => HELLO_PARTS.includes(number)))
  const transcript = transcriptHash(parts.transcriptParts)
  const secrets = [extract(parts.challenge + parts.serverRandom, shared)]
  for (const [one, two] of parts.rekeys) secrets.push(extract(secrets.at(-1)!, agree(one, publicOf(two))))
  return {
    clientPublic: publicOf(parts.clientSecret),
    serverPublic: publicOf(parts.serverSecret),
    shared, helloTranscript, transcript,
    hello: expand(extract(parts.challenge, shared), 'tickwire/v1/hello', parts.suite, 0, helloTranscript),
    epochs: secrets.map((secret, epoch) => ({
      secret,
      client: expand(secret, 'tickwire/v1/client', parts.suite, epoch, transcript),
      server: expand(secret, 'tickwire/v1/server', parts.suite, epoch, transcript),
    })),
  }
}

/** The hash of a handshake. */
export function transcriptHash(parts: readonly (readonly [number, Hex])[]): Hex {
  const encoded = parts.flatMap(([number, hex]) => [
    Buffer.of(number),
    littleEndian(BigInt(hex.length / 2), 4),
    bytes(hex),
  ])
  return createHash('sha256')
    .update(Buffer.concat([ascii('tickwire/v1/transcript'), ...encoded]))
    .digest('hex')
}

/** HKDF-Extract. */
export function extract(salt: Hex, input: Hex): Hex {
  return createHmac('sha256', bytes(salt)).update(bytes(input)).digest('hex')
}

/** The platform does not offer HKDF-Expand alone; by hand it is a loop of HMACs. */
export function expand(secret: Hex, purpose: string, suite: number, epoch: number, transcript: Hex): Hex {
  const info = Buffer.concat([ascii(purpose), Buffer.of(suite), littleEndian(BigInt(epoch), 4), bytes(transcript)])
  const first = createHmac('sha256', bytes(secret)).update(Buffer.concat([info, Buffer.of(1)])).digest()
  const second = createHmac('sha256', bytes(secret)).update(Buffer.concat([first, info, Buffer.of(2)])).digest()
  return Buffer.concat([first, second]).subarray(0, suite === 1 ? 32 : 40).toString('hex')
}

/** The same by the platform: what `extract` and `expand` must give for inputs that it can express. */
export function platformHkdf(input: Hex, salt: Hex, info: Hex, length: number): Hex {
  return Buffer.from(hkdfSync('sha256', bytes(input), bytes(salt), bytes(info), length)).toString('hex')
}

function privateKey(secret: Hex): ReturnType<typeof createPrivateKey> {
  return createPrivateKey({ key: bytes(`302e020100300506032b656e04220420${secret}`), format: 'der', type: 'pkcs8' })
}

/** The public key of X25519 that belongs to a secret. */
export function publicOf(secret: Hex): Hex {
  return createPublicKey(privateKey(secret)).export({ format: 'der', type: 'spki' }).subarray(12).toString('hex')
}

/** X25519. */
export function agree(secret: Hex, peer: Hex): Hex {
  const publicKey = createPublicKey({ key: bytes(`302a300506032b656e032100${peer}`), format: 'der', type: 'spki' })
  return diffieHellman({ privateKey: privateKey(secret), publicKey }).toString('hex')
}

// #endregion #region cookies and identity

/** The cookie of a bucket. */
export function cookieOf(secret: Hex, bucket: number, address: string, clientKey: Hex): Hex {
  const message = Buffer.concat([littleEndian(BigInt(bucket), 4), bytes(clientKey), Buffer.from(address, 'utf16le')])
  const cookie = createHmac('sha256', bytes(secret)).update(message).digest().subarray(0, 16)
  cookie[0] = cookie[0]! - (cookie[0]! % 2) + (bucket % 2)
  return cookie.toString('hex')
}

/** Whether the holder of this identity signed this handshake. */
export function isIdentityProof(publicKey: Hex, transcript: Hex, signature: Hex): boolean {
  return isSigned(publicKey, Buffer.concat([ascii('tickwire/v1/server-identity'), bytes(transcript)]), signature)
}

/** Whether the holder of this identity signed the key of this challenge, for version 3. */
export function isChallengeProof(publicKey: Hex, serverKey: Hex, signature: Hex): boolean {
  return isSigned(
    publicKey,
    Buffer.concat([ascii('tickwire/v3/challenge-key'), Buffer.of(3), bytes(serverKey)]),
    signature,
  )
}

function isSigned(publicKey: Hex, message: Buffer, signature: Hex): boolean {
  const key = createPublicKey({ key: bytes(`302a300506032b6570032100${publicKey}`), format: 'der', type: 'spki' })
  return verify(null, message, key, bytes(signature))
}

// #endregion
// #region tokens

/** What a token says. */
export interface TokenMeaning {
  readonly suite: number
  readonly issuer: Hex
  readonly server: Hex
  readonly id: Hex
  readonly issuedAt: number
  readonly expiresAt: number
  readonly audience: string
  readonly user: Hex
  readonly signature: Hex
}

/** The meaning of a token. */
export function readToken(token: Hex): TokenMeaning {
  const all = bytes(token)
  let at = 0
  const take = (size: number): Buffer => {
    need(at + size <= all.length, 'ends too early')
    at += size
    return all.subarray(at - size, at)
  }
  const seconds = (): number => {
    const value = fromLittleEndian(take(8))
    need(value < 2n ** 53n, 'a time beyond all times')
    return Number(value)
  }
  need(take(1)[0] === 1, 'another version')
  const suite = take(1)[0]!
  need(suite === 1 || suite === 2, 'no such suite')
  const issuer = take(8).toString('hex')
  const server = take(32).toString('hex')
  const id = take(16).toString('hex')
  const issuedAt = seconds()
  const expiresAt = seconds()
  need(expiresAt > issuedAt && expiresAt - issuedAt <= 3600, 'a life of 1 to 3600 s')
  const audienceSize = take(1)[0]!
  need(audienceSize >= 1 && audienceSize <= 32, 'an audience of 1 to 32 bytes')
  const audience = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(take(audienceSize))
  const userSize = Number(fromLittleEndian(take(2)))
  need(userSize <= 256, 'at most 256 bytes of user')
  const user = take(userSize).toString('hex')
  const signature = take(64).toString('hex')
  need(at === all.length, 'more than a token')
  return { suite, issuer, server, id, issuedAt, expiresAt, audience, user, signature }
}

/** Whether the holder of this key signed this token, and the token names the key. */
export function isTokenSigned(token: Hex, issuerPublic: Hex): boolean {
  const id = createHash('sha256').update(bytes(issuerPublic)).digest().subarray(0, 8).toString('hex')
  const signed = Buffer.concat([ascii('tickwire/v1/token'), bytes(token).subarray(0, -64)])
  return readToken(token).issuer === id && isSigned(issuerPublic, signed, readToken(token).signature)
}

// #endregion
