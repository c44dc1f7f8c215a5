/**
 * Which room somebody asks for, as he says it at the door: the user bytes of a Response, 64 at most.
 *
 * ```
 *        0      1
 *        │ kind │ role │ rest
 * quick  │ 0    │      │ size 1 │ type │ pairs        a seat in any room of the type whose metadata has all pairs, or a new one
 * room   │ 1    │      │ size 1 │ id                  this room
 * code   │ 2    │      │ size 1 │ code                the private room with this code
 * create │ 3, 4 │      │ size 1 │ type │ pairs        a new room with this metadata; 4: a private one
 * resume │ 5    │      │ ticket 28                    the seat he had
 *
 * pairs  ( size 1 │ key │ size 1 │ value )*           texts in UTF-8
 * ```
 *
 * Nothing at all is a quick seat in the first type that is this game. Keys ascend, each once. Bytes that make no request are undefined, and
 * never throw. It does not know which rooms there are.
 */

import { ConfigError } from '../../base/assert.ts'
import { USER_BYTES_MAX } from '../../base/limits.ts'
import { BitReader } from '../../bits/bit-reader.ts'
import { BitWriter } from '../../bits/bit-writer.ts'
import { readUtf8, utf8Size, writeUtf8 } from '../../bits/utf8.ts'
import { TICKET_BYTES } from './resume-ticket.ts'

/** What a room says of itself, and is looked for by: a few short texts. */
export type Metadata = { readonly [key: string]: string }

/** Which seat somebody asks for. */
export type JoinRequest = (
  | { readonly quick?: string; readonly filter?: Metadata }
  | { readonly room: string }
  | { readonly code: string }
  | { readonly create: string; readonly metadata?: Metadata; readonly isPrivate?: boolean }
  | { readonly resume: Uint8Array }
) & {
  /** Whether he plays, as he does unless he says otherwise, or looks on. */
  readonly role?: 'player' | 'spectator'
}

const KIND = { quick: 0, room: 1, code: 2, create: 3, createPrivate: 4, resume: 5 } as const
const PLAYER = 0
const SPECTATOR = 1

/** The bytes of a request; throws ConfigError when it is too long to be said. */
export function encodeJoin(join: JoinRequest): Uint8Array {
  const bytes = new Uint8Array(USER_BYTES_MAX)
  const out = new BitWriter(bytes)
  const begin = (kind: number): void => {
    out.writeBits(kind, 8)
    out.writeBits(join.role === 'spectator' ? SPECTATOR : PLAYER, 8)
  }
  if ('resume' in join) {
    if (join.resume.length !== TICKET_BYTES) throw new ConfigError('join.resume', `has ${join.resume.length} bytes`, 'Hand over the ticket as it was given.')
    begin(KIND.resume)
    for (const byte of join.resume) out.writeBits(byte, 8)
  } else if ('room' in join) {
    begin(KIND.room)
    writeText(out, join.room)
  } else if ('code' in join) {
    begin(KIND.code)
    writeText(out, join.code)
  } else if ('create' in join) {
    begin(join.isPrivate === true ? KIND.createPrivate : KIND.create)
    writeText(out, join.create)
    writePairs(out, join.metadata ?? {})
  } else {
    begin(KIND.quick)
    writeText(out, join.quick ?? '')
    writePairs(out, join.filter ?? {})
  }
  if (out.failed) throw new ConfigError('join', `takes more than ${USER_BYTES_MAX} bytes`, 'Use shorter names and fewer pairs.')
  return bytes.slice(0, out.finish())
}

/** What was asked for; undefined when the bytes make no sense. */
export function decodeJoin(bytes: Uint8Array): JoinRequest | undefined {
  if (bytes.length === 0) return {}
  if (bytes.length > USER_BYTES_MAX) return undefined
  const reader = new BitReader(bytes)
  const kind = reader.readBits(8)
  const role = reader.readBits(8)
  const join = readRequest(reader, kind, bytes)
  if (join === undefined || reader.failed || reader.bitsLeft !== 0 || role > SPECTATOR) return undefined
  return role === SPECTATOR ? { ...join, role: 'spectator' } : join
}

function readRequest(reader: BitReader, kind: number, bytes: Uint8Array): JoinRequest | undefined {
  switch (kind) {
    case KIND.quick: {
      const type = readText(reader)
      const filter = readPairs(reader)
      return { ...(type !== '' && { quick: type }), ...(Object.keys(filter).length > 0 && { filter }) }
    }
    case KIND.room: return { room: readText(reader) }
    case KIND.code: return { code: readText(reader) }
    case KIND.create: return { create: readText(reader), metadata: readPairs(reader) }
    case KIND.createPrivate: return { create: readText(reader), metadata: readPairs(reader), isPrivate: true }
    case KIND.resume:
      for (let at = 0; at < TICKET_BYTES; at++) reader.readBits(8)
      return { resume: bytes.slice(2) }
    default: return undefined
  }
}

function writeText(out: BitWriter, text: string): void {
  const size = utf8Size(text)
  if (size > USER_BYTES_MAX) throw new ConfigError('join', `a name of ${size} bytes`, `All of it may take ${USER_BYTES_MAX}.`)
  out.writeBits(size, 8)
  writeUtf8(out, text)
}

function readText(reader: BitReader): string {
  return readUtf8(reader, reader.readBits(8))
}

function writePairs(out: BitWriter, pairs: Metadata): void {
  for (const key of Object.keys(pairs).toSorted()) {
    writeText(out, key)
    writeText(out, pairs[key])
  }
}

/** Ascending by key, each once: one spelling. */
function readPairs(reader: BitReader): Metadata {
  const pairs: [string, string][] = []
  while (reader.bitsLeft > 0 && !reader.failed) {
    const key = readText(reader)
    const before = pairs.at(-1)
    if (before !== undefined && before[0] >= key) reader.fail()
    pairs.push([key, readText(reader)])
  }
  // Not by assignment: a key may be __proto__, and then it must be a key.
  return Object.fromEntries(pairs)
}
