import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { CLEAR, WeatherLine, type LineWeather } from './weather-line.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Sends `count` packets, one every 5 ms, and lets all arrive. Returns the delay of each, by number. */
function blow(
  weather: Partial<LineWeather>,
  count = 2000,
  length = 100,
): { arrivals: { number: number; tookMs: number }[]; line: WeatherLine } {
  const arrivals: { number: number; tookMs: number }[] = []
  const line = new WeatherLine(() => Date.now(), 7, (bytes) => {
    const number = bytes[0]! * 256 + bytes[1]!
    arrivals.push({ number, tookMs: Date.now() - startedAt - number * 5 })
  })
  line.weather = { ...CLEAR, ...weather }
  const startedAt = Date.now()
  const bytes = new Uint8Array(length)
  for (let number = 0; number < count; number++) {
    bytes.set([number >> 8, number & 255])
    line.send(bytes, length)
    vi.advanceTimersByTime(5)
  }
  vi.advanceTimersByTime(5000)
  return { arrivals, line }
}

test('[DEV3] latency and jitter delay, and nothing else', () => {
  const { arrivals } = blow({ latencyMs: 80, jitterMs: 40 })
  expect(arrivals).toHaveLength(2000)
  const took = arrivals.map(({ tookMs }) => tookMs)
  expect(Math.min(...took)).toBeGreaterThanOrEqual(80)
  expect(Math.max(...took)).toBeLessThanOrEqual(122)
  // Small values are more likely: the mean of the product of two uniform variables is a quarter.
  expect(took.reduce((sum, ms) => sum + ms, 0) / took.length).toBeCloseTo(90, -1)
})

test('[DEV3] loss, duplication and reordering happen as often as configured', () => {
  const { arrivals, line } = blow({ loss: 0.2, duplication: 0.1, reordering: 0.05 })
  const { sent, lost, copied, held, delivered } = line.counts
  expect(sent).toBe(2000)
  expect(lost / sent).toBeCloseTo(0.2, 1)
  expect(copied / sent).toBeCloseTo(0.08, 1)
  expect(held / sent).toBeCloseTo(0.04, 1)
  expect([delivered, arrivals.length]).toEqual([sent - lost + copied, sent - lost + copied])
  const overtaken = arrivals.filter(({ number }, at) => at > 0 && number < arrivals[at - 1]!.number).length
  expect(overtaken).toBeGreaterThan(50)
})

test('[DEV3] a narrow link delays, and drops datagrams that would wait too long', () => {
  // 100 bytes every 5 ms are 160 kbit/s: half of that passes.
  const { arrivals, line } = blow({ rateKbps: 80 })
  expect(arrivals.length / 2000).toBeCloseTo(0.5, 1)
  expect(line.counts.squeezed).toBe(2000 - arrivals.length)
  expect(Math.max(...arrivals.map(({ tookMs }) => tookMs))).toBeLessThanOrEqual(275)
})

test('[DEV3] the same seed gives the same conditions, and perfect conditions release all datagrams', () => {
  expect(blow({ loss: 0.3, jitterMs: 50 }).arrivals).toEqual(blow({ loss: 0.3, jitterMs: 50 }).arrivals)
  const arrived: number[] = []
  const line = new WeatherLine(() => Date.now(), 1, (bytes) => arrived.push(bytes[0]!))
  line.weather = { ...CLEAR, latencyMs: 500 }
  line.send(Uint8Array.of(9), 1)
  expect([arrived.length, line.flying]).toEqual([0, 1])
  line.clear()
  expect([arrived, line.flying, line.isClear]).toEqual([[9], 0, true])
})
