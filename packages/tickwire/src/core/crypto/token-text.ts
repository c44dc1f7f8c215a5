/**
 * Tokens and keys as text: base64url without padding (RFC 4648, section 5), for command lines, URLs and JSON.
 *
 * Invariant: one text for one sequence of bytes. A text with padding, spaces, foreign characters, an impossible length
 * or bits left over is refused.
 */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Bytes as text. */
export function bytesToText(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 3) {
    const left = bytes.length - at
    const word = (bytes[at] << 16) | ((left > 1 ? bytes[at + 1] : 0) << 8) | (left > 2 ? bytes[at + 2] : 0)
    text += ALPHABET[word >>> 18] + ALPHABET[(word >>> 12) & 63]
    if (left > 1) text += ALPHABET[(word >>> 6) & 63]
    if (left > 2) text += ALPHABET[word & 63]
  }
  return text
}

/** Text as bytes; undefined when it is not the text of any. */
export function textToBytes(text: string): Uint8Array | undefined {
  if (text.length % 4 === 1) return undefined
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4))
  let word = 0
  let at = 0
  for (let index = 0; index < text.length; index++) {
    const digit = ALPHABET.indexOf(text[index])
    if (digit < 0) return undefined
    word = ((word << 6) | digit) & 0xff_ffff
    if (index % 4 > 0) bytes[at++] = word >>> (4 - 2 * ((index % 4) - 1))
  }
  const leftOver = text.length % 4 === 0 ? 0 : word & (text.length % 4 === 2 ? 0xf : 0x3)
  return leftOver === 0 ? bytes : undefined
}
