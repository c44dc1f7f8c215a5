/** The timed runs of one variant of the row codec: rows and deltas, written and read. */

import { BitReader } from '../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../packages/tickwire/src/core/bits/bit-writer.ts'
import type { Contender } from './harness.ts'
import { FIELD_COUNT } from './scenario.ts'
import type { Variant } from './schema-variants.ts'

/** Four runs of one variant, each a plain loop: a shared function would be compiled for all variants together. */
export function variantRuns(variant: Variant, rows: readonly Int32Array[], players: number): Contender[] {
  const ops = rows.length - 1
  const end = players * FIELD_COUNT
  const held = new Int32Array(end)
  const whole = rows.map(() => new Uint8Array(players * 16 + 8))
  const delta = rows.map(() => new Uint8Array(players * 20 + 8))
  const writer = new BitWriter(whole[0]!)
  const reader = new BitReader(whole[0]!)
  const checked = (tick: number): void => {
    if (reader.failed || held[end - 1] !== rows[tick]![end - 1]) throw new Error(`${variant.name} lost tick ${tick}`)
  }
  const runs: Contender[] = [
    {
      name: `write rows: ${variant.name}`,
      ops,
      run() {
        for (let tick = 1; tick <= ops; tick++) {
          writer.reset(whole[tick]!)
          for (let at = 0; at < end; at += FIELD_COUNT) variant.writeRow(writer, rows[tick]!, at)
          writer.finish()
        }
      },
    },
    {
      name: `read rows: ${variant.name}`,
      ops,
      run() {
        for (let tick = 1; tick <= ops; tick++) {
          reader.reset(whole[tick]!)
          for (let at = 0; at < end; at += FIELD_COUNT) variant.readRow(reader, held, at)
          checked(tick)
        }
      },
    },
    {
      name: `write deltas: ${variant.name}`,
      ops,
      run() {
        for (let tick = 1; tick <= ops; tick++) {
          writer.reset(delta[tick]!)
          for (let at = 0; at < end; at += FIELD_COUNT) variant.writeDelta(writer, rows[tick]!, at, rows[tick - 1]!, at)
          writer.finish()
        }
      },
    },
    {
      name: `read deltas: ${variant.name}`,
      ops,
      run() {
        for (let tick = 1; tick <= ops; tick++) {
          reader.reset(delta[tick]!)
          for (let at = 0; at < end; at += FIELD_COUNT) variant.readDelta(reader, held, at, rows[tick - 1]!, at)
          checked(tick)
        }
      },
    },
  ]
  for (const contender of runs) contender.run()
  return runs
}
