import { describe, expect, test } from 'vitest'
import {
  allocatedBytes, figuresTable, formatTable, interleave, isWithinBudget, median, ratio, type Timing,
} from './harness.ts'

describe('interleave', () => {
  test('runs every contender every round, in turns, and counts only what comes after the warm-up', () => {
    const order: string[] = []
    const contender = (name: string): { name: string; ops: number; run(): void } => ({
      name,
      ops: 1,
      run: () => void order.push(name),
    })
    const timings = interleave([contender('a'), contender('b'), contender('c')], 2, 1)
    expect(order.join('')).toBe('abcbcacab')
    expect(timings.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
    for (const { ns, nsMin, nsMax } of timings) expect(nsMin <= ns && ns <= nsMax).toBe(true)
  })

  test('a ratio is computed within a round, whatever slowed it, and only of contenders that exist', () => {
    const timing = (name: string, rounds: number[]): Timing => ({ name, ns: 0, nsMin: 0, nsMax: 0, rounds })
    const timings = [timing('a', [3, 30, 5]), timing('b', [12, 120, 10])]
    expect(ratio(timings, 'a', 'b')).toBe(0.25)
    expect(() => ratio(timings, 'a', 'c')).toThrow('no contender c')
    expect([median([1, 2, 9]), median([1, 2, 4, 9])]).toEqual([2, 3])
  })
})

describe('allocatedBytes', () => {
  test('measures what an operation allocates', () => {
    const kept: number[][] = []
    const bytes = allocatedBytes(() => {
      for (let count = 0; count < 1000; count++) kept[count] = [count, count + 0.5, count]
    }, 1000)
    expect(bytes).toBeGreaterThan(32)
    expect(bytes).toBeLessThan(500)
  })

  test('is 0 for an operation that allocates nothing', () => {
    const cells = new Int32Array(1000)
    expect(allocatedBytes(() => {
      for (let count = 0; count < 1000; count++) cells[count] = (cells[count]! + count) | 0
    }, 1000)).toBeLessThan(1)
  })
})

test('a figure misses its budget above it, below it, or when it is not a number', () => {
  const figure = { name: 'x', value: 0.4, unit: 'ratio', against: null }
  expect(isWithinBudget(figure)).toBe(true)
  expect(isWithinBudget({ ...figure, atMost: 0.4 })).toBe(true)
  expect(isWithinBudget({ ...figure, atMost: 0.39 })).toBe(false)
  expect(isWithinBudget({ ...figure, atLeast: 0.41 })).toBe(false)
  expect(isWithinBudget({ ...figure, value: NaN })).toBe(false)
})

test('tables are aligned, and missed budgets are marked', () => {
  const table = figuresTable([
    { name: 'write_ratio', value: 0.123456, unit: 'ratio', against: 'peer 1.0', atMost: 0.1 },
    { name: 'ns', value: 12345.6, unit: 'ns', against: null },
  ])
  expect(formatTable(table).split('\n')).toEqual([
    'figures',
    'name         value   unit         budget   against',
    '-----------  -----  -----  -------------  --------',
    'write_ratio  0.123  ratio  <= 0.1 MISSED  peer 1.0',
    'ns           12346     ns',
  ])
})
