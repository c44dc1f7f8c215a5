import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { expand16, expand16AtMost, isNewer16 } from './sequence.ts'

const SEQUENCE_MAX = Number.MAX_SAFE_INTEGER - 0x10000
const wholeSequence = fc.oneof(fc.integer({ min: 0, max: 200_000 }), fc.integer({ min: 0, max: SEQUENCE_MAX }))

describe('isNewer16', () => {
  const starts = [0, 1, 2, 0x7ffe, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff, 12345, 54321]

  test('[SEQ1] every distance from every boundary follows the formula', () => {
    let wrong = 0
    for (const b of starts) {
      for (let a = 0; a <= 0xffff; a++) {
        const expected = (a > b && a - b <= 0x8000) || (a < b && b - a > 0x8000)
        if (isNewer16(a, b) !== expected) wrong++
      }
    }
    expect(wrong).toBe(0)
  })

  test('[SEQ1] of two different numbers exactly one is newer, also at half the circle', () => {
    let wrong = 0
    for (const b of starts) {
      for (let a = 0; a <= 0xffff; a++) {
        if (Number(isNewer16(a, b)) + Number(isNewer16(b, a)) !== (a === b ? 0 : 1)) wrong++
      }
    }
    expect(wrong).toBe(0)
  })

  test('[SEQ1] the successor is newer, everywhere', () => {
    for (let b = 0; b <= 0xffff; b++) {
      const next = (b + 1) & 0xffff
      if (!isNewer16(next, b) || isNewer16(b, next)) expect.fail(`at ${b}`)
    }
  })
})

describe('expand16', () => {
  test('[SEQ2] finds the sequence again within half the circle on either side', () => {
    fc.assert(
      fc.property(wholeSequence, fc.integer({ min: -0x8000, max: 0x7fff }), (near, distance) => {
        const sequence = near + distance
        fc.pre(sequence >= 0)
        expect(expand16(sequence % 0x10000, near)).toBe(sequence)
      }),
      { seed: 1, numRuns: 2000 },
    )
  })

  test('[SEQ2] is never negative and always ends in the bits it was given', () => {
    for (const near of [0, 1, 0x7fff, 0x8000, 0xffff, 0x10000, 0x18000, SEQUENCE_MAX]) {
      for (let low = 0; low <= 0xffff; low++) {
        const expanded = expand16(low, near)
        if (expanded < 0 || expanded % 0x10000 !== low) expect.fail(`low ${low} near ${near} gave ${expanded}`)
      }
    }
  })

  test('[SEQ2] exactly half the circle away is the older one', () => {
    expect(expand16(0x8000, 0x10000)).toBe(0x8000)
    expect(expand16(0x7fff, 0xffff)).toBe(0x7fff)
  })
})

describe('expand16AtMost', () => {
  test('[SEQ3] finds the sequence again from any distance below the circle', () => {
    fc.assert(
      fc.property(wholeSequence, fc.integer({ min: 0, max: 0xffff }), (highest, distance) => {
        const sequence = highest - distance
        fc.pre(sequence >= 0)
        expect(expand16AtMost(sequence % 0x10000, highest)).toBe(sequence)
      }),
      { seed: 2, numRuns: 2000 },
    )
  })

  test('[SEQ3] a sequence that was never sent becomes negative', () => {
    expect(expand16AtMost(6, 5)).toBe(6 - 0x10000)
    expect(expand16AtMost(5, 5)).toBe(5)
  })
})
