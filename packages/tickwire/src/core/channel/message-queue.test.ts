import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { MessageQueue } from './message-queue.ts'

test('[CHAN5] a queue keeps messages in order, through put, drop and copy, and never exceeds its bounds', () => {
  const step = fc.oneof(
    fc.record({ put: fc.integer({ min: 0, max: 700 }), isFrame: fc.boolean() }),
    fc.constant('drop' as const),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const queue = new MessageQueue(3000, 9)
      const model: Uint8Array[] = []
      const modelBytes = (): number => model.reduce((sum, message) => sum + message.length, 0)
      let salt = 0
      for (const action of steps) {
        if (action === 'drop') {
          if (model.length > 0) {
            queue.drop()
            model.shift()
          }
        } else {
          const message = new Uint8Array(action.put).fill(++salt)
          const fits = model.length < 9 && modelBytes() + message.length <= 3000
          expect(queue.canHold(message.length)).toBe(fits)
          if (!fits) continue
          if (action.isFrame) queue.putFrom(new BitReader(message), message.length)
          else queue.put(message)
          model.push(message)
        }
        expect([queue.count, queue.usedBytes]).toEqual([model.length, modelBytes()])
        const [front] = model
        if (front === undefined) continue
        const out = new Uint8Array(700)
        expect(out.slice(0, queue.copyFront(out))).toEqual(front)
        const writer = new BitWriter(new Uint8Array(704))
        writer.writeBits(5, 3)
        queue.writeFront(writer)
        const reader = new BitReader(writer.bytes.slice(0, writer.finish()))
        reader.readBits(3)
        expect(front.every((byte) => reader.readBits(8) === byte)).toBe(true)
        expect(queue.copyFront(out, Math.min(3, front.length), 1, 10)).toBe(
          Math.min(10, front.length - Math.min(3, front.length)),
        )
      }
    }),
    { seed: 41, numRuns: 100 },
  )
})
