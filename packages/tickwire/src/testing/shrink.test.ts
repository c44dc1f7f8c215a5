import { describe, expect, test } from 'vitest'
import { shrinkWeather } from './shrink.ts'
import { FAULT_NAMES, type NetWeather, calm } from './weather.ts'
import { drawWeather } from './weather-draw.ts'

/** Seeds whose weather has these faults. */
function seedsWith(names: readonly (keyof NetWeather)[], count: number): number[] {
  const seeds: number[] = []
  for (let seed = 0; seeds.length < count; seed++) {
    const weather = drawWeather(seed, { without: [] })
    if (names.every((name) => weather[name] !== undefined)) seeds.push(seed)
  }
  return seeds
}

describe('shrinking weather', () => {
  test.each(FAULT_NAMES.map((name) => [name]))(
    '[NET6] a failure that needs only %s is shrunk to it, as mild as can be',
    (name) => {
      for (const seed of seedsWith([name], 3)) {
        const shrunk = shrinkWeather(drawWeather(seed, { without: [] }), (weather) => weather[name] !== undefined)
        expect(Object.keys(shrunk)).toEqual([name])
      }
    },
  )

  test('[NET6] a failure that needs two faults keeps both and no third', () => {
    for (const seed of seedsWith(['loss', 'duplication', 'latency'], 20)) {
      const fails = ({ loss, duplication }: NetWeather): boolean => loss !== undefined && duplication !== undefined
      expect(Object.keys(shrinkWeather(drawWeather(seed, { without: [] }), fails)).sort()).toEqual([
        'duplication',
        'loss',
      ])
    }
  })

  test('[NET6] of two faults that are each enough, one stays', () => {
    for (const seed of seedsWith(['loss', 'bursts'], 20)) {
      const fails = ({ loss, bursts }: NetWeather): boolean => loss !== undefined || bursts !== undefined
      expect(Object.keys(shrinkWeather(drawWeather(seed, { without: [] }), fails)).length).toBe(1)
    }
  })

  test('[NET7] numbers are halved while the failure stays: the result is within a factor of two of the minimum', () => {
    const fails = ({ loss, latency }: NetWeather): boolean => (loss?.rate ?? 0) >= 0.07 && (latency?.ms ?? 0) >= 90
    const shrunk = shrinkWeather({ loss: { rate: 0.6 }, latency: { ms: 2000 }, jitter: { ms: 100 } }, fails)
    expect(Object.keys(shrunk).sort()).toEqual(['latency', 'loss'])
    expect(fails(shrunk)).toBe(true)
    expect(shrunk.loss!.rate).toBeLessThan(0.14)
    expect(shrunk.latency!.ms).toBeLessThan(180)
  })

  test('[NET7] a fault that is no longer needed after being reduced is removed', () => {
    // Loss is needed only while the queue is slow.
    const fails = ({ line, loss }: NetWeather): boolean =>
      line !== undefined && (line.bps > 1_000_000 || loss !== undefined)
    expect(shrinkWeather({ line: { bps: 64_000, queueMs: 100 }, loss: { rate: 0.5 } }, fails).loss).toBeUndefined()
  })

  test('[NET6] a permanent failure shrinks to calm; the result always fails and is always the same', () => {
    expect(shrinkWeather(drawWeather(5, { without: [] }), () => true)).toEqual(calm())
    for (let seed = 0; seed < 50; seed++) {
      const weather = drawWeather(seed, { without: [] })
      const names = Object.keys(weather)
      // An arbitrary failure: some condition on a few of the faults.
      const fails = (one: NetWeather): boolean =>
        names.filter((name, index) => index % 3 === seed % 3 && name in one).length
        >= Math.min(2, Math.floor(names.length / 3))
      if (!fails(weather)) continue
      const shrunk = shrinkWeather(weather, fails)
      expect(fails(shrunk)).toBe(true)
      expect(shrinkWeather(weather, fails)).toEqual(shrunk)
      for (const name of Object.keys(shrunk)) {
        const { [name as keyof NetWeather]: _, ...rest } = shrunk
        expect(fails(rest)).toBe(false)
      }
    }
  })

  test('[NET6] faults that can only be removed one after the other are all removed', () => {
    const fails = ({ latency, jitter, loss }: NetWeather): boolean =>
      (jitter === undefined || latency !== undefined) && (loss === undefined || jitter !== undefined)
    expect(shrinkWeather({ latency: { ms: 1 }, jitter: { ms: 1 }, loss: { rate: 0.1 } }, fails)).toEqual(calm())
  })

  test('[NET7] it costs some dozens of runs, not thousands', () => {
    let runs = 0
    const fails = ({ mtu }: NetWeather): boolean => {
      runs++
      return (mtu?.bytes ?? 9999) < 1200
    }
    shrinkWeather(
      Object.assign(
        {},
        ...FAULT_NAMES.map((name) =>
          Object.fromEntries([[name, drawWeather(seedsWith([name], 1)[0]!, { without: [] })[name]]]),
        ),
        {
          mtu: { bytes: 548, everyMs: 2000, lastsMs: 5000 },
        },
      ) as NetWeather,
      fails,
    )
    expect(runs).toBeLessThan(60)
  })
})
