/**
 * Connect tokens: a note from whoever knows the players (the issuer) to a server: let this one in, soon, once.
 *
 * ```
 *   0    1  version, 1                          74    1  size of audience, 1..32
 *   1    1  suite, 1 or 2                       75    a  audience: the game's name, UTF-8
 *   2    8  id of the issuer's key              ·     2  size of user, 0..256
 *  10   32  the server's identity key           ·     u  user: the issuer's own
 *  42   16  token id                            ·    64  Ed25519 signature of
 *  58    8  issued at, seconds since 1970                "tickwire/v1/token" 00 | all bytes before it
 *  66    8  expires at, seconds since 1970             141 + a + u bytes, at most 429; numbers low byte first
 * ```
 *
 * The id of a key is the first 8 bytes of its SHA-256. The identity key is for the client: he knows from it whom he
 * ought to meet, and the server proves it (`transcript.ts`). No secret is in a token, and no session key comes from one.
 *
 * Invariant: a token has one spelling; what `parseToken` accepts, the same fields write again byte for byte.
 *
 * It does not remember which tokens were used: that is `spent-tokens.ts`. It reads no clock: seconds are handed in.
 */

import { ConfigError } from '../base/assert.ts'
import {
  TOKEN_AUDIENCE_BYTES_MAX, TOKEN_ISSUERS_MAX, TOKEN_LIFE_SECONDS_MAX, TOKEN_SKEW_SECONDS, TOKEN_USER_BYTES_MAX,
} from '../base/limits.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { readUtf8, utf8Size, writeUtf8 } from '../bits/utf8.ts'
import { readUint32, writeUint32 } from '../packet/header.ts'
import { isEqualConstantTime } from './constant-time.ts'
import { concat, label } from './label.ts'
import { CRYPTO_BYTES, SUITE, type CryptoProvider, type SigningKey, type SuiteId, type VerifyingKey } from './provider.ts'
import { isSuiteId } from './suite.ts'

/** Bytes of the longest token. */
export const TOKEN_BYTES_MAX: number = 141 + TOKEN_AUDIENCE_BYTES_MAX + TOKEN_USER_BYTES_MAX

/** Bytes of the id that makes a token one of its kind. */
export const TOKEN_ID_BYTES = 16

const VERSION = 1
const ISSUER_AT = 2
const ISSUER_BYTES = 8
const SERVER_AT = 10
const ID_AT = 42
const ISSUED_AT = 58
const EXPIRES_AT = 66
const AUDIENCE_SIZE_AT = 74
const AUDIENCE_AT = 75
const BYTES_MIN = AUDIENCE_AT + 1 + 2 + CRYPTO_BYTES.signature
const SIGNED = label('tickwire/v1/token')

/** What a token says. */
export interface ConnectToken {
  /** The suite that client and server will use. */
  readonly suite: SuiteId
  /** Which of the issuer's keys signed it: 8 bytes. */
  readonly issuer: Uint8Array
  /** The identity key of the server it is for: 32 bytes. */
  readonly server: Uint8Array
  /** 16 bytes, drawn by chance. */
  readonly id: Uint8Array
  /** Seconds since 1970. */
  readonly issuedAt: number
  readonly expiresAt: number
  /** The name of the game. */
  readonly audience: string
  /** The issuer's own: an id, a name, a team. */
  readonly user: Uint8Array
  /** 64 bytes. Not checked by reading. */
  readonly signature: Uint8Array
}

/** Why a token is refused. */
export type TokenRefusal = 'malformed' | 'unknown-issuer' | 'audience' | 'server' | 'not-yet' | 'expired' | 'signature'

/** What the issuer decides. */
export interface TokenGrant {
  /** ChaCha20-Poly1305 unless it says otherwise. */
  readonly suite?: SuiteId
  readonly server: Uint8Array
  readonly id: Uint8Array
  readonly issuedAt: number
  readonly expiresAt: number
  readonly audience: string
  readonly user: Uint8Array
}

/** What a server checks tokens against. Made once, by `createTokenCheck`. */
export interface TokenCheck {
  readonly provider: CryptoProvider
  /** The keys of issuers: one, or two while one replaces the other. */
  readonly issuers: readonly { readonly id: Uint8Array; readonly key: VerifyingKey }[]
  readonly audience: string
  /** This server's own identity, public. */
  readonly server: Uint8Array
}

/** The first 8 bytes of the SHA-256 of a public key. */
export function issuerKeyId(provider: CryptoProvider, publicKey: Uint8Array): Uint8Array {
  return provider.sha256(publicKey).slice(0, ISSUER_BYTES)
}

/** Writes and signs a token. Throws `ConfigError` on what no server would accept. */
export function issueToken(provider: CryptoProvider, key: SigningKey, grant: TokenGrant): Uint8Array {
  checkGrant(grant)
  const { suite = SUITE.chacha20Poly1305, server, id, issuedAt, expiresAt, audience, user } = grant
  const audienceSize = utf8Size(audience)
  const bytes = new Uint8Array(BYTES_MIN - 1 + audienceSize + user.length)
  bytes[0] = VERSION
  bytes[1] = suite
  bytes.set(issuerKeyId(provider, key.publicKey), ISSUER_AT)
  bytes.set(server, SERVER_AT)
  bytes.set(id, ID_AT)
  writeSeconds(bytes, ISSUED_AT, issuedAt)
  writeSeconds(bytes, EXPIRES_AT, expiresAt)
  bytes[AUDIENCE_SIZE_AT] = audienceSize
  const name = new Uint8Array(audienceSize)
  const writer = new BitWriter(name)
  writeUtf8(writer, audience)
  writer.finish()
  bytes.set(name, AUDIENCE_AT)
  const userAt = AUDIENCE_AT + audienceSize + 2
  bytes[userAt - 2] = user.length
  bytes[userAt - 1] = user.length >>> 8
  bytes.set(user, userAt)
  const signatureAt = userAt + user.length
  bytes.set(key.sign(concat(SIGNED, bytes.subarray(0, signatureAt))), signatureAt)
  return bytes
}

/** What a token says, without asking whether it is true; undefined when it says nothing. Never throws. */
export function parseToken(bytes: Uint8Array): ConnectToken | undefined {
  const suite = bytes[1]
  if (bytes.length < BYTES_MIN || bytes.length > TOKEN_BYTES_MAX || bytes[0] !== VERSION || !isSuiteId(suite)) return undefined
  const audienceSize = bytes[AUDIENCE_SIZE_AT]
  const userAt = AUDIENCE_AT + audienceSize + 2
  if (audienceSize === 0 || audienceSize > TOKEN_AUDIENCE_BYTES_MAX || userAt > bytes.length) return undefined
  const userSize = bytes[userAt - 2] | (bytes[userAt - 1] << 8)
  const signatureAt = userAt + userSize
  if (userSize > TOKEN_USER_BYTES_MAX || signatureAt + CRYPTO_BYTES.signature !== bytes.length) return undefined
  const reader = new BitReader(bytes.subarray(AUDIENCE_AT, AUDIENCE_AT + audienceSize))
  const audience = readUtf8(reader, audienceSize)
  const issuedAt = readSeconds(bytes, ISSUED_AT)
  const expiresAt = readSeconds(bytes, EXPIRES_AT)
  if (reader.failed || !isLife(issuedAt, expiresAt)) return undefined
  return {
    suite,
    issuer: bytes.slice(ISSUER_AT, SERVER_AT),
    server: bytes.slice(SERVER_AT, ID_AT),
    id: bytes.slice(ID_AT, ISSUED_AT),
    issuedAt,
    expiresAt,
    audience,
    user: bytes.slice(userAt, signatureAt),
    signature: bytes.slice(signatureAt),
  }
}

/** Makes what `verifyToken` needs. Throws `ConfigError` when it cannot work. */
export function createTokenCheck(
  provider: CryptoProvider, issuers: readonly Uint8Array[], audience: string, server: Uint8Array,
): TokenCheck {
  if (issuers.length < 1 || issuers.length > TOKEN_ISSUERS_MAX) {
    throw new ConfigError('tokens.issuers', `there are ${issuers.length}`, 'Give the issuer\'s public key, or two while one replaces the other.')
  }
  issuers.forEach((key, index) => checkSize(`tokens.issuers[${index}]`, key, CRYPTO_BYTES.publicKey))
  checkSize('tokens.server', server, CRYPTO_BYTES.publicKey)
  checkAudience('tokens.audience', audience)
  return {
    provider, audience, server: Uint8Array.from(server),
    issuers: issuers.map((key) => ({ id: issuerKeyId(provider, key), key: provider.importVerifying(key) })),
  }
}

/**
 * The token, if this server may let its bearer in now; otherwise why not. What is cheap comes first, the signature
 * last: only who holds a token of this issuer for this server can make us verify one. Never throws.
 */
export function verifyToken(check: TokenCheck, bytes: Uint8Array, nowSeconds: number): ConnectToken | TokenRefusal {
  const token = parseToken(bytes)
  if (token === undefined) return 'malformed'
  const issuer = check.issuers.find(({ id }) => isEqualConstantTime(id, token.issuer))
  if (issuer === undefined) return 'unknown-issuer'
  if (token.audience !== check.audience) return 'audience'
  if (!isEqualConstantTime(token.server, check.server)) return 'server'
  // Asked this way round, a clock that says NaN lets nobody in.
  if (!(nowSeconds >= token.issuedAt - TOKEN_SKEW_SECONDS)) return 'not-yet'
  if (!(nowSeconds < token.expiresAt)) return 'expired'
  const signed = bytes.subarray(0, bytes.length - CRYPTO_BYTES.signature)
  return issuer.key.verify(concat(SIGNED, signed), token.signature) ? token : 'signature'
}

function isLife(issuedAt: number, expiresAt: number): boolean {
  const life = expiresAt - issuedAt
  return Number.isSafeInteger(issuedAt) && Number.isSafeInteger(expiresAt) && issuedAt >= 0 && life > 0 && life <= TOKEN_LIFE_SECONDS_MAX
}

function checkGrant({ suite, server, id, issuedAt, expiresAt, audience, user }: TokenGrant): void {
  if (suite !== undefined && !isSuiteId(suite)) throw new ConfigError('token.suite', `there is no suite ${suite}`, 'Use 1 or 2.')
  checkSize('token.server', server, CRYPTO_BYTES.publicKey)
  checkSize('token.id', id, TOKEN_ID_BYTES)
  checkAudience('token.audience', audience)
  if (user.length > TOKEN_USER_BYTES_MAX) {
    throw new ConfigError('token.user', `has ${user.length} bytes`, `Give at most ${TOKEN_USER_BYTES_MAX}.`)
  }
  if (!isLife(issuedAt, expiresAt)) {
    throw new ConfigError(
      'token.expiresAt', `${expiresAt} after ${issuedAt}`, `Give whole seconds, 1 to ${TOKEN_LIFE_SECONDS_MAX} after issuedAt.`,
    )
  }
}

function checkSize(path: string, bytes: Uint8Array, size: number): void {
  if (bytes.length !== size) throw new ConfigError(path, `has ${bytes.length} bytes`, `Give ${size}.`)
}

function checkAudience(path: string, audience: string): void {
  const size = utf8Size(audience)
  if (size >= 1 && size <= TOKEN_AUDIENCE_BYTES_MAX) return
  throw new ConfigError(path, `has ${size} bytes`, `Name the game in 1 to ${TOKEN_AUDIENCE_BYTES_MAX} bytes of UTF-8.`)
}

function writeSeconds(bytes: Uint8Array, at: number, seconds: number): void {
  writeUint32(bytes, at, seconds)
  writeUint32(bytes, at + 4, Math.floor(seconds / 0x1_0000_0000))
}

/** Beyond 2^53 - 1 it is no longer exact, and no longer a safe integer. */
function readSeconds(bytes: Uint8Array, at: number): number {
  return readUint32(bytes, at) + readUint32(bytes, at + 4) * 0x1_0000_0000
}
