import fc from 'fast-check'
import { expect, test } from 'vitest'
import { schemaWithValues } from '../../../../../test/reference/schema-arbitrary.ts'
import { dequantizeRow, quantizeCells } from '../schema/cells.ts'
import { entity } from '../schema/definition.ts'
import { fixed } from '../schema/field-kinds.ts'
import { LEAF } from '../schema/leaf.ts'
import { ValueHeap } from '../schema/value-heap.ts'
import { storeValues } from '../schema/values.ts'
import { planSample, sampleCells } from './sample.ts'

/** Values that `step` may leave in a cell: any number. */
const wild = fc.oneof(
  fc.double(),
  fc.constantFrom(0, -0, NaN, Infinity, -Infinity, 1e-320, 2 ** 31, 2 ** 32, -(2 ** 40)),
  fc.integer({ min: -300, max: 300 }),
)

test('[WORLD12] sampling a store equals quantising each object and reading it back, whatever is in its cells', () => {
  const cases = fc.tuple(
    schemaWithValues(4),
    fc.array(fc.tuple(fc.nat(), wild), { maxLength: 30 }),
    fc.array(fc.tuple(fc.nat(), wild), { maxLength: 10 }),
  )
  fc.assert(
    fc.property(cases, ([{ schema, samples }, first, second]) => {
      const { cellCount, laneCount } = schema
      const slots = samples.length + 1
      const heap = new ValueHeap()
      const plan = planSample(schema)
      const cells = new Float64Array(slots * cellCount)
      const rows = new Int32Array(slots * laneCount)
      const stamps = new Float64Array(slots)
      samples.forEach((values, at) => {
        cells.set(schema.initialCells, (at + 1) * cellCount)
        storeValues(schema, values, cells, (at + 1) * cellCount, heap)
      })
      const isHandle = new Set(schema.leaves.filter(({ kind }) => kind === LEAF.heap).map(({ cell }) => cell))
      for (const [stamp, writes] of [
        [1, first],
        [2, second],
        [3, []],
      ] as const) {
        for (const [where, value] of writes) {
          const at = cellCount + (where % (cells.length - cellCount))
          if (!isHandle.has(at % cellCount)) cells[at] = value
        }
        const before = rows.slice()
        const expectedRows = rows.slice()
        const expectedCells = cells.slice()
        for (let slot = 1; slot < slots; slot++) {
          quantizeCells(schema, cells, slot * cellCount, expectedRows, slot * laneCount)
          dequantizeRow(schema, expectedRows, slot * laneCount, expectedCells, slot * cellCount)
        }
        sampleCells(plan, cells, rows, new Float32Array(rows.buffer), slots, stamps, stamp)
        expect(rows).toEqual(expectedRows)
        // toEqual distinguishes -0 from 0, and NaN equals NaN.
        expect([...cells]).toEqual([...expectedCells])
        for (let slot = 1; slot < slots; slot++) {
          const isChanged = rows
            .subarray(slot * laneCount, (slot + 1) * laneCount)
            .some((lane, at) => lane !== before[slot * laneCount + at])
          expect(stamps[slot] === stamp).toBe(isChanged)
        }
      }
    }),
    { numRuns: 400, seed: 12 },
  )
})

test('[WORLD12] halfway between two steps, and a bit beside it, is rounded as quantising does', () => {
  const { schema } = entity({ x: fixed(0, 4096, 1), y: fixed(-7, 9, 1 / 64), z: fixed(-1, 1, 0.1) }, { name: 'Halves' })
  const { cellCount, laneCount, leaves } = schema
  const plan = planSample(schema)
  const bits = new BigUint64Array(1)
  const beside = (value: number, by: bigint): number => {
    new Float64Array(bits.buffer)[0] = value
    bits[0]! += by
    return new Float64Array(bits.buffer)[0]!
  }
  fc.assert(
    fc.property(fc.nat(1023), fc.constantFrom(-2n, -1n, 0n, 1n, 2n), (steps, by) => {
      const cells = new Float64Array(6 * cellCount)
      const rows = new Int32Array(6 * laneCount)
      for (let slot = 1; slot < 6; slot++) {
        for (const { cell, quant } of leaves)
          cells[slot * cellCount + cell] = beside(quant.min + ((steps % quant.stepsMax) + 0.5) * quant.precision, by)
      }
      const expected = rows.slice()
      for (let slot = 1; slot < 6; slot++) quantizeCells(schema, cells, slot * cellCount, expected, slot * laneCount)
      sampleCells(plan, cells, rows, new Float32Array(rows.buffer), 6, new Float64Array(6), 1)
      expect(rows).toEqual(expected)
    }),
    { numRuns: 2000, seed: 13 },
  )
})
