/**
 * IP addresses as bytes: as the relay's messages carry them, and as STUN does.
 *
 * ```
 * relay   family 1 (4, 6; 0: none) | port 2, low byte first | address 4 or 16
 * STUN    0 | family 1 (1, 2) | port 2, high byte first | address 4 or 16      in XOR- attributes masked
 * ```
 *
 * Invariant: an address has one text (`canonical-address.ts`) and one encoding. IPv4 mapped into IPv6 is IPv4.
 */

import { addressOfWords } from '../endpoint/canonical-address.ts'
import { hostEndOf, portAt, readIp } from '../endpoint/origin-key.ts'

/** Bytes of the longest address in a relay message. */
export const RELAY_ADDRESS_BYTES_MAX = 19

/** The fixed third word of every STUN message, which masks addresses. */
export const STUN_COOKIE = 0x2112_a442

const words = new Uint16Array(8)

/** Reads `text` into `words`. Returns the family, or 0 when the text is not an address with a port. */
function parse(text: string): 0 | 4 | 6 {
  const end = hostEndOf(text)
  if (end < 0 || portOf(text) === 0) return 0
  const isBracketed = text.charCodeAt(0) === 0x5b
  return readIp(text, isBracketed ? 1 : 0, end, words)
}

/** The port of `1.2.3.4:5678` or `[::1]:5678`; 0 when it has none. */
export function portOf(text: string): number {
  const end = hostEndOf(text)
  const colon = text.charCodeAt(0) === 0x5b ? end + 1 : end
  return end < 0 || colon >= text.length ? 0 : portAt(text, colon + 1)
}

/** The IP address of `1.2.3.4:5678` or `[::1]:5678`, without brackets; '' when the text is not an address. */
export function hostOf(text: string): string {
  const end = hostEndOf(text)
  return end < 0 ? '' : text.slice(text.charCodeAt(0) === 0x5b ? 1 : 0, end)
}

/** The family of an address with a port; 0 when the text is not one. */
export function familyOf(text: string): 0 | 4 | 6 {
  return parse(text)
}

/** Writes an address as relay messages carry it, at `at`. Text that is not an IP address is written as "none". */
export function writeRelayAddress(text: string, bytes: Uint8Array, at: number): number {
  const family = parse(text)
  bytes[at] = family
  if (family === 0) return at + 1
  const port = portOf(text)
  bytes[at + 1] = port
  bytes[at + 2] = port >>> 8
  const count = family === 4 ? 2 : 8
  for (let index = 0; index < count; index++) {
    bytes[at + 3 + 2 * index] = words[index] >>> 8
    bytes[at + 4 + 2 * index] = words[index]
  }
  return at + 3 + 2 * count
}

/** An address of a relay message: its text ('' for none), and where it ends. */
export interface ReadAddress {
  text: string
  end: number
}

/** Reads an address of a relay message at `at`, before `end`. False when the bytes are invalid. */
export function readRelayAddress(bytes: Uint8Array, at: number, end: number, out: ReadAddress): boolean {
  if (at >= end) return false
  const family = bytes[at]
  if (family === 0) {
    out.text = ''
    out.end = at + 1
    return true
  }
  if (family !== 4 && family !== 6) return false
  const stop = at + 3 + (family === 4 ? 4 : 16)
  const port = bytes[at + 1] | (bytes[at + 2] << 8)
  if (stop > end || port === 0) return false
  for (let index = 0; at + 3 + 2 * index < stop; index++)
    words[index] = (bytes[at + 3 + 2 * index] << 8) | bytes[at + 4 + 2 * index]
  if (family === 6 && isMapped()) return false
  out.text = addressOfWords(family, words, port)
  out.end = stop
  return true
}

/**
 * Writes the value of an XOR- address attribute at `at`: 8 or 20 bytes. `header` is where the STUN message begins: its
 * bytes 4 to 19 mask the address. Returns the end, or `at` when the text is not an IP address.
 */
export function writeXorAddress(text: string, bytes: Uint8Array, at: number, header: number): number {
  const family = parse(text)
  if (family === 0) return at
  const port = portOf(text) ^ (STUN_COOKIE >>> 16)
  bytes[at] = 0
  bytes[at + 1] = family === 4 ? 1 : 2
  bytes[at + 2] = port >>> 8
  bytes[at + 3] = port
  const count = family === 4 ? 2 : 8
  for (let index = 0; index < count; index++) {
    bytes[at + 4 + 2 * index] = (words[index] >>> 8) ^ bytes[header + 4 + 2 * index]
    bytes[at + 5 + 2 * index] = (words[index] & 0xff) ^ bytes[header + 5 + 2 * index]
  }
  return at + 4 + 2 * count
}

/** The address in the value of an XOR- attribute; undefined when it is invalid or has port 0. */
export function readXorAddress(bytes: Uint8Array, at: number, size: number, header: number): string | undefined {
  const family = bytes[at + 1] === 1 ? 4 : bytes[at + 1] === 2 ? 6 : 0
  if (family === 0 || size !== (family === 4 ? 8 : 20) || bytes[at] !== 0) return undefined
  const port = ((bytes[at + 2] << 8) | bytes[at + 3]) ^ (STUN_COOKIE >>> 16)
  for (let index = 0; index < (family === 4 ? 2 : 8); index++) {
    words[index] =
      ((bytes[at + 4 + 2 * index] << 8) | bytes[at + 5 + 2 * index])
      ^ ((bytes[header + 4 + 2 * index] << 8) | bytes[header + 5 + 2 * index])
  }
  if (port === 0) return undefined
  return family === 6 && isMapped() ? addressOfWords(4, words.slice(6), port) : addressOfWords(family, words, port)
}

function isMapped(): boolean {
  return words[5] === 0xffff && words[0] === 0 && words[1] === 0 && words[2] === 0 && words[3] === 0 && words[4] === 0
}
