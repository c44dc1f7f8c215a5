/**
 * The small frames, bit by bit: inputs and timing. They mirror `time/input-buffer.ts` and `time/timing-frame.ts`, which
 * show the layouts.
 */

import type { Tick } from '../../base/time.ts'
import { readVarint } from '../../bits/varint.ts'
import { readDelta } from '../../schema/row-delta.ts'
import type { Schema } from '../../schema/schema.ts'
import type { ValueStore } from '../../schema/values.ts'
import { AGE_BITS } from '../../time/input-ring.ts'
import { AGE_SMALL_BITS, INPUT_COUNT_BITS } from '../../time/input-source.ts'
import { valuesOf, valueText } from '../mistake-text.ts'
import type { BitNaming } from './bit-naming.ts'

/** Names the bits of an inputs frame. Returns the input of each tick. */
export function dissectInputs(
  naming: BitNaming,
  schema: Schema,
  heap: ValueStore,
): { tick: Tick; values: Record<string, unknown> }[] {
  const { reader } = naming
  naming.where = 'inputs'
  const newest = naming.name('inputs.newest', readVarint)
  const count = naming.name('inputs.count', () => reader.readBits(INPUT_COUNT_BITS), (less) => String(less + 1)) + 1
  const held: { tick: Tick; values: Record<string, unknown> }[] = []
  let base = schema.initialRow
  for (let index = 0; index < count && !reader.failed; index++) {
    const tick = newest - count + 1 + index
    naming.where = `inputs, tick ${tick}`
    const row = new Int32Array(schema.laneCount)
    const reads: { at: number; length: number }[] = []
    reader.onRead = (at, length) => { if (length > 0) reads.push({ at, length }) }
    readDelta(reader, schema, schema.masks[0], row, 0, base, 0, heap)
    reader.onRead = undefined
    const values = valuesOf(schema, row, 0, heap)
    const [mask, ...fields] = reads
    if (mask !== undefined)
      naming.add(
        'inputs.mask',
        mask.at,
        mask.length,
        Object.entries(values)
          .map(([name, value]) => `${name} ${valueText(value)}`)
          .join(', '),
      )
    for (const { at, length } of fields) naming.add('inputs.field', at, length, '')
    naming.name('inputs.view', () => {
      if (index === 0) reader.readBits(AGE_BITS)
      else if (reader.readBits(1) === 1) reader.readBits(reader.readBits(1) === 1 ? AGE_BITS : AGE_SMALL_BITS)
    }, () => '')
    base = row
    held.push({ tick, values })
  }
  return held
}

/** Names the bits of a timing frame. */
export function dissectTiming(naming: BitNaming): void {
  const { reader } = naming
  const margin = (bits: number): string => `${((bits << 20 >> 20) / 16).toFixed(2)} ticks`
  naming.where = 'timing'
  naming.name('timing.tick', readVarint)
  naming.name('timing.phase', () => reader.readBits(8), (phase) => (phase / 256).toFixed(2))
  if (naming.name('timing.hasMargins', () => reader.readBits(1)) === 1) {
    naming.name('timing.marginMin', () => reader.readBits(12), margin)
    naming.name('timing.marginMean', () => reader.readBits(12), margin)
  }
  naming.name('timing.late', () => reader.readBits(8))
  if (naming.name('timing.hasDigest', () => reader.readBits(1)) === 1)
    naming.name(
      'timing.digest',
      () => reader.readBits(32),
      (digest) => digest.toString(16),
    )
}
