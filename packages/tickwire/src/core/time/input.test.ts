import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { INPUT_WAITING_MAX, INPUT_WINDOW, INPUTS_PER_FRAME_MAX } from '../base/limits.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import type { FrameVerdict } from '../packet/frame-source.ts'
import { bool, fixed, text } from '../schema/field-kinds.ts'
import { compileSchema } from '../schema/schema.ts'
import { ValueHeap } from '../schema/value-heap.ts'
import { quantizeCells } from '../schema/cells.ts'
import { storeValues } from '../schema/values.ts'
import { InputBuffer } from './input-buffer.ts'
import { InputSource } from './input-source.ts'

const schema = compileSchema('input', { fire: bool, aim: fixed(-1, 1, 0.01), say: text(10) })
const AIM_LANE = 1

/** A player who holds a different aim in every tick, and the authority he plays to. */
class Rig {
  readonly source = new InputSource(schema)
  readonly buffer = new InputBuffer(schema, new ValueHeap())
  #sequence = 0

  push(aim: number, fire = false): void {
    const cells = schema.initialCells.slice()
    storeValues(schema, { aim, fire }, cells, 0, this.source.heap)
    quantizeCells(schema, cells, 0, this.source.ring.rows, this.source.ring.at(this.source.nextNumber))
    this.source.push()
  }

  /** The body of the next packet's input frame. */
  fill(room = 1200): Uint8Array | undefined {
    const writer = new BitWriter(new Uint8Array(room))
    if (!this.source.fill(0, ++this.#sequence, writer)) return undefined
    return writer.bytes.slice(0, writer.finish())
  }

  accept(frame: Uint8Array): FrameVerdict {
    return this.buffer.accept(0, 1, new BitReader(frame))
  }

  delivered(): void {
    this.source.onDelivered(0, this.#sequence)
  }

  take(): number {
    this.buffer.take()
    return this.buffer.current[AIM_LANE]!
  }
}

describe('inputs', () => {
  test('[INPUT1] no input is lost while fewer packets in a row are than may wait', () => {
    fc.assert(fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 300 }), (losses) => {
      const rig = new Rig()
      const taken: number[] = []
      let lostInARow = 0
      losses.forEach((isUnlucky, tick) => {
        rig.push((tick % 201) / 100 - 1)
        const frame = rig.fill()!
        lostInARow = isUnlucky && lostInARow < INPUT_WAITING_MAX - 1 ? lostInARow + 1 : 0
        if (lostInARow > 0) return
        expect(rig.accept(frame)).toBe('ok')
        rig.delivered()
        while (rig.buffer.waiting > 0) taken.push(rig.take())
      })
      const arrived = losses.length - lostInARow
      expect(taken).toEqual(Array.from({ length: arrived }, (_, tick) => tick % 201))
      expect(rig.buffer.passedOver + rig.buffer.starvedTicks).toBe(0)
    }))
  })

  test('[INPUT2] a late input holds the last one and counts the tick as starved', () => {
    const rig = new Rig()
    rig.take()
    expect(rig.buffer.starvedTicks).toBe(0)
    rig.push(0.5)
    rig.accept(rig.fill()!)
    expect(rig.take()).toBe(150)
    expect(rig.take()).toBe(150)
    expect(rig.buffer.starvedTicks).toBe(1)
  })

  test('[INPUT3] when too many wait the oldest are passed over, and counted', () => {
    const rig = new Rig()
    rig.push(-1)
    rig.accept(rig.fill()!)
    for (let aim = 0; aim < 20; aim++) rig.push(aim / 100)
    rig.accept(rig.fill()!)
    expect(rig.buffer.waiting).toBe(21)
    expect(rig.take()).toBe(100 + 20 - INPUT_WAITING_MAX / 2)
    expect(rig.buffer.waiting).toBe(INPUT_WAITING_MAX / 2 - 1)
    expect(rig.buffer.passedOver).toBe(21 - INPUT_WAITING_MAX / 2)
  })

  test('[INPUT4] acknowledged inputs ride no more than three times, unacknowledged ones up to a frame', () => {
    const rig = new Rig()
    for (let count = 0; count < 40; count++) rig.push(count / 100)
    const many = rig.fill()!.length
    rig.delivered()
    const few = rig.fill()!.length
    expect(many).toBeGreaterThan(INPUTS_PER_FRAME_MAX)
    expect(few).toBeLessThan(10)
    // One frame a packet: asked again for the same packet it has nothing.
    const writer = new BitWriter(new Uint8Array(1200))
    expect(rig.source.fill(0, 99, writer)).toBe(true)
    expect(rig.source.fill(0, 99, writer)).toBe(false)
  })

  test('[INPUT4] in little room the newest go first', () => {
    const rig = new Rig()
    for (let count = 0; count < 32; count++) rig.push(count / 100)
    const frame = rig.fill(16)!
    expect(frame.length).toBeLessThanOrEqual(16)
    expect(rig.accept(frame)).toBe('ok')
    while (rig.buffer.waiting > 0) rig.take()
    expect(rig.buffer.current[AIM_LANE]).toBe(131)
    expect(new Rig().fill()).toBeUndefined()
    const tight = new Rig()
    tight.push(0.3)
    expect(tight.fill(1)).toBeUndefined()
  })

  test('[INPUT5] duplicates and old frames change nothing; far ahead means a fresh start', () => {
    const rig = new Rig()
    rig.push(0.1)
    const first = rig.fill()!
    rig.accept(first)
    rig.push(0.2)
    rig.accept(rig.fill()!)
    rig.accept(first)
    expect([rig.take(), rig.take()]).toEqual([110, 120])
    rig.accept(first)
    expect(rig.buffer.waiting).toBe(0)
    for (let count = 0; count < INPUT_WINDOW + 50; count++) rig.push(0.7)
    rig.accept(rig.fill()!)
    expect(rig.take()).toBe(170)
  })

  test('[INPUT6] nonsense is broken and never throws', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      expect(['ok', 'broken']).toContain(new Rig().accept(bytes))
    }))
    const rig = new Rig()
    rig.push(0.1)
    const frame = rig.fill()!
    for (let length = 0; length < frame.length; length++) expect(rig.accept(frame.slice(0, length))).toBe('broken')
    expect(rig.accept(new Uint8Array([...frame, 0]))).toBe('broken')
    // A count that reaches before the first input of all.
    const writer = new BitWriter(new Uint8Array(8))
    writer.writeBits(1, 8)
    writer.writeBits(5, 5)
    expect(rig.accept(writer.bytes.slice(0, writer.finish()))).toBe('broken')
  })
})
