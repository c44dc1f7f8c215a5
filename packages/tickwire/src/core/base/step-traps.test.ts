import { describe, expect, test } from 'vitest'
import { IMPURE_FUNCTIONS, INEXACT_MATH } from './impure-functions.ts'
import { StepTraps, type TrapWarning } from './step-traps.ts'

/** What is reported while `step` runs. */
function reportsOf(step: () => void): readonly TrapWarning[] {
  const reports: TrapWarning[] = []
  new StepTraps((warning) => { reports.push(warning) }).run(7, step)
  return reports
}

const scope = globalThis as unknown as Record<string, never> & {
  Date: { now(): number; new (): object; (): string }
  Intl: { NumberFormat: new () => object }
  setTimeout: (run: () => void, ms: number) => unknown
  clearTimeout: (timer: unknown) => void
}

const draw = (): unknown => Reflect.apply(Reflect.get(Math, 'random') as () => number, Math, [])

const USES: readonly (readonly [name: string, use: () => void, fix: RegExp])[] = [
  ['Math.random', () => draw(), /use world\.random or world\.prng/],
  ...INEXACT_MATH.map((name) => [
    `Math.${name}`, () => (Math as unknown as Record<string, (a: number, b: number) => number>)[name]!(0.5, 0.5),
    /of tickwire/,
  ] as const),
  ['Date', () => new scope.Date(), /use world\.tick/],
  ['Date', () => scope.Date(), /use world\.tick/],
  ['Date.now', () => scope.Date.now(), /use world\.tick/],
  ['Intl.NumberFormat', () => new scope.Intl.NumberFormat(), /in the page/],
  ['String.localeCompare', () => 'a'.localeCompare('b'), /compare with < and >/],
  ['String.toLocaleUpperCase', () => 'a'.toLocaleUpperCase(), /use toUpperCase/],
  ['Number.toLocaleString', () => (5).toLocaleString(), /use String/],
  ['Array.toLocaleString', () => [5].toLocaleString(), /use join/],
  ['Array.sort', () => [3, 1, 2].sort(((a: number, b: number) => a > b) as never), /return a number/],
  ['setTimeout', () => scope.clearTimeout(scope.setTimeout(() => {}, 0)), /count ticks/],
]

describe('[LOCK45] traps', () => {
  test.each(USES)('%s in step is reported with its place and its fix', (name, use, fix) => {
    const [first] = reportsOf(use)
    expect(first?.name).toBe(name)
    expect(first?.message).toMatch(/: called in step \(tick 7\) at .*step-traps\.test\.ts:\d+/)
    expect(first?.message).toMatch(fix)
  })

  test('a use is reported once for each place, and the result is the same', () => {
    const seen: number[] = []
    const reports = reportsOf(() => {
      for (let times = 0; times < 3; times++) seen.push(Math.sin(1))
      seen.push(Math.sin(1))
    })
    expect(reports).toHaveLength(2)
    expect(new Set(seen)).toEqual(new Set([Math.sin(1)]))
    expect(reportsOf(() => [3, 1, 2].sort((a, b) => a - b))).toEqual([])
    expect(reportsOf(() => [Math.sqrt(2), Math.floor(1.5), Math.max(1, 2), [2, 1].sort()])).toEqual([])
  })

  test('all functions are back after step, also when it throws, and in nested steps', () => {
    const read = (): unknown[] => [
      ...IMPURE_FUNCTIONS.filter(({ owner }) => owner === 'Math').map(({ name }) => Reflect.get(Math, name)),
      scope.Date, scope.Intl, Array.prototype.sort, String.prototype.localeCompare, Object.keys(scope).length,
    ]
    const before = read()
    const traps = new StepTraps(() => { throw new RangeError('a use') })
    expect(() => traps.run(1, () => { throw new Error('of the game') })).toThrow('of the game')
    expect(() => traps.run(1, () => { draw() })).toThrow('a use')
    traps.run(1, () => {
      traps.run(1, () => {})
      expect(Math.sqrt).toBe(Math.sqrt)
      expect(Reflect.get(Math, 'sin')).not.toBe(before[1])
    })
    expect(read()).toEqual(before)
  })

  test('a report may use the clock', () => {
    const times: number[] = []
    new StepTraps(() => { times.push(scope.Date.now()) }).run(1, () => { Math.cos(1) })
    expect(times).toHaveLength(1)
  })
})
