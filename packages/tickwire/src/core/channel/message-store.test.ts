import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { MessageStore } from './message-store.ts'

const message = (size: number, seed: number): Uint8Array =>
  Uint8Array.from({ length: size }, (_, index) => seed + index * 7)

function taken(store: MessageStore, handle: number): Uint8Array {
  const out = new Uint8Array(2000)
  return out.slice(0, store.copyTo(handle, out))
}

describe('message store', () => {
  test('[CH7] stored messages do not change, whatever is put and released in any order, within the bound', () => {
    const steps = fc.array(fc.tuple(fc.boolean(), fc.nat(600), fc.nat(50)), { maxLength: 300 })
    fc.assert(fc.property(steps, (history) => {
      const store = new MessageStore(8192)
      const held: [number, Uint8Array][] = []
      history.forEach(([isPut, size, which], seed) => {
        if (isPut && store.canHold(size)) held.push([store.put(message(size, seed)), message(size, seed)])
        else if (held.length > 0) store.release(held.splice(which % held.length, 1)[0]![0])
        expect(store.usedBytes).toBeLessThanOrEqual(8192)
      })
      for (const [handle, bytes] of held) expect(taken(store, handle)).toEqual(bytes)
      for (const [handle] of held) store.release(handle)
      expect(store.usedBytes).toBe(0)
      expect(store.canHold(8192)).toBe(true)
    }), { seed: 8, numRuns: 200 })
  })

  test('[CH7] a message that does not fit is refused, and an empty message takes a block too', () => {
    const store = new MessageStore(1024)
    expect(store.canHold(1024)).toBe(true)
    expect(store.canHold(1025)).toBe(false)
    store.put(message(0, 0))
    expect(store.canHold(1024)).toBe(false)
    expect(store.canHold(1024 - 128)).toBe(true)
  })

  test('messages are written into frames and read from them at any bit', () => {
    fc.assert(fc.property(fc.nat(700), fc.nat(7), (size, shift) => {
      const store = new MessageStore(8192)
      const frame = new BitWriter(new Uint8Array(1000))
      frame.writeBits(0, shift)
      store.writeTo(store.put(message(size, 3)), frame)
      const reader = new BitReader(frame.bytes.slice(0, frame.finish()))
      reader.skipBits(shift)
      expect(taken(store, store.putFrom(reader, size))).toEqual(message(size, 3))
      expect(reader.finish()).toBe(true)
    }), { seed: 9 })
  })
})
