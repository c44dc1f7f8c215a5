/** `npm run chaos`: failures with real processes, each a row with its bar. */

import { ChaosStage } from '../../test/chaos/chaos-stage.ts'
import { type ChaosResult, runRow } from '../../test/chaos/chaos-row.ts'
import { ROWS } from '../../test/chaos/rows.ts'
import { commandLine, misuse } from '../command-line.ts'

const HELP = `
npm run chaos -- [options]      Kills, freezes, fills and moves real processes, and says what that cost.

  --only TEXT      the rows whose name contains it
  --long           with more processes and players
  --list           the names of the rows
  --json           one line of JSON for each figure: { row, figure, value, bar, ok }

Exit code: 1 if a figure is above its bar.`

const { values } = commandLine(HELP, {
  only: { type: 'string' }, long: { type: 'boolean' }, list: { type: 'boolean' }, json: { type: 'boolean' },
})
const rows = ROWS.filter(({ name }) => name.includes(values.only ?? ''))
if (rows.length === 0) misuse(HELP, `no row has a name that contains ${JSON.stringify(values.only)}`)

let failed = 0
for (const row of rows) {
  if (values.list === true) console.log(`${row.name.padEnd(34)}${row.what}`)
  else if (row.missing !== undefined) console.log(print({ row: row.name, missing: row.missing }))
  else {
    if (values.json !== true) console.log(`\n${row.name}: ${row.what}`)
    for (const result of await runRow(row, new ChaosStage(), values.long === true)) {
      console.log(print(result))
      if (!result.ok) failed++
    }
  }
}
process.exitCode = failed === 0 ? 0 : 1

function print(result: ChaosResult | { readonly row: string; readonly missing: string }): string {
  if (values.json === true) return JSON.stringify(result)
  if ('missing' in result) return `\n${result.row}: left out, because ${result.missing}`
  const { figure, value, bar, ok, detail = '' } = result
  return `  ${ok ? 'ok    ' : 'FAILED'} ${figure.padEnd(24)}${String(value).padStart(9)}  at most ${bar}  ${detail}`
}
