import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ReplayWindow } from './replay-window.ts'

describe('replay window', () => {
  test('[ACK11] there are four outcomes: newer, late but new, seen, too old', () => {
    const window = new ReplayWindow()
    expect(window.peek(0)).toBe('old')
    window.mark(5)
    expect(window.peek(6)).toBe('new')
    expect(window.peek(4)).toBe('new')
    expect(window.peek(5)).toBe('duplicate')
    window.mark(5 + 1024)
    expect(window.peek(5)).toBe('old')
    expect(window.peek(6)).toBe('new')
  })

  test('[ACK11] a lookup does not mark: a forger cannot make the receiver drop packets that are not sent yet', () => {
    const window = new ReplayWindow()
    window.peek(900)
    window.peek(900)
    expect(window.peek(900)).toBe('new')
  })

  test('[ACK11] it agrees with a set of all sequences ever seen', () => {
    const steps = fc.array(fc.oneof(fc.integer({ min: -1100, max: 5 }), fc.integer({ min: 1, max: 3000 })), {
      maxLength: 300,
    })
    fc.assert(
      fc.property(steps, (distances) => {
        const window = new ReplayWindow()
        const seen = new Set<number>()
        let newest = 0
        for (const distance of distances) {
          const sequence = newest + distance
          if (sequence <= 0) continue
          const expected = sequence <= newest - 1024 ? 'old' : seen.has(sequence) ? 'duplicate' : 'new'
          expect(window.peek(sequence)).toBe(expected)
          if (expected !== 'new') continue
          window.mark(sequence)
          seen.add(sequence)
          newest = Math.max(newest, sequence)
        }
      }),
      { seed: 5, numRuns: 200 },
    )
  })
})
