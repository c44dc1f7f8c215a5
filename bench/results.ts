/**
 * Writes bench/RESULTS.md: the results of all benchmarks on one machine, with what a reader needs to judge them.
 *
 * Every benchmark runs several times, each time in a new process. A figure is the median of its runs, with the lowest
 * and the highest beside it. A figure whose runs differ much is marked, because it says more about the machine than
 * about Tickwire.
 */

import { cpus, release, totalmem, type } from 'node:os'
import { formatCell, isWithinBudget, median, type BenchResult, type Figure, type Table } from './harness.ts'

/** One benchmark, and the results of its runs. */
export interface Measured {
  readonly name: string
  readonly summary: string
  readonly runs: readonly BenchResult[]
}

/** The machine of the measurement. */
export interface Machine {
  readonly processor: string
  readonly cores: number
  readonly memoryGiB: number
  readonly system: string
  readonly node: string
}

/** A figure over all runs. */
export interface Spread {
  readonly figure: Figure
  readonly lowest: number
  readonly highest: number
}

/** Runs that differ by more than this share of their median were measured on a busy machine. */
const RESTLESS_SHARE = 0.25

/** Benchmarks of whole server processes. Their figures are first: a fast part does not make a cheap server. */
const END_TO_END: readonly string[] = ['e2e', 'capacity', 'workers', 'arena']

export function describeMachine(): Machine {
  const processors = cpus()
  return {
    processor: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release().split('-')[0] ?? ''}`,
    node: process.version,
  }
}

/** Each figure of a benchmark: the median of its runs, and their range. */
export function spreadsOf(runs: readonly BenchResult[]): Spread[] {
  return (runs[0]?.figures ?? []).map((first) => {
    const values = runs
      .flatMap(({ figures }) => figures.filter(({ name }) => name === first.name).map(({ value }) => value))
      .toSorted((a, b) => a - b)
    return {
      figure: { ...first, value: median(values) },
      lowest: values[0] ?? Number.NaN,
      highest: values.at(-1) ?? Number.NaN,
    }
  })
}

/** The page. `peers` are the versions of the compared libraries. */
export function renderResults(
  measured: readonly Measured[],
  machine: Machine,
  peers: Readonly<Record<string, string>>,
): string {
  const ordered = [...measured.filter(isEndToEnd), ...measured.filter((bench) => !isEndToEnd(bench))]
  const all = ordered.map((bench) => ({ ...bench, spreads: spreadsOf(bench.runs) }))
  const whole = all.filter(isEndToEnd).flatMap(({ name, spreads }) => spreads.map((spread) => ({ name, spread })))
  const beside = all.filter((bench) => !isEndToEnd(bench)).flatMap(({ name, spreads }) =>
    spreads.filter(({ figure }) => figure.against !== null).map((spread) => ({ name, spread })),
  )
  const missed = all.flatMap(({ name, spreads }) =>
    spreads.filter(({ figure }) => !isWithinBudget(figure)).map((spread) => ({ name, spread })),
  )
  return `${[
    '# Results',
    'Written by `npm run bench`, whole; do not edit. Run it on your own machine: it overwrites this file.',
    '## Where and how',
    `- **Machine**: ${machine.processor}, ${machine.cores} cores, ${machine.memoryGiB} GiB; ${machine.system}; `
      + `Node ${machine.node}.`,
    `- **Peers**, used as their documentation says: ${Object.entries(peers)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}. geckos.io is`
      + ' not among them, because it no longer installs without a build of its WebRTC library from source. It sends'
      + ' what the game packs itself, so `schema` has it as msgpackr.',
    '- **Method**: the libraries run interleaved in one process and are compared round by round. Decoded state is'
      + ' checked before time counts. Each benchmark ran in new processes, as often as its heading says: a figure is'
      + ' the median of those runs, `from..to` are their extremes, and `~` marks'
      + ` extremes more than ${RESTLESS_SHARE * 100} % apart, which are caused by a busy machine.`,
    '- **Reading**: ratios below 1 are in favour of Tickwire. A figure that misses its bound is marked **missed**; no'
      + ' figure is left out for that.',
    ...(whole.length === 0 ? [] : [
      '## End to end',
      'Whole server processes, with sockets, clients and the system calls of both: what a core costs.',
      markdown(
        ['', 'figure', 'median', 'from..to', 'bound', 'against'],
        whole.map(({ name, spread }) => [`[${name}](#${name})`, ...cellsOf(spread)]),
      ),
    ]),
    '## Parts alone, beside others',
    markdown(
      ['', 'ratio or figure', 'median', 'from..to', 'bound', 'against'],
      beside.map(({ name, spread }) => [`[${name}](#${name})`, ...cellsOf(spread)]),
    ),
    '## Bounds that are missed',
    missed.length === 0
      ? 'None.'
      : markdown(
          ['', 'figure', 'median', 'from..to', 'bound', 'against'],
          missed.map(({ name, spread }) => [`[${name}](#${name})`, ...cellsOf(spread)]),
        ),
    ...all.flatMap(({ name, summary, runs, spreads }) => [
      `## ${name}`,
      `${summary[0]?.toUpperCase() ?? ''}${summary.slice(1)}. `
        + `${runs.length === 1 ? 'One run' : `${runs.length} runs`}.`,
      markdown(['figure', 'median', 'from..to', 'bound', 'against'], spreads.map(cellsOf)),
      ...(runs.at(-1)?.tables ?? []).map(details),
    ]),
  ].join('\n\n')}\n`
}

/** Whether a benchmark measures whole server processes. */
function isEndToEnd({ name }: Pick<Measured, 'name'>): boolean {
  return END_TO_END.includes(name)
}

function cellsOf({ figure, lowest, highest }: Spread): string[] {
  const isRestless = highest - lowest > Math.abs(figure.value) * RESTLESS_SHARE
  const bound = [
    ...(figure.atLeast === undefined ? [] : [`≥ ${figure.atLeast}`]),
    ...(figure.atMost === undefined ? [] : [`≤ ${figure.atMost}`]),
    ...(isWithinBudget(figure) ? [] : ['**missed**']),
  ].join(' ')
  const range = lowest === highest ? '' : `${formatCell(lowest)}..${formatCell(highest)}${isRestless ? ' ~' : ''}`
  return [
    `\`${figure.name}\``,
    `${formatCell(figure.value)} ${figure.unit === 'ratio' ? '' : figure.unit}`.trim(),
    range,
    bound,
    figure.against ?? '',
  ]
}

function details({ title, columns, rows }: Table): string {
  return `<details><summary>${title}</summary>\n\n${markdown(
    columns,
    rows.map((row) => row.map(formatCell)),
  )}\n\n</details>`
}

function markdown(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(columns), `|${columns.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}
