/**
 * The values of orders to bytes and back: all leaves of the order, in order, padded to a whole byte with zeros.
 */

import { ORDER_LARGE_BYTES_MAX } from '../base/limits.ts'
import { packValues } from '../schema/packed-values.ts'
import type { Schema } from '../schema/schema.ts'

/** The values of one order. Undefined when they need more bytes than an order may have. */
export function encodeValues(schema: Schema, values: Record<string, unknown>): Uint8Array | undefined {
  return packValues(schema, values, ORDER_LARGE_BYTES_MAX)
}

/** Undefined when the bytes are invalid. It never throws. */
export { unpackValues as decodeValues } from '../schema/packed-values.ts'
