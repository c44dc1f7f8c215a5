import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SpentTokens, type TokenJournal } from './spent-tokens.ts'

const id = (value: number): Uint8Array => {
  const bytes = new Uint8Array(16)
  new DataView(bytes.buffer).setUint32(0, value)
  return bytes
}
const key = (value: number): Uint8Array => new Uint8Array(32).fill(value)
const NOW = 1_800_000_000

/** A journal in memory that can be made to fail. */
class MemoryJournal implements TokenJournal {
  bytes: Uint8Array
  isBroken = false
  replaced = 0

  constructor(bytes: Uint8Array = new Uint8Array(0)) {
    this.bytes = bytes
  }

  load(): Uint8Array {
    return this.bytes.slice()
  }

  append(bytes: Uint8Array): boolean {
    if (!this.isBroken) this.bytes = Uint8Array.of(...this.bytes, ...bytes)
    return !this.isBroken
  }

  replace(bytes: Uint8Array): boolean {
    if (this.isBroken) return false
    this.replaced++
    this.bytes = bytes.slice()
    return true
  }
}

describe('spent tokens', () => {
  test('[TOKEN6] a token is accepted once; its client may repeat the response, and another may not use it', () => {
    const spent = new SpentTokens(NOW)
    expect(spent.spend(NOW, id(1), key(1), NOW + 300)).toBe('fresh')
    expect(spent.spend(NOW + 1, id(1), key(1), NOW + 300)).toBe('repeated')
    expect(spent.spend(NOW + 1, id(1), key(2), NOW + 300)).toBe('spent')
    expect(spent.spend(NOW + 1, id(2), key(2), NOW + 300)).toBe('fresh')
  })

  test('[TOKEN6] S3: once the connection of a token has opened, its own client is not admitted by it again', () => {
    const spent = new SpentTokens(NOW)
    spent.finish(id(1))
    expect(spent.isSpent(id(1), key(1)), 'nothing was spent yet').toBe(false)
    spent.spend(NOW, id(1), key(1), NOW + 300)
    expect([spent.isSpent(id(1), key(1)), spent.isSpent(id(1), key(2))]).toEqual([false, true])
    spent.finish(id(1))
    expect([spent.isSpent(id(1), key(1)), spent.isSpent(id(1), key(2))]).toEqual([true, true])
    expect(spent.spend(NOW + 1, id(1), key(1), NOW + 300)).toBe('spent')
  })

  test('[TOKEN6] a server that restarts still knows spent tokens', () => {
    const journal = new MemoryJournal()
    expect(new SpentTokens(NOW, journal).spend(NOW, id(1), key(1), NOW + 300)).toBe('fresh')
    const after = new SpentTokens(NOW + 200, journal)
    expect(after.spend(NOW + 200, id(1), key(2), NOW + 300)).toBe('spent')
    expect(after.spend(NOW + 200, id(1), key(1), NOW + 300)).toBe('repeated')
    expect(new SpentTokens(NOW + 300, journal).count).toBe(0)
  })

  test('[TOKEN7] expired tokens are forgotten, and no others', () => {
    const lives = fc.array(fc.tuple(fc.integer({ min: 1, max: 3600 }), fc.nat(200)), { maxLength: 80 })
    fc.assert(
      fc.property(lives, (steps) => {
        const spent = new SpentTokens(NOW)
        const model = new Map<number, number>()
        let now = NOW
        for (const [index, [life, wait]] of steps.entries()) {
          now += wait
          expect(spent.spend(now, id(index), key(1), now + life)).toBe('fresh')
          model.set(index, now + life)
          for (const [known, expiresAt] of model)
            if (expiresAt > now) expect(spent.spend(now, id(known), key(2), expiresAt)).toBe('spent')
        }
        expect(spent.spend(now + 3660, id(9999), key(1), now + 4000)).toBe('fresh')
        expect(spent.count).toBe(1)
      }),
      { seed: 1, numRuns: 60 },
    )
  })

  test('[TOKEN7] when the table is full, no new token is accepted, and known ones are still known', () => {
    const spent = new SpentTokens(NOW, undefined, 3)
    for (const value of [1, 2, 3]) expect(spent.spend(NOW, id(value), key(1), NOW + 100)).toBe('fresh')
    expect(spent.spend(NOW, id(4), key(1), NOW + 100)).toBe('full')
    expect(spent.spend(NOW, id(1), key(1), NOW + 100)).toBe('repeated')
    expect(spent.spend(NOW + 160, id(4), key(1), NOW + 300)).toBe('fresh')
  })

  test('[TOKEN7] a clock that is set back makes no token valid again', () => {
    const spent = new SpentTokens(NOW)
    expect(spent.spend(NOW, id(1), key(1), NOW + 10)).toBe('fresh')
    expect(spent.spend(NOW + 500, id(2), key(1), NOW + 600)).toBe('fresh')
    expect(spent.spend(NOW, id(1), key(9), NOW + 10)).toBe('expired')
    expect(spent.spend(NOW, id(3), key(9), NOW + 400)).toBe('expired')
  })

  test('[TOKEN7] a clock that jumps costs a bounded number of steps', () => {
    const spent = new SpentTokens(0)
    spent.spend(0, id(1), key(1), 3600)
    expect(spent.spend(2 ** 52, id(2), key(1), 2 ** 52 + 60)).toBe('fresh')
    expect(spent.count).toBe(1)
  })

  test('[TOKEN8] a token that cannot be written to the journal is not accepted', () => {
    const journal = new MemoryJournal()
    const spent = new SpentTokens(NOW, journal)
    journal.isBroken = true
    expect(spent.spend(NOW, id(1), key(1), NOW + 100)).toBe('unwritten')
    journal.isBroken = false
    expect(spent.spend(NOW, id(1), key(2), NOW + 100)).toBe('fresh')
  })

  test('[TOKEN8] cut at any byte, the journal gives all whole records and is in step again', () => {
    const whole = new MemoryJournal()
    const first = new SpentTokens(NOW, whole)
    for (const value of [1, 2, 3]) first.spend(NOW, id(value), key(value), NOW + 100)
    for (let length = 0; length <= whole.bytes.length; length++) {
      const torn = new MemoryJournal(whole.bytes.slice(0, length))
      const after = new SpentTokens(NOW, torn)
      expect(after.count).toBe(Math.floor(length / 64))
      expect(after.damagedRecords).toBe(length % 64 === 0 ? 0 : 1)
      expect(after.spend(NOW, id(9), key(9), NOW + 100)).toBe('fresh')
      expect(new SpentTokens(NOW, torn)).toMatchObject({ count: Math.floor(length / 64) + 1, damagedRecords: 0 })
    }
  })

  test('[TOKEN8] a record with a changed bit is skipped and counted', () => {
    const journal = new MemoryJournal()
    const first = new SpentTokens(NOW, journal)
    for (const value of [1, 2]) first.spend(NOW, id(value), key(value), NOW + 100)
    for (let bit = 0; bit < 64 * 8; bit++) {
      const bytes = journal.bytes.slice()
      bytes[bit >> 3]! ^= 1 << (bit & 7)
      expect(new SpentTokens(NOW, new MemoryJournal(bytes)), `bit ${bit}`).toMatchObject({
        count: 1,
        damagedRecords: 1,
      })
    }
  })

  test('[TOKEN8] the journal does not grow forever', () => {
    const journal = new MemoryJournal()
    const spent = new SpentTokens(NOW, journal, 10)
    for (let value = 0; value < 500; value++) {
      expect(spent.spend(NOW + 30 * value, id(value), key(1), NOW + 30 * value + 60)).toBe('fresh')
      expect(journal.bytes.length / 64).toBeLessThanOrEqual(21)
    }
    expect(journal.replaced).toBeGreaterThan(10)
  })
})
