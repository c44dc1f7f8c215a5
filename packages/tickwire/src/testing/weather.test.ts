import { describe, expect, test } from 'vitest'
import {
  FAULTS, FAULT_NAMES, type FaultName, type NetWeather, calm, checkWeather, describeWeather, faultOf,
} from './weather.ts'
import { drawWeather, intensityOf, valueAt } from './weather-draw.ts'

const SEEDS = Array.from({ length: 2000 }, (_, seed) => seed)

describe('weather', () => {
  test('[NET1] a weather has a text of one line, the same line for the same weather', () => {
    expect(describeWeather(calm())).toBe('calm')
    expect(describeWeather({ loss: { rate: 0.05 }, latency: { ms: 80 } })).toBe('latency ms=80, loss rate=0.05')
    expect(describeWeather({ mtu: { bytes: 1200, everyMs: 0, lastsMs: 0 } })).toBe('mtu bytes=1200 everyMs=0 lastsMs=0')
  })

  test.each([
    [{ lose: { rate: 1 } }, 'weather.lose: unknown fault'],
    [{ loss: {} }, 'weather.loss.rate: out of range (expected a number from 0 to 1, got undefined)'],
    [{ loss: { rate: 1.1 } }, 'got 1.1'],
    [{ loss: { rate: Number.NaN } }, 'got NaN'],
    [{ loss: { rate: -0.1 } }, 'weather.loss.rate'],
    [{ loss: { rate: 0.1, part: 1 } }, 'weather.loss.part: unknown dial'],
    [{ duplication: { rate: 0.1, copies: 1.5, lateMs: 1 } }, 'expected an integer from 1 to 16, got 1.5'],
    [{ reordering: { rate: 0.1, distance: 513, holdMs: 1 } }, 'got 513'],
    [{ latency: { ms: Infinity } }, 'got Infinity'],
    [{ line: { bps: 0, queueMs: 1 } }, 'got 0'],
    [{ __proto__: null, constructor: { ms: 1 } }, 'weather.constructor: unknown fault'],
  ])('[NET2] %j is refused, with the path and the fix', (weather, problem) => {
    expect(() => checkWeather(weather as unknown as NetWeather)).toThrow(problem)
  })

  test('[NET3] a seed draws one weather, which is valid and within the bounds of the table', () => {
    for (const seed of SEEDS) {
      const weather = drawWeather(seed, { without: [] })
      expect(drawWeather(seed, { without: [] })).toEqual(weather)
      checkWeather(weather)
      for (const name of FAULT_NAMES) {
        for (const [dial, value] of Object.entries(faultOf(weather, name) ?? {})) {
          const { mild, wild } = FAULTS[name].dials[dial]!
          const isWithin = value >= Math.min(mild, wild) && value <= Math.max(mild, wild)
          if (!isWithin) expect.fail(`seed ${seed}: ${name}.${dial} is ${value}`)
        }
      }
    }
  })

  test('[NET3] the table has the bounds of the faults that the engine must survive', () => {
    const wild = (name: FaultName, dial: string): number => FAULTS[name].dials[dial]!.wild
    expect([wild('loss', 'rate'), wild('bursts', 'lastsMs'), wild('outages', 'lastsMs')]).toEqual([0.6, 2000, 30_000])
    expect([wild('latency', 'ms'), wild('jitter', 'ms'), wild('bloat', 'peakMs'), wild('line', 'queueMs')]).toEqual([
      2000, 500, 3000, 3000,
    ])
    expect([wild('duplication', 'rate'), wild('duplication', 'copies'), wild('duplication', 'lateMs')]).toEqual([
      0.5, 5, 10_000,
    ])
    expect([wild('reordering', 'rate'), wild('reordering', 'distance')]).toEqual([0.5, 512])
    expect([wild('corruption', 'rate'), wild('corruption', 'spliceRate')]).toEqual([0.2, 0.05])
    expect([wild('line', 'bps'), wild('mtu', 'bytes'), wild('skew', 'ppm'), wild('pauses', 'lastsMs')]).toEqual([
      64_000, 548, 500, 30_000,
    ])
  })

  test('[NET3] every fault is drawn and left out, calm and crowded weather too; corruption only when requested', () => {
    const weathers = SEEDS.map((seed) => drawWeather(seed, { without: [] }))
    for (const name of FAULT_NAMES) {
      const share = weathers.filter((weather) => weather[name] !== undefined).length / SEEDS.length
      expect(share, name).toBeGreaterThan(0.3)
      expect(share, name).toBeLessThan(0.4)
    }
    const sizes = weathers.map((weather) => Object.keys(weather).length)
    expect(Math.min(...sizes)).toBe(0)
    expect(Math.max(...sizes)).toBeGreaterThan(13)
    expect(SEEDS.some((seed) => drawWeather(seed).corruption !== undefined)).toBe(false)
  })

  test('[NET4] removing a fault changes no other', () => {
    for (const seed of SEEDS.slice(0, 50)) {
      const whole = drawWeather(seed, { without: [] })
      for (const name of FAULT_NAMES) {
        const { [name]: _, ...rest } = whole
        expect(drawWeather(seed, { without: [name] })).toEqual(rest)
      }
    }
  })

  test('[NET5] a dial at half intensity is half as bad, by its own scale, and back', () => {
    expect(valueAt(FAULTS.loss.dials.rate!, 0.5)).toBe(0.3)
    expect(valueAt(FAULTS.line.dials.bps!, 1)).toBe(64_000)
    expect(valueAt(FAULTS.line.dials.bps!, 0.5)).toBe(800_000)
    for (const name of FAULT_NAMES) {
      for (const dial of Object.values(FAULTS[name].dials)) {
        expect([valueAt(dial, 0), valueAt(dial, 1)]).toEqual([dial.mild, dial.wild])
        if (!dial.isWhole) expect(intensityOf(dial, valueAt(dial, 0.25))).toBeCloseTo(0.25, 2)
      }
    }
  })
})
