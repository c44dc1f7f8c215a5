import { describe, expect, test } from 'vitest'
import { BaselineGrid } from './baseline-grid.ts'

/** Ticks that make so many deltas each. */
function observe(grid: BaselineGrid, deltas: number, ticks: number): void {
  for (let tick = 0; tick < ticks; tick++) grid.observe(deltas)
}

describe('cells of ticks', () => {
  test('[REPL26] end with the last tick that is told, whatever the ticks are', () => {
    const grid = new BaselineGrid(1)
    expect([0, 1, 2, 3, 4].map((tick) => grid.endOf(tick))).toEqual([0, 1, 2, 3, 4])
    grid.fix(4)
    expect([0, 1, 2, 3, 4, 7, 8].map((tick) => grid.endOf(tick))).toEqual([3, 3, 3, 3, 7, 7, 11])
    const even = new BaselineGrid(2)
    even.fix(8)
    expect([0, 2, 6, 8].map((tick) => even.endOf(tick))).toEqual([6, 6, 6, 14])
    expect([1, 3, 7, 9].map((tick) => even.endOf(tick))).toEqual([7, 7, 7, 15])
    const third = new BaselineGrid(3)
    third.fix(6)
    expect([0, 3, 6].map((tick) => third.endOf(tick))).toEqual([3, 3, 9])
  })

  test('[REPL26] are single tellings in rooms of a few dozen, and grow up to four where thousands of deltas are made', () => {
    const grid = new BaselineGrid(2)
    observe(grid, 900, 192)
    expect(grid.ticks).toBe(2)
    observe(grid, 5000, 16)
    expect(grid.ticks).toBe(4)
    observe(grid, 5000, 200)
    expect(grid.ticks).toBe(8)
  })

  test('[REPL27] at the widest, and where twenty thousand entries are told in a tick, blocks are told by sheets', () => {
    const grid = new BaselineGrid(1)
    const tell = (entries: number, deltas: number, ticks: number): boolean => {
      for (let tick = 0; tick < ticks; tick++) {
        grid.count(entries)
        grid.observe(deltas)
      }
      return grid.isSheeted
    }
    expect(tell(60_000, 3000, 64), 'as long as cells are single tellings').toBe(false)
    expect(tell(60_000, 5000, 64)).toBe(true)
    expect(tell(12_000, 3000, 32), 'and stay so with half of that').toBe(true)
    expect(tell(8000, 3000, 32)).toBe(false)
    expect(tell(15_000, 3000, 32)).toBe(false)
    expect(tell(60_000, 3000, 32)).toBe(true)
    expect(tell(60_000, 500, 16), 'nor where next to nothing is made').toBe(false)
  })

  test('[REPL26] are waited for: two tellings where each is a cell, three cells where they are wide', () => {
    const grid = new BaselineGrid(2)
    expect(grid.lagTicks).toBe(4)
    grid.fix(8)
    expect(grid.lagTicks).toBe(24)
    grid.fix(2)
    expect(grid.lagTicks).toBe(4)
  })

  test('[REPL26] shrink when little is made, and stay as they are between', () => {
    const grid = new BaselineGrid(1)
    observe(grid, 9000, 64)
    expect(grid.ticks).toBe(4)
    observe(grid, 2000, 64)
    expect(grid.ticks).toBe(4)
    observe(grid, 500, 16)
    expect(grid.ticks).toBe(2)
    observe(grid, 0, 64)
    expect(grid.ticks).toBe(2)
    observe(grid, 500, 16)
    expect(grid.ticks).toBe(1)
  })
})
