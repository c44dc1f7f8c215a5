/**
 * Writes and reads R-Type packets, whole and strictly: magic, range, exact size, counts and bounds of values.
 *
 * Reading never throws: what is wrong has a name (`RtypeFault`), and the caller counts it. Every packet has one size
 * for its content; with `lenientSizes` the three packets whose stated size is larger than their fields may have two
 * more bytes, which are ignored.
 *
 * Payloads that are compressed, sealed or fragmented are refused here: `envelope.ts` opens them first.
 */

import { RTYPE_PAYLOAD_BYTES_MAX } from '../base/limits.ts'
import { layoutNamed, layoutOf, type RtypeComponent, type RtypeLayout } from './components.ts'
import {
  fieldBytes,
  fieldListBytes,
  readField,
  writeField,
  type RtypeFieldKind,
  type RtypeFieldList,
} from './fields.ts'
import {
  readRtypeHeader,
  RTYPE_FLAG,
  RTYPE_HEADER_BYTES,
  writeRtypeHeader,
  type RtypeFault,
  type RtypeHeader,
} from './header.ts'
import { RTYPE_PACKETS, type RtypePacket, type RtypePacketName } from './packet-table.ts'

/** How packets are written and read. */
export interface RtypeCodecOptions {
  /**
   * Accept two more bytes after PLAYER_INPUT, AI_STATE and TRANSFORM_SNAPSHOT_DELTA, whose stated sizes differ from
   * their fields. Default false.
   */
  readonly lenientSizes?: boolean
  /**
   * The attachment point in the Force component is 0 front, 1 back, 2 detached, instead of the enumeration's 0
   * detached, 1 front, 2 back, 3 orbiting. Default false.
   */
  readonly forceComponentLegacy?: boolean
}

/** A packet that was read, with its header. */
export interface RtypeMessage {
  /** The header. */
  readonly header: RtypeHeader
  /** The packet. */
  readonly packet: RtypePacket
}

/** What the table says about one packet, prepared for writing and reading. */
interface Shape {
  readonly name: RtypePacketName
  readonly code: number
  readonly isReliable: boolean
  readonly isLoose: boolean
  readonly tail: 'none' | 'ADD' | 'FULL_STATE' | RtypeLayout
  readonly names: readonly string[]
  readonly kinds: readonly RtypeFieldKind[]
  readonly bytes: number
}

const COUNT_BYTES = 2
const ENTITY_ID_BYTES = 4
const LOOSE_BYTES = 2
const COMPONENT_BYTES_MAX = 0xff

/** Indexed by code. */
const SHAPES: readonly (Shape | undefined)[] = makeShapes()

function makeShapes(): (Shape | undefined)[] {
  const shapes = new Array<Shape | undefined>(0x80).fill(undefined)
  for (const [name, entry] of Object.entries(RTYPE_PACKETS)) {
    const fields: RtypeFieldList = entry.fields
    const { code, isReliable, tail } = entry
    shapes[code] = {
      // reason: Object.entries types its keys as any text; these are the names of the table.
      name: name as RtypePacketName,
      code,
      isReliable,
      isLoose: 'isLoose' in entry,
      tail: tail === 'none' || tail === 'ADD' || tail === 'FULL_STATE' ? tail : layoutNamed(tail),
      names: Object.keys(fields),
      kinds: Object.values(fields),
      bytes: fieldListBytes(fields),
    }
  }
  return shapes
}

/** The name of the packet with this code; undefined if no packet has it. */
export function rtypeNameOf(code: number): RtypePacketName | undefined {
  return SHAPES[code]?.name
}

/** Entities that fit into one packet of a list: 98 transforms, 147 healths. 0 for a packet without a list. */
export function rtypeCapacity(name: RtypePacketName): number {
  const shape = SHAPES[RTYPE_PACKETS[name].code]
  if (shape === undefined || typeof shape.tail === 'string') return 0
  return Math.floor((RTYPE_PAYLOAD_BYTES_MAX - shape.bytes - COUNT_BYTES) / (ENTITY_ID_BYTES + shape.tail.bytes))
}

/**
 * Writes a whole packet to the start of `out` and returns its length; 0 if it does not fit into `out`. Sets the flag
 * RELIABLE for packets that the protocol marks with it, beside the given flags.
 */
export function encodeRtype(
  packet: RtypePacket,
  sequence: number,
  timestamp: number,
  out: Uint8Array,
  options: RtypeCodecOptions & { readonly flags?: number } = {},
): number {
  const { code, isReliable } = RTYPE_PACKETS[packet.type]
  const length = writeRtypePayload(packet, out, RTYPE_HEADER_BYTES, options)
  if (length < 0) return 0
  const flags = (options.flags ?? 0) | (isReliable ? RTYPE_FLAG.RELIABLE : 0)
  writeRtypeHeader({ code, flags, sequence, timestamp }, out)
  return RTYPE_HEADER_BYTES + length
}

/** Reads a datagram that is one packet without an envelope. */
export function decodeRtype(
  bytes: Uint8Array,
  length: number,
  options: RtypeCodecOptions = {},
): RtypeMessage | RtypeFault {
  const header: RtypeHeader = { code: 0, flags: 0, sequence: 0, timestamp: 0 }
  const fault = readRtypeHeader(bytes, length, header)
  if (fault !== undefined) return fault
  if (length > RTYPE_HEADER_BYTES + RTYPE_PAYLOAD_BYTES_MAX) return 'long'
  if ((header.flags & RTYPE_FLAG.ENCRYPTED) !== 0) return 'encrypted'
  if ((header.flags & RTYPE_FLAG.FRAGMENTED) !== 0) return 'fragmented'
  if ((header.flags & RTYPE_FLAG.COMPRESSED) !== 0) return 'compressed'
  const packet = readRtypePayload(header, bytes.subarray(RTYPE_HEADER_BYTES, length), options)
  return typeof packet === 'string' ? packet : { header, packet }
}

/** Writes the payload of a packet at `start` and returns its bytes; -1 if it does not fit. */
export function writeRtypePayload(
  packet: RtypePacket,
  out: Uint8Array,
  start: number,
  options: RtypeCodecOptions,
): number {
  const shape = SHAPES[RTYPE_PACKETS[packet.type].code]
  // reason: the fields of a packet are looked up by the names of its table.
  const values = packet as unknown as { readonly [name: string]: unknown }
  if (shape === undefined || start + shape.bytes > out.length) return -1
  const at = writeValues(shape.names, shape.kinds, values, out, start)
  const end = writeTail(shape, packet, out, at, options)
  return end < 0 ? -1 : end - start
}

/** Reads the payload of a packet. The length of `payload` must be exactly that of its content. */
export function readRtypePayload(
  header: RtypeHeader,
  payload: Uint8Array,
  options: RtypeCodecOptions,
): RtypePacket | RtypeFault {
  const shape = SHAPES[header.code]
  if (shape === undefined) return 'unassigned'
  // The protocol demands the flag of one packet only.
  if (shape.name === 'CLIENT_DISCONNECT' && (header.flags & RTYPE_FLAG.RELIABLE) === 0) return 'unreliable'
  const fault = sizeFault(shape, payload, options)
  if (fault !== undefined) return fault
  const packet: Record<string, unknown> = { type: shape.name }
  const broken = readValues(shape.names, shape.kinds, payload, 0, packet)
  if (broken !== undefined) return broken
  const tail = readTail(shape, payload, packet, options)
  // reason: the object has the fields that the table lists for this name, each checked by its kind.
  return tail ?? (packet as unknown as RtypePacket)
}

/** Checks the size of everything but ADD and FULL_STATE, whose sizes are inside of them. */
function sizeFault(shape: Shape, payload: Uint8Array, options: RtypeCodecOptions): RtypeFault | undefined {
  const { bytes, tail, isLoose } = shape
  let expected = bytes
  if (tail === 'ADD' || tail === 'FULL_STATE') {
    return payload.length >= bytes + (tail === 'ADD' ? 2 : 1) ? undefined : 'size'
  }
  if (tail !== 'none') {
    if (payload.length < bytes + COUNT_BYTES) return 'size'
    const count = (payload[bytes] << 8) | payload[bytes + 1]
    expected += COUNT_BYTES + count * (ENTITY_ID_BYTES + tail.bytes)
  }
  if (payload.length === expected) return undefined
  if (options.lenientSizes === true && isLoose && payload.length === expected + LOOSE_BYTES) return undefined
  return tail === 'none' ? 'size' : 'count'
}

function writeValues(
  names: readonly string[],
  kinds: readonly RtypeFieldKind[],
  values: { readonly [name: string]: unknown },
  out: Uint8Array,
  start: number,
): number {
  let at = start
  for (let field = 0; field < kinds.length; field++) {
    writeField(out, at, kinds[field], values[names[field]])
    at += fieldBytes(kinds[field])
  }
  return at
}

function readValues(
  names: readonly string[],
  kinds: readonly RtypeFieldKind[],
  bytes: Uint8Array,
  start: number,
  out: Record<string, unknown>,
): RtypeFault | undefined {
  let at = start
  for (let field = 0; field < kinds.length; field++) {
    const kind = kinds[field]
    const value = readField(bytes, at, kind)
    if (value === undefined) return kind === 'text32' || kind === 'text64' ? 'text' : 'value'
    out[names[field]] = value
    at += fieldBytes(kind)
  }
  return undefined
}

function writeTail(
  shape: Shape,
  packet: RtypePacket,
  out: Uint8Array,
  start: number,
  options: RtypeCodecOptions,
): number {
  if ('entities' in packet && typeof shape.tail !== 'string') {
    const { names, kinds, bytes } = shape.tail
    const end = start + COUNT_BYTES + packet.entities.length * (ENTITY_ID_BYTES + bytes)
    if (end > out.length || packet.entities.length > 0xffff) return -1
    writeField(out, start, 'u16', packet.entities.length)
    let at = start + COUNT_BYTES
    for (const { entityId, value } of packet.entities) {
      writeField(out, at, 'u32', entityId)
      // reason: the fields of a component are looked up by the names of its table.
      at = writeValues(names, kinds, value as unknown as { [name: string]: unknown }, out, at + ENTITY_ID_BYTES)
    }
    return end
  }
  if ('added' in packet) return writeComponent(packet.added, out, start, options)
  if (!('components' in packet)) return start
  if (start >= out.length || packet.components.length > 0xff) return -1
  out[start] = packet.components.length
  let at = start + 1
  for (const component of packet.components) {
    at = writeComponent(component, out, at, options)
    if (at < 0) return -1
  }
  return at
}

function readTail(
  shape: Shape,
  payload: Uint8Array,
  packet: Record<string, unknown>,
  options: RtypeCodecOptions,
): RtypeFault | undefined {
  const { tail, bytes } = shape
  if (tail === 'none') return undefined
  if (tail === 'ADD') {
    const components: RtypeComponent[] = []
    const at = readComponent(payload, bytes, components, options)
    if (typeof at === 'string') return at
    packet.added = components[0]
    return at === payload.length ? undefined : 'size'
  }
  if (tail === 'FULL_STATE') {
    const components: RtypeComponent[] = []
    let at: number = bytes + 1
    for (let left = payload[bytes]; left > 0; left--) {
      const next = readComponent(payload, at, components, options)
      if (typeof next === 'string') return next
      at = next
    }
    packet.components = components
    return at === payload.length ? undefined : 'count'
  }
  return readEntities(tail, payload, bytes, packet)
}

function readEntities(
  layout: RtypeLayout,
  payload: Uint8Array,
  start: number,
  packet: Record<string, unknown>,
): RtypeFault | undefined {
  const count = (payload[start] << 8) | payload[start + 1]
  const entities: { entityId: number; value: Record<string, unknown> }[] = []
  let at = start + COUNT_BYTES
  for (let index = 0; index < count; index++) {
    const value: Record<string, unknown> = {}
    const fault = readValues(layout.names, layout.kinds, payload, at + ENTITY_ID_BYTES, value)
    if (fault !== undefined) return fault
    entities.push({ entityId: Number(readField(payload, at, 'u32')), value })
    at += ENTITY_ID_BYTES + layout.bytes
  }
  packet.entities = entities
  return undefined
}

/** Writes type, size and fields, and returns the end; -1 if they do not fit. */
function writeComponent(component: RtypeComponent, out: Uint8Array, start: number, options: RtypeCodecOptions): number {
  if (component.component === 'OPAQUE') {
    const { code, bytes } = component
    if (bytes.length > COMPONENT_BYTES_MAX || start + 2 + bytes.length > out.length) return -1
    out[start] = code
    out[start + 1] = bytes.length
    out.set(bytes, start + 2)
    return start + 2 + bytes.length
  }
  const { code, bytes, names, kinds } = layoutNamed(component.component)
  if (start + 2 + bytes > out.length) return -1
  out[start] = code
  out[start + 1] = bytes
  const isLegacy = component.component === 'FORCE' && options.forceComponentLegacy === true
  const values = isLegacy ? { ...component, attachmentPoint: LEGACY[component.attachmentPoint] ?? 2 } : component
  // reason: the fields of a component are looked up by the names of its table.
  return writeValues(names, kinds, values as unknown as { [name: string]: unknown }, out, start + 2)
}

/** Reads one component into `into` and returns its end. */
function readComponent(
  payload: Uint8Array,
  start: number,
  into: RtypeComponent[],
  options: RtypeCodecOptions,
): number | RtypeFault {
  if (start + 2 > payload.length) return 'count'
  const code = payload[start]
  const size = payload[start + 1]
  const end = start + 2 + size
  if (end > payload.length) return 'size'
  const layout = layoutOf(code)
  if (layout === undefined || (layout.bytes !== size && !layout.isFixed)) {
    into.push({ component: 'OPAQUE', code, bytes: payload.slice(start + 2, end) })
    return end
  }
  if (layout.bytes !== size) return 'size'
  const values: Record<string, unknown> = { component: layout.name }
  const fault = readValues(layout.names, layout.kinds, payload, start + 2, values)
  if (fault !== undefined) return fault
  if (layout.name === 'FORCE' && options.forceComponentLegacy === true) {
    const point = LEGACY.indexOf(Number(values.attachmentPoint))
    if (point < 0) return 'value'
    values.attachmentPoint = point
  }
  // reason: the object has the fields that the table lists for this name, each checked by its kind.
  into.push(values as unknown as RtypeComponent)
  return end
}

/** The legacy number of an attachment point. Indexed by the enumeration; orbiting has none, and is sent as detached. */
const LEGACY: readonly number[] = [2, 0, 1]
