/** Some rows of `npm run chaos` in their short form; `npm run prove -- tests --only chaos` plays all, long. */

import { expect, test } from 'vitest'
import { runRow } from '../chaos/chaos-row.ts'
import { ChaosStage } from '../chaos/chaos-stage.ts'
import { ROWS } from '../chaos/rows.ts'
import { IS_LONG } from '../form.ts'

const SHORT: readonly string[] = ['whole-night']

for (const row of ROWS.filter(({ name }) => IS_LONG || SHORT.includes(name))) {
  test(`[FLEET12] ${row.name}: ${row.what}`, async ({ skip }) => {
    if (row.missing !== undefined) return skip(row.missing)
    const results = await runRow(row, new ChaosStage(), IS_LONG)
    expect(results.filter(({ ok }) => !ok)).toEqual([])
  }, 900_000)
}
