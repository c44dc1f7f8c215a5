import { expect, test } from 'vitest'
import type { BitWriter } from '../bits/bit-writer.ts'
import type { FrameSource } from '../packet/frame-source.ts'
import { PacedSource, snapshotPeriod } from './paced-source.ts'

/** A source that always has data, and counts how often it begins. */
class Counting implements FrameSource {
  begins = 0
  attach(): void {}
  begin(): void { this.begins++ }
  wantsAt(now: number): number { return now }
  fill(_now: number, _sequence: number, _out: BitWriter): boolean { return false }
  onDelivered(): void {}
  onLost(): void {}
}

function run(period: number, ticks: readonly number[]): number[] {
  const source = new Counting()
  let tick = 0
  const paced = new PacedSource(source, period, () => tick)
  return ticks.map((each) => {
    tick = each
    const before = source.begins
    expect(paced.wantsAt(7)).toBeOneOf([7, Infinity])
    const isWanted = paced.wantsAt(7) === 7
    paced.begin(7)
    expect(source.begins > before, `tick ${each}`).toBe(isWanted)
    return source.begins
  })
}

test('a source begins on every n-th tick, once, and at its first tick in any case', () => {
  expect(run(3, [4, 4, 5, 6, 6, 7, 8, 9])).toEqual([1, 1, 1, 2, 2, 2, 2, 3])
  expect(run(1, [1, 2, 2, 3])).toEqual([1, 2, 2, 3])
})

test('a host that catches up over a tick of the grid begins once, afterwards', () => {
  expect(run(4, [4, 9, 10, 12, 30, 31, 32])).toEqual([1, 2, 2, 3, 4, 4, 5])
})

test('the period is the nearest whole number of ticks, and at least one', () => {
  expect([snapshotPeriod(60, 30), snapshotPeriod(60, 25), snapshotPeriod(30, 60), snapshotPeriod(128, 20)]).toEqual([
    2, 2, 1, 6,
  ])
})
