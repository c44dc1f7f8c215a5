/**
 * Splits a row delta into fields, for any coder. The coder reads as usual, from a reader that reports which bits are
 * read, into a row that reports which lane is written. Bits belong to the first field that is written after them.
 */

import { EntropyCoder } from '../../codec/entropy-coder.ts'
import type { FieldSet, RowCoder } from '../../codec/row-coder.ts'
import { RowPair } from '../../codec/row-coder.ts'
import type { Schema } from '../../schema/schema.ts'
import type { ValueStore } from '../../schema/values.ts'
import { valuesOf, valueText } from '../mistake-text.ts'
import type { BitNaming } from './bit-naming.ts'

/** A decoded row, and the fields that differ from the baseline. */
export interface DissectedRow {
  readonly row: Int32Array
  readonly changed: readonly {
    readonly field: string
    readonly before: string
    readonly after: string
    readonly bits: number
  }[]
}

/** The rows that a delta builds on. */
export type Bases = Pick<RowPair, 'baseRows' | 'baseAt' | 'age' | 'olderRows' | 'olderAt' | 'olderTicks'>

export function dissectRow(
  naming: BitNaming,
  schema: Schema,
  coder: RowCoder,
  set: FieldSet,
  bases: Bases,
  heap: ValueStore,
): DissectedRow {
  const row = new Int32Array(schema.laneCount)
  const bits = new Map<string, number>()
  let pending: { at: number; length: number }[] = []
  let masksLeft = coder instanceof EntropyCoder ? coder.model.plan.chunkCounts[set] : 1
  const memberOf = (lane: number): string =>
    schema.members.find(({ lane: first, laneCount }) => lane >= first && lane < first + laneCount)?.name ?? ''
  const said: { name: string; from: number }[] = []
  const settle = (name: string): void => {
    for (const { at, length } of pending) {
      const isMask = masksLeft-- > 0
      naming.add(isMask ? 'row.mask' : 'row.field', at, length, '', isMask ? naming.where : `${naming.where}.${name}`)
      if (!isMask) bits.set(name, (bits.get(name) ?? 0) + length)
      if (!isMask) said.push({ name, from: naming.spans.length - 1 })
    }
    pending = []
  }
  const rows = new Proxy(row, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
    set: (target, key, value) => {
      target[Number(key)] = Number(value)
      if (pending.length > 0) settle(memberOf(Number(key)))
      return true
    },
  })
  naming.reader.onRead = (at, length) => { if (length > 0) pending.push({ at, length }) }
  coder.read(naming.reader, set, Object.assign(new RowPair(), bases, { rows, at: 0 }), heap)
  naming.reader.onRead = undefined
  settle('')
  const after = valuesOf(schema, row, 0, heap)
  const before = valuesOf(schema, bases.baseRows.slice(bases.baseAt, bases.baseAt + schema.laneCount), 0, heap)
  for (const { name, from } of said) naming.spans[from] = { ...naming.spans[from], value: valueText(after[name]) }
  const changed = schema.members
    .map(({ name }) => ({
      field: name,
      before: valueText(before[name]),
      after: valueText(after[name]),
      bits: bits.get(name) ?? 0,
    }))
    .filter((each) => each.before !== each.after)
  return { row, changed }
}
