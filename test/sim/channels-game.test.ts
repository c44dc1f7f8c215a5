/**
 * A game's messages, by the delivery they were declared with, in a whole match in bad weather.
 */

import { expect, test } from 'vitest'
import { MessageRoutes } from '../../packages/tickwire/src/core/game/message-routes.ts'
import { bool, defineGame, entity, message, u32 } from 'tickwire'
import { simulate } from '../../packages/tickwire/src/testing/simulate.ts'

const Said = message({ number: u32 }, 'Said')
const Picked = message({ number: u32 }, 'Picked', { delivery: 'unordered' })
const Aim = message({ number: u32 }, 'Aim', { delivery: 'latest' })
const Gaze = message({ number: u32 }, 'Gaze', { delivery: 'latest' })
const Spark = message({ number: u32 }, 'Spark', { delivery: 'unreliable' })
const all = [Said, Picked, Aim, Gaze, Spark]

const gameOf = (messages: readonly (typeof Said)[]) => defineGame({
  tickRate: 60, input: { jump: bool }, entities: [entity({ x: u32 }, { name: 'Thing' })], messages, step() {},
})

test('[LANE6] each message of a game travels by its own delivery, both ways, at 25 percent loss', () => {
  const sim = simulate(gameOf(all), {
    seed: 5,
    clients: 1,
    link: { latencyMs: 40, jitterMs: 40, loss: 0.25, reordering: 0.2 },
  })
  const { host } = sim
  const client = sim.players[0]!.host
  const got = all.map(() => ({ client: [] as number[], server: [] as number[] }))
  all.forEach((kind, at) => {
    host.on(kind, ({ number }) => got[at]!.server.push(number))
    client.on(kind, ({ number }) => got[at]!.client.push(number))
  })
  for (let number = 0; number < 200; number++) {
    for (const kind of all) {
      expect(client.send(kind, { number })).toBe('queued')
      expect(host.send(host.peers[0]!, kind, { number })).toBe('queued')
    }
    sim.run(40)
  }
  sim.weather({ latencyMs: 40 })
  sim.run(3000)
  const sent = Array.from({ length: 200 }, (_, number) => number)
  const isRising = (numbers: readonly number[]): boolean =>
    numbers.every((number, at) => at === 0 || number > numbers[at - 1]!)
  for (const side of ['client', 'server'] as const) {
    const [said, picked, aim, gaze, spark] = got.map((sides) => sides[side])
    expect(said).toEqual(sent)
    expect([...picked!].sort((a, b) => a - b)).toEqual(sent)
    for (const latest of [aim!, gaze!]) {
      expect(isRising(latest)).toBe(true)
      expect(latest.length).toBeGreaterThan(80)
    }
    expect(new Set(spark).size).toBe(spark!.length)
    expect(spark!.length).toBeLessThan(200)
    expect(spark!.length).toBeGreaterThan(100)
  }
})

test('[LANE6] every latest message has a channel of its own, and shares one only when there are no more', () => {
  const many = Array.from({ length: 15 }, (_, at) => message({ number: u32 }, `Latest${at}`, { delivery: 'latest' }))
  const routes = new MessageRoutes([Said, ...many, Picked, Spark])
  const channelOf = (kind: typeof Said): number => routes.policies.resolve(kind).channel
  expect([Said, Picked, Spark].map(channelOf)).toEqual([0, 1, 2])
  expect(many.map(channelOf)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 3, 4])
  expect(routes.createChannels().specs.length).toBe(16)
  expect(new MessageRoutes([Said]).createChannels().specs.length).toBe(3)
})

test('[LANE6] delivery is part of what two builds must share', () => {
  const plain = gameOf([Said])
  const other = gameOf([message({ number: u32 }, 'Said', { delivery: 'latest' })])
  expect(other.fingerprint).not.toEqual(plain.fingerprint)
  expect(gameOf([message({ number: u32 }, 'Said', { delivery: 'reliable' })]).fingerprint).toEqual(plain.fingerprint)
})
