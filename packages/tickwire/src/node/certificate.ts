/**
 * Self-signed certificates of the only kind that a browser accepts by hash: ECDSA on P-256, valid for less than 14
 * days.
 *
 * ```
 * Certificate  SEQUENCE { tbs, ecdsa-with-SHA256, BIT STRING signature }
 * tbs          SEQUENCE { [0] v3, serial, algorithm, issuer, validity, subject = issuer, public key, [3] extensions }
 * ```
 *
 * A page receives the SHA-256 of the whole certificate (`hash`) and needs no certificate authority: the server that the
 * page was loaded from vouches for the hash. These certificates are not for browsers that check certificates the
 * ordinary way.
 */

import { createHash, createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'
import { ConfigError } from '../core/base/assert.ts'

/** A private key and the certificate for it. */
export interface Certificate {
  /** PEM. */
  readonly cert: string
  /** PEM, PKCS #8. */
  readonly key: string
}

/** A certificate that browsers can accept by hash. */
export interface HashedCertificate extends Certificate {
  /** SHA-256 of the certificate. */
  readonly hash: Uint8Array
  /** Milliseconds since 1970. */
  readonly notAfter: number
}

const DAY_MS = 86_400_000
/** Browsers refuse more than 14 days. Clocks of players are wrong by hours, so validity begins a day in the past. */
const VALID_MS = 13 * DAY_MS
const BACKDATED_MS = DAY_MS

const TAG = {
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  id: 0x06,
  text: 0x0c,
  time: 0x17,
  longTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const
const OID = {
  ecdsaWithSha256: [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02],
  commonName: [0x55, 0x04, 0x03],
  altName: [0x55, 0x1d, 0x11],
} as const

/** Makes a certificate for `names`, which are host names and numeric addresses. `wallMs` is the time of day. */
export function makeCertificate(
  wallMs: number,
  names: readonly string[] = ['localhost', '127.0.0.1', '::1'],
): HashedCertificate {
  if (names.length === 0)
    throw new ConfigError(
      'certificate.names',
      'empty (expected at least one host name)',
      'give the host names that players use.',
    )
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const notAfter = wallMs - BACKDATED_MS + VALID_MS
  const algorithm = der(TAG.sequence, der(TAG.id, OID.ecdsaWithSha256))
  const name = der(
    TAG.sequence,
    der(TAG.set, der(TAG.sequence, der(TAG.id, OID.commonName), der(TAG.text, Buffer.from('Tickwire')))),
  )
  const serial = randomBytes(16)
  // A positive number without leading zeros.
  serial[0] = (serial[0] ?? 0) & 0x3f | 0x40
  const signed = der(TAG.sequence,
    der(0xa0, der(TAG.integer, [2])), der(TAG.integer, serial), algorithm, name,
    der(TAG.sequence, time(wallMs - BACKDATED_MS), time(notAfter)), name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      der(
        TAG.sequence,
        der(TAG.sequence, der(TAG.id, OID.altName), der(TAG.octets, der(TAG.sequence, ...names.map(altName)))),
      ),
    ),
  )
  const whole = der(TAG.sequence, signed, algorithm, der(TAG.bits, [0], sign('sha256', signed, privateKey)))
  const lines = whole.toString('base64').replace(/.{64}/g, '$&\n').trimEnd()
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    hash: new Uint8Array(createHash('sha256').update(whole).digest()),
    notAfter,
  }
}

/** Throws `ConfigError` when the certificate or the key is not PEM, or the key cannot be parsed. */
export function checkCertificate(path: string, { cert, key }: Certificate): void {
  if (!cert.includes('-----BEGIN CERTIFICATE-----')) {
    throw new ConfigError(`${path}.cert`, 'not a certificate in PEM', 'give the text of fullchain.pem, not its path.')
  }
  try {
    createPrivateKey(key)
  } catch {
    throw new ConfigError(`${path}.key`, 'not a private key in PEM', 'give the text of privkey.pem, not its path.')
  }
}

function der(tag: number, ...parts: readonly (Uint8Array | readonly number[])[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part)))
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

/** For example 261115233000Z. From 2050 on, the year has all four digits, as RFC 5280 requires. */
function time(wallMs: number): Buffer {
  const text = `${new Date(wallMs).toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`
  return text < '2050' ? der(TAG.time, Buffer.from(text.slice(2))) : der(TAG.longTime, Buffer.from(text))
}

function altName(name: string): Buffer {
  const family = isIP(name)
  if (family === 0) return der(0x82, Buffer.from(name))
  return der(0x87, family === 4 ? name.split('.').map(Number) : ipv6Bytes(name))
}

function ipv6Bytes(address: string): number[] {
  const [head = '', tail] = address.split('::')
  const words = (text: string): number[] =>
    text
      .split(':')
      .filter((word) => word !== '')
      .map((word) => Number.parseInt(word, 16))
  const [before, after] = [words(head), words(tail ?? '')]
  const gap = Array.from({ length: 8 - before.length - after.length }, () => 0)
  return [...before, ...gap, ...after].flatMap((word) => [word >> 8, word & 0xff])
}
