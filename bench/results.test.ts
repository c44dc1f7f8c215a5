import { expect, test } from 'vitest'
import type { BenchResult, Figure } from './harness.ts'
import { renderResults, spreadsOf } from './results.ts'

const result = (...figures: Figure[]): BenchResult => ({
  figures,
  tables: [{ title: 'all of it', columns: ['a', 'b'], rows: [['x|y', 1.23456]] }],
})
const figure = (value: number, more: Partial<Figure> = {}): Figure => ({
  name: 'bytes',
  value,
  unit: 'ratio',
  against: 'peer 1.0',
  ...more,
})
const MACHINE = { processor: 'a processor', cores: 2, memoryGiB: 8, system: 'Linux 6', node: 'v20' }

test('[RESULT1] a figure is the median of its runs, between the lowest and the highest', () => {
  const [spread] = spreadsOf([0.5, 0.2, 0.3].map((value) => result(figure(value))))
  expect(spread).toMatchObject({ lowest: 0.2, highest: 0.5, figure: { value: 0.3 } })
})

test('[RESULT1] the page has the comparisons with other libraries, the missed bounds, and every table', () => {
  const runs = [0.5, 0.2, 0.3].map((value) =>
    result(figure(value, { atMost: 0.25 }), figure(7, { name: 'calm', against: null, unit: 'B' })),
  )
  const page = renderResults([{ name: 'one', summary: 'what one does', runs }], MACHINE, { peer: '1.0' })
  expect(page).toContain('| [one](#one) | `bytes` | 0.300 | 0.200..0.500 ~ | ≤ 0.25 **missed** | peer 1.0 |')
  expect(page).toContain('| `calm` | 7 B |  |  |  |')
  expect(page).toContain('What one does. 3 runs.')
  expect(page).toContain('| x\\|y | 1.23 |')
  expect(page).toContain('a processor, 2 cores, 8 GiB; Linux 6; Node v20')
  const both = ['bits', 'e2e'].map((name) => ({ name, summary: 'what', runs: [result(figure(0.1))] }))
  const order = [...renderResults(both, MACHINE, {}).matchAll(/^## (.*)$/gm)].map(([, title]) => title)
  expect(order).toEqual(
    ['Where and how', 'End to end', 'Parts alone, beside others', 'Bounds that are missed', 'e2e', 'bits'])
  expect(renderResults([{ name: 'one', summary: 'what', runs: [result(figure(0.1))] }], MACHINE, {})).toContain(
    '## Bounds that are missed\n\nNone.',
  )
})
