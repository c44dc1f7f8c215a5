/** The transfer of tables from one side to the other, without a network around it; and bytes that are not tables. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TABLES_BYTES_MAX, TABLES_PIECE_BYTES } from '../../packages/tickwire/src/core/base/limits.ts'
import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { writeVarint } from '../../packages/tickwire/src/core/bits/varint.ts'
import { encodeText } from '../../packages/tickwire/src/core/codec/packed-text.ts'
import { entropy } from '../../packages/tickwire/src/core/codec/snapshot-codec.ts'
import type { RowCoder } from '../../packages/tickwire/src/core/codec/row-coder.ts'
import { codersOf } from '../../packages/tickwire/src/core/game/define-game.ts'
import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { u8 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { Timeline } from '../../packages/tickwire/src/core/world/timeline.ts'
import { World } from '../../packages/tickwire/src/core/world/world.ts'
import { SnapshotSink } from '../../packages/tickwire/src/core/replication/snapshot-sink.ts'
import { retrainedSink, TablesSink } from '../../packages/tickwire/src/core/game/tables-sink.ts'
import { TablesSource } from '../../packages/tickwire/src/core/game/tables-source.ts'

const Dot = entity({ n: u8 }, { name: 'Dot' })
const make = (text: string): readonly RowCoder[] => codersOf(entropy(JSON.parse(text)), [Dot], 30)
/**
 * Tables of a version with a given size and a little more: random white space that does not compress, four in a byte.
 */
function tablesOf(version: number, size: number): { version: number; bytes: Uint8Array } {
  const dice = new Prng(size)
  return {
    version,
    bytes: encodeText(`{${Array.from({ length: 4 * size }, () => ' \n\r\t'[dice.nextInt(0, 3)]).join('')}}`),
  }
}

function frameOf(version: number, size: number, piece: number, body: Uint8Array): Uint8Array {
  const out = new BitWriter(new Uint8Array(body.length + 24))
  for (const value of [version, size, piece]) writeVarint(out, value)
  out.copyBits(body, 0, body.length * 8)
  return out.bytes.slice(0, out.finish())
}

const accept = (sink: TablesSink, bytes: Uint8Array): string => sink.accept(0, 0, new BitReader(bytes))

/** Transfers a version without any losses. */
function hand(sink: TablesSink, version: number, bytes: Uint8Array): string[] {
  return Array.from({ length: Math.ceil(bytes.length / TABLES_PIECE_BYTES) }, (_, piece) =>
    accept(
      sink,
      frameOf(version, bytes.length, piece, bytes.slice(piece * TABLES_PIECE_BYTES, (piece + 1) * TABLES_PIECE_BYTES)),
    ),
  )
}

test('[REPL23] tables arrive whole in any weather, one version after the other, and count only then', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1 << 30 }),
      fc.array(fc.integer({ min: 1, max: 2500 }), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 0, max: 6 }),
      (seed, sizes, lossTenths) => {
        const dice = new Prng(seed)
        const sink = new TablesSink(make)
        const held: number[] = []
        const source = new TablesSource(({ version }) => {
          expect(sink.version, 'the receiver has it before the sender knows').toBe(version)
          held.push(version)
        })
        const waiting = sizes.map((size, at) => tablesOf(at + 1, size))
        const buffer = new Uint8Array(1150)
        let flights: { sequence: number; frames: Uint8Array[]; at: number }[] = []
        for (let now = 1; now < 4000 && held.at(-1) !== sizes.length; now++) {
          if (dice.nextInt(0, 9) === 0 && waiting.length > 0) source.offer(waiting.shift()!)
          const frames: Uint8Array[] = []
          for (let room = dice.nextInt(0, 1) === 0 ? 1150 : 620; room > 0;) {
            const out = new BitWriter(buffer)
            out.reset(buffer, 0, room)
            if (!source.fill(now, now, out)) break
            frames.push(buffer.slice(0, out.finish()))
            room -= frames.at(-1)!.length
          }
          if (frames.length > 0) flights.push({ sequence: now, frames, at: now + dice.nextInt(1, 9) })
          const arrived = flights.filter(({ at }) => at <= now)
          flights = flights.filter(({ at }) => at > now)
          for (const { sequence, frames: parts } of arrived) {
            if (dice.nextInt(0, 9) < lossTenths) {
              source.onLost(now, sequence)
              continue
            }
            for (const part of parts) expect(accept(sink, part)).toBe('ok')
            // The piece arrived, and its acknowledgement did not.
            if (dice.nextInt(0, 9) < lossTenths) source.onLost(now, sequence)
            else source.onDelivered(now, sequence)
          }
        }
        expect(held.at(-1)).toBe(sizes.length)
        expect([...held].sort((a, b) => a - b)).toEqual(held)
        expect(source.wantsAt(1)).toBe(Infinity)
      },
    ),
    { seed: 1, numRuns: 60 },
  )
})

test('[REPL24] an invalid set of tables is a protocol error, throws nothing, and the former tables stay', () => {
  const { bytes } = tablesOf(1, 700)
  const text = encodeText
  const hostile: readonly (readonly [string, (sink: TablesSink) => string[]])[] = [
    ['no JSON', (sink) => hand(sink, 2, text('{"Dot":'))],
    ['no UTF-8', (sink) => hand(sink, 2, Uint8Array.of(1, 0xff))],
    ['no priors', (sink) => hand(sink, 2, text('{"Dot":null}'))],
    ['nothing', (sink) => hand(sink, 2, text('null'))],
    [
      'torn priors',
      (sink) => hand(sink, 2, text('{"Dot":{"form":2,"version":1,"items":["Dot.n"],"tables":[[1]],"ages":[]}}')),
    ],
    ['priors of no entity', (sink) => hand(sink, 2, text('{"Boat":{}}'))],
    ['a prototype', (sink) => hand(sink, 2, text('{"__proto__":{"form":2}}'))],
    ['deep', (sink) => hand(sink, 2, text('['.repeat(200_000)))],
    ['not packed', (sink) => hand(sink, 2, new TextEncoder().encode('{}'))],
    ['more than it is', (sink) => hand(sink, 2, Uint8Array.of(...text('{}'), 1))],
    ['more than allowed', (sink) => hand(sink, 2, Uint8Array.of(0x81, 0x80, 0x40, ...text('{}').slice(1)))],
    ['a few bytes for the largest size', (sink) => hand(sink, 2, Uint8Array.of(0x80, 0x80, 0x40, 0x7b))],
    ['version 0', (sink) => hand(sink, 0, bytes)],
    ['too large', (sink) => [accept(sink, frameOf(2, TABLES_BYTES_MAX + 1, 0, new Uint8Array(TABLES_PIECE_BYTES)))]],
    ['of no size', (sink) => [accept(sink, frameOf(2, 0, 0, new Uint8Array(0)))]],
    ['one piece too many', (sink) => [accept(sink, frameOf(2, 700, 2, bytes.slice(0, 10)))]],
    ['a short piece', (sink) => [accept(sink, frameOf(2, 700, 0, bytes.slice(0, 511)))]],
    ['a long piece', (sink) => [accept(sink, frameOf(2, 700, 1, bytes.slice(0, 300)))]],
    [
      'another size',
      (sink) => [
        accept(sink, frameOf(2, 700, 0, bytes.slice(0, 512))),
        accept(sink, frameOf(2, 800, 0, bytes.slice(0, 512))),
      ],
    ],
    [
      'back to an older one',
      (sink) => [
        accept(sink, frameOf(3, 700, 0, bytes.slice(0, 512))),
        accept(sink, frameOf(2, 700, 0, bytes.slice(0, 512))),
      ],
    ],
    ['cut short', (sink) => [accept(sink, Uint8Array.of(2, 0x80))]],
  ]
  for (const [name, send] of hostile) {
    const sink = new TablesSink(make)
    expect(hand(sink, 1, bytes), name).toEqual(['ok', 'ok'])
    const coders = sink.codersOf(1)
    expect(send(sink).at(-1), name).toBe('broken')
    expect([sink.version, sink.codersOf(1) === coders, sink.codersOf(2)], name).toEqual([1, true, undefined])
  }
})

test('[REPL23] frames are read by the version they name, of the last two; others are counted, not acked', () => {
  const world = new World([Dot], { isReadOnly: true })
  const snapshots = new SnapshotSink(world, new Timeline(world, 32), { coders: make('{}') })
  const tables = new TablesSink(make)
  const sink = retrainedSink(tables, snapshots)
  const read = (...bytes: number[]): string => sink.accept(0, 0, new BitReader(Uint8Array.from(bytes)))
  expect([read(1, 5), snapshots.undecodableCount]).toEqual(['no-ack', 1])
  for (const version of [1, 4, 200]) expect(hand(tables, version, tablesOf(version, 30).bytes)).toEqual(['ok'])
  // A piece that arrives twice, or late, changes nothing.
  expect(hand(tables, 4, tablesOf(4, 30).bytes)).toEqual(['ok'])
  expect([read(200, 1, 7), read(4, 6), read(200, 1, 5)]).toEqual(['ok', 'ok', 'ok'])
  expect([read(1, 8), read(201, 1, 8), snapshots.tick, snapshots.undecodableCount]).toEqual(['no-ack', 'no-ack', 7, 3])
  expect([read(0, 8), read(), read(0x80)]).toEqual(['broken', 'broken', 'broken'])
})
