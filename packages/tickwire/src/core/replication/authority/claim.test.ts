import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareClaims, newerClaim, type Claim } from './claim.ts'

const claim: fc.Arbitrary<Claim> = fc.record({
  owner: fc.integer({ min: 0, max: 5 }),
  tick: fc.integer({ min: 0, max: 6 }),
})

/** All permutations of some items. */
function permutations<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]]
  return items.flatMap((item, at) =>
    permutations(items.filter((_, other) => other !== at)).map((rest) => [item, ...rest]),
  )
}

describe('claims', () => {
  test('[AUTH5] claims that arrive in any order, any number of times, leave all peers with the same claim', () => {
    fc.assert(
      fc.property(
        fc.array(claim, { minLength: 1, maxLength: 5 }),
        fc.array(fc.nat(4), { maxLength: 4 }),
        (claims, again) => {
          const repeated = [...claims, ...again.map((at) => claims[at % claims.length]!)].slice(0, 6)
          const ends = permutations(repeated).map((order) => order.reduce(newerClaim))
          for (const end of ends) expect([end.owner, end.tick]).toEqual([ends[0]!.owner, ends[0]!.tick])
        },
      ),
      { seed: 17, numRuns: 60 },
    )
  })

  test('[AUTH5] the higher tick is newer, and of equal ticks the higher owner', () => {
    expect(newerClaim({ owner: 9, tick: 4 }, { owner: 1, tick: 5 })).toEqual({ owner: 1, tick: 5 })
    expect(newerClaim({ owner: 2, tick: 5 }, { owner: 3, tick: 5 })).toEqual({ owner: 3, tick: 5 })
    expect(compareClaims(5, 3, 5, 3)).toBe(0)
    fc.assert(fc.property(claim, claim, claim, (a, b, c) => {
      const order = (x: Claim, y: Claim): number => Math.sign(compareClaims(x.tick, x.owner, y.tick, y.owner))
      expect(order(a, b)).toBe(-order(b, a) + 0)
      if (order(a, b) >= 0 && order(b, c) >= 0) expect(order(a, c)).toBeGreaterThanOrEqual(0)
    }), { seed: 3 })
  })
})
