/**
 * The data that a client joins with, by the schema `join` of its game, and the options of the room that it creates, by
 * `roomOptions`: one row each, in the last part of the sealed Response (docs/wire/ROOMS.md).
 *
 * A client that sends nothing means the initial values. Bytes that are no row of the schema decode to undefined,
 * and never throw.
 */

import { assert, ConfigError } from '../base/assert.ts'
import { JOIN_DATA_BYTES_MAX } from '../base/limits.ts'
import { longestRowBits } from '../schema/explain.ts'
import type { Shape } from '../schema/field.ts'
import { packValues, unpackValues } from '../schema/packed-values.ts'
import { compileSchema, type Schema } from '../schema/schema.ts'

/** Values by field name. */
export type JoinValues = { readonly [field: string]: unknown }

const NO_BYTES = new Uint8Array(0)

/** Encodes and decodes the join data of a game, or its room options. */
export class JoinCodec {
  /** Undefined in a game without such data. */
  readonly schema: Schema | undefined

  /** Bytes of the longest data. */
  readonly bytesMax: number

  /** Throws ConfigError if the longest data would not fit into a request. */
  constructor(shape: Shape | undefined, path = 'join', bytesMax: number = JOIN_DATA_BYTES_MAX) {
    this.schema = shape === undefined || Object.keys(shape).length === 0 ? undefined : compileSchema(path, shape)
    this.bytesMax = this.schema === undefined ? 0 : Math.ceil(longestRowBits(this.schema) / 8)
    if (this.bytesMax > bytesMax) {
      throw new ConfigError(
        path,
        `too large (expected at most ${bytesMax} bytes, got ${this.bytesMax})`,
        'use shorter texts, and send the rest as a message.',
      )
    }
  }

  /** The bytes of these values. Fields that are missing have their initial value. */
  encode(values: JoinValues = {}): Uint8Array {
    const { schema } = this
    if (schema === undefined) return NO_BYTES
    const bytes = packValues(schema, values, this.bytesMax)
    assert(bytes !== undefined, 'the longest row fits into bytesMax')
    return bytes
  }

  /** The values. Undefined when the bytes are invalid. */
  decode(bytes: Uint8Array): JoinValues | undefined {
    const { schema } = this
    if (schema === undefined) return bytes.length === 0 ? {} : undefined
    if (bytes.length === 0) return this.decode(this.encode())
    return unpackValues(schema, bytes, 0, bytes.length)
  }
}
