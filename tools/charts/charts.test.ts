import { expect, test } from 'vitest'
import { readRepository, repositoryOf } from '../tidy/repository.ts'
import { ROOT } from '../typecheck.ts'
import { chartFindings, drawCharts, shownCharts } from './charts.ts'
import { claimFindings, fixedClaims, readFigures } from './figures.ts'

const RESULTS = `## End to end

|  | figure | median | from..to | bound | against |
|---|---|---|---|---|---|
| e2e | \`cpu_ratio\` | 2.09 x |  | ≤ 1.2 **missed** | Colyseus 0.18 |
| e2e | \`players\` | 862 players |  |  |  |

## Parts alone, beside others

|  | ratio or figure | median | from..to | bound | against |
|---|---|---|---|---|---|
| [bits](#bits) | \`write_ratio\` | 0.188 | 0.1..0.3 ~ | ≤ 0.35 | a & b |

## Bounds that are missed

| [bits](#bits) | \`other_ratio\` | 9 |  |  | c |
`
const shown = '![](pictures/chart-e2e.svg) ![](pictures/chart-bits.svg)'

test('[CHART1] a chart that is not what the results say is found, and drawn again', () => {
  const before = repositoryOf({ 'bench/RESULTS.md': RESULTS, 'docs/benchmarks.md': shown })
  const charts = drawCharts(before)
  expect([...charts.keys()]).toEqual(['docs/pictures/chart-e2e.svg', 'docs/pictures/chart-bits.svg'])
  expect(charts.get('docs/pictures/chart-e2e.svg')).toMatch(/>cpu_ratio<.*>Colyseus 0.18, bound 1.2 missed<.*>2.09</s)
  expect(charts.get('docs/pictures/chart-bits.svg')).toContain('a &amp; b')
  const texts = { 'bench/RESULTS.md': RESULTS, 'docs/benchmarks.md': shown, ...Object.fromEntries(charts) }
  expect(chartFindings(repositoryOf(texts))).toEqual([])
  expect(chartFindings(repositoryOf({ ...texts, 'bench/RESULTS.md': RESULTS.replace('2.09', '1.1') })))
    .toMatchObject([{ path: 'docs/pictures/chart-e2e.svg' }])
  expect(chartFindings(repositoryOf({ ...texts, 'docs/benchmarks.md': '![](pictures/chart-e2e.svg)' })))
    .toMatchObject([{ path: 'docs/benchmarks.md', problem: 'does not show docs/pictures/chart-bits.svg' }])
})

test('[CHART1] relay, services and lockstep have charts once there are figures, and sections on the page', () => {
  const row = (bench: string, figure: string): string => `| [${bench}](#${bench}) | \`${figure}\n`
  const rows = [
    row('relay', 'forward_cpu_ratio_coturn` | 0.6 |  | ≤ 1.1 | coturn |'),
    row('services', 'browse_ratio_fastify_redis` | 4 x | 2..5 | ≥ 2 | fastify with Redis |'),
    row('lockstep', 'tlv_ratio_naive` | 0.1 x |  | ≤ 0.2 | structs |'),
  ]
  const texts = { 'bench/RESULTS.md': rows.join(''), 'docs/benchmarks.md': '# Benchmarks\n' }
  const charts = drawCharts(repositoryOf(texts))
  expect([...charts.keys()]).toEqual(['relay', 'services', 'lockstep'].map((name) => `docs/pictures/chart-${name}.svg`))
  // A rate is shown as a cost, so that less is better in all charts.
  expect(charts.get('docs/pictures/chart-services.svg'))
    .toMatch(/>1 \/ browse_ratio_fastify_redis<.*bound 0.5<.*>0.25</s)
  const shown = shownCharts(repositoryOf(texts))
  expect(shown.get('docs/benchmarks.md')).toContain('\n## Forwarding packets between players, beside coturn\n')
  const whole = repositoryOf({ ...texts, ...Object.fromEntries([...charts, ...shown]) })
  expect(chartFindings(whole)).toEqual([])
  expect(shownCharts(whole).size).toBe(0)
})

test('[CHART2] a claim has the value of its figure, or is found and corrected', () => {
  const claims = (value: string): string => `| CPU | \`cpu_ratio\` | ${value} |\n| other | \`nothing\` | 1 |\n`
  const repository = repositoryOf({ 'bench/RESULTS.md': RESULTS, 'README.md': claims('1.5 x') })
  expect(claimFindings(repository).map(({ line, problem }) => [line, problem])).toEqual([
    [1, 'cpu_ratio is 2.09 x in bench/RESULTS.md: npm run check -- --fix'],
    [2, 'bench/RESULTS.md has no figure nothing'],
  ])
  expect(fixedClaims(repository)).toEqual(new Map([['README.md', claims('2.09 x')]]))
})

test('[CHART2] the results of this repository have figures of whole servers and of parts', () => {
  const figures = readFigures(readRepository(ROOT))
  expect(figures.length).toBeGreaterThan(80)
  expect(new Set(figures.map(({ bench }) => bench))).toContain('e2e')
  for (const { name, value } of figures) expect(value, name).not.toBeNaN()
})
