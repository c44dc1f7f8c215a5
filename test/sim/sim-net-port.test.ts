/**
 * A node of the simulated network as a transport: the suite of every transport, in calm and in mild weather.
 */

import { describe, expect, test } from 'vitest'
import { drain } from '../../packages/tickwire/src/core/endpoint/drain.ts'
import { createEndpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import { SimClock } from '../../packages/tickwire/src/testing/sim-clock.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { SimNet } from '../../packages/tickwire/src/testing/sim-net.ts'
import { type NetResident, SimNetActor } from '../../packages/tickwire/src/testing/sim-net-actor.ts'
import { SimPort } from '../../packages/tickwire/src/testing/sim-net-port.ts'
import type { NetWeather } from '../../packages/tickwire/src/testing/weather.ts'
import { describeTransport } from '../contract/transport.contract.ts'

const WEATHERS: readonly (readonly [string, NetWeather])[] = [
  ['calm', {}],
  ['latency and jitter', { latency: { ms: 30 }, jitter: { ms: 40 } }],
  ['a slow line', { line: { bps: 1_000_000, queueMs: 1000 }, bloat: { everyMs: 100, lastsMs: 200, peakMs: 100 } }],
  ['reordering', { reordering: { rate: 0.5, distance: 3, holdMs: 50 } }],
]

for (const [name, weather] of WEATHERS) {
  describeTransport(`[PORT1, PORT2, PORT3, PORT4] simulated network: ${name}`, async () => {
    let now = 0
    let count = 0
    const net = new SimNet({ seed: 5, weather })
    const node = net.addNode('server', { isFixed: true })
    const ports = [new SimPort(net, node, () => now)]
    return {
      server: ports[0]!,
      openClient: async () => {
        const port = new SimPort(net, net.addNode(`client ${++count}`), () => now)
        ports.push(port)
        return { port, serverAddress: node.address }
      },
      until: async (isDone) => {
        for (const end = now + 5000; !isDone() && now < end; now++) for (const port of ports) port.deliver()
      },
      close: async () => ports[0]!.close(),
    }
  }, false)
}

test('[PORT4] a closed port receives nothing more', () => {
  const net = new SimNet()
  const [a, b] = [net.addNode('a'), net.addNode('b')]
  const port = new SimPort(net, b, () => 0)
  let received = 0
  port.onDatagram = () => received++
  for (let count = 0; count < 2; count++) {
    net.send(0, a, b.address, Uint8Array.of(1), 1)
    port.deliver()
    port.close()
  }
  expect([received, port.stats.received]).toEqual([1, 1])
})

describe('an actor on the simulated network', () => {
  test('[NET23] endpoints run on it, each on its own clock, through skew and pauses', () => {
    const clock = new SimClock()
    const net = new SimNet({
      seed: 11,
      weather: {
        latency: { ms: 40 },
        skew: { ppm: 500 },
        pauses: { everyMs: 2000, lastsMs: 1500 },
        timers: { ms: 16 },
      },
    })
    const events: string[] = []
    const live = (name: string, maxConnections: number) => {
      const endpoint = createEndpoint({
        fingerprint: new Uint8Array(8),
        entropy: new Dice(name.length),
        maxConnections,
        assemble: () => {},
      })
      const node = net.addNode(name, { isFixed: maxConnections > 0 })
      const resident: NetResident = {
        handleDatagram: (now, from, bytes, length) => endpoint.handleDatagram(now, from, bytes, length),
        pump: (now, port) => drain(endpoint, now, port, (event) => events.push(`${name} ${event.type}`)),
      }
      return { endpoint, node, actor: new SimNetActor(net, node, clock, resident) }
    }
    const server = live('server', 4)
    const client = live('client', 0)
    const connection = client.endpoint.connect(client.node.clock.localAt(clock.now), server.node.address)
    client.actor.wake(clock.now)
    expect(clock.driveUntil(() => connection.isOpen, 10_000)).toBe(true)
    clock.drive(60_000)
    expect(connection.isOpen).toBe(true)
    expect(server.node.clock.tally.pauses + client.node.clock.tally.pauses).toBeGreaterThan(20)
    connection.close(client.node.clock.localAt(clock.now))
    clock.drive(5000)
    expect(events.toSorted()).toEqual(['client closed', 'client opened', 'server closed', 'server opened'])
    expect(client.node.clock.localAt(clock.now)).not.toBe(clock.now)
  })

  test('[NET23] while a node sleeps nothing runs on it, and datagrams wait until it wakes', () => {
    const clock = new SimClock()
    const net = new SimNet()
    const [sender, sleeper] = [net.addNode('sender'), net.addNode('sleeper')]
    const received: { at: number; byte: number }[] = []
    new SimNetActor(net, sleeper, clock, {
      handleDatagram: (now, _from, bytes) => received.push({ at: now, byte: bytes[0]! }),
      pump: () => Infinity,
    })
    clock.drive(100)
    net.setNodeWeather(100, sleeper, { sleeps: { everyMs: 0, lastsMs: 0 } })
    for (let byte = 1; byte <= 3; byte++) net.send(100, sender, sleeper.address, Uint8Array.of(byte), 1)
    clock.drive(5000)
    expect(received).toEqual([])
    net.setNodeWeather(clock.now, sleeper, {})
    clock.drive(0)
    // Its own clock stood still.
    expect(received).toEqual([{ at: 100, byte: 1 }, { at: 100, byte: 2 }, { at: 100, byte: 3 }])
    expect(sleeper.clock.localAt(5101)).toBe(101)
  })
})
