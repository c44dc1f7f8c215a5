import { describe, expect, test } from 'vitest'
import { MEMORY_LINK_DATAGRAMS, MemoryLink, type Weather } from './memory-link.ts'

/** Sends numbered datagrams a millisecond apart. Returns what arrived, and when. */
function run(seed: number, weather: Weather, count: number): { arrived: number[]; times: number[]; link: MemoryLink } {
  const link = new MemoryLink(seed, weather)
  const out = new Uint8Array(1500)
  const arrived: number[] = []
  const times: number[] = []
  for (let now = 0; now < count + 2000; now++) {
    if (now < count) link.send(now, 0, Uint8Array.of(now & 0xff, now >>> 8), 2)
    while (link.poll(now, 1, out) >= 0) {
      arrived.push(out[0]! | (out[1]! << 8))
      times.push(now)
    }
  }
  return { arrived, times, link }
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

describe('memory link', () => {
  test('without weather a datagram can be polled at the moment it was sent, whole, in order', () => {
    const link = new MemoryLink()
    const out = new Uint8Array(1500)
    link.send(5, 0, Uint8Array.of(1, 2, 3, 4), 3)
    link.send(5, 0, Uint8Array.of(9), 1)
    expect(link.nextAt(1)).toBe(5)
    expect(link.nextAt(0)).toBe(Infinity)
    expect(link.poll(5, 0, out)).toBe(-1)
    expect(link.poll(5, 1, out)).toBe(3)
    expect([...out.slice(0, 4)]).toEqual([1, 2, 3, 0])
    expect(link.poll(5, 1, out)).toBe(1)
    expect(link.poll(5, 1, out)).toBe(-1)
  })

  test('an observer sees every datagram: as it was sent, and when it arrives', () => {
    const link = new MemoryLink(3, { latencyMs: 40, jitterMs: 10, loss: 0.3, duplication: 0.2 })
    const flights: { side: number; sentAt: number; arrivesAt: number; first: number; length: number }[] = []
    link.onFlight = ({ side, sentAt, arrivesAt, bytes, length }) =>
      flights.push({ side, sentAt, arrivesAt, first: bytes[0]!, length })
    for (let now = 0; now < 50; now++) link.send(now, now % 2 === 0 ? 0 : 1, Uint8Array.of(now, 0, 0), 2)
    const { sent, lost, duplicated } = link.stats
    expect(flights).toHaveLength(sent + duplicated)
    expect(flights.filter(({ arrivesAt }) => arrivesAt === Infinity)).toHaveLength(lost)
    expect(lost * duplicated).toBeGreaterThan(0)
    for (const { side, sentAt, arrivesAt, first, length } of flights) {
      expect([first, length, side]).toEqual([sentAt, 2, sentAt % 2])
      expect(arrivesAt).toBeGreaterThanOrEqual(sentAt + 40)
    }
  })

  test('the 65th datagram in flight is dropped, and each direction has its own 64', () => {
    const link = new MemoryLink()
    const bytes = new Uint8Array(10)
    for (let index = 0; index < MEMORY_LINK_DATAGRAMS + 1; index++) link.send(0, 0, bytes, 10)
    link.send(0, 1, bytes, 10)
    expect(link.stats.overflowed).toBe(1)
    const out = new Uint8Array(1500)
    let arrived = 0
    while (link.poll(0, 1, out) >= 0) arrived++
    expect(arrived).toBe(MEMORY_LINK_DATAGRAMS)
    expect(link.poll(0, 0, out)).toBe(10)
  })

  test('latency delays, and nothing arrives early', () => {
    const { arrived, times } = run(1, { latencyMs: 50 }, 100)
    expect(arrived).toEqual(upTo(100))
    expect(times).toEqual(upTo(100).map((time) => time + 50))
  })

  test('loss, duplication and reordering happen as often as configured', () => {
    const { arrived, link } = run(2, { latencyMs: 10, loss: 0.3, duplication: 0.1, reordering: 0.2 }, 5000)
    expect(link.stats.lost / 5000).toBeCloseTo(0.3, 1)
    expect(link.stats.duplicated / 5000).toBeCloseTo(0.1, 1)
    expect(link.stats.overflowed).toBe(0)
    expect(arrived.length).toBe(5000 - link.stats.lost + link.stats.duplicated)
    expect(arrived.filter((number, index) => number < (arrived[index - 1] ?? 0)).length).toBeGreaterThan(300)
  })

  test('the same seed gives the same weather, another seed another', () => {
    const weather = { latencyMs: 10, jitterMs: 30, loss: 0.3, duplication: 0.1 }
    expect(run(3, weather, 500).arrived).toEqual(run(3, weather, 500).arrived)
    expect(run(3, weather, 500).arrived).not.toEqual(run(4, weather, 500).arrived)
  })
})
