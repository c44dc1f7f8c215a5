import { describe, expect, test } from 'vitest'
import { OBJECTS_MAX } from '../base/limits.ts'
import { indexOf, NO_TYPE, ObjectTable } from './object-table.ts'

describe('ids', () => {
  test('[WORLD1] are index and generation, ascending with the index, never 0', () => {
    const table = new ObjectTable()
    const ids = Array.from({ length: 300 }, (_, slot) => table.take(3, slot, 7))
    expect(ids[0]).toBe(1)
    expect(ids.map(indexOf)).toEqual(ids.map((_, index) => index))
    expect(ids).toEqual([...ids].sort((a, b) => a - b))
    expect(ids.every((id) => table.isAlive(id))).toBe(true)
    expect(table.slotAt(299)).toBe(299)
    expect(table.typeAt(299)).toBe(3)
    expect(table.ownerAt(299)).toBe(7)
  })

  test('[WORLD1] of dead objects resolve to no object, however often their index is reused', () => {
    const table = new ObjectTable()
    const seen = new Set<number>()
    for (let life = 0; life < 65_535; life++) {
      const id = table.take(0, 1, 0)
      if (seen.has(id)) throw new Error(`id ${id} was reused in life ${life}`)
      seen.add(id)
      table.unseat(id)
      table.release(indexOf(id))
    }
    expect(table.highWater).toBe(1)
    expect(seen.has(table.take(0, 1, 0))).toBe(true)
  })

  test('[WORLD1] the index that is free for longest is reused first', () => {
    const table = new ObjectTable()
    const ids = Array.from({ length: 5 }, () => table.take(0, 1, 0))
    for (const at of [3, 0, 4]) {
      table.unseat(ids[at]!)
      table.release(at)
    }
    expect([1, 2, 3, 4].map(() => indexOf(table.take(0, 1, 0)))).toEqual([3, 0, 4, 5])
  })

  test('[WORLD1] an invalid id resolves to no object', () => {
    const table = new ObjectTable()
    const id = table.take(0, 1, 0)
    for (const other of [0, -1, NaN, id + 0.5, id + 2 ** 32, Infinity, id + 65_536])
      expect(table.isAlive(other)).toBe(false)
  })
})

describe('seats', () => {
  test('an object sits where the authority says; indexes in between are as if never used', () => {
    const table = new ObjectTable()
    const id = 100 * 65_536 + 9
    table.seat(id, 2, 5, 3)
    expect(table.isAlive(id)).toBe(true)
    expect(table.highWater).toBe(101)
    expect(table.typeAt(50)).toBe(NO_TYPE)
    table.unseat(id)
    expect(table.isAlive(id)).toBe(false)
    expect(indexOf(table.take(0, 1, 0))).toBe(101)
  })

  test('a seat among free indexes takes its index out of the queue, wherever it stands there', () => {
    for (const seated of [0, 1, 2]) {
      const table = new ObjectTable()
      const ids = [0, 1, 2].map(() => table.take(0, 1, 0))
      for (const id of ids) {
        table.unseat(id)
        table.release(indexOf(id))
      }
      table.seat(seated * 65_536 + 77, 0, 1, 0)
      const rest = [0, 1, 2].filter((index) => index !== seated)
      expect([...rest, 3].map(() => indexOf(table.take(0, 1, 0)))).toEqual([...rest, 3])
      table.unseat(seated * 65_536 + 77)
      table.release(seated)
      expect(table.take(0, 1, 0)).toBe(seated * 65_536 + 78)
    }
  })
})

test('[WORLD10] a full table refuses a spawn, and a freed index makes room again', () => {
  const table = new ObjectTable()
  let last = 0
  while (!table.isFull) last = table.take(0, 1, 0)
  expect(table.highWater).toBe(OBJECTS_MAX)
  expect(last).toBe((OBJECTS_MAX - 1) * 65_536 + 1)
  expect(() => table.take(0, 1, 0)).toThrow()
  table.unseat(last)
  table.release(indexOf(last))
  expect(table.isFull).toBe(false)
  expect(table.take(0, 1, 0)).toBe(last + 1)
})
