import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AckBlock } from '../packet/ack-block.ts'
import { AckWindow } from './ack-window.ts'

function blockAt(window: AckWindow, now: number): AckBlock {
  const block = new AckBlock()
  window.fill(now, block)
  return block
}

function isAcked(block: AckBlock, bit: number): boolean {
  return (((bit < 32 ? block.lo : block.hi) >>> (bit & 31)) & 1) === 1
}

describe('ack window', () => {
  test('[ACK2] before the first packet latest is 0, and everything before it counts as received', () => {
    expect(blockAt(new AckWindow(), 9)).toEqual(Object.assign(new AckBlock(), { latest: 0, delayUnits: 0 }))
    const window = new AckWindow()
    window.mark(0, 1, true)
    expect(blockAt(window, 0)).toMatchObject({ latest: 1, lo: 0xffff_ffff, hi: 0xffff_ffff })
  })

  test('[ACK1] bit n stands for latest - 1 - n, whatever the order of arrival', () => {
    const arrivals = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 150 })
    fc.assert(fc.property(arrivals, (sequences) => {
      const window = new AckWindow()
      const seen = new Set<number>()
      let latest = 0
      for (const sequence of sequences) {
        window.mark(0, sequence, false)
        // A packet that arrives more than 64 behind can no longer be acknowledged.
        if (sequence >= latest - 64) seen.add(sequence)
        latest = Math.max(latest, sequence)
      }
      const block = blockAt(window, 0)
      expect(block.latest).toBe(latest)
      for (let bit = 0; bit < 64; bit++) {
        const sequence = latest - 1 - bit
        expect(isAcked(block, bit)).toBe(sequence <= 0 || seen.has(sequence))
      }
    }), { seed: 6, numRuns: 300 })
  })

  test('[ACK1] latest is the low half of the sequence', () => {
    const window = new AckWindow()
    window.mark(0, 65_535, true)
    window.mark(0, 65_537, true)
    expect(blockAt(window, 0)).toMatchObject({ latest: 1, lo: 2 })
  })

  test('[ACK8] the delay of the latest packet is sent in units of 32 us, and saturates', () => {
    const window = new AckWindow()
    window.mark(100, 1, true)
    expect(blockAt(window, 100.1).delayUnits).toBe(3)
    expect(blockAt(window, 101).delayUnits).toBe(31)
    expect(blockAt(window, 99).delayUnits).toBe(0)
    expect(blockAt(window, 100_000).delayUnits).toBe(0xffff)
  })

  test('[ACK5] an ack is due 100 ms after a packet with frames, or at once after 16; never for one without', () => {
    const window = new AckWindow()
    window.mark(0, 1, false)
    expect(window.dueAt).toBe(Infinity)
    window.mark(10, 2, true)
    window.mark(60, 3, true)
    expect(window.dueAt).toBe(110)
    window.settle()
    expect(window.dueAt).toBe(Infinity)
    for (let sequence = 4; sequence < 19; sequence++) window.mark(70, sequence, true)
    expect(window.dueAt).toBe(170)
    window.mark(71, 19, true)
    expect(window.dueAt).toBe(71)
  })
})
