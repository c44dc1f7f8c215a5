/**
 * Reads and writes R-Type datagrams by the declarations of `rtype-structs.ts` and docs/wire/RTYPE.md, without the
 * engine. Throws at anything that is wrong.
 */

import { COMPONENT_STRUCTS, PACKET_STRUCTS, type Struct, type StructField } from './rtype-structs.ts'

/** A field's value in JSON; opaque bytes are hexadecimal. */
export type JsonValue = number | string | readonly number[] | JsonObject | readonly JsonObject[]
export interface JsonObject {
  readonly [name: string]: JsonValue
}

/** What a datagram means. */
export interface RtypeMeaning {
  readonly name: string
  readonly flags: number
  readonly sequence: number
  readonly timestamp: number
  readonly fields: JsonObject
}

export interface CheckerOptions {
  readonly lenientSizes?: boolean
  readonly forceComponentLegacy?: boolean
}

const LEGACY_POINTS = [1, 2, 0]

class Cursor {
  at = 0
  readonly bytes: Buffer
  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes)
  }

  get left(): number {
    return this.bytes.length - this.at
  }

  take(count: number): Buffer {
    if (count > this.left) throw new Error('cut short')
    this.at += count
    return this.bytes.subarray(this.at - count, this.at)
  }
}

/** The meaning of a datagram without compression, seal or fragments. */
export function readRtype(bytes: Uint8Array, options: CheckerOptions = {}): RtypeMeaning {
  if (bytes.length < 12 || bytes.length > 1200) throw new Error('size of a datagram')
  const cursor = new Cursor(bytes)
  const head = cursor.take(12)
  if (head.toString('latin1', 0, 2) !== 'RT') throw new Error('magic')
  const struct = PACKET_STRUCTS.find(({ code }) => code === head[2])
  if (struct === undefined) throw new Error('type')
  const flags = head[3]! % 32
  if ((flags & 0b01110) !== 0) throw new Error('an envelope')
  if (struct.mustBeReliable && flags % 2 === 0) throw new Error('not reliable')
  const fields = readPayload(struct, cursor, options)
  if (cursor.left !== 0 && !(options.lenientSizes === true && struct.isLoose && cursor.left === 2)) {
    throw new Error('trailing bytes')
  }
  return { name: struct.name, flags, sequence: head.readUInt32BE(4), timestamp: head.readUInt32BE(8), fields }
}

function readPayload(struct: Struct, cursor: Cursor, options: CheckerOptions): JsonObject {
  const fields = readFields(struct.fields, cursor)
  if (struct.list === '') return fields
  if (struct.list === 'one') return { ...fields, ...readComponent(cursor, options) }
  if (struct.list === 'many') {
    const count = Number(fields['component_count'])
    return { ...fields, components: Array.from({ length: count }, () => readComponent(cursor, options)) }
  }
  const component = COMPONENT_STRUCTS.find(({ code }) => code === Number(struct.list))!
  const entries = Array.from({ length: Number(fields['entity_count']) }, () => ({
    entity_id: cursor.take(4).readUInt32BE(),
    ...readFields(component.fields, cursor),
  }))
  return { ...fields, entries }
}

function readComponent(cursor: Cursor, options: CheckerOptions): JsonObject {
  const [code = 0, size = 0] = cursor.take(2)
  const data = cursor.take(size)
  const struct = COMPONENT_STRUCTS.find((each) => each.code === code)
  if (struct === undefined || (struct.bytes !== size && !struct.isFixed)) {
    return { component_type: code, data: data.toString('hex') }
  }
  if (struct.bytes !== size) throw new Error('size of a component')
  const fields = readFields(struct.fields, new Cursor(data))
  if (struct.name !== 'FORCE' || options.forceComponentLegacy !== true) return { component_type: code, ...fields }
  const point = LEGACY_POINTS[Number(fields['attachment_point'])]
  if (point === undefined) throw new Error('attachment point')
  return { component_type: code, ...fields, attachment_point: point }
}

function readFields(fields: readonly StructField[], cursor: Cursor): JsonObject {
  return Object.fromEntries(fields.map((field) => [field.name, readValue(field, cursor.take(field.bytes))]))
}

function readValue({ type, min, max }: StructField, bytes: Buffer): JsonValue {
  if (type === 'u32[4]') return [0, 4, 8, 12].map((at) => bytes.readUInt32BE(at))
  if (type === 'name32' || type === 'text32' || type === 'text64') return readText(type, bytes)
  const value = type === 'i16' ? bytes.readInt16BE() : bytes.readUIntBE(0, bytes.length)
  if (type === 'input') return value % 128
  if (type === 'winner' && value > 3 && value < 255) throw new Error('winner')
  if (value < min || value > max) throw new Error('out of bounds')
  return value
}

function readText(type: string, bytes: Buffer): string {
  const zero = bytes.indexOf(0)
  try {
    if (zero < 0 && type === 'name32') throw new Error('no zero')
    const part = zero < 0 ? bytes : bytes.subarray(0, zero)
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(part)
  } catch (error) {
    // A server answers a name that cannot be read, so the packet is read with an empty one.
    if (type === 'name32') return ''
    throw error
  }
}

/** The datagram of a meaning whose components are all of known fields. */
export function writeRtype({ name, flags, sequence, timestamp, fields }: RtypeMeaning): Uint8Array {
  const struct = PACKET_STRUCTS.find((each) => each.name === name)!
  const head = Buffer.from('RT\0\0\0\0\0\0\0\0\0\0', 'latin1')
  head[2] = struct.code
  head[3] = flags
  head.writeUInt32BE(sequence, 4)
  head.writeUInt32BE(timestamp, 8)
  return Uint8Array.from(Buffer.concat([head, writeFields(struct.fields, fields)]))
}

function writeFields(fields: readonly StructField[], values: JsonObject): Buffer {
  return Buffer.concat(fields.map(({ type, name, bytes }) => {
    const out = Buffer.alloc(bytes)
    const value = values[name]
    if (typeof value === 'string') out.write(value, 'utf8')
    else if (Array.isArray(value)) value.forEach((each, index) => out.writeUInt32BE(Number(each), index * 4))
    else if (type === 'i16') out.writeInt16BE(Number(value))
    else out.writeUIntBE(Number(value), 0, bytes)
    return out
  }))
}
