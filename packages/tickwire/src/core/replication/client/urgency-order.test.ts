import fc from 'fast-check'
import { expect, test } from 'vitest'
import { orderByUrgency, sortAscending } from './urgency-order.ts'

test('[REPL10] more urgent objects come first, to a fifth; equal ones keep their order', () => {
  const urgency = fc.oneof(
    fc.double({ min: 2 ** -20, max: 1000, noNaN: true }),
    fc.constantFrom(0, 1, 2 ** 60, Infinity, 2 ** -20),
  )
  fc.assert(
    fc.property(fc.array(urgency, { maxLength: 60 }), (values) => {
      const urgencies = Float32Array.from(values)
      const indexes = Uint32Array.from(values, (_, index) => index)
      const order = new Uint32Array(values.length)
      orderByUrgency(indexes, values.length, { urgencyOf: (index) => urgencies[index]! }, order)
      expect([...order].sort((first, second) => first - second)).toEqual([...indexes])
      for (let at = 1; at < order.length; at++) {
        const [before, after] = [urgencies[order[at - 1]!]!, urgencies[order[at]!]!]
        expect(before === after || after < before * 1.251 || after === Infinity).toBe(true)
        if (before === after) expect(order[at - 1]).toBeLessThan(order[at]!)
      }
    }),
    { numRuns: 500, seed: 1 },
  )
})

test('[REPL10] the chosen part is sorted, along with its deltas, and nothing else', () => {
  const order = Uint32Array.of(9, 5, 3, 8, 1, 0)
  const along = Int32Array.of(90, 50, 30, 80, 10, 7)
  sortAscending(order, along, 1, 5)
  expect([...order]).toEqual([9, 1, 3, 5, 8, 0])
  expect([...along]).toEqual([90, 10, 30, 50, 80, 7])
})
