/**
 * Encodes calls to bytes and decodes them. Calls are sent in the message channels and are numbered after the game's
 * messages.
 *
 *   +----------+--------+--------------+----------------------------+--------------+-----------------+-------------+
 *   | number 8 | kind 2 | tick, varint | 1 "about an object"        | call, varint | arguments, or   | zeros, 0..7 |
 *   |          |        |              | and its id, varint, if set | if not `say` | the reply's row |             |
 *   +----------+--------+--------------+----------------------------+--------------+-----------------+-------------+
 *
 *   kind 0 say        no answer is expected
 *        1 ask        a reply is expected, under this call number
 *        2 answer     the reply
 *        3 refusal    there will be no reply: 2 bits for the reason, and no row
 *
 * It allocates, because calls are rare. It does not check permissions.
 */

import { MESSAGE_BYTES_MAX } from '../base/limits.ts'
import type { ObjectId, Tick } from '../base/time.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { writeWithin } from '../bits/grow-writer.ts'
import { readVarint, writeVarint } from '../bits/varint.ts'
import { dequantizeRow, quantizeCells } from '../schema/cells.ts'
import { readRow, writeRow } from '../schema/row-codec.ts'
import type { Schema } from '../schema/schema.ts'
import { ValueCounts } from '../schema/value-codec.ts'
import { heapFor, ValueHeap } from '../schema/value-heap.ts'
import { loadValues, storeValues } from '../schema/values.ts'
import type { Rpc } from './rpc.ts'

const NUMBER_BITS = 8
const KIND_BITS = 2
const REFUSAL_BITS = 2
const KINDS = ['say', 'ask', 'answer', 'refusal'] as const
const REFUSALS = ['refused', 'failed', 'busy'] as const
const ID_MAX = 0xffff_ffff

/** Why there is no reply. `refused`: not allowed. `failed`: the handler threw. `busy`: too many calls wait there. */
export type RpcRefusal = (typeof REFUSALS)[number]

/** The fields on the wire in addition to the row. */
export interface RpcHead {
  readonly rpc: Rpc
  readonly kind: (typeof KINDS)[number]
  /** The sender's tick when the call was made. */
  readonly tick: Tick
  /** The object it is about; 0 = none. */
  readonly object: ObjectId
  /** Identifies a request until its answer; 0 for `say`. */
  readonly call: number
}

/** A call, an answer or a refusal that arrived. */
export interface ReceivedRpc extends RpcHead {
  readonly values: Record<string, unknown>
  readonly refusal: RpcRefusal | undefined
}

export class RpcCodec {
  readonly #rpcs: readonly Rpc[]
  readonly #firstNumber: number
  readonly #counts: ValueCounts
  readonly #bytesMax: (rpc: Rpc) => number
  readonly #writer = new BitWriter(new Uint8Array(MESSAGE_BYTES_MAX))
  readonly #reader = new BitReader(new Uint8Array(0))

  /** `bytesMax`: the largest size of a call, in bytes. */
  constructor(
    rpcs: readonly Rpc[],
    firstNumber: number,
    counts: ValueCounts = new ValueCounts(),
    bytesMax: (rpc: Rpc) => number = () => MESSAGE_BYTES_MAX,
  ) {
    this.#counts = counts
    this.#bytesMax = bytesMax
    this.#rpcs = rpcs
    this.#firstNumber = firstNumber
  }

  /** The bytes, valid until the next call; undefined when they exceed the size limit. */
  encode(head: RpcHead, values: Record<string, unknown>): Uint8Array | undefined {
    const { args, reply } = head.rpc
    const schema = head.kind === 'answer' ? reply : args
    const writeValues = schema === undefined ? undefined : valuesWriter(schema, values, this.#counts)
    return this.#write(head, (writer) => writeValues?.(writer))
  }

  /** The bytes of a refusal. */
  encodeRefusal(head: RpcHead, why: RpcRefusal): Uint8Array | undefined {
    return this.#write(head, (writer) => writer.writeBits(REFUSALS.indexOf(why), REFUSAL_BITS))
  }

  /** The decoded call, or undefined when the bytes are malformed. */
  decode(bytes: Uint8Array, length: number): ReceivedRpc | undefined {
    const reader = this.#reader
    reader.reset(bytes, 0, length)
    const rpc = this.#rpcs[reader.readBits(NUMBER_BITS) - this.#firstNumber]
    const kind = KINDS[reader.readBits(KIND_BITS)]
    const tick = readVarint(reader)
    const isAbout = reader.readBits(1) === 1
    const object = isAbout ? readVarint(reader) : 0
    const call = kind === 'say' ? 0 : readVarint(reader)
    if (reader.failed || rpc === undefined || kind === undefined || object > ID_MAX || isAbout !== object > 0)
      return undefined
    if ((kind !== 'say') !== call > 0 || (kind !== 'say' && rpc.reply === undefined)) return undefined
    const refusal = kind === 'refusal' ? REFUSALS[reader.readBits(REFUSAL_BITS)] : undefined
    const schema = kind === 'answer' ? rpc.reply : rpc.args
    if (kind === 'refusal' ? refusal === undefined : schema === undefined) return undefined
    const values = kind === 'refusal' || schema === undefined ? {} : readValues(reader, schema)
    return reader.finish() ? { rpc, kind, tick, object, call, values, refusal } : undefined
  }

  #write({ rpc, kind, tick, object, call }: RpcHead, writeRest: (writer: BitWriter) => void): Uint8Array | undefined {
    const number = this.#rpcs.indexOf(rpc)
    if (number < 0) throw new RangeError(`${rpc.args.name}: not a call of this game. Add it to \`rpcs\` in defineGame.`)
    return writeWithin(this.#writer, this.#bytesMax(rpc), (writer) => {
      writer.writeBits(this.#firstNumber + number, NUMBER_BITS)
      writer.writeBits(KINDS.indexOf(kind), KIND_BITS)
      writeVarint(writer, tick)
      writer.writeBits(object === 0 ? 0 : 1, 1)
      if (object !== 0) writeVarint(writer, object)
      if (kind !== 'say') writeVarint(writer, call)
      writeRest(writer)
    })
  }
}

/** Stores values in their fields. Returns a function that writes them. */
function valuesWriter(
  schema: Schema,
  values: Record<string, unknown>,
  counts: ValueCounts,
): (writer: BitWriter) => void {
  const heap = new ValueHeap(undefined, undefined, counts)
  const cells = schema.initialCells.slice()
  const row = new Int32Array(schema.laneCount)
  storeValues(schema, values, cells, 0, heap)
  quantizeCells(schema, cells, 0, row, 0)
  return (writer) => writeRow(writer, schema, row, 0, heap)
}

function readValues(reader: BitReader, schema: Schema): Record<string, unknown> {
  const heap = heapFor(schema)
  const cells = new Float64Array(schema.cellCount)
  const row = new Int32Array(schema.laneCount)
  readRow(reader, schema, row, 0, heap)
  if (reader.failed) return {}
  dequantizeRow(schema, row, 0, cells, 0)
  return loadValues(schema, cells, 0, heap)
}
