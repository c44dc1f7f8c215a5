/**
 * The canonical text of a JSON value (RFC 8785, for values whose numbers are whole): keys in the order of their UTF-16
 * code units, no spaces, strings as JSON.stringify writes them. One value has one text, in every language.
 */

import { BitWriter } from '../bits/bit-writer.ts'
import { utf8Size, writeUtf8 } from '../bits/utf8.ts'

/** Deeper values are refused: a listing has three levels. */
const DEPTH_MAX = 8

/** The text; undefined when a value has no canonical one here: fractions, lone surrogates, too many levels. */
export function canonicalText(value: unknown, depth: number = 0): string | undefined {
  if (depth > DEPTH_MAX) return undefined
  switch (typeof value) {
    case 'boolean': return String(value)
    case 'string': return /\p{Cs}/u.test(value) ? undefined : JSON.stringify(value)
    case 'number': return Number.isSafeInteger(value) && !Object.is(value, -0) ? String(value) : undefined
    case 'object': return value === null ? 'null' : textOf(value, depth + 1)
    default: return undefined
  }
}

/** The same as bytes of UTF-8. */
export function canonicalBytes(value: unknown): Uint8Array | undefined {
  const text = canonicalText(value)
  if (text === undefined) return undefined
  const bytes = new Uint8Array(utf8Size(text))
  const writer = new BitWriter(bytes)
  writeUtf8(writer, text)
  writer.finish()
  return bytes
}

function textOf(value: object, depth: number): string | undefined {
  if (Array.isArray(value)) {
    const items = value.map((item) => canonicalText(item, depth))
    return items.includes(undefined) ? undefined : `[${items.join(',')}]`
  }
  const parts: string[] = []
  for (const [key, item] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (item === undefined) continue
    const text = canonicalText(item, depth)
    const name = canonicalText(key, depth)
    if (text === undefined || name === undefined) return undefined
    parts.push(`${name}:${text}`)
  }
  return `{${parts.join(',')}}`
}
