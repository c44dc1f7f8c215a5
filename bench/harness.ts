/**
 * Defines a benchmark, and measures time and memory in a way that gives comparable figures.
 *
 * A file `bench/NAME.bench.ts` exports `bench: Bench`; `npm run bench -- NAME` finds it by that name.
 *
 * Rivals are timed in turns in one process (A B C, B C A, …) and compared round by round: a shared machine slows all
 * rivals of a round alike. Only ratios can be compared between processes and between days, so budgets are ratios.
 */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** One published number. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** What the value is compared with: another library with its version, or a plain alternative. Null: nothing. */
  readonly against: string | null
  /** The maximum of the value, if it has a budget. */
  readonly atMost?: number
  /** The minimum of the value, if it has a budget. */
  readonly atLeast?: number
}

/** A table for readers. Numbers are printed with three significant digits, or as whole numbers when they are large. */
export interface Table {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | number)[])[]
}

export interface BenchResult {
  readonly tables: readonly Table[]
  readonly figures: readonly Figure[]
}

/** One benchmark. */
export interface Bench {
  /** The name in the file name and on the command line. */
  readonly name: string
  /** One line for `--list`. */
  readonly summary: string
  /** The options of the benchmark, one line each, as `--help` prints them. Empty when it has none. */
  readonly options: readonly string[]
  /** Runs the benchmark. `args` are the command-line arguments after the name, without those of the command itself. */
  run(args: readonly string[]): Promise<BenchResult>
}

/** One rival in an interleaved run: `run` does `ops` operations. */
export interface Contender {
  readonly name: string
  readonly ops: number
  run(): void
}

/** The time that one contender took. */
export interface Timing {
  readonly name: string
  /** Median over the rounds, nanoseconds per operation. */
  readonly ns: number
  /** The fastest and the slowest round. A small difference means that the machine was quiet. */
  readonly nsMin: number
  readonly nsMax: number
  /** Every round, in order. */
  readonly rounds: readonly number[]
}

/** Times the contenders in turns. `warmups` rounds come first and do not count. */
export function interleave(contenders: readonly Contender[], rounds: number, warmups = 60): Timing[] {
  const samples: number[][] = contenders.map(() => [])
  for (let round = 0; round < warmups + rounds; round++) {
    for (let turn = 0; turn < contenders.length; turn++) {
      const index = (round + turn) % contenders.length
      const contender = contenders[index]!
      const start = process.hrtime.bigint()
      contender.run()
      const ns = Number(process.hrtime.bigint() - start) / contender.ops
      if (round >= warmups) samples[index]!.push(ns)
    }
  }
  return contenders.map(({ name }, index) => {
    const inOrder = samples[index]!
    const sorted = inOrder.toSorted((a, b) => a - b)
    return { name, ns: median(sorted), nsMin: sorted[0]!, nsMax: sorted.at(-1)!, rounds: inOrder }
  })
}

/** The ratio of two contenders: the median over the rounds of their ratio within the round. */
export function ratio(timings: readonly Timing[], name: string, against: string): number {
  const roundsOf = (of: string): readonly number[] => {
    const timing = timings.find((one) => one.name === of)
    if (timing === undefined) throw new Error(`no contender ${of}`)
    return timing.rounds
  }
  const others = roundsOf(against)
  return median(roundsOf(name).map((ns, round) => ns / others[round]!).sort((a, b) => a - b))
}

/** The median of sorted numbers. */
export function median(sorted: readonly number[]): number {
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/**
 * Bytes that one operation leaves on the JavaScript heap, after warm-up: the median of `rounds` measurements of `run`,
 * which does `ops` operations, less the allocations of the measurement itself.
 *
 * Choose `ops` so small that no garbage collection happens between the two readings. A collection shows as a negative
 * difference, and that round is left out.
 */
export function allocatedBytes(run: () => void, ops: number, rounds = 15): number {
  const measure = (body: () => void): number => {
    const found: number[] = []
    for (let round = 0; round < rounds; round++) {
      collect()
      const before = process.memoryUsage().heapUsed
      body()
      const used = process.memoryUsage().heapUsed - before
      if (used >= 0) found.push(used)
    }
    return found.length === 0 ? Number.NaN : median(found.sort((a, b) => a - b))
  }
  for (let warmup = 0; warmup < 20; warmup++) run()
  const idle = measure(() => {})
  return Math.max(0, measure(run) - idle) / ops
}

let gc: (() => void) | undefined

/** Runs a full garbage collection. */
export function collect(): void {
  if (gc === undefined) {
    setFlagsFromString('--expose-gc')
    gc = runInNewContext('gc') as () => void
  }
  gc()
}

/** Whether a figure is within its budget; true when it has none. */
export function isWithinBudget(figure: Figure): boolean {
  const { value, atMost, atLeast } = figure
  if (Number.isNaN(value)) return false
  return (atMost === undefined || value <= atMost) && (atLeast === undefined || value >= atLeast)
}

/** A table as lines of text: first column left, numbers right. */
export function formatTable(table: Table): string {
  const cells = [table.columns, ...table.rows].map((row) => row.map(formatCell))
  const widths = table.columns.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const lines = cells.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
      .join('  ')
      .trimEnd(),
  )
  const rule = widths.map((width) => '-'.repeat(width)).join('  ')
  return [table.title, ...lines.slice(0, 1), rule, ...lines.slice(1)].join('\n')
}

/** Figures as a table, budgets beside them. */
export function figuresTable(figures: readonly Figure[]): Table {
  return {
    title: 'figures',
    columns: ['name', 'value', 'unit', 'budget', 'against'],
    rows: figures.map((figure) => [
      figure.name, figure.value, figure.unit, budgetOf(figure), figure.against ?? '',
    ]),
  }
}

function budgetOf(figure: Figure): string {
  if (figure.atMost === undefined && figure.atLeast === undefined) return ''
  const bounds = [
    ...(figure.atLeast === undefined ? [] : [`>= ${figure.atLeast}`]),
    ...(figure.atMost === undefined ? [] : [`<= ${figure.atMost}`]),
  ]
  return `${bounds.join(', ')}${isWithinBudget(figure) ? '' : ' MISSED'}`
}

/** Three significant digits, or whole when large. */
export function formatCell(cell: string | number): string {
  if (typeof cell === 'string') return cell
  if (Number.isInteger(cell) || Math.abs(cell) >= 1000) return String(Math.round(cell))
  return cell.toPrecision(3)
}
