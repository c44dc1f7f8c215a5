/**
 * The simulated network, fault by fault: each happens, as often and as badly as asked, and is counted.
 *
 * Rates are compared with tolerances of about four standard deviations; with fixed seeds the result is always the same.
 */

import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { SimNet } from '../../packages/tickwire/src/testing/sim-net.ts'
import { createArrival } from '../../packages/tickwire/src/testing/sim-net-flights.ts'
import type { LinkTally } from '../../packages/tickwire/src/testing/link-model-tally.ts'
import { type NetWeather, calm } from '../../packages/tickwire/src/testing/weather.ts'
import { drawWeather } from '../../packages/tickwire/src/testing/weather-draw.ts'

interface Landing {
  readonly number: number
  readonly sentAt: number
  readonly at: number
  readonly size: number
  readonly isWhole: boolean
}

interface Run {
  readonly net: SimNet
  readonly landings: Landing[]
  readonly tally: LinkTally
}

interface RunOptions {
  readonly seed?: number
  readonly count?: number
  readonly gapMs?: number
  readonly size?: number
  /** How long to go on after the last datagram was sent. */
  readonly restMs?: number
}

/** Sends numbered datagrams one way, `gapMs` apart, and returns what happened to them. */
function run(weather: NetWeather, options: RunOptions = {}): Run {
  const { seed = 1, count = 20_000, gapMs = 1, size = 100, restMs = 15_000 } = options
  const net = new SimNet({ seed, weather })
  const [a, b] = [net.addNode('a', { isFixed: true }), net.addNode('b', { isFixed: true })]
  const arrival = createArrival()
  const landings: Landing[] = []
  const bytes = new Uint8Array(size)
  const view = new DataView(bytes.buffer)
  const take = (now: number): void => {
    while (net.poll(now, b, arrival)) {
      const number = new DataView(arrival.bytes.buffer, arrival.bytes.byteOffset).getUint32(0)
      const isWhole =
        arrival.length === size && arrival.bytes.subarray(4, size).every((byte) => byte === (number & 0xff))
      landings.push({ number, sentAt: number * gapMs, at: arrival.at, size: arrival.length, isWhole })
    }
  }
  for (let number = 0; number < count; number++) {
    bytes.fill(number)
    view.setUint32(0, number)
    take(number * gapMs)
    net.send(number * gapMs, a, b.address, bytes, size)
  }
  for (let now = count * gapMs; now < count * gapMs + restMs && net.flying > 0; now += 1) take(now)
  return { net, landings, tally: net.link(a, b).tally }
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
const most = (values: readonly number[]): number =>
  values.reduce((highest, value) => Math.max(highest, value), -Infinity)
const least = (values: readonly number[]): number => values.reduce((lowest, value) => Math.min(lowest, value), Infinity)
const delays = ({ landings }: Run): number[] => landings.map(({ at, sentAt }) => at - sentAt)
const isInOrder = ({ landings }: Run): boolean =>
  landings.every(({ number }, index) => index === 0 || number > landings[index - 1]!.number)

/** For each arrival, how many datagrams that were sent later arrived before it. */
function distances({ landings }: Run): number[] {
  return landings.map(({ number }, index) => {
    let overtakers = 0
    for (let back = index - 1; back >= 0 && back > index - 2000; back--)
      if (landings[back]!.number > number) overtakers++
    return overtakers
  })
}

describe('simulated network', () => {
  test('[NET9] the same seed and calls give the same arrivals to the bit; another seed gives others', () => {
    const weather = drawWeather(77, { without: [] })
    const storm: NetWeather = {
      ...weather,
      loss: { rate: 0.2 },
      jitter: { ms: 50 },
      corruption: { rate: 0.1, spliceRate: 0.05 },
    }
    const trace = (seed: number): Landing[] => run(storm, { seed, count: 2000 }).landings
    expect(trace(3)).toEqual(trace(3))
    expect(trace(3)).not.toEqual(trace(4))
  })

  test.each([
    [1, 'd31c99cf553b417e'],
    [2, '0c5f7e32fd26f2a0'],
    [77, '82c08c7b7ac0e5b3'],
  ])('[NET10, RNG1] the first 1000 decisions of seed %i are the same on every machine', (seed, digest) => {
    const { landings } = run({
      latency: { ms: 30 }, loss: { rate: 0.2 }, duplication: { rate: 0.2, copies: 2, lateMs: 500 },
      reordering: { rate: 0.2, distance: 20, holdMs: 100 },
    }, { seed, count: 1000, gapMs: 20 })
    const decisions = landings.map(({ number }) => number).join(' ')
    expect(createHash('sha256').update(decisions).digest('hex').slice(0, 16)).toBe(digest)
  })

  test('[NET10] without one fault the others are the same: the same datagrams are lost in the same bursts', () => {
    const all: NetWeather = {
      latency: { ms: 30 },
      jitter: { ms: 20 },
      loss: { rate: 0.1 },
      bursts: { everyMs: 500, lastsMs: 300, rate: 0.8 },
      duplication: { rate: 0.2, copies: 3, lateMs: 100 },
      reordering: { rate: 0.2, distance: 20, holdMs: 100 },
      partitions: { everyMs: 3000, lastsMs: 200 },
    }
    const arrived = (weather: NetWeather): Set<number> =>
      new Set(run(weather, { count: 5000 }).landings.map(({ number }) => number))
    const whole = arrived(all)
    for (const name of ['latency', 'jitter', 'duplication', 'reordering'] as const) {
      const { [name]: _, ...rest } = all
      expect(arrived(rest)).toEqual(whole)
    }
    for (const name of ['loss', 'bursts', 'partitions'] as const) {
      const { [name]: _, ...rest } = all
      const more = arrived(rest)
      expect(more.size).toBeGreaterThan(whole.size)
      expect([...whole].every((number) => more.has(number))).toBe(true)
    }
  })

  test('[NET10] faults are independent: loss does not change how often the rest is doubled or damaged', () => {
    const { tally, landings } = run({
      loss: { rate: 0.5 },
      duplication: { rate: 0.2, copies: 1, lateMs: 10 },
      reordering: { rate: 0.2, distance: 5, holdMs: 100 },
      corruption: { rate: 0.2, spliceRate: 0 },
      jitter: { ms: 100 },
    })
    const kept = 20_000 - tally.lost
    for (const key of ['copies', 'held', 'corrupted'] as const)
      expect(Math.abs(tally[key] / kept - 0.2), key).toBeLessThan(0.017)
    expect(landings.length).toBe(kept + tally.copies)
  })

  test('[NET11] every datagram is delivered, dropped for a counted reason, or in flight, in any weather', () => {
    for (let seed = 0; seed < 60; seed++) {
      const { net, tally } = run(drawWeather(seed, { without: [] }), {
        seed,
        count: 500,
        gapMs: 7,
        restMs: seed % 2 === 0 ? 20_000 : 0,
      })
      expect(tally.sent + tally.copies, `seed ${seed}`).toBe(tally.delivered + tally.dropped + net.flying)
      expect(tally.sent).toBe(500)
      expect(net.tally).toEqual(tally)
    }
  })

  test('[NET12] in calm weather a datagram can be polled in the moment it was sent, whole, in order', () => {
    const net = new SimNet({ weather: calm() })
    const [a, b] = [net.addNode('a'), net.addNode('b')]
    const arrival = createArrival()
    net.send(5, a, b.address, Uint8Array.of(1, 2, 3, 4), 3)
    net.send(5, a, b.address, Uint8Array.of(9), 1)
    expect([net.nextAt(b), net.nextAt(a)]).toEqual([5, Infinity])
    expect(net.poll(5, a, arrival)).toBe(false)
    expect(net.poll(5, b, arrival)).toBe(true)
    expect([arrival.from, arrival.to, arrival.at, ...arrival.bytes.slice(0, arrival.length)]).toEqual([
      a.address,
      b.address,
      5,
      1,
      2,
      3,
    ])
    expect(net.poll(5, b, arrival)).toBe(true)
    expect([...arrival.bytes.slice(0, arrival.length)]).toEqual([9])
    expect(net.poll(5, b, arrival)).toBe(false)
  })

  test('[NET12] latency is exact; jitter adds up to its most, with a mean of 0.231 of it, and overtakes', () => {
    expect(new Set(delays(run({ latency: { ms: 50 } }, { count: 100 })))).toEqual(new Set([50]))
    const jittery = run({ latency: { ms: 50 }, jitter: { ms: 100 } })
    expect(least(delays(jittery))).toBeGreaterThanOrEqual(50)
    expect(most(delays(jittery))).toBeLessThan(150)
    expect(most(delays(jittery))).toBeGreaterThan(145)
    expect(Math.abs(mean(delays(jittery)) - 50 - 23.1)).toBeLessThan(0.7)
    expect(isInOrder(jittery)).toBe(false)
    // A quarter of them lie below the first quartile of that distribution: -ln(1 - 0.25 x 0.98168) / 4 = 0.0704.
    expect(delays(jittery).filter((ms) => ms < 57.04).length / 20_000).toBeCloseTo(0.25, 1)
  })

  test('[NET12] loss is as frequent as asked, and losses are independent', () => {
    for (const rate of [0, 0.01, 0.3, 0.6, 1]) {
      const { landings, tally } = run({ loss: { rate } })
      expect(Math.abs(tally.lost / 20_000 - rate)).toBeLessThanOrEqual(4 * Math.sqrt((rate * (1 - rate)) / 20_000))
      expect(landings.length).toBe(20_000 - tally.lost)
    }
    const lost = new Set(Array.from({ length: 20_000 }, (_, number) => number))
    for (const { number } of run({ loss: { rate: 0.3 } }).landings) lost.delete(number)
    const pairs = [...lost].filter((number) => lost.has(number + 1)).length
    expect(Math.abs(pairs / 20_000 - 0.09)).toBeLessThan(0.01)
  })

  test('[NET13] bursts: loss comes in runs, no longer than asked, and calm is calm', () => {
    const { landings, tally } = run({ bursts: { everyMs: 1000, lastsMs: 400, rate: 1 } }, { count: 100_000 })
    const gaps = landings
      .slice(1)
      .map(({ number }, index) => number - landings[index]!.number - 1)
      .filter((gap) => gap > 0)
    expect(most(gaps)).toBeLessThanOrEqual(401)
    expect(most(gaps)).toBeGreaterThan(250)
    // Mean 0.2313 x 400 ms after 1000 ms of calm: 8.5 percent, in some ninety bursts.
    expect(tally.lostInBurst / 100_000).toBeGreaterThan(0.065)
    expect(tally.lostInBurst / 100_000).toBeLessThan(0.105)
    expect(Math.abs(gaps.length - 91)).toBeLessThan(25)
    expect(tally.lost).toBe(0)
    const halfBad = run({ bursts: { everyMs: 1000, lastsMs: 400, rate: 0.5 } }, { count: 100_000 }).tally
    expect(halfBad.lostInBurst / tally.lostInBurst).toBeCloseTo(0.5, 1)
  })

  test('[NET13] an outage of a node cuts both its directions at once; a partition cuts one', () => {
    const both = (weather: NetWeather): { there: boolean[]; back: boolean[]; net: SimNet } => {
      const net = new SimNet({ seed: 2 })
      const [a, b] = [net.addNode('a'), net.addNode('b')]
      net.setNodeWeather(0, a, weather)
      net.setLinkWeather(0, a, b, weather)
      net.setLinkWeather(0, b, a, weather)
      const arrival = createArrival()
      const [there, back]: [boolean[], boolean[]] = [[], []]
      for (let now = 0; now < 60_000; now += 10) {
        net.send(now, a, b.address, Uint8Array.of(1), 1)
        net.send(now, b, a.address, Uint8Array.of(2), 1)
        there.push(net.poll(now, b, arrival))
        back.push(net.poll(now, a, arrival))
      }
      return { there, back, net }
    }
    const outage = both({ outages: { everyMs: 5000, lastsMs: 4000 } })
    expect(outage.there).toEqual(outage.back)
    expect(outage.there.filter((isThere) => !isThere).length).toBeGreaterThan(200)
    expect(outage.net.tally.lostInOutage).toBe(2 * outage.there.filter((isThere) => !isThere).length)
    const partition = both({ partitions: { everyMs: 5000, lastsMs: 4000 } })
    const oneWay = partition.there.filter((isThere, index) => isThere !== partition.back[index]).length
    expect(oneWay).toBeGreaterThan(500)
    expect(partition.net.tally.partitioned).toBe(
      [...partition.there, ...partition.back].filter((isThere) => !isThere).length,
    )
  })

  test("[NET13] datagrams in flight when the receiver's outage begins are lost too", () => {
    const net = new SimNet({ seed: 1, weather: { latency: { ms: 100 } } })
    const [a, b] = [net.addNode('a'), net.addNode('b')]
    net.send(0, a, b.address, Uint8Array.of(1), 1)
    net.setNodeWeather(50, b, { outages: { everyMs: 0, lastsMs: 0 } })
    expect(net.poll(200, b, createArrival())).toBe(false)
    expect(net.tally.lostInOutage).toBe(1)
  })

  test('[NET13] datagrams that arrived before an outage are there, however late they are polled', () => {
    const net = new SimNet({ seed: 1, weather: { latency: { ms: 10 } } })
    const [a, b] = [net.addNode('a'), net.addNode('b')]
    net.send(0, a, b.address, Uint8Array.of(1), 1)
    net.setNodeWeather(50, b, { outages: { everyMs: 0, lastsMs: 0 } })
    expect(net.poll(200, b, createArrival())).toBe(true)
  })

  test('[NET14] duplication: at the given rate, with up to the given number of copies and delay', () => {
    const result = run({ duplication: { rate: 0.25, copies: 4, lateMs: 2000 } })
    const seen = new Map<number, number>()
    for (const { number } of result.landings) seen.set(number, (seen.get(number) ?? 0) + 1)
    const doubled = [...seen.values()].filter((times) => times > 1)
    expect(Math.abs(doubled.length / 20_000 - 0.25)).toBeLessThan(0.0125)
    expect(most(doubled)).toBe(5)
    expect(Math.abs(mean(doubled) - 1 - 2.5)).toBeLessThan(0.08)
    expect(result.tally.copies).toBe(result.landings.length - 20_000)
    expect(most(delays(result))).toBeLessThan(2000)
    expect(most(delays(result))).toBeGreaterThan(1990)
    expect(result.landings.every(({ isWhole }) => isWhole)).toBe(true)
  })

  test('[NET15] reordering: as often as asked, and never by more than its distance', () => {
    for (const distance of [1, 3, 50, 512]) {
      const result = run(
        { latency: { ms: 5 }, reordering: { rate: 0.3, distance, holdMs: 3_600_000 } },
        { count: 10_000, restMs: 3_700_000 },
      )
      expect(Math.abs(result.tally.held / 10_000 - 0.3)).toBeLessThan(0.02)
      expect(result.landings.length).toBe(10_000)
      const moved = distances(result)
      expect(most(moved)).toBeLessThanOrEqual(distance)
      expect(most(moved)).toBeGreaterThan(distance * 0.6)
      expect(moved.filter((by) => by > 0).length).toBeGreaterThan(1500)
    }
  })

  test('[NET15] a datagram held back while nothing follows arrives when its time is up', () => {
    const result = run({ latency: { ms: 5 }, reordering: { rate: 1, distance: 100, holdMs: 250 } }, { count: 1 })
    expect(result.landings.map(({ at }) => at)).toEqual([255])
    const steady = run({ reordering: { rate: 0.5, distance: 512, holdMs: 40 } }, { count: 2000 })
    expect(most(delays(steady))).toBeLessThanOrEqual(40)
  })

  test('[NET16] corruption: bits, bytes, ends and additions, each as often as asked', () => {
    const { landings, tally } = run({ corruption: { rate: 0.2, spliceRate: 0 } })
    expect(Math.abs(tally.corrupted / 20_000 - 0.2)).toBeLessThan(0.012)
    for (const kind of ['bitsFlipped', 'bytesChanged', 'cut', 'extended'] as const) {
      expect(Math.abs(tally[kind] / 20_000 - 0.05), kind).toBeLessThan(0.007)
    }
    expect(tally.spliced).toBe(0)
    // Damage to the number itself looks like another whole datagram; the rest is easy to see.
    const damaged = landings.filter(({ isWhole }) => !isWhole).length
    expect(damaged / tally.corrupted).toBeGreaterThan(0.98)
    expect(landings.length).toBe(20_000)
    expect(landings.filter(({ size }) => size < 100).length).toBe(tally.cut)
    expect(landings.filter(({ size }) => size > 100).length).toBe(tally.extended)
    expect(most(landings.map(({ size }) => size))).toBeLessThanOrEqual(116)
  })

  test('[NET16] splices: an old datagram whole, or its tail on a new head', () => {
    const { landings, tally } = run({ corruption: { rate: 0, spliceRate: 0.05 } })
    expect(Math.abs(tally.spliced / 20_000 - 0.05)).toBeLessThan(0.007)
    const back = landings.filter(
      ({ number, isWhole }, index) => isWhole && number < (landings[index - 1]?.number ?? 0),
    ).length
    const mixed = landings.filter(({ isWhole }) => !isWhole).length
    expect(back).toBeGreaterThan(tally.spliced * 0.4)
    expect(mixed).toBeGreaterThan(tally.spliced * 0.3)
  })

  test('[NET17] a line passes its rate, queues the rest in order, and drops what finds the queue full', () => {
    // 100 bytes a millisecond is 800 kbit/s.
    const idle = run({ line: { bps: 1_600_000, queueMs: 200 } }, { count: 2000 })
    expect(delays(idle).every((ms) => Math.abs(ms - 0.5) < 1e-6)).toBe(true)
    const busy = run({ line: { bps: 400_000, queueMs: 200 } }, { count: 4000 })
    expect(isInOrder(busy)).toBe(true)
    expect(busy.tally.tailDropped).toBeGreaterThan(0)
    expect(busy.landings.length / 4000).toBeCloseTo(0.5, 1)
    // The wait grows evenly, to the queue's size and no further.
    const waits = delays(busy)
    expect(waits[100]).toBeCloseTo(102, 0)
    expect(most(waits)).toBeLessThanOrEqual(202 + 1e-6)
    expect(busy.tally.queuedMsMax).toBeGreaterThan(195)
    expect(mean(waits.slice(-1000))).toBeGreaterThan(195)
    const spaced = busy.landings.slice(1).map(({ at }, index) => at - busy.landings[index]!.at)
    expect(spaced.every((gap) => Math.abs(gap - 2) < 1e-6)).toBe(true)
  })

  test('[NET17] a policer delays nothing, lets a burst pass and then only its rate', () => {
    const { landings, tally } = run({ policing: { bps: 400_000, burstBytes: 5000 } }, { count: 4000 })
    expect(landings.every(({ at, sentAt }) => at === sentAt)).toBe(true)
    expect(landings.slice(0, 50).every(({ number }, index) => number === index)).toBe(true)
    expect(Math.abs(landings.length - 2050)).toBeLessThan(3)
    expect(tally.policed).toBe(4000 - landings.length)
  })

  test('[NET17] cross traffic: the wait rises to its peak and drains, and nothing is overtaken or lost', () => {
    const result = run({ bloat: { everyMs: 5000, lastsMs: 5000, peakMs: 1000 } }, { count: 60_000 })
    const waits = delays(result)
    expect(result.landings.length).toBe(60_000)
    expect(isInOrder(result)).toBe(true)
    expect(most(waits)).toBeLessThanOrEqual(1000)
    expect(most(waits)).toBeGreaterThan(950)
    expect(waits.filter((ms) => ms === 0).length).toBeGreaterThan(10_000)
    const steps = waits.slice(1).map((ms, index) => ms - waits[index]!)
    expect(least(steps)).toBeGreaterThan(-1.001)
  })

  test('[NET18] an MTU hole: longer datagrams are dropped while it lasts, shorter ones never', () => {
    const forGood: NetWeather = { mtu: { bytes: 500, everyMs: 0, lastsMs: 0 } }
    expect(run(forGood, { count: 100, size: 500 }).landings.length).toBe(100)
    expect(run(forGood, { count: 100, size: 501 }).tally.tooLong).toBe(100)
    const now: NetWeather = { mtu: { bytes: 500, everyMs: 1000, lastsMs: 4000 } }
    expect(run(now, { size: 400 }).landings.length).toBe(20_000)
    const { tally } = run(now, { size: 600 })
    expect(tally.tooLong / 20_000).toBeGreaterThan(0.3)
    expect(tally.tooLong / 20_000).toBeLessThan(0.7)
  })
})
