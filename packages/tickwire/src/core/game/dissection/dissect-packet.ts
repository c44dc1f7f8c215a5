/**
 * A packet in the clear, with a name for every bit: header, acknowledgements, frames and what is in them.
 *
 *   const dissector = new PacketDissector(game)
 *   dissector.dissect('received', bytes)         in the order they came, for deltas build on rows of packets before
 *
 * It judges nothing and throws at nothing: bits that make no sense are named as what they would be.
 */

import type { PeerId, Tick } from '../../base/time.ts'
import { BitReader } from '../../bits/bit-reader.ts'
import { readVarint } from '../../bits/varint.ts'
import type { RowCoder } from '../../codec/row-coder.ts'
import { entropy } from '../../codec/snapshot-codec.ts'
import { CONTROL_KIND } from '../../connection/control.ts'
import { readHeader, PACKET_TYPE, PacketHeader } from '../../packet/header.ts'
import { FRAME_HEAD_BITS } from '../../packet/packet-builder.ts'
import { TablesSink } from '../../replication/tables-sink.ts'
import type { Entity } from '../../schema/definition.ts'
import type { Schema } from '../../schema/schema.ts'
import { World } from '../../world/world.ts'
import { codersOf } from '../define-game.ts'
import { FRAME_KIND } from '../frame-kinds.ts'
import { BitNaming, OpReader, type NamedBits } from './bit-naming.ts'
import { dissectInputs, dissectTiming } from './dissect-frames.ts'
import { SnapshotDissector, type DissectedEntry, type ToldRows } from './dissect-snapshot.ts'

/** What of a game is needed: a `Game` is one. */
export interface DissectableGame {
  readonly entities: readonly Entity[]
  readonly coders: readonly RowCoder[]
  /** Ticks from one snapshot to the next. */
  readonly snapshotTicks: number
  readonly inputSchema: Schema
  readonly tickRate: number
}

/** A packet, taken apart. */
export interface Dissection {
  readonly sequence: number
  readonly type: 'payload' | 'keepalive' | 'disconnect' | 'other'
  /** Every bit, in order, without holes. */
  readonly bits: readonly NamedBits[]
  readonly frames: readonly { readonly kind: string; readonly bytes: number }[]
  /** Of snapshots: their tick, and what they tell. */
  readonly tick: Tick | undefined
  readonly entries: readonly DissectedEntry[]
  /** Of inputs: the tick of each, and what was held. */
  readonly inputs: readonly { readonly tick: Tick; readonly values: Readonly<Record<string, unknown>> }[]
}

const KIND_NAMES: ReadonlyMap<number, string> = new Map<number, string>([
  ...Object.entries(FRAME_KIND).map(([name, kind]) => [kind, name] as const), [CONTROL_KIND, 'control'],
])

export class PacketDissector {
  readonly snapshots: SnapshotDissector
  readonly #game: DissectableGame
  readonly #world: World
  /** What the packets handed on of tables that changed meanwhile. */
  readonly #tables: TablesSink

  constructor(game: DissectableGame, told?: ToldRows) {
    this.#game = game
    this.#world = new World(game.entities, { isReadOnly: true })
    this.#tables = new TablesSink((text) => codersOf(entropy(JSON.parse(text)), game.entities, game.tickRate))
    this.snapshots = new SnapshotDissector(this.#world, game.coders, game.snapshotTicks, told)
  }

  /** Takes a packet apart: header and body, without its seal. `_peer` is whose line it was. */
  dissect(bytes: Uint8Array, _peer: PeerId = 0): Dissection {
    const naming = new BitNaming(new OpReader(bytes))
    const header = new PacketHeader()
    const isHeader = readHeader(bytes, bytes.length, header) === 'ok'
    nameHeader(naming, header)
    const type = header.type === PACKET_TYPE.payload ? 'payload' : header.type === PACKET_TYPE.keepalive ? 'keepalive' : header.type === PACKET_TYPE.disconnect ? 'disconnect' : 'other'
    const found = { frames: [], tick: undefined, entries: [], inputs: [] }
    const parts = isHeader && (type === 'payload' || type === 'keepalive') ? this.#body(naming, bytes) : found
    naming.where = 'packet'
    naming.rest('packet.padding', bytes.length * 8)
    return { sequence: header.sequence, type, bits: naming.spans.sort((a, b) => a.at - b.at), ...parts }
  }

  #body(naming: BitNaming, bytes: Uint8Array): Omit<Dissection, 'sequence' | 'type' | 'bits'> {
    const { reader } = naming
    const frames: { kind: string; bytes: number }[] = []
    const entries: DissectedEntry[] = []
    const inputs: { tick: Tick; values: Record<string, unknown> }[] = []
    let tick: Tick | undefined
    nameAcks(naming)
    while (!reader.failed && reader.bitsLeft >= FRAME_HEAD_BITS) {
      naming.where = 'frame'
      const kind = naming.name('frame.kind', () => reader.readBits(4), (value) => `${value} ${KIND_NAMES.get(value) ?? ''}`)
      naming.name('frame.flags', () => reader.readBits(4))
      const length = naming.name('frame.length', () => reader.readBits(14))
      const end = Math.min(reader.bitPosition + length * 8, bytes.length * 8)
      frames.push({ kind: KIND_NAMES.get(kind) ?? `kind ${kind}`, bytes: length })
      // What a decoder does at the end of a frame it must not do with the next one's bits.
      const frame = new BitNaming(new OpReader(bytes))
      frame.reader.resetBits(bytes, reader.bitPosition, end - reader.bitPosition)
      if (kind === FRAME_KIND.tables) this.#tables.accept(0, 0, copyOf(frame.reader))
      const coders = kind === FRAME_KIND.snapshot ? this.#game.coders : kind === FRAME_KIND.retrained ? this.#tables.codersOf(nameVersion(frame)) : undefined
      if (coders !== undefined) {
        const told = this.snapshots.dissect(frame, end, coders)
        tick = told.tick
        entries.push(...told.entries)
      } else if (kind === FRAME_KIND.inputs) inputs.push(...dissectInputs(frame, this.#game.inputSchema, this.#world.heap))
      else if (kind === FRAME_KIND.timing) dissectTiming(frame)
      else nameOther(frame, kind, end)
      frame.rest('frame.padding', end)
      naming.spans.push(...frame.spans)
      reader.skipBits(end - reader.bitPosition)
    }
    return { frames, tick, entries, inputs }
  }
}

function nameHeader(naming: BitNaming, { version, type, epoch, sequence, idLo, idHi, byteLength }: PacketHeader): void {
  const { reader } = naming
  naming.where = 'header'
  naming.name('header.magic', () => reader.skipBits(24), () => 'TKW')
  naming.name('header.version', () => reader.skipBits(8), () => String(version))
  naming.name('header.type', () => reader.skipBits(8), () => String(type))
  naming.name('header.connection', () => reader.skipBits(64), () => hex(idHi) + hex(idLo))
  naming.name('header.epoch', () => reader.skipBits(8), () => String(epoch))
  naming.name('header.sequence', () => reader.skipBits(Math.max(0, byteLength * 8 - reader.bitPosition)), () => String(sequence))
}

function nameAcks(naming: BitNaming): void {
  const { reader } = naming
  naming.where = 'acks'
  naming.name('acks.latest', () => reader.readBits(16))
  naming.name('acks.delay', () => reader.readBits(16), (units) => `${(units * 0.032).toFixed(2)} ms`)
  const gaps = naming.name('acks.gaps', () => reader.readBits(4), (bits) => bits.toString(2).padStart(4, '0'))
  for (let group = 0; group < 4; group++) {
    if ((gaps >> group & 1) === 1) naming.name('acks.group', () => reader.readBits(16), (bits) => bits.toString(2).padStart(16, '0'))
  }
}

/** The version that a snapshot by other tables begins with. */
function nameVersion(naming: BitNaming): number {
  naming.where = 'snapshot'
  return naming.name('snapshot.tables', readVarint)
}

/** The same bits, for who reads them to their end. */
function copyOf({ bytes, bitPosition, bitsLeft }: BitReader): BitReader {
  const copy = new BitReader(bytes)
  copy.resetBits(bytes, bitPosition, bitsLeft)
  return copy
}

function nameOther(naming: BitNaming, kind: number, end: number): void {
  const { reader } = naming
  naming.where = KIND_NAMES.get(kind) ?? `kind ${kind}`
  if (kind === FRAME_KIND.channels) {
    naming.name('channel.number', () => reader.readBits(4))
    naming.name('channel.promise', () => reader.readBits(4), (bits) => String(bits >> 2))
    naming.rest('channel.body', end, `${(end - reader.bitPosition) / 8} bytes`)
  } else if (kind === FRAME_KIND.wantedRows) {
    while (reader.bitsLeft >= 8 && !reader.failed && reader.peekBits(8) !== 0) naming.name('wanted.id', readVarint)
  } else if (kind === FRAME_KIND.tables) {
    for (const field of ['tables.version', 'tables.size', 'tables.piece'] as const) naming.name(field, readVarint)
    naming.rest('tables.body', end, `${(end - reader.bitPosition) / 8} bytes`)
  } else if (kind === FRAME_KIND.retrained) {
    naming.rest('row.unread', end, 'the tables of this version were handed over before the recording began')
  } else naming.rest(kind === FRAME_KIND.peerInputs ? 'peers.body' : 'control.body', end, `${(end - reader.bitPosition) / 8} bytes`)
}

function hex(word: number): string {
  return word.toString(16).padStart(8, '0')
}
