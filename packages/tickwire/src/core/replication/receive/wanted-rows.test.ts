import { expect, test } from 'vitest'
import { BitReader } from '../../bits/bit-reader.ts'
import { BitWriter } from '../../bits/bit-writer.ts'
import { WantedRows, wantedSink } from './wanted-rows.ts'

test('[REPL17] requests that do not fit one packet continue in the next, and start again when one is lost', () => {
  const wanted = new WantedRows()
  const ids = Array.from({ length: 40 }, (_, at) => (at + 1) * 65_536 + 1)
  for (const id of ids) wanted.ask(id)
  const asked: number[] = []
  const send = (sequence: number): boolean => {
    const out = new BitWriter(new Uint8Array(50))
    if (!wanted.fill(0, sequence, out)) return false
    expect(wantedSink((id) => asked.push(id)).accept(0, 0, new BitReader(out.bytes.slice(0, out.finish())))).toBe('ok')
    return true
  }
  for (let sequence = 1; wanted.wantsAt(3) === 3; sequence++) expect(send(sequence)).toBe(true)
  expect(asked).toEqual(ids)
  expect(send(9)).toBe(false)
  wanted.onLost(0, 9)
  expect(wanted.wantsAt(3)).toBe(Infinity)
  wanted.onLost(0, 2)
  asked.length = 0
  for (let sequence = 10; wanted.wantsAt(3) === 3; sequence++) send(sequence)
  expect(asked).toEqual(ids)
})
