/**
 * Connect tokens: a signed statement from the issuer, which knows the players, to a server: admit this client, soon,
 * once.
 *
 * ```
 *   0    1  version, 1                          74    1  size of audience, 1..32
 *   1    1  suite, 1 or 2                       75    a  audience: the game's name, UTF-8
 *   2    8  id of the issuer's key              ·     2  size of user, 0..256
 *  10   32  the server's identity key           ·     u  user: chosen by the issuer
 *  42   16  token id                            ·    64  Ed25519 signature of
 *  58    8  issued at, seconds since 1970                "tickwire/v1/token" 00 | all bytes before it
 *  66    8  expires at, seconds since 1970             141 + a + u bytes, at most 429; numbers low byte first
 * ```
 *
 * The id of a key is the first 8 bytes of its SHA-256. The identity key is for the client: it names the server that the
 * client must reach, and the server proves it (`transcript.ts`). A token contains no secret, and no session key is
 * derived from it.
 *
 * Invariant: a token has one encoding. The fields of a token that `parseToken` accepts encode to the same bytes.
 *
 * This file does not remember which tokens were used: `spent-tokens.ts` does. It reads no clock: seconds are passed in.
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
import {
  CRYPTO_BYTES, SUITE, type CryptoProvider, type SigningKey, type SuiteId, type VerifyingKey,
} from './provider.ts'
import { isSuiteId } from './suite.ts'

/** Bytes of the longest token. */
export const TOKEN_BYTES_MAX: number = 141 + TOKEN_AUDIENCE_BYTES_MAX + TOKEN_USER_BYTES_MAX

/** Bytes of the unique id of a token. */
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

/** What a token is for. Each purpose has its own label, so a token is valid at one door only. */
export type TokenPurpose = 'connect' | 'publish' | 'fleet'

const SIGNED: { readonly [purpose in TokenPurpose]: Uint8Array } = {
  connect: label('tickwire/v1/token'),
  publish: label('tickwire/v1/publish-token'),
  fleet: label('tickwire/v1/fleet-token'),
}

/** The fields of a token. */
export interface ConnectToken {
  /** The suite that client and server will use. */
  readonly suite: SuiteId
  /** Which of the issuer's keys signed it: 8 bytes. */
  readonly issuer: Uint8Array
  /** The identity key of the server it is for: 32 bytes. */
  readonly server: Uint8Array
  /** 16 random bytes. */
  readonly id: Uint8Array
  /** Seconds since 1970. */
  readonly issuedAt: number
  /** Seconds since 1970. The token is refused from then on. */
  readonly expiresAt: number
  /** The name of the game. */
  readonly audience: string
  /** Chosen by the issuer: an id, a name, a team. */
  readonly user: Uint8Array
  /** 64 bytes. Not verified by `parseToken`. */
  readonly signature: Uint8Array
}

/** Why a token is refused. */
export type TokenRefusal = 'malformed' | 'unknown-issuer' | 'audience' | 'server' | 'not-yet' | 'expired' | 'signature'

/** The fields that the issuer chooses. */
export interface TokenGrant {
  /** Default: ChaCha20-Poly1305. */
  readonly suite?: SuiteId
  /** The identity key of the server it is for: 32 bytes. */
  readonly server: Uint8Array
  /** 16 random bytes, different for each token. */
  readonly id: Uint8Array
  /** Seconds since 1970. */
  readonly issuedAt: number
  /** Seconds since 1970. The token is refused from then on. */
  readonly expiresAt: number
  /** The name of the game. */
  readonly audience: string
  /** Bytes about the player, for the server: an id, a name, a team. */
  readonly user: Uint8Array
}

/** The inputs of a server's token checks. Created once, by `createTokenCheck`. */
export interface TokenCheck {
  /** What signatures are verified with. */
  readonly provider: CryptoProvider
  /** The public keys of the issuers: one, or two while one key replaces the other. */
  readonly issuers: readonly { readonly id: Uint8Array; readonly key: VerifyingKey }[]
  /** The name that tokens must have. */
  readonly audience: string
  /** This server's identity key, public. */
  readonly server: Uint8Array
  /** What tokens must be for. */
  readonly purpose: TokenPurpose
}

/** The first 8 bytes of the SHA-256 of a public key. */
export function issuerKeyId(provider: CryptoProvider, publicKey: Uint8Array): Uint8Array {
  return provider.sha256(publicKey).slice(0, ISSUER_BYTES)
}

/**
 * Encodes and signs a token. `publish` tokens are for trackers, `fleet` tokens for the services of a fleet; both name
 * the identity key of the server that shows them. Throws `ConfigError` on fields that no server would accept.
 */
export function issueToken(
  provider: CryptoProvider, key: SigningKey, grant: TokenGrant, purpose: TokenPurpose = 'connect',
): Uint8Array {
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
  bytes.set(key.sign(concat(SIGNED[purpose], bytes.subarray(0, signatureAt))), signatureAt)
  return bytes
}

/** The fields of a token, not verified; undefined when the bytes are not a token. Never throws. */
export function parseToken(bytes: Uint8Array): ConnectToken | undefined {
  const suite = bytes[1]
  if (bytes.length < BYTES_MIN || bytes.length > TOKEN_BYTES_MAX || bytes[0] !== VERSION || !isSuiteId(suite))
    return undefined
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

/** Creates the input of `verifyToken`. Throws `ConfigError` on invalid settings. */
export function createTokenCheck(
  provider: CryptoProvider, issuers: readonly Uint8Array[], audience: string, server: Uint8Array,
  purpose: TokenPurpose = 'connect',
): TokenCheck {
  if (issuers.length < 1 || issuers.length > TOKEN_ISSUERS_MAX) {
    throw new ConfigError(
      'tokens.issuers',
      `wrong number of keys (expected 1 or 2, got ${issuers.length})`,
      "give the issuer's public key, or two while one replaces the other.",
    )
  }
  issuers.forEach((key, index) => checkSize(`tokens.issuers[${index}]`, key, CRYPTO_BYTES.publicKey))
  checkSize('tokens.server', server, CRYPTO_BYTES.publicKey)
  checkAudience('tokens.audience', audience)
  return {
    provider, audience, purpose, server: Uint8Array.from(server),
    issuers: issuers.map((key) => ({ id: issuerKeyId(provider, key), key: provider.importVerifying(key) })),
  }
}

/**
 * Returns the token if this server may admit its bearer now, otherwise the reason for the refusal. Cheap checks come
 * first and the signature last, so only the holder of a token of this issuer for this server can make the server verify
 * a signature. Never throws.
 */
export function verifyToken(check: TokenCheck, bytes: Uint8Array, nowSeconds: number): ConnectToken | TokenRefusal {
  const token = parseToken(bytes)
  if (token === undefined) return 'malformed'
  const issuer = check.issuers.find(({ id }) => isEqualConstantTime(id, token.issuer))
  if (issuer === undefined) return 'unknown-issuer'
  if (token.audience !== check.audience) return 'audience'
  if (!isEqualConstantTime(token.server, check.server)) return 'server'
  // The comparisons are written so that a clock that returns NaN admits no client.
  if (!(nowSeconds >= token.issuedAt - TOKEN_SKEW_SECONDS)) return 'not-yet'
  if (!(nowSeconds < token.expiresAt)) return 'expired'
  const signed = bytes.subarray(0, bytes.length - CRYPTO_BYTES.signature)
  return issuer.key.verify(concat(SIGNED[check.purpose], signed), token.signature) ? token : 'signature'
}

/** Whether a token is valid for a time, and not for too long. */
export function isLife(issuedAt: number, expiresAt: number): boolean {
  const life = expiresAt - issuedAt
  return (
    Number.isSafeInteger(issuedAt)
    && Number.isSafeInteger(expiresAt)
    && issuedAt >= 0
    && life > 0
    && life <= TOKEN_LIFE_SECONDS_MAX
  )
}

function checkGrant({ suite, server, id, issuedAt, expiresAt, audience, user }: TokenGrant): void {
  if (suite !== undefined && !isSuiteId(suite))
    throw new ConfigError('token.suite', `unknown suite ${suite} (expected 1 or 2)`, 'use 1 or 2.')
  checkSize('token.server', server, CRYPTO_BYTES.publicKey)
  checkSize('token.id', id, TOKEN_ID_BYTES)
  checkAudience('token.audience', audience)
  if (user.length > TOKEN_USER_BYTES_MAX) {
    throw new ConfigError(
      'token.user',
      `too long (expected at most ${TOKEN_USER_BYTES_MAX} bytes, got ${user.length})`,
      'store the data on the server and put its key here.',
    )
  }
  if (!isLife(issuedAt, expiresAt)) {
    throw new ConfigError(
      'token.expiresAt',
      `invalid time (expected 1 to ${TOKEN_LIFE_SECONDS_MAX} seconds after ${issuedAt}, got ${expiresAt})`,
      'give whole seconds.',
    )
  }
}

export function checkSize(path: string, bytes: Uint8Array, size: number): void {
  if (bytes.length !== size) throw new ConfigError(
    path,
    `wrong size (expected ${size} bytes, got ${bytes.length})`,
    'pass the bytes unchanged.',
  )
}

export function checkAudience(path: string, audience: string): void {
  const size = utf8Size(audience)
  if (size >= 1 && size <= TOKEN_AUDIENCE_BYTES_MAX) return
  throw new ConfigError(
    path,
    `wrong size (expected 1 to ${TOKEN_AUDIENCE_BYTES_MAX} bytes of UTF-8, got ${size})`,
    'give the name of the game.',
  )
}

/** Eight bytes, low byte first. */
export function writeSeconds(bytes: Uint8Array, at: number, seconds: number): void {
  writeUint32(bytes, at, seconds)
  writeUint32(bytes, at + 4, Math.floor(seconds / 0x1_0000_0000))
}

/** Eight bytes, low byte first. A value above 2^53 - 1 is not exact and not a safe integer. */
export function readSeconds(bytes: Uint8Array, at: number): number {
  return readUint32(bytes, at) + readUint32(bytes, at + 4) * 0x1_0000_0000
}
