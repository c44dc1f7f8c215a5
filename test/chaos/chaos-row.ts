/** A row of the chaos table: one failure with real processes, and its figures with their bars. */

import type { ChaosStage } from './chaos-stage.ts'

/** A row. Add one to a list in `rows-*.ts`. */
export interface ChaosRow {
  readonly name: string
  /** What fails. */
  readonly what: string
  /** The most that each figure may be. */
  readonly bars: { readonly [figure: string]: number }
  /** Why it cannot run here. Undefined: it can. */
  readonly missing?: string | undefined
  /** Does it, and returns its figures. `isLong`: with more processes and players. */
  run(stage: ChaosStage, isLong: boolean): Promise<{ readonly [figure: string]: number }>
}

/** One figure of a row that has run. */
export interface ChaosResult {
  readonly row: string
  readonly figure: string
  readonly value: number
  readonly bar: number
  readonly ok: boolean
  readonly detail?: string
}

/** Runs one row. A row that throws has one failed result. */
export async function runRow(row: ChaosRow, stage: ChaosStage, isLong: boolean): Promise<readonly ChaosResult[]> {
  try {
    const figures = await row.run(stage, isLong)
    return Object.entries(row.bars).map(([figure, bar]) => {
      const value = Math.round((figures[figure] ?? NaN) * 10) / 10
      return { row: row.name, figure, value, bar, ok: value <= bar }
    })
  } catch (error) {
    return [{ row: row.name, figure: 'error', value: 1, bar: 0, ok: false, detail: String(error) }]
  } finally {
    await stage.close()
  }
}
