/**
 * The key and the MAC of TURN messages, with the hashes that its standard demands: MD5 and HMAC-SHA-1.
 *
 * Neither protects content, which is sealed end to end. A forged message could at most end a client's allocation.
 */

import { hmac } from '@noble/hashes/hmac.js'
import { md5, sha1 } from '@noble/hashes/legacy.js'
import { isEqualConstantTime } from '../crypto/constant-time.ts'
import { concat } from '../crypto/label.ts'
import { STUN_ATTRIBUTE, STUN_HEADER_BYTES, type StunMessage, type StunWriter } from './stun.ts'
import { TURN_PASSWORD, TURN_REALM } from './turn-credentials.ts'

/** Bytes of MESSAGE-INTEGRITY, with its head. */
const INTEGRITY_BYTES = 24
const TAIL = Uint8Array.from(`:${TURN_REALM}:${TURN_PASSWORD}`, (letter) => letter.charCodeAt(0))
const scratch = new Uint8Array(65_536)

/** The key of a user name: 16 bytes. */
export function turnKey(username: Uint8Array): Uint8Array {
  return md5(concat(username, TAIL))
}

/** Whether the MAC of a message is valid. It covers what is before it, with a size that ends after it. */
export function isTurnIntegrityValid(key: Uint8Array, { bytes, integrityAt }: StunMessage): boolean {
  if (integrityAt === 0) return false
  for (let at = 0; at < integrityAt; at++) scratch[at] = bytes[at]
  const size = integrityAt + INTEGRITY_BYTES - STUN_HEADER_BYTES
  scratch[2] = size >>> 8
  scratch[3] = size
  const mac = hmac(sha1, key, scratch.subarray(0, integrityAt))
  return isEqualConstantTime(mac, bytes.subarray(integrityAt + 4, integrityAt + INTEGRITY_BYTES))
}

/** Adds the MAC to a message. */
export function writeTurnIntegrity(key: Uint8Array, writer: StunWriter): StunWriter {
  writer.setSize(INTEGRITY_BYTES)
  return writer.attribute(
    STUN_ATTRIBUTE.messageIntegrity, hmac(sha1, key, writer.bytes.subarray(0, writer.length)),
  )
}
