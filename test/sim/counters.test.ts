/** What hosts count, and which of their inputs they copy. */

import { expect, test } from 'vitest'
import { bool, defineGame, entity, fixed, message, text, u16 } from 'tickwire'
import { createClientHost, createMatchHost } from 'tickwire/engine'
import { Dice, simulate } from 'tickwire/testing'

const Dot = entity({ x: fixed(0, 1000, 0.1) }, { name: 'Dot' })
const Say = message({ words: text(20) }, 'Say')
const game = defineGame({
  tickRate: 60, input: { go: bool, number: u16 }, entities: [Dot], messages: [Say],
  onJoin: (world, peer) => world.spawn(Dot, {}, peer),
  step(world, inputs) {
    for (const dot of world.each(Dot)) if (inputs.of(dot.owner).go) dot.x += 0.1
  },
})

test('[GAME12] a host counts packets, bytes, rows and inputs, and keeps the counts of players that left', () => {
  const sim = simulate(game, {
    seed: 4,
    clients: 2,
    link: { latencyMs: 30, jitterMs: 20, loss: 0.2, duplication: 0.2 },
  })
  for (const client of [0, 1]) sim.hold(client, { go: true })
  sim.run(3000)
  const counters = sim.host.counters()
  expect(Object.keys(counters).toSorted()).toEqual([
    'bytesReceived',
    'bytesSent',
    'inputsDuplicated',
    'inputsLate',
    'inputsReceived',
    'packetsDropped',
    'packetsReceived',
    'packetsSent',
    'rowsDelta',
    'rowsFull',
  ])
  for (const [name, count] of Object.entries(counters))
    if (name !== 'inputsLate') expect(count, name).toBeGreaterThan(0)
  const sum = (read: (stats: (typeof sim.host.endpoint.connections)[0]['stats']) => number): number =>
    sim.host.endpoint.connections.reduce((total, { stats }) => total + read(stats), 0)
  expect(counters.packetsSent).toBe(sum(({ packetsSent }) => packetsSent))
  expect(counters.bytesReceived).toBe(sum(({ bytesReceived }) => bytesReceived))
  expect(counters.packetsDropped).toBe(
    sum(({ drops }) => Object.values(drops).reduce((total, count) => total + count, 0)),
  )
  // Every packet repeats earlier inputs: most of the inputs that arrive are duplicates.
  expect(counters.inputsDuplicated).toBeGreaterThan(counters.inputsReceived / 3)
  expect(counters.rowsDelta).toBeGreaterThan(10 * counters.rowsFull)
  expect(sim.players.reduce((late, { host }) => late + host.clock.lateInputs, 0)).toBeLessThanOrEqual(
    counters.inputsLate,
  )
  sim.players[0]!.host.close(sim.clock.now)
  sim.run(1000)
  expect(sim.host.peers).toHaveLength(1)
  const after = sim.host.counters()
  for (const name of Object.keys(counters) as (keyof typeof counters)[])
    expect(after[name], name).toBeGreaterThanOrEqual(counters[name])
})

test('[GAME12] an input that arrives after its tick is counted as late', () => {
  const sim = simulate(game, { seed: 5, link: { latencyMs: 20 } })
  sim.run(1000)
  const before = sim.host.counters().inputsLate
  sim.weather({ latencyMs: 200 })
  sim.run(1000)
  expect(sim.host.counters().inputsLate).toBeGreaterThan(before)
})

test('[GAME13] bytes and values that were handed to a host may be changed after the call', () => {
  const received: string[] = []
  const { rooms: server, host } = createMatchHost(game, { entropy: new Dice(1) })
  const client = createClientHost(game, { entropy: new Dice(2) })
  host.on(Say, ({ words }) => { received.push(words) })
  /** One buffer for everything in flight, overwritten as soon as it was handed over. */
  const buffer = new Uint8Array(1500)
  const carry =
    (now: number, to: typeof server | typeof client) =>
    (_address: string, bytes: Uint8Array, length: number): void => {
      buffer.set(bytes.subarray(0, length))
      to.handleDatagram(now, to === server ? 'client' : 'server', buffer, length)
      buffer.fill(0xff)
    }
  client.connect(0, 'server')
  const values = { words: '' }
  const held = { go: true, number: 0 }
  client.sampleInput = () => held
  for (let now = 0; now < 3000; now += 5) {
    if (now >= 1000 && now % 100 === 0) {
      values.words = `at ${now}`
      expect(client.send(Say, values)).toBe('queued')
      values.words = 'another'
    }
    held.number = now
    for (const each of [server, client]) each.tick(now)
    held.number = 0xffff
    server.drain(now, { send: carry(now, client) })
    client.drain(now, { send: carry(now, server) })
  }
  expect(received).toEqual(Array.from({ length: 20 }, (_, at) => `at ${1000 + at * 100}`))
  expect([...host.world.each(Dot)][0]!.x).toBeGreaterThan(5)
  expect([...client.view.each(Dot)]).toHaveLength(1)
})

test('[GAME14] the state of a host can be read while a match runs', () => {
  const sim = simulate(game, { seed: 6, link: { latencyMs: 20 } })
  sim.hold(0, { go: true })
  sim.run(1000)
  const { world, timeline, endpoint, loop, peers } = sim.host
  expect([
    world.tick > 50,
    timeline.newest === world.tick,
    endpoint.connections.length,
    loop.skippedTicks,
    peers.length,
  ]).toEqual([true, true, 1, 0, 1])
  const { clock, confirmed, predictor, view, endpoint: line, serverTick } = sim.players[0]!.host
  expect([clock.clock.isConverged, clock.ticks.isRunning, confirmed.newest > 0, predictor!.tick > serverTick]).toEqual([
    true,
    true,
    true,
    true,
  ])
  expect([[...view.each(Dot)].length, line.connections[0]!.rtt.samples > 0]).toEqual([1, true])
})
