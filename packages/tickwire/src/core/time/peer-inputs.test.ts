import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { bool, fixed } from '../schema/field-kinds.ts'
import { compileSchema } from '../schema/schema.ts'
import { ValueHeap } from '../schema/value-heap.ts'
import { PeerInputsSink, PeerInputsSource } from './peer-inputs.ts'

const schema = compileSchema('input', { fire: bool, aim: fixed(-1, 1, 0.01) })

function makeRig(): {
  held: Map<number, Int32Array>
  fill: (tick: number) => Uint8Array | undefined
  sink: PeerInputsSink
} {
  const held = new Map<number, Int32Array>([
    [1, Int32Array.of(1, 150)],
    [2, Int32Array.of(0, 7)],
    [3, schema.initialRow.slice()],
  ])
  const position = { tick: 0 }
  const source = new PeerInputsSource(schema, new ValueHeap(), {
    get tick() { return position.tick },
    forEachHeld: (each) => { for (const [peer, row] of held) each(peer, row) },
  }, 2, 2)
  const fill = (tick: number): Uint8Array | undefined => {
    position.tick = tick
    const writer = new BitWriter(new Uint8Array(100))
    expect(source.wantsAt(5)).toBe(tick % 2 === 0 && tick > 0 ? 5 : Infinity)
    return source.fill(0, 1, writer) ? writer.bytes.slice(0, writer.finish()) : undefined
  }
  return { held, fill, sink: new PeerInputsSink(schema, new ValueHeap()) }
}

test('[INPUT9] other players have their input of that tick, and until a newer one is received, their last', () => {
  const { held, fill, sink } = makeRig()
  expect(sink.accept(0, 1, new BitReader(fill(40)!))).toBe('ok')
  expect([...sink.rings.keys()]).toEqual([1, 3])
  held.get(1)![1] = 20
  expect(fill(41)).toBeUndefined()
  expect(sink.accept(0, 1, new BitReader(fill(42)!))).toBe('ok')
  const ring = sink.rings.get(1)!
  expect([39, 40, 41, 42, 60].map((tick) => ring.latest(tick))).toEqual([-1, 40, 40, 42, 42])
  expect([ring.rows[ring.at(40) + 1], ring.rows[ring.at(42) + 1], sink.tick]).toEqual([150, 20, 42])
})

test('[INPUT9] invalid bytes make the frame broken, and nothing throws', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
    expect(['ok', 'broken']).toContain(makeRig().sink.accept(0, 1, new BitReader(bytes)))
  }))
  const { fill, sink } = makeRig()
  const frame = fill(40)!
  for (let length = 0; length < frame.length; length++)
    expect(sink.accept(0, 1, new BitReader(frame.slice(0, length)))).toBe('broken')
  expect(sink.accept(0, 1, new BitReader(new Uint8Array([...frame, 0])))).toBe('broken')
})
