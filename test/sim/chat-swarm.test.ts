import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { LinkTally } from '../../packages/tickwire/src/testing/link-model-tally.ts'
import { shrinkWeather } from '../../packages/tickwire/src/testing/shrink.ts'
import { SimNet } from '../../packages/tickwire/src/testing/sim-net.ts'
import { createArrival } from '../../packages/tickwire/src/testing/sim-net-flights.ts'
import { type NetWeather, describeWeather } from '../../packages/tickwire/src/testing/weather.ts'
import { drawWeather } from '../../packages/tickwire/src/testing/weather-draw.ts'
import { findTrouble, sayInWeather } from '../../docs/guide/examples/udp-chat-weather.ts'
import { ROOT } from '../../tools/typecheck.ts'
import { playChat } from './chat.ts'

const SEEDS = Array.from({ length: 24 }, (_, index) => index + 1)

/** A narrow network: a chat sends too little to exceed most limits otherwise. */
const NARROW: NetWeather = {
  policing: { bps: 30_000, burstBytes: 3000 },
  line: { bps: 64_000, queueMs: 100 },
  mtu: { bytes: 600, everyMs: 1000, lastsMs: 4000 },
}

describe('a chat in any weather', () => {
  test('[NET24] each side receives all messages once and in order, and is current when a storm clears', () => {
    const total = new LinkTally()
    const sums = { moves: 0, jumps: 0, sleeps: 0, pauses: 0, messages: 0, connections: 0 }
    for (const seed of SEEDS) {
      const report = seed % 8 === 0 ? playChat(seed, NARROW) : playChat(seed)
      expect(report.problem, `seed ${seed}: ${describeWeather(report.weather)}`).toBeUndefined()
      total.add(report.tally)
      sums.moves += report.moves
      sums.messages += report.messages
      sums.connections += report.connections
      for (const key of ['jumps', 'sleeps', 'pauses'] as const) sums[key] += report.clocks[key]
    }
    for (const key of Object.keys(total) as (keyof LinkTally)[]) {
      if (key === 'overflowed') expect(total[key], key).toBe(0)
      else expect(total[key], key).toBeGreaterThan(0)
    }
    for (const [key, count] of Object.entries(sums)) expect(count, key).toBeGreaterThan(10)
    expect(sums.messages).toBeGreaterThan(10_000)
  })

  test('[NET9] one seed is one chat, in another process too', () => {
    const hashes = [3, 4].map((seed) => playChat(seed).traceHash)
    expect(hashes[0]).not.toBe(hashes[1])
    const child = spawnSync(
      process.execPath,
      [
        '--import',
        'tsx',
        '--input-type=module',
        '-e',
        'import { playChat } from "./test/sim/chat.ts"; ' +
          'console.log([3, 4].map((seed) => playChat(seed).traceHash).join())',
      ],
      { cwd: ROOT, encoding: 'utf8' },
    )
    expect(child.stdout.trim()).toBe(hashes.join())
  })
})

/** A receiver with a bug: it assumes that each datagram arrives once, or in order. Which fault breaks it? */
function breaks(seed: number, weather: NetWeather, isBroken: (numbers: readonly number[]) => boolean): boolean {
  const net = new SimNet({ seed, weather })
  const [a, b] = [net.addNode('a'), net.addNode('b')]
  const arrival = createArrival()
  const numbers: number[] = []
  for (let now = 0; now < 10_000; now += 10) {
    if (now < 5000) net.send(now, a, b.address, Uint8Array.of(now / 10, now / 2560), 2)
    while (net.poll(now, b, arrival)) numbers.push(arrival.bytes[0]! + arrival.bytes[1]! * 256)
  }
  return isBroken(numbers)
}

describe('shrinking the weather of a real failure', () => {
  const hasRepeats = (numbers: readonly number[]): boolean => new Set(numbers).size < numbers.length
  const isShuffled = (numbers: readonly number[]): boolean =>
    numbers.some((number, index) => number < (numbers[index - 1] ?? 0))

  test('[NET6] a receiver that fails on duplicates is broken by duplication alone', () => {
    let found = 0
    for (let seed = 1; seed <= 60; seed++) {
      const fails = (weather: NetWeather): boolean => breaks(seed, weather, hasRepeats)
      const weather = drawWeather(seed)
      if (!fails(weather)) continue
      found++
      expect(Object.keys(shrinkWeather(weather, fails)), `seed ${seed}`).toEqual(['duplication'])
    }
    expect(found).toBeGreaterThan(10)
  })

  test('[NET6, NET7] a receiver that needs order is broken by one of three faults, reduced as far as possible', () => {
    let found = 0
    for (let seed = 1; seed <= 60; seed++) {
      const fails = (weather: NetWeather): boolean => breaks(seed, weather, isShuffled)
      const weather = drawWeather(seed)
      if (!fails(weather)) continue
      found++
      const shrunk = shrinkWeather(weather, fails)
      expect(Object.keys(shrunk).length, `seed ${seed}: ${describeWeather(shrunk)}`).toBe(1)
      expect(['jitter', 'duplication', 'reordering']).toContain(Object.keys(shrunk)[0])
      if (shrunk.reordering !== undefined) expect(shrunk.reordering.distance).toBeLessThanOrEqual(2)
    }
    expect(found).toBeGreaterThan(20)
  })
})

describe('the guide\'s example', () => {
  test('[NET24] a line arrives in bad weather, and the mildest weather that delays it is found', () => {
    const calmMs = sayInWeather(7, { latency: { ms: 50 } })!
    expect(calmMs).toBeGreaterThan(100)
    expect(calmMs).toBeLessThan(500)
    expect(sayInWeather(7, { latency: { ms: 50 }, loss: { rate: 0.3 } })).toBeGreaterThan(calmMs)
    expect(sayInWeather(7, { loss: { rate: 1 } })).toBeUndefined()
    expect(findTrouble(20, 1)).toMatch(/^seed \d+: \w+ \w+=/)
    expect(findTrouble(0, 1)).toBeUndefined()
  })
})
