import { expect, test } from 'vitest'
import { Dice } from 'tickwire/testing'
import { TABLES_PIECE_BYTES } from '../base/limits.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { encodeText } from '../codec/packed-text.ts'
import type { RowCoder } from '../codec/row-coder.ts'
import { TablesSink } from './tables-sink.ts'
import { TablesSource, type TablesText } from './tables-source.ts'

const CODERS: readonly RowCoder[] = []

/** A text that does not pack well, so that it needs several pieces. */
function textOf(seed: number): string {
  const bytes = new Uint8Array(3000)
  new Dice(seed).fill(bytes)
  return JSON.stringify([...bytes])
}

function stage(): { source: TablesSource; sink: TablesSink; held: number[]; made: string[] } {
  const held: number[] = []
  const made: string[] = []
  const sink = new TablesSink((text) => {
    if (text === 'bad') throw new Error('not tables')
    made.push(text)
    return CODERS
  })
  return { source: new TablesSource(({ version }) => held.push(version)), sink, held, made }
}

/** The next frame, or undefined when none is due. */
function frameOf(source: TablesSource, sequence: number): BitReader | undefined {
  const out = new BitWriter(new Uint8Array(1100))
  if (!source.fill(0, sequence, out)) return undefined
  const length = out.finish()
  const reader = new BitReader(new Uint8Array(0))
  reader.reset(out.bytes, 0, length)
  return reader
}

function tablesOf(version: number, text: string): TablesText {
  return { version, bytes: encodeText(text) }
}

test('lost pieces are sent again, and the version is held when all are acknowledged', () => {
  const { source, sink, held, made } = stage()
  const tables = tablesOf(1, textOf(1))
  const pieces = Math.ceil(tables.bytes.length / TABLES_PIECE_BYTES)
  expect(pieces).toBeGreaterThan(3)
  source.offer(tables)
  let sequence = 0
  for (let round = 0; source.wantsAt(0) === 0; round++) {
    const frame = frameOf(source, ++sequence)!
    if (round % 3 === 1) source.onLost(0, sequence)
    else {
      expect(sink.accept(0, sequence, frame)).toBe('ok')
      source.onDelivered(0, sequence)
    }
  }
  expect(sequence).toBeGreaterThan(pieces)
  expect([held, made, sink.version]).toEqual([[1], [textOf(1)], 1])
  expect(frameOf(source, 999)).toBeUndefined()
})

test('a version in progress is finished first; of several that wait, only the newest is sent', () => {
  const { source, sink, held } = stage()
  const offers = [1, 2, 3].map((version) => tablesOf(version, `{"v":${version}}`))
  for (const offer of offers) source.offer(offer)
  expect(offers.map((offer) => source.sends(offer))).toEqual([true, false, true])
  for (let sequence = 1; sequence <= 2; sequence++) {
    expect(sink.accept(0, sequence, frameOf(source, sequence)!)).toBe('ok')
    source.onDelivered(0, sequence)
  }
  expect([held, sink.version]).toEqual([[1, 3], 3])
  expect([1, 2, 3].map((version) => sink.codersOf(version))).toEqual([CODERS, undefined, CODERS])
})

test('a repeated piece is accepted; pieces that contradict each other and tables that are not valid are broken', () => {
  const { source, sink } = stage()
  source.offer(tablesOf(1, textOf(2)))
  const first = frameOf(source, 1)!
  const copy = new BitReader(new Uint8Array(0))
  copy.reset(first.bytes.slice(), 0, first.bitsLeft / 8)
  expect([sink.accept(0, 1, first), sink.accept(0, 1, copy)]).toEqual(['ok', 'ok'])
  const shorter = stage().source
  shorter.offer({ version: 1, bytes: new Uint8Array(600) })
  expect(sink.accept(0, 2, frameOf(shorter, 2)!)).toBe('broken')
  const bad = stage()
  bad.source.offer(tablesOf(1, 'bad'))
  expect(bad.sink.accept(0, 1, frameOf(bad.source, 1)!)).toBe('broken')
  expect(bad.sink.version).toBe(0)
})
