/**
 * The built-in tables of the entropy codec as a file that a program of any language reads: `npx tsx
 * tools/gen-codec-tables.ts` writes docs/wire/codec-tables.json; docs/wire/CODEC.md says how to read it, and a test
 * compares it with what the engine has.
 */

import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { LOPSIDED_MAX, SHAPE_MEANS, tokenFrequencies } from '../packages/tickwire/src/core/codec/built-in-shapes.ts'
import { builtInWeights, oddsOf } from '../packages/tickwire/src/core/codec/built-in-tables.ts'
import { CodeBank } from '../packages/tickwire/src/core/codec/code-bank.ts'
import { planRow } from '../packages/tickwire/src/core/codec/row-plan.ts'
import {
  AGE_CLASSES, MASK_AT_REST, MASK_MOVING, WEIGHT_MAX, WEIGHTS_SHIFT,
} from '../packages/tickwire/src/core/codec/row-tables.ts'
import { TOKEN_SYMBOLS } from '../packages/tickwire/src/core/codec/token.ts'
import { angle, bool, fixed, quat, u8 } from '../packages/tickwire/src/core/schema/field-kinds.ts'
import { compileSchema } from '../packages/tickwire/src/core/schema/schema.ts'

/** One item of every role. */
const PROBE = compileSchema('T', {
  carried: fixed(0, 1, 0.01).position(),
  rate: fixed(0, 1, 0.01).velocity(),
  mover: fixed(0, 1, 0.01),
  head: angle(8),
  other: u8,
  flag: bool,
  dropped: quat(9),
})
const PLAN = planRow(PROBE, 60)
/** What moved, as bits of a mask's context. */
const RATES = 1
const MOVERS = 2
const OTHERS = 4
const CASES: readonly (readonly [item: string, cases: readonly (readonly [name: string, context: number])[]])[] = [
  [
    'rate',
    [
      ['rates', RATES],
      ['movers', MOVERS],
      ['none', 0],
      ['unknown moving', MASK_MOVING],
      ['unknown resting', MASK_AT_REST],
    ],
  ],
  [
    'carried',
    [
      ['rates', RATES],
      ['movers', MOVERS],
      ['none', 0],
      ['unknown moving', MASK_MOVING],
      ['unknown resting', MASK_AT_REST],
    ],
  ],
  [
    'mover',
    [
      ['movers', MOVERS],
      ['none', 0],
      ['unknown moving', MASK_MOVING],
      ['unknown resting', MASK_AT_REST],
    ],
  ],
  [
    'other',
    [
      ['others', OTHERS],
      ['none', 0],
      ['unknown moving', MASK_MOVING],
      ['unknown resting', MASK_AT_REST],
    ],
  ],
  [
    'flag',
    [
      ['others', OTHERS],
      ['none', 0],
      ['unknown moving', MASK_MOVING],
      ['unknown resting', MASK_AT_REST],
    ],
  ],
  [
    'dropped',
    [
      ['movers', MOVERS],
      ['none', 0],
      ['unknown moving', MASK_MOVING],
      ['unknown resting', MASK_AT_REST],
    ],
  ],
]
const AGES = Array.from({ length: AGE_CLASSES }, (_, age) => age)

/** The whole file. */
export function makeCodecTables(): string {
  const itemOf = (name: string): number => PLAN.paths.indexOf(`T.${name}`)
  const weights = ['rate', 'mover', 'head'].flatMap((name) =>
    AGES.map((age) => {
      const first = itemOf(name) << WEIGHTS_SHIFT
      const parts = Array.from(
        builtInWeights(PLAN, age).subarray(first, first + 7),
        (eighths) => (eighths * WEIGHT_MAX) / 8,
      )
      return `  ${JSON.stringify([name, age, parts])}`
    }),
  )
  const odds = CASES.flatMap(([name, cases]) =>
    cases.map(
      ([when, context]) =>
        `  ${JSON.stringify([name, when, AGES.map((age) => oddsOf(PLAN, itemOf(name), context, age))])}`,
    ),
  )
  const shapes = SHAPE_MEANS.flatMap((mean, at) =>
    Array.from({ length: LOPSIDED_MAX + 1 }, (_, lopsided) => `  ${JSON.stringify(shapeOf(mean, at, lopsided))}`),
  )
  const part = (name: string, rows: readonly string[]): string => ` "${name}": [\n${rows.join(',\n')}\n ]`
  const parts = [' "form": 2', part('weights', weights), part('odds', odds), part('shapes', shapes)]
  return `{\n${parts.join(',\n')}\n}\n`
}

function shapeOf(
  mean: number,
  number: number,
  lopsided: number,
): readonly [number, number, readonly number[], readonly number[]] {
  const bank = new CodeBank()
  bank.add(tokenFrequencies(mean, lopsided))
  const symbols = Array.from({ length: TOKEN_SYMBOLS }, (_, symbol) => symbol)
  return [
    number,
    lopsided,
    symbols.map((symbol) => bank.entries[symbol]! & 15),
    symbols.map((symbol) => bank.ranges[symbol]! & 0xffff),
  ]
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync(new URL('../docs/wire/codec-tables.json', import.meta.url), makeCodecTables())
}
