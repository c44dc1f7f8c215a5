import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { bool } from '../schema/field-kinds.ts'
import { compileSchema } from '../schema/schema.ts'
import { ValueHeap } from '../schema/value-heap.ts'
import { InputBuffer } from './input-buffer.ts'
import { TimingSink, TimingSource } from './timing-frame.ts'

const schema = compileSchema('input', { fire: bool })

class Rig {
  readonly position = { tick: 70_000, fraction: 0.5, alpha: (): number => this.position.fraction }
  readonly inputs = new InputBuffer(schema, new ValueHeap(), this.position)
  digest = NaN
  readonly source = new TimingSource(this.position, this.inputs, () => this.digest)
  readonly received: object[] = []
  readonly sink = new TimingSink({
    handleTiming: (now, { tick, phase, hasMargins, marginTicksMin, marginTicksMean, lateInputs, hasDigest, digest }) =>
      this.received.push({
        now,
        tick,
        phase,
        ...(hasMargins && { marginTicksMin, marginTicksMean }),
        lateInputs,
        ...(hasDigest && { digest }),
      }),
  })
  #sequence = 0

  fill(now: number): Uint8Array | undefined {
    const writer = new BitWriter(new Uint8Array(100))
    return this.source.fill(now, ++this.#sequence, writer) ? writer.bytes.slice(0, writer.finish()) : undefined
  }

  accept(now: number, frame: Uint8Array): string {
    return this.sink.accept(now, 1, new BitReader(frame))
  }
}

test("[TIMING1] contains the authority's tick, how early inputs arrive, how many were late, and a digest", () => {
  const rig = new Rig()
  expect(rig.accept(5, rig.fill(0)!)).toBe('ok')
  Object.assign(rig.inputs, { marginCount: 0, lateInputs: 250 })
  rig.digest = 0xdead_beef
  Object.assign(rig.position, { tick: 70_010, fraction: 0.999 })
  rig.accept(6, rig.fill(300)!)
  rig.inputs.lateInputs = 260
  rig.accept(7, rig.fill(600)!)
  expect(rig.received).toEqual([
    { now: 5, tick: 70_000, phase: 0.5, lateInputs: 0 },
    { now: 6, tick: 70_010, phase: 255 / 256, lateInputs: 250, digest: 0xdead_beef },
    { now: 7, tick: 70_010, phase: 255 / 256, lateInputs: 10, digest: 0xdead_beef },
  ])
})

test('[TIMING1] margins are sent in sixteenths of a tick, since the last frame', () => {
  const rig = new Rig()
  const frame = new BitWriter(new Uint8Array(20))
  frame.writeBits(0, 0)
  Object.defineProperties(rig.inputs, {
    marginCount: { value: 2, writable: true },
    marginTicksMin: { value: -3.0625 },
    marginTicksMean: { value: 200 },
  })
  rig.accept(1, rig.fill(0)!)
  expect(rig.received).toMatchObject([{ marginTicksMin: -3.0625, marginTicksMean: 2047 / 16 }])
  expect(rig.inputs.marginCount).toBe(0)
})

test('[TIMING2] is in every packet at first, then every 45 ms, and requests a packet after 250 ms', () => {
  const rig = new Rig()
  expect(rig.source.wantsAt()).toBe(-Infinity)
  for (let now = 0; now < 2000; now += 10) expect(rig.fill(now)).toBeDefined()
  expect(rig.source.wantsAt()).toBe(1990 + 250)
  let count = 0
  for (let now = 2000; now < 3000; now += 5) if (rig.fill(now) !== undefined) count++
  expect(count).toBe(22)
})

test('[TIMING3] invalid bytes make the frame broken, and nothing throws', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 24 }), (bytes) => {
    expect(['ok', 'broken']).toContain(new Rig().accept(0, bytes))
  }))
  const rig = new Rig()
  rig.digest = 1
  const frame = rig.fill(0)!
  for (let length = 0; length < frame.length; length++) expect(rig.accept(0, frame.slice(0, length))).toBe('broken')
  expect(rig.accept(0, new Uint8Array([...frame, 0]))).toBe('broken')
  expect(rig.received).toEqual([])
})
