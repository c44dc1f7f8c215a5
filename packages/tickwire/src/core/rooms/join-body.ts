/**
 * The room that a client asks for, encoded in the user bytes of a Response (64 bytes at most).
 *
 * ```
 *        0      1
 *        │ kind │ flags │ secrets │ rest
 * quick  │ 0    │       │         │ size 1 │ type │ pairs     any room of the type with all pairs in its metadata
 * room   │ 1    │       │         │ size 1 │ id               this room
 * code   │ 2    │       │         │ size 1 │ code             the private room with this code
 * create │ 3, 4 │       │         │ size 1 │ type │ pairs     a new room with this metadata; 4: a private one
 * resume │ 5    │       │         │ ticket 28                 the client's previous seat
 * claim  │ 6    │       │         │                           a seat of another server; the data says which
 *
 * flags    1: a spectator, 2: a password (kinds 1 to 4), 4: options of the new room (kinds 3 and 4), 8: a span
 * secrets  with flag 2: size 1 │ password; with flag 4: size 1 of the options, which are the first bytes of the data;
 *          with flag 8: the span of the client that the join belongs to, 24 (`base/tracing.ts`)
 * pairs    ( size 1 │ key │ size 1 │ value )*        texts in UTF-8
 * ```
 *
 * An empty body asks for a quick seat in the first room type of this game. Keys are in ascending order, without
 * duplicates. Invalid bytes decode to undefined and never throw. This module does not know which rooms exist.
 */

import { ConfigError } from '../base/assert.ts'
import { USER_BYTES_MAX } from '../base/limits.ts'
import { ROOM_OPTIONS_BYTES_MAX, ROOM_PASSWORD_BYTES_MAX } from '../base/limits-doors.ts'
import { TRACE_BYTES } from '../base/tracing.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { readUtf8, utf8Size, writeUtf8 } from '../bits/utf8.ts'
import { TICKET_BYTES } from './resume-ticket.ts'

/** Short texts that describe a room. Clients filter rooms by them. */
export type Metadata = { readonly [key: string]: string }

/** The password of a room. */
interface WithPassword {
  /** The password of the room, 32 bytes at most. Default: none. */
  readonly password?: string
}

/** A new room. */
interface CreateRequest<O> extends WithPassword {
  /** The name of its room type. */
  readonly create: string
  /** Its metadata. Default: that of the room type. */
  readonly metadata?: Metadata
  /** Whether it is in no list. Default: false. */
  readonly isPrivate?: boolean
  /** Its options, by the schema `roomOptions` of the game. Default: the initial values. */
  readonly options?: O
}

/** The seat that a client asks for. */
export type JoinRequest<O = object> = (
  | { readonly quick?: string; readonly filter?: Metadata }
  | ({ readonly room: string } & WithPassword)
  | ({ readonly code: string } & WithPassword)
  | CreateRequest<O>
  | { readonly resume: Uint8Array }
  /** A seat in a match that began at another server. The join data has the proof. */
  | { readonly claim: true }
) & {
  /** Default: 'player'. */
  readonly role?: 'player' | 'spectator'
}

const KIND = { quick: 0, room: 1, code: 2, create: 3, createPrivate: 4, resume: 5, claim: 6 } as const
const FLAG = { spectator: 1, password: 2, options: 4, trace: 8 } as const
const FLAGS_MAX = 15

/** A request as it is sent: the options themselves are in front of the join data. */
export type SentRequest = JoinRequest & {
  /** Bytes of the options of a new room. Default: none. */
  readonly optionsSize?: number
  /** The span of the client, TRACE_BYTES. Left out where it does not fit. Default: the join is not traced. */
  readonly trace?: Uint8Array
}

/** Encodes a request. Throws ConfigError when it does not fit. */
export function encodeJoin(join: SentRequest): Uint8Array {
  const bytes = new Uint8Array(USER_BYTES_MAX)
  const out = new BitWriter(bytes)
  const begin = (kind: number): void => {
    out.writeBits(kind, 8)
    const password = 'password' in join ? join.password : undefined
    const { role, optionsSize = 0, trace } = join
    if (password !== undefined) checkPassword(password)
    out.writeBits(
      (role === 'spectator' ? FLAG.spectator : 0)
        | (password === undefined ? 0 : FLAG.password)
        | (optionsSize === 0 ? 0 : FLAG.options)
        | (trace === undefined ? 0 : FLAG.trace),
      8,
    )
    if (password !== undefined) writeText(out, password)
    if (optionsSize > 0) out.writeBits(optionsSize, 8)
    for (const byte of trace ?? []) out.writeBits(byte, 8)
  }
  if ('resume' in join) {
    if (join.resume.length !== TICKET_BYTES)
      throw new ConfigError('join.resume', `wrong size (got ${join.resume.length} bytes)`, 'pass the ticket unchanged.')
    begin(KIND.resume)
    for (const byte of join.resume) out.writeBits(byte, 8)
  } else if ('claim' in join) begin(KIND.claim)
  else if ('room' in join) {
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
  if (out.failed && join.trace !== undefined) {
    const { trace: _, ...rest } = join
    return encodeJoin(rest)
  }
  if (out.failed)
    throw new ConfigError(
      'join',
      `too long (expected at most ${USER_BYTES_MAX} bytes)`,
      'use shorter names and fewer pairs.',
    )
  return bytes.slice(0, out.finish())
}

/** Decodes a request. Undefined when the bytes are invalid. */
export function decodeJoin(bytes: Uint8Array): SentRequest | undefined {
  if (bytes.length === 0) return {}
  if (bytes.length > USER_BYTES_MAX) return undefined
  const reader = new BitReader(bytes)
  const kind = reader.readBits(8)
  const flags = reader.readBits(8)
  if (flags > FLAGS_MAX) return undefined
  const extras = readExtras(reader, kind, flags)
  const join = readRequest(reader, kind)
  if (join === undefined || reader.failed || reader.bitsLeft !== 0) return undefined
  return { ...join, ...extras }
}

/** What the flags announce. Fails the reader where the kind of request has no such thing. */
function readExtras(
  reader: BitReader, kind: number, flags: number,
): Pick<SentRequest, 'role' | 'optionsSize' | 'trace'> {
  const hasPassword = (flags & FLAG.password) !== 0
  const hasOptions = (flags & FLAG.options) !== 0
  const isCreate = kind === KIND.create || kind === KIND.createPrivate
  if ((hasPassword && !isCreate && kind !== KIND.room && kind !== KIND.code) || (hasOptions && !isCreate)) reader.fail()
  const passwordSize = hasPassword ? reader.readBits(8) : 0
  if (hasPassword && (passwordSize === 0 || passwordSize > ROOM_PASSWORD_BYTES_MAX)) reader.fail()
  const password = readUtf8(reader, passwordSize)
  const optionsSize = hasOptions ? reader.readBits(8) : 0
  if (hasOptions && (optionsSize === 0 || optionsSize > ROOM_OPTIONS_BYTES_MAX)) reader.fail()
  const trace = (flags & FLAG.trace) === 0 ? undefined : readBytes(reader, TRACE_BYTES)
  return {
    ...((flags & FLAG.spectator) !== 0 && { role: 'spectator' }),
    ...(hasPassword && { password }),
    ...(hasOptions && { optionsSize }),
    ...(trace && { trace }),
  }
}

/** Throws ConfigError when a password is empty or too long. The error does not contain it. */
export function checkPassword(password: string): void {
  const size = utf8Size(password)
  if (size >= 1 && size <= ROOM_PASSWORD_BYTES_MAX) return
  throw new ConfigError(
    'password',
    `wrong length (expected 1 to ${ROOM_PASSWORD_BYTES_MAX} bytes of UTF-8, got ${size})`,
    'use another password, or leave it out.',
  )
}

function readRequest(reader: BitReader, kind: number): JoinRequest | undefined {
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
    case KIND.resume: return { resume: readBytes(reader, TICKET_BYTES) }
    case KIND.claim: return { claim: true }
    default: return undefined
  }
}

function readBytes(reader: BitReader, size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  for (let at = 0; at < size; at++) bytes[at] = reader.readBits(8)
  return bytes
}

function writeText(out: BitWriter, text: string): void {
  const size = utf8Size(text)
  if (size > USER_BYTES_MAX)
    throw new ConfigError(
      'join',
      `a name of ${size} bytes is too long (the whole request has ${USER_BYTES_MAX})`,
      'use a shorter name.',
    )
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

/** Keys must be strictly ascending, so each set of pairs has exactly one encoding. */
function readPairs(reader: BitReader): Metadata {
  const pairs: [string, string][] = []
  while (reader.bitsLeft > 0 && !reader.failed) {
    const key = readText(reader)
    const before = pairs.at(-1)
    if (before !== undefined && before[0] >= key) reader.fail()
    pairs.push([key, readText(reader)])
  }
  // Not by assignment: the key may be `__proto__`, which must become an ordinary key.
  return Object.fromEntries(pairs)
}
