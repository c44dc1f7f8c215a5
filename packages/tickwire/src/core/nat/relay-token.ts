/**
 * Relay tokens: a signed statement from the issuer to a relay: this bearer may have one allocation in this session.
 *
 * ```
 *   0    1  version, 1                          57    2  kbit/s           0 in any of these three: as much as
 *   1    8  id of the issuer's key              59    2  MiB              the relay allows
 *   9   16  session                             61    2  minutes
 *  25   16  token id                            63    1  size of audience, 1..32
 *  41    8  issued at, seconds since 1970       64    a  audience: the name of the relays, UTF-8
 *  49    8  expires at, seconds since 1970       ·   64  Ed25519 signature of
 *                                                        "tickwire/v1/relay-token" 00 | all bytes before it
 * ```
 *
 * 128 + a bytes, numbers low byte first. Only allocations of the same session can be bound. Its label differs from that
 * of a connect token, so neither is valid in the place of the other.
 *
 * Invariant: a token has one encoding.
 */

import { TOKEN_AUDIENCE_BYTES_MAX, TOKEN_SKEW_SECONDS } from '../base/limits.ts'
import { ConfigError } from '../base/assert.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { readUtf8, utf8Size, writeUtf8 } from '../bits/utf8.ts'
import {
  TOKEN_ID_BYTES, type TokenCheck, type TokenRefusal, checkAudience, checkSize, createTokenCheck, isLife, issuerKeyId,
  readSeconds, writeSeconds,
} from '../crypto/connect-token.ts'
import { isEqualConstantTime } from '../crypto/constant-time.ts'
import { concat, label } from '../crypto/label.ts'
import { CRYPTO_BYTES, type CryptoProvider, type SigningKey } from '../crypto/provider.ts'

/** Bytes of the id of a session. */
export const RELAY_SESSION_BYTES = 16

/** Bytes of the longest relay token. */
export const RELAY_TOKEN_BYTES_MAX: number = 128 + TOKEN_AUDIENCE_BYTES_MAX

const VERSION = 1
const [ISSUER_AT, SESSION_AT, ID_AT, ISSUED_AT, EXPIRES_AT] = [1, 9, 25, 41, 49]
const [QUOTA_AT, SIZE_AT, AUDIENCE_AT] = [57, 63, 64]
const SIGNED = label('tickwire/v1/relay-token')
const NO_SERVER = new Uint8Array(CRYPTO_BYTES.publicKey)

/** How much one allocation may send. 0: as much as the relay allows. */
export interface RelayQuota {
  /** Kilobits per second. */
  readonly kbitsPerSecond: number
  /** Mebibytes in all. */
  readonly mebibytes: number
  /** Minutes from the beginning of the allocation. */
  readonly minutes: number
}

/** The fields that the issuer chooses. */
export interface RelayGrant extends Partial<RelayQuota> {
  /** 16 bytes: the match. Its members can reach each other, and no other allocation. */
  readonly session: Uint8Array
  /** 16 random bytes, different for each token. */
  readonly id: Uint8Array
  /** Seconds since 1970. */
  readonly issuedAt: number
  /** Seconds since 1970. No allocation begins from then on. */
  readonly expiresAt: number
  /** The name of the relays that accept it. */
  readonly audience: string
}

/** The fields of a token. */
export interface RelayToken extends RelayQuota {
  /** Which of the issuer's keys signed it: 8 bytes. */
  readonly issuer: Uint8Array
  /** 16 bytes: the match. */
  readonly session: Uint8Array
  /** 16 bytes, different for each token. */
  readonly id: Uint8Array
  /** Seconds since 1970. */
  readonly issuedAt: number
  /** Seconds since 1970. */
  readonly expiresAt: number
  /** The name of the relays that accept it. */
  readonly audience: string
  /** 64 bytes. Not verified by `parseRelayToken`. */
  readonly signature: Uint8Array
}

/** Encodes and signs a relay token. Throws `ConfigError` on fields that no relay would accept. */
export function issueRelayToken(provider: CryptoProvider, key: SigningKey, grant: RelayGrant): Uint8Array {
  const { session, id, issuedAt, expiresAt, audience, kbitsPerSecond = 0, mebibytes = 0, minutes = 0 } = grant
  checkSize('relayToken.session', session, RELAY_SESSION_BYTES)
  checkSize('relayToken.id', id, TOKEN_ID_BYTES)
  checkAudience('relayToken.audience', audience)
  for (const [name, value] of Object.entries({ kbitsPerSecond, mebibytes, minutes })) {
    if (!Number.isInteger(value) || value < 0 || value > 65_535)
      throw new ConfigError(`relayToken.${name}`, `invalid (expected 0 to 65535, got ${value})`, 'give a whole number.')
  }
  if (!isLife(issuedAt, expiresAt)) {
    const problem = `invalid time (expected at most an hour after ${issuedAt}, got ${expiresAt})`
    throw new ConfigError('relayToken.expiresAt', problem, 'give whole seconds.')
  }
  const size = utf8Size(audience)
  const bytes = new Uint8Array(AUDIENCE_AT + size + CRYPTO_BYTES.signature)
  bytes[0] = VERSION
  bytes.set(issuerKeyId(provider, key.publicKey), ISSUER_AT)
  bytes.set(session, SESSION_AT)
  bytes.set(id, ID_AT)
  writeSeconds(bytes, ISSUED_AT, issuedAt)
  writeSeconds(bytes, EXPIRES_AT, expiresAt)
  ;[kbitsPerSecond, mebibytes, minutes].forEach((value, index) => {
    bytes[QUOTA_AT + 2 * index] = value
    bytes[QUOTA_AT + 2 * index + 1] = value >>> 8
  })
  bytes[SIZE_AT] = size
  const name = new Uint8Array(size)
  const writer = new BitWriter(name)
  writeUtf8(writer, audience)
  writer.finish()
  bytes.set(name, AUDIENCE_AT)
  const signatureAt = AUDIENCE_AT + size
  bytes.set(key.sign(concat(SIGNED, bytes.subarray(0, signatureAt))), signatureAt)
  return bytes
}

/** The fields of a token, not verified; undefined when the bytes are not a relay token. Never throws. */
export function parseRelayToken(bytes: Uint8Array): RelayToken | undefined {
  if (bytes.length <= AUDIENCE_AT || bytes.length > RELAY_TOKEN_BYTES_MAX || bytes[0] !== VERSION) return undefined
  const size = bytes[SIZE_AT]
  const signatureAt = AUDIENCE_AT + size
  if (size === 0 || size > TOKEN_AUDIENCE_BYTES_MAX || signatureAt + CRYPTO_BYTES.signature !== bytes.length)
    return undefined
  const reader = new BitReader(bytes.subarray(AUDIENCE_AT, signatureAt))
  const audience = readUtf8(reader, size)
  const issuedAt = readSeconds(bytes, ISSUED_AT)
  const expiresAt = readSeconds(bytes, EXPIRES_AT)
  if (reader.failed || !isLife(issuedAt, expiresAt)) return undefined
  const quota = (index: number): number => bytes[QUOTA_AT + 2 * index] | (bytes[QUOTA_AT + 2 * index + 1] << 8)
  return {
    issuer: bytes.slice(ISSUER_AT, SESSION_AT), session: bytes.slice(SESSION_AT, ID_AT),
    id: bytes.slice(ID_AT, ISSUED_AT), issuedAt, expiresAt, audience,
    kbitsPerSecond: quota(0), mebibytes: quota(1), minutes: quota(2), signature: bytes.slice(signatureAt),
  }
}

/** The quota of one allocation: that of its token, and at most that of the relay. */
export function leastQuota(asked: RelayQuota, allowed: RelayQuota): RelayQuota {
  const least = (one: number, other: number): number => (one === 0 ? other : Math.min(one, other))
  return {
    kbitsPerSecond: least(asked.kbitsPerSecond, allowed.kbitsPerSecond),
    mebibytes: least(asked.mebibytes, allowed.mebibytes), minutes: least(asked.minutes, allowed.minutes),
  }
}

/** Creates the input of `verifyRelayToken`. Throws `ConfigError` on invalid settings. */
export function createRelayTokenCheck(
  provider: CryptoProvider, issuers: readonly Uint8Array[], audience: string,
): TokenCheck {
  return createTokenCheck(provider, issuers, audience, NO_SERVER)
}

/**
 * Returns the token if its bearer may allocate now, otherwise the reason for the refusal. The signature is checked
 * last: only the holder of a token of this issuer can make the relay verify one.
 */
export function verifyRelayToken(check: TokenCheck, bytes: Uint8Array, nowSeconds: number): RelayToken | TokenRefusal {
  const token = parseRelayToken(bytes)
  if (token === undefined) return 'malformed'
  const issuer = check.issuers.find(({ id }) => isEqualConstantTime(id, token.issuer))
  if (issuer === undefined) return 'unknown-issuer'
  if (token.audience !== check.audience) return 'audience'
  // The comparisons are written so that a clock that returns NaN admits no peer.
  if (!(nowSeconds >= token.issuedAt - TOKEN_SKEW_SECONDS)) return 'not-yet'
  if (!(nowSeconds < token.expiresAt)) return 'expired'
  const signed = bytes.subarray(0, bytes.length - CRYPTO_BYTES.signature)
  return issuer.key.verify(concat(SIGNED, signed), token.signature) ? token : 'signature'
}
