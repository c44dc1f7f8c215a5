/**
 * The head of a recording: which game, which build of it, and how its rows were written. The body of the first chunk:
 *
 *   +---------+------------+-------------+----------------+-----------------+----------------+-----------------------+
 *   | codec 8 | audience 8 | rate varint | fingerprint 64 | started varint  | text string    | names: count, strings |
 *   +---------+------------+-------------+----------------+-----------------+----------------+-----------------------+
 *
 * With the text of the definitions in it, a recording can be read without the game: by tools, and in ten years.
 */

import { ENTITY_TYPES_MAX, RECORDING_NAME_BYTES_MAX, RECORDING_TEXT_BYTES_MAX, TICK_RATE_MAX } from '../base/limits.ts'
import { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { readString, writeString } from '../bits/text.ts'
import { utf8Size } from '../bits/utf8.ts'
import { readVarint, writeVarint } from '../bits/varint.ts'
import { fingerprintOf } from '../schema/fingerprint.ts'

/**
 * How rows are encoded, by number on disk: as differences; or range-coded with the built-in tables, which are called
 * `entropy(2)` in a game's text. Different tables get a new number; these tables stay as long as recordings must be
 * read.
 */
export const CODEC = { packed: 0, entropy: 1 } as const
/** How the rows of a recording are encoded. */
export type RecordingCodec = keyof typeof CODEC

/** The codec of a number; undefined where this build knows none. */
export function codecOf(number: number): RecordingCodec | undefined {
  return number === CODEC.packed ? 'packed' : number === CODEC.entropy ? 'entropy' : undefined
}

/** Which fields of each object are recorded, by number on disk. `everything` includes `local` and `server` fields. */
export const RECORDED_FIELDS = ['all', 'team', 'owner', 'everything'] as const
/** Which fields of each object are recorded: those for everyone, the team, the owner, or all. */
export type RecordedFields = (typeof RECORDED_FIELDS)[number]

/** The head of a recording. */
export interface RecordingHead {
  /** The codec of rows, by its number on disk. */
  readonly codec: number
  /** Which fields are recorded. */
  readonly fields: RecordedFields
  /** Ticks per second. */
  readonly tickRate: number
  /** Eight bytes: the fingerprint of the text, as in the handshake. */
  readonly fingerprint: Uint8Array
  /** The start in seconds since 1970; 0 when not given. */
  readonly startedAt: number
  /** The game's definitions: `Game.text`. */
  readonly text: string
  /** The names of the entities, in order. */
  readonly names: readonly string[]
}

const FINGERPRINT_BYTES = 8

/** Writes a head. The writer has failed if it does not fit. */
export function writeRecordingHead(writer: BitWriter, head: RecordingHead): void {
  writer.writeBits(head.codec, 8)
  writer.writeBits(RECORDED_FIELDS.indexOf(head.fields), 8)
  writeVarint(writer, head.tickRate)
  writer.copyBits(head.fingerprint, 0, FINGERPRINT_BYTES * 8)
  writeVarint(writer, head.startedAt)
  writeString(writer, head.text, RECORDING_TEXT_BYTES_MAX)
  writeVarint(writer, head.names.length)
  for (const name of head.names) writeString(writer, cut(name), RECORDING_NAME_BYTES_MAX)
}

/** Reads a head, or returns undefined when the body is invalid. */
export function readRecordingHead(body: Uint8Array): RecordingHead | undefined {
  const reader = new BitReader(body)
  const codec = reader.readBits(8)
  const fields = RECORDED_FIELDS[reader.readBits(8)]
  const tickRate = readVarint(reader)
  const fingerprint = Uint8Array.from({ length: FINGERPRINT_BYTES }, () => reader.readBits(8))
  const startedAt = readVarint(reader)
  const text = readString(reader, RECORDING_TEXT_BYTES_MAX)
  const count = readVarint(reader)
  if (count > ENTITY_TYPES_MAX || tickRate < 1 || tickRate > TICK_RATE_MAX) reader.fail()
  const names: string[] = []
  while (!reader.failed && names.length < count) names.push(readString(reader, RECORDING_NAME_BYTES_MAX))
  const isWhole = reader.finish() && fields !== undefined && isFingerprintOf(fingerprint, text)
  return isWhole ? { codec, fields, tickRate, fingerprint, startedAt, text, names } : undefined
}

function isFingerprintOf(fingerprint: Uint8Array, text: string): boolean {
  const words = fingerprintOf(text)
  return fingerprint.every((byte, at) => byte === ((words[at >>> 2] >>> ((at & 3) * 8)) & 0xff))
}

/** A name is only for display: a long one may be cut. */
function cut(name: string): string {
  let short = name
  while (utf8Size(short) > RECORDING_NAME_BYTES_MAX) short = short.slice(0, -1)
  return short
}
