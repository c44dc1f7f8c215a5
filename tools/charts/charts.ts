/**
 * The charts of docs/pictures: one for each benchmark that compares Tickwire with other libraries, drawn from
 * bench/RESULTS.md. docs/benchmarks.md shows all of them.
 *
 * `npm run check` fails when a chart is not what the results say, or is not shown; `npm run check -- --fix` draws it.
 */

import type { Finding, Repository } from '../tidy/repository.ts'
import { readFigures, type ResultFigure } from './figures.ts'
import { ratioChart } from './ratio-chart.ts'

/** The page that shows all charts. */
export const CHARTS_PAGE = 'docs/benchmarks.md'

/** What a benchmark compares, in words. A benchmark that is not here has no chart. */
const TITLES: Readonly<Record<string, string>> = {
  e2e: 'Whole servers: CPU and bytes beside Colyseus',
  scenario: 'Replication of 200 players: bytes and CPU beside Colyseus',
  schema: 'Packing and unpacking: bytes and time beside other libraries',
  rollback: 'Rolling back and stepping again, beside netplayjs',
  bits: 'Writing and reading bits, beside @thi.ng/bitstream',
  crypto: 'Sealing and opening packets, beside node:crypto',
  bytes: 'A connection and its packets, beside plain UDP sockets',
  udp: 'The UDP port alone, beside plain UDP sockets',
  arena: 'A tick of the arena, beside the same datagrams on raw sockets',
  numbers: 'Exact functions, beside Math',
  size: 'What a page loads, beside the Colyseus SDK',
  world: 'The world, beside plain objects and memory copies',
  draw: 'Drawing, beside a loop over plain objects',
  cubes: 'Bytes of a physics scene, beside the scheme of published articles',
  ecs: 'Mirrored objects of ECS libraries, beside loops by hand',
  relay: 'Forwarding packets between players, beside coturn',
  services: 'The list of games, beside Fastify with Redis',
  lockstep: 'A log of orders, beside structs of a fixed size',
}

/** Path and text of every chart that the results have figures for. */
export function drawCharts(repository: Repository): Map<string, string> {
  const figures = readFigures(repository).filter(isShown).map(asCost)
  return new Map(Object.entries(TITLES).flatMap(([bench, title]) => {
    const own = figures.filter((figure) => figure.bench === bench)
    return own.length === 0 ? [] : [[`docs/pictures/chart-${bench}.svg`, ratioChart(title, own)]] as const
  }))
}

/** Charts that differ from the results, or that the page does not show. */
export function chartFindings(repository: Repository): Finding[] {
  return [...drawCharts(repository)].flatMap(([path, text]) => {
    const differs = { rule: 'charts', path, line: 1, problem: 'differs from bench/RESULTS.md: npm run check -- --fix' }
    const hidden = { rule: 'charts', path: CHARTS_PAGE, line: 1, problem: `does not show ${path}` }
    return [
      ...(repository.texts.get(path) === text ? [] : [differs]),
      ...(repository.texts.get(CHARTS_PAGE)?.includes(path.replace('docs/', '')) === true ? [] : [hidden]),
    ]
  })
}

/** Path and text of the page of charts, if charts are missing there: with their sections at its end. */
export function shownCharts(
  repository: Repository, before: string = repository.texts.get(CHARTS_PAGE) ?? '',
): Map<string, string> {
  const missing = [...drawCharts(repository).keys()].map((path) => path.replace('docs/', ''))
    .filter((path) => !before.includes(path))
    .map((path) => {
      const title = TITLES[/chart-(\w+)\.svg/.exec(path)?.[1] ?? ''] ?? ''
      return `\n## ${title}\n\n![${title}.](${path})\n`
    })
  return missing.length === 0 ? new Map() : new Map([[CHARTS_PAGE, before + missing.join('')]])
}

/** Other forms of our own code, which a figure is compared with too. */
const OWN_FORM = /^the same by|^a hundred steps/

/** Ratios to others. */
function isShown({ name, unit, against, value }: ResultFigure): boolean {
  const isRatio = name.includes('ratio') && /^x?$/.test(unit) && value > 0
  return isRatio && against !== '' && !OWN_FORM.test(against)
}

/** A ratio of rates, which is better when it is larger, as a ratio of costs. */
function asCost(figure: ResultFigure): ResultFigure {
  const { name, value, range, bound } = figure
  if (bound?.sign !== '≥') return figure
  const inverse = (rate: number): number => Number((1 / rate).toPrecision(3))
  return {
    ...figure, name: `1 / ${name}`, value: inverse(value), bound: { sign: '≤', value: inverse(bound.value) },
    range: range === undefined ? undefined : [inverse(range[1]), inverse(range[0])],
  }
}
