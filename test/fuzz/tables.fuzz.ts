/**
 * Hostile tables for a client in the middle of a match, and snapshots that name versions. Nothing is thrown; the tables
 * held afterwards are the former ones, or tables that a row can be read by.
 */

import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { writeVarint } from '../../packages/tickwire/src/core/bits/varint.ts'
import { RowPair } from '../../packages/tickwire/src/core/codec/row-coder.ts'
import { decodeText, encodeText } from '../../packages/tickwire/src/core/codec/packed-text.ts'
import { entropy } from '../../packages/tickwire/src/core/codec/snapshot-codec.ts'
import { train } from '../../packages/tickwire/src/core/codec/training.ts'
import { codersOf } from '../../packages/tickwire/src/core/game/define-game.ts'
import { SnapshotSink } from '../../packages/tickwire/src/core/replication/snapshot-sink.ts'
import { retrainedSink, TablesSink } from '../../packages/tickwire/src/core/game/tables-sink.ts'
import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { u8 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { Timeline } from '../../packages/tickwire/src/core/world/timeline.ts'
import { World } from '../../packages/tickwire/src/core/world/world.ts'
import type { FuzzTarget } from './target.ts'

const Dot = entity({ n: u8 }, { name: 'Dot' })
const world = new World([Dot], { isReadOnly: true })
const NOISE = Uint8Array.from({ length: 64 }, (_, at) => at * 37)
const AGES = [0, 1, 3, 6, 10, 40]

/** Tables as training makes them, short enough for one piece without spaces. */
function learnt(): string {
  const pair = new RowPair()
  const priors = train(Dot.schema, 30, 1, (see) => {
    for (let tick = 0; tick < 400; tick++) {
      see(
        Object.assign(pair, {
          rows: Int32Array.of((tick * 3) % 256),
          at: 0,
          baseRows: Int32Array.of(((tick - 1) * 3) % 256),
          baseAt: 0,
          age: 1,
          olderAt: -1,
        }),
      )
    }
  })
  return JSON.stringify({ Dot: priors })
}

const TEXT = learnt()

/** The frames of a text: its packed bytes in pieces of 512. */
function pieces(version: number, text: string): Uint8Array[] {
  const bytes = encodeText(text)
  return Array.from({ length: Math.ceil(bytes.length / 512) }, (_, piece) => {
    const body = bytes.subarray(piece * 512, (piece + 1) * 512)
    const out = new BitWriter(new Uint8Array(body.length + 24))
    for (const value of [version, bytes.length, piece]) writeVarint(out, value)
    out.copyBits(body, 0, body.length * 8)
    return out.bytes.slice(0, out.finish())
  })
}

/** Reads rows from random bits with the tables that are held: the result is a row or a failure, never a throw. */
function readBy(tables: TablesSink): void {
  const pair = new RowPair()
  for (const coder of tables.codersOf(tables.version) ?? []) {
    for (const age of AGES) {
      Object.assign(pair, {
        rows: new Int32Array(1),
        at: 0,
        baseRows: Dot.schema.initialRow,
        baseAt: 0,
        age,
        olderRows: Dot.schema.initialRow,
        olderAt: age > 0 ? 0 : -1,
      })
      coder.read(new BitReader(NOISE), 0, pair, world.heap)
    }
  }
}

const makeTables = (): TablesSink => new TablesSink((text) => codersOf(entropy(JSON.parse(text)), [Dot], 30))

export const targets: readonly FuzzTarget[] = [
  {
    name: 'tables/piece',
    seeds: () => [...pieces(2, '{}'), ...pieces(3, '{"Dot":null}'), ...pieces(300, `{${' '.repeat(600)}}`)],
    run: (bytes) => {
      const tables = makeTables()
      for (const piece of pieces(1, '{}')) tables.accept(0, 0, new BitReader(piece))
      const verdict = tables.accept(0, 0, new BitReader(bytes))
      if (verdict === 'no-ack' || tables.codersOf(1) === undefined) throw new Error(`${verdict}, and version 1 is gone`)
      readBy(tables)
    },
    // The cells of the model that unpacks are 0.8 MB, twice.
    allocationBytesMax: 8 << 20,
  },
  {
    name: 'tables/text',
    seeds: () => ['{}', TEXT].map((text) => new TextEncoder().encode(text)),
    run: (plain) => {
      const tables = makeTables()
      // Bytes that are not UTF-8 become U+FFFD, because only texts can be packed.
      const bytes = encodeText(new TextDecoder().decode(plain))
      for (let piece = 0; piece * 512 < bytes.length; piece++) {
        const body = bytes.subarray(piece * 512, (piece + 1) * 512)
        const out = new BitWriter(new Uint8Array(body.length + 24))
        for (const value of [1, bytes.length, piece]) writeVarint(out, value)
        out.copyBits(body, 0, body.length * 8)
        out.finish()
        const verdict = tables.accept(0, 0, new BitReader(out.bytes.slice(0, out.bitLength + 7 >>> 3)))
        if (verdict === 'broken') return
      }
      readBy(tables)
    },
    allocationBytesMax: 16 << 20,
  },
  {
    name: 'tables/packed',
    seeds: () => ['', '{}', '[1,1,1,1,1,1]', TEXT.slice(0, 300)].map(encodeText),
    run: (bytes) => {
      const text = decodeText(bytes, 4096)
      if (text === undefined) return
      const again = encodeText(text)
      if (again.length !== bytes.length || again.some((byte, at) => byte !== bytes[at]))
        throw new Error('a text has two encodings')
    },
    allocationBytesMax: 4 << 20,
  },
  {
    name: 'tables/retrained',
    seeds: () => [Uint8Array.of(1, 5), Uint8Array.of(1, 5, 0x90, 0, 0x10, 0, 0x24, 0), Uint8Array.of(2, 5)],
    run: (bytes) => {
      const tables = makeTables()
      for (const piece of pieces(1, TEXT)) tables.accept(0, 0, new BitReader(piece))
      const snapshots = new SnapshotSink(world, new Timeline(world, 8), { coders: codersOf(entropy(), [Dot], 30) })
      snapshots.indexMax = 1023
      snapshots.tickMax = 100_000
      const verdict = retrainedSink(tables, snapshots).accept(0, 0, new BitReader(bytes))
      if (snapshots.undecodableCount !== (verdict === 'no-ack' ? 1 : 0))
        throw new Error(`${verdict} is counted wrongly`)
    },
    allocationBytesMax: 16 << 20,
  },
]
