/**
 * Tokens and keys as text: base64url without padding (RFC 4648, section 5), for command lines, URLs and JSON.
 *
 * Invariant: one sequence of bytes has one text. A text with padding, spaces, foreign characters, an impossible length
 * or leftover bits is refused.
 */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Encodes bytes as text. */
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

/** Decodes text to bytes; undefined when the text is not valid. */
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

/** The purpose of a key in text form. It is part of the text, so that one kind is not mistaken for another. */
export type KeyKind = 'issuer-secret' | 'issuer-public' | 'server-secret' | 'server-public'

const KEY_TEXT = /^tickwire-(issuer|server)-(secret|public):([\w-]{43})$/

/** Encodes a key of 32 bytes as text: `tickwire-server-public:…`. */
export function keyToText(kind: KeyKind, key: Uint8Array): string {
  return `tickwire-${kind}:${bytesToText(key)}`
}

/** The key in a text, and its purpose; undefined when the text is not valid. */
export function textToKey(text: string): { readonly kind: string; readonly key: Uint8Array } | undefined {
  const [, whose, half, digits] = KEY_TEXT.exec(text) ?? []
  const key = digits === undefined ? undefined : textToBytes(digits)
  return key === undefined ? undefined : { kind: `${whose}-${half}`, key }
}
