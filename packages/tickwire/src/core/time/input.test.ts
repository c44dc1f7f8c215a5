import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { INPUT_AHEAD_MAX, INPUT_WINDOW, INPUTS_PER_FRAME_MAX } from '../base/limits.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { writeVarint } from '../bits/varint.ts'
import type { FrameVerdict } from '../packet/frame-source.ts'
import { bool, fixed, text } from '../schema/field-kinds.ts'
import { compileSchema } from '../schema/schema.ts'
import { ValueHeap } from '../schema/value-heap.ts'
import { quantizeCells } from '../schema/cells.ts'
import { storeValues } from '../schema/values.ts'
import { InputBuffer } from './input-buffer.ts'
import { InputSource } from './input-source.ts'

// All time here is simulated, but a busy machine needs long for it.
vi.setConfig({ testTimeout: 120_000 })

const schema = compileSchema('input', { fire: bool, aim: fixed(-1, 1, 0.01), say: text(10) })
const AIM_LANE = 1

/** A player with a different aim in every tick, and the authority that receives the inputs. */
class Rig {
  readonly source = new InputSource(schema)
  /** The tick of the authority. */
  readonly position = { tick: 0, fraction: 0, alpha: (): number => this.position.fraction }
  readonly buffer = new InputBuffer(schema, new ValueHeap(), this.position)
  #sequence = 0

  push(tick: number, aim: number, viewTick = tick): void {
    const cells = schema.initialCells.slice()
    storeValues(schema, { aim }, cells, 0, this.source.heap)
    quantizeCells(schema, cells, 0, this.source.ring.rows, this.source.ring.at(tick))
    this.source.push(tick, viewTick)
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

  /** The authority runs its next tick. Returns the aim that it used. */
  step(): number {
    this.buffer.take(++this.position.tick)
    return this.buffer.current[AIM_LANE]!
  }
}

describe('inputs', () => {
  test('[INPUT1] a lost packet loses no input if another packet arrives before its tick', () => {
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { minLength: 1, maxLength: 300 }),
        fc.integer({ min: 1, max: 20 }),
        (losses, lead) => {
          const rig = new Rig()
          let lostInARow = 0
          losses.forEach((isUnlucky, at) => {
            const tick = at + 1
            rig.push(tick, (tick % 201) / 100 - 1)
            const frame = rig.fill()!
            lostInARow = isUnlucky && lostInARow < lead ? lostInARow + 1 : 0
            if (lostInARow === 0) {
              expect(rig.accept(frame)).toBe('ok')
              rig.delivered()
            }
            if (tick > lead) expect(rig.step()).toBe((tick - lead) % 201)
          })
          expect([rig.buffer.starvedTicks, rig.buffer.lateInputs]).toEqual([0, 0])
        },
      ),
    )
  })

  test('[INPUT2] a missing input repeats the last one and flags the tick; before the first, no tick is flagged', () => {
    const rig = new Rig()
    rig.step()
    expect([rig.buffer.isHeld, rig.buffer.starvedTicks]).toEqual([true, 0])
    rig.push(2, 0.5)
    rig.accept(rig.fill()!)
    expect([rig.step(), rig.buffer.isHeld]).toEqual([150, false])
    expect([rig.step(), rig.buffer.isHeld]).toEqual([150, true])
    expect(rig.buffer.starvedTicks).toBe(1)
  })

  test('[INPUT3] an input counts only in its tick: late ones have no effect and are counted, early ones wait', () => {
    const rig = new Rig()
    for (let tick = 1; tick <= 4; tick++) rig.push(tick, tick / 100)
    const frame = rig.fill()!
    rig.step()
    rig.step()
    rig.accept(frame)
    rig.accept(frame)
    expect([rig.buffer.lateInputs, rig.buffer.waiting]).toEqual([2, 2])
    expect([rig.step(), rig.step(), rig.step()]).toEqual([103, 104, 104])
    expect(rig.buffer.duplicateInputs).toBe(4)
  })

  test('[INPUT4] acknowledged inputs are sent at most three times, unacknowledged ones up to a frame', () => {
    const rig = new Rig()
    for (let tick = 1; tick <= 40; tick++) rig.push(tick, tick / 100)
    const many = rig.fill()!.length
    rig.delivered()
    const few = rig.fill()!.length
    expect(many).toBeGreaterThan(INPUTS_PER_FRAME_MAX)
    expect(few).toBeLessThan(14)
    // One frame per packet: a second call for the same packet writes nothing.
    const writer = new BitWriter(new Uint8Array(1200))
    expect(rig.source.fill(0, 99, writer)).toBe(true)
    expect(rig.source.fill(0, 99, writer)).toBe(false)
    rig.source.prune(39)
    expect(rig.source.pendingCount).toBe(1)
    expect(rig.fill()!.length).toBeLessThan(few)
    rig.source.prune(40)
    expect(rig.source.pendingCount).toBe(0)
    expect(rig.fill()).toBeUndefined()
  })

  test('[INPUT4] with little space the newest are sent first', () => {
    const rig = new Rig()
    for (let tick = 1; tick <= 32; tick++) rig.push(tick, (tick - 1) / 100)
    const frame = rig.fill(16)!
    expect(frame.length).toBeLessThanOrEqual(16)
    expect(rig.accept(frame)).toBe('ok')
    while (rig.position.tick < 32) rig.step()
    expect(rig.buffer.current[AIM_LANE]).toBe(131)
    expect(new Rig().fill()).toBeUndefined()
    const tight = new Rig()
    tight.push(1, 0.3)
    expect(tight.fill(1)).toBeUndefined()
  })

  test('[INPUT5] an input beyond the window is refused and counted: a client causes at most one input a tick', () => {
    const rig = new Rig()
    for (let tick = 1; tick <= 3 * INPUT_WINDOW; tick++) {
      rig.push(tick, 0.7)
      if (tick % 16 === 0) rig.accept(rig.fill()!)
    }
    expect(rig.buffer.waiting).toBe(INPUT_AHEAD_MAX)
    expect(rig.buffer.earlyInputs).toBeGreaterThan(0)
    let taken = 0
    for (let tick = 1; tick <= INPUT_AHEAD_MAX + 50; tick++) {
      rig.step()
      if (!rig.buffer.isHeld) taken++
    }
    expect(taken).toBe(INPUT_AHEAD_MAX)
    expect(rig.buffer.starvedTicks).toBe(50)
  })

  test('[INPUT5] a run that begins at another tick, ahead or back, is sent from there', () => {
    const rig = new Rig()
    for (let tick = 50; tick <= 60; tick++) rig.push(tick, 0.1)
    rig.accept(rig.fill()!)
    rig.delivered()
    rig.push(100, 0.2)
    rig.accept(rig.fill()!)
    rig.delivered()
    rig.source.restart(80)
    rig.push(80, 0.3)
    rig.accept(rig.fill()!)
    const aims = new Map<number, number>()
    for (let tick = 1; tick <= 100; tick++) {
      const aim = rig.step()
      if (!rig.buffer.isHeld) aims.set(tick, aim)
    }
    expect([aims.size, aims.get(50), aims.get(60), aims.get(80), aims.get(100)]).toEqual([13, 110, 110, 130, 120])
  })

  test('[INPUT6] invalid bytes make the frame broken, and nothing throws', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      expect(['ok', 'broken']).toContain(new Rig().accept(bytes))
    }))
    const rig = new Rig()
    rig.push(1, 0.1, 0.25)
    rig.push(2, 0.1, 1.5)
    const frame = rig.fill()!
    for (let length = 0; length < frame.length; length++) expect(rig.accept(frame.slice(0, length))).toBe('broken')
    expect(rig.accept(new Uint8Array([...frame, 0]))).toBe('broken')
    // A count that reaches before tick 0.
    const writer = new BitWriter(new Uint8Array(8))
    writeVarint(writer, 1)
    writer.writeBits(5, 5)
    expect(rig.accept(writer.bytes.slice(0, writer.finish()))).toBe('broken')
  })

  test('[INPUT7] the authority knows the view tick of its player, to 1/256 of a tick', () => {
    fc.assert(fc.property(fc.array(fc.integer({ min: 0, max: 255 * 256 }), { minLength: 1, maxLength: 30 }), (ages) => {
      const rig = new Rig()
      ages.forEach((age, at) => rig.push(300 + at, 0, 300 + at - age / 256))
      rig.position.tick = 299
      expect(rig.accept(rig.fill()!)).toBe('ok')
      ages.forEach((age, at) => {
        rig.step()
        expect(rig.buffer.viewTick).toBe(300 + at - age / 256)
      })
      // Repeated input: the view tick keeps its distance.
      rig.step()
      expect(rig.buffer.viewTick).toBe(300 + ages.length - ages.at(-1)! / 256)
    }))
  })

  test('[INPUT8] how early inputs arrive is measured in ticks: the minimum and the mean', () => {
    const rig = new Rig()
    for (let tick = 11; tick <= 13; tick++) rig.push(tick, 0)
    Object.assign(rig.position, { tick: 10, fraction: 0.5 })
    const frame = rig.fill()!
    rig.accept(frame)
    rig.accept(frame)
    expect([rig.buffer.marginCount, rig.buffer.marginTicksMin, rig.buffer.marginTicksMean]).toEqual([3, 0.5, 1.5])
    rig.buffer.forgetMargins()
    rig.push(14, 0)
    Object.assign(rig.position, { tick: 14, fraction: 0.25 })
    rig.accept(rig.fill()!)
    expect([rig.buffer.marginCount, rig.buffer.marginTicksMin, rig.buffer.lateInputs]).toEqual([1, -0.25, 1])
  })

  test('[INPUT10] S11: 70,000 texts of one player between two ticks take no space from another', () => {
    const heap = new ValueHeap()
    const position = { tick: 0, alpha: (): number => 0 }
    const [mallory, alice] = [new InputBuffer(schema, heap, position), new InputBuffer(schema, heap, position)]
    let source = new InputSource(schema)
    const say = (tick: number, text: string): void => {
      const cells = schema.initialCells.slice()
      storeValues(schema, { say: text }, cells, 0, source.heap)
      quantizeCells(schema, cells, 0, source.ring.rows, source.ring.at(tick))
      source.push(tick, tick)
    }
    let [sequence, broken] = [0, 0]
    const send = (to: InputBuffer): void => {
      const writer = new BitWriter(new Uint8Array(1200))
      if (!source.fill(0, ++sequence, writer)) return
      if (to.accept(0, sequence, new BitReader(writer.bytes.slice(0, writer.finish()))) !== 'ok') broken++
    }
    for (let number = 0; number < 70_000; number += INPUTS_PER_FRAME_MAX) {
      // The heap of a source has a limit, too.
      source = new InputSource(schema)
      for (let tick = 1; tick <= INPUTS_PER_FRAME_MAX; tick++) say(tick, `m${number + tick}`)
      send(mallory)
    }
    expect([broken, heap.size]).toEqual([0, 0])
    say(101, 'hello')
    send(alice)
    alice.take(101)
    expect(broken).toBe(0)
    expect(heap.get(schema.heapLeaves[0]!, alice.current[schema.heapLeaves[0]!.lane]!)).toBe('hello')
    expect(heap.size).toBe(1)
  })
})
