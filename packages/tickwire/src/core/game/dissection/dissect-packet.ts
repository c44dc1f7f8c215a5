/**
 * Names every bit of a decrypted packet: header, acknowledgements, frames and their contents.
 *
 *   const dissector = new PacketDissector(game)
 *   dissector.dissect(bytes)         in the order of arrival: deltas build on rows of earlier packets
 *
 * It validates nothing and never throws. Invalid bits get the name of the field at their position.
 */

import type { PeerId, Tick } from '../../base/time.ts'
import { BitReader } from '../../bits/bit-reader.ts'
import { readVarint } from '../../bits/varint.ts'
import type { RowCoder } from '../../codec/row-coder.ts'
import { entropy } from '../../codec/snapshot-codec.ts'
import { CONTROL_KIND } from '../../connection/control.ts'
import { readHeader, PACKET_TYPE, PacketHeader } from '../../packet/header.ts'
import { FRAME_HEAD_BITS } from '../../packet/packet-builder.ts'
import { TablesSink } from '../tables-sink.ts'
import type { Entity } from '../../schema/definition.ts'
import type { Schema } from '../../schema/schema.ts'
import { World } from '../../world/world.ts'
import { codersOf } from '../define-game.ts'
import { FRAME_KIND } from '../frame-kinds.ts'
import { BitNaming, OpReader, type NamedBits } from './bit-naming.ts'
import { dissectInputs, dissectTiming } from './dissect-frames.ts'
import { SnapshotDissector, type DissectedEntry, type ReceivedRows } from './dissect-snapshot.ts'

/** The parts of a game that dissection needs. A `Game` has them all. */
export interface DissectableGame {
  readonly entities: readonly Entity[]
  readonly coders: readonly RowCoder[]
  /** Ticks from one snapshot to the next. */
  readonly snapshotTicks: number
  readonly inputSchema: Schema
  readonly tickRate: number
}

/** The result for one packet. */
export interface Dissection {
  /** The sequence number of the packet. */
  readonly sequence: number
  /** The type of the packet. */
  readonly type: 'payload' | 'keepalive' | 'disconnect' | 'other'
  /** Every bit, in order, without gaps. */
  readonly bits: readonly NamedBits[]
  /** The frames, with the bytes of their bodies. */
  readonly frames: readonly { readonly kind: string; readonly bytes: number }[]
  /** For snapshots: the tick and the entries. */
  readonly tick: Tick | undefined
  /** The entries of its snapshot. Empty for other packets. */
  readonly entries: readonly DissectedEntry[]
  /** For inputs: the tick and the values of each. */
  readonly inputs: readonly { readonly tick: Tick; readonly values: Readonly<Record<string, unknown>> }[]
}

const KIND_NAMES: ReadonlyMap<number, string> = new Map<number, string>([
  ...Object.entries(FRAME_KIND).map(([name, kind]) => [kind, name] as const), [CONTROL_KIND, 'control'],
])

/** Names every bit of packets, one packet after the other. */
export class PacketDissector {
  /** Dissects the snapshots. */
  readonly snapshots: SnapshotDissector
  readonly #game: DissectableGame
  readonly #world: World
  /** Entropy tables that the server sent after the handshake. */
  readonly #tables: TablesSink

  constructor(game: DissectableGame, received?: ReceivedRows) {
    this.#game = game
    this.#world = new World(game.entities, { isReadOnly: true })
    this.#tables = new TablesSink((text) => codersOf(entropy(JSON.parse(text)), game.entities, game.tickRate))
    this.snapshots = new SnapshotDissector(this.#world, game.coders, game.snapshotTicks, received)
  }

  /** Dissects a packet: header and body, without its authentication tag. `_peer` is the peer of the connection. */
  dissect(bytes: Uint8Array, _peer: PeerId = 0): Dissection {
    const naming = new BitNaming(new OpReader(bytes))
    const header = new PacketHeader()
    const isHeader = readHeader(bytes, bytes.length, header) === 'ok'
    nameHeader(naming, header)
    const type =
      header.type === PACKET_TYPE.payload
        ? 'payload'
        : header.type === PACKET_TYPE.keepalive
          ? 'keepalive'
          : header.type === PACKET_TYPE.disconnect
            ? 'disconnect'
            : 'other'
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
      const kind = naming.name(
        'frame.kind',
        () => reader.readBits(4),
        (value) => `${value} ${KIND_NAMES.get(value) ?? ''}`,
      )
      naming.name('frame.flags', () => reader.readBits(4))
      const length = naming.name('frame.length', () => reader.readBits(14))
      const end = Math.min(reader.bitPosition + length * 8, bytes.length * 8)
      frames.push({ kind: KIND_NAMES.get(kind) ?? `kind ${kind}`, bytes: length })
      // A decoder must not read past the end of its frame into the next one.
      const frame = new BitNaming(new OpReader(bytes))
      frame.reader.resetBits(bytes, reader.bitPosition, end - reader.bitPosition)
      if (kind === FRAME_KIND.tables) this.#tables.accept(0, 0, copyOf(frame.reader))
      const coders =
        kind === FRAME_KIND.snapshot
          ? this.#game.coders
          : kind === FRAME_KIND.retrained
            ? this.#tables.codersOf(nameVersion(frame))
            : undefined
      if (coders !== undefined) {
        const received = this.snapshots.dissect(frame, end, coders)
        tick = received.tick
        entries.push(...received.entries)
      } else if (kind === FRAME_KIND.inputs)
        inputs.push(...dissectInputs(frame, this.#game.inputSchema, this.#world.heap))
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
  naming.name(
    'header.magic',
    () => reader.skipBits(24),
    () => 'TKW',
  )
  naming.name(
    'header.version',
    () => reader.skipBits(8),
    () => String(version),
  )
  naming.name(
    'header.type',
    () => reader.skipBits(8),
    () => String(type),
  )
  naming.name(
    'header.connection',
    () => reader.skipBits(64),
    () => hex(idHi) + hex(idLo),
  )
  naming.name(
    'header.epoch',
    () => reader.skipBits(8),
    () => String(epoch),
  )
  naming.name(
    'header.sequence',
    () => reader.skipBits(Math.max(0, byteLength * 8 - reader.bitPosition)),
    () => String(sequence),
  )
}

function nameAcks(naming: BitNaming): void {
  const { reader } = naming
  naming.where = 'acks'
  naming.name('acks.latest', () => reader.readBits(16))
  naming.name('acks.delay', () => reader.readBits(16), (units) => `${(units * 0.032).toFixed(2)} ms`)
  const gaps = naming.name('acks.gaps', () => reader.readBits(4), (bits) => bits.toString(2).padStart(4, '0'))
  for (let group = 0; group < 4; group++) {
    if (((gaps >> group) & 1) === 1)
      naming.name(
        'acks.group',
        () => reader.readBits(16),
        (bits) => bits.toString(2).padStart(16, '0'),
      )
  }
}

/** The table version at the start of a snapshot that does not use the handshake's tables. */
function nameVersion(naming: BitNaming): number {
  naming.where = 'snapshot'
  return naming.name('snapshot.tables', readVarint)
}

/** A copy of the reader, for a decoder that consumes all bits. */
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
  } else
    naming.rest(
      kind === FRAME_KIND.peerInputs ? 'peers.body' : 'control.body',
      end,
      `${(end - reader.bitPosition) / 8} bytes`,
    )
}

function hex(word: number): string {
  return word.toString(16).padStart(8, '0')
}
