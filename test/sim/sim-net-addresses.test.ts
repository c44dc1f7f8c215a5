/**
 * The simulated network's addresses, and weather that changes during a run.
 */

import { describe, expect, test } from 'vitest'
import { SimNet } from '../../packages/tickwire/src/testing/sim-net.ts'
import { createArrival } from '../../packages/tickwire/src/testing/sim-net-flights.ts'
import { calm } from '../../packages/tickwire/src/testing/weather.ts'

describe('simulated network: addresses', () => {
  test('[NET19] a node that moves sends and receives at its new address only; datagrams in flight are lost', () => {
    const net = new SimNet({ weather: { latency: { ms: 10 } } })
    const [a, b] = [net.addNode('a'), net.addNode('b')]
    const arrival = createArrival()
    const first = a.address
    net.send(0, b, first, Uint8Array.of(1), 1)
    net.rebind(5, a, 'port')
    expect(a.address.split(':')[0]).toBe(first.split(':')[0])
    expect(a.address).not.toBe(first)
    expect(net.poll(20, a, arrival)).toBe(false)
    expect(net.tally.stale).toBe(1)
    expect(net.send(20, b, first, Uint8Array.of(2), 1)).toBe(true)
    expect(net.unrouted).toBe(1)
    net.send(20, a, b.address, Uint8Array.of(3), 1)
    expect(net.poll(30, b, arrival)).toBe(true)
    expect(arrival.from).toBe(a.address)
    net.send(30, b, arrival.from, Uint8Array.of(4), 1)
    expect(net.poll(40, a, arrival)).toBe(true)
    const second = a.address
    net.rebind(40, a, 'address')
    expect(a.address.split(':')[0]).not.toBe(second.split(':')[0])
    expect(net.moves).toBe(2)
  })

  test('[NET19] a free address may be taken by another node, and a used one may not', () => {
    const net = new SimNet()
    const [a, b, c] = [net.addNode('a'), net.addNode('b'), net.addNode('c')]
    const old = a.address
    expect(() => net.rebind(0, b, { address: old })).toThrow(`${old} belongs to a`)
    net.rebind(0, a, 'address')
    net.rebind(0, b, { address: old })
    const arrival = createArrival()
    net.send(1, c, old, Uint8Array.of(5), 1)
    expect([net.poll(1, a, arrival), net.poll(1, b, arrival)]).toEqual([false, true])
    expect(() => net.rebind(1, b, { address: 'nowhere' })).toThrow('got "nowhere"')
    expect(net.send(1, c, 'no-node', Uint8Array.of(5), 1)).toBe(false)
  })

  test('[NET19] weather moves nodes as often as asked, ports or hosts, and never those that are fixed', () => {
    const net = new SimNet({ seed: 3, weather: { rebinds: { everyMs: 1000, addressRate: 0.3 } } })
    const [server, client] = [net.addNode('server', { isFixed: true }), net.addNode('client')]
    const home = server.address
    const addresses = new Set<string>()
    for (let now = 0; now < 400_000; now += 10) {
      net.send(now, client, server.address, Uint8Array.of(1), 1)
      addresses.add(client.address)
    }
    expect(server.address).toBe(home)
    expect(Math.abs(net.moves - 400)).toBeLessThan(80)
    expect(Math.abs(addresses.size - net.moves)).toBeLessThan(20)
    const hosts = new Set([...addresses].map((address) => address.split(':')[0]))
    expect(hosts.size / addresses.size).toBeGreaterThan(0.2)
    expect(hosts.size / addresses.size).toBeLessThan(0.4)
  })

  test('[NET19] an address in use, an unknown node and a time in the past throw', () => {
    const net = new SimNet()
    const a = net.addNode('a')
    expect(() => net.addNode('a')).toThrow('a is taken')
    expect(() => net.addNode('b', { address: a.address })).toThrow(`${a.address} belongs to a`)
    expect(() => net.addNode('b', { address: 'x' })).toThrow('got "x"')
    net.setWeather(10, {})
    expect(() => net.setWeather(9, {})).toThrow('time goes forward')
    expect(() => new SimNet().nextAt(a)).toThrow('the node is of this network')
  })
})

describe('simulated network: weather that changes', () => {
  test('[NET22] a fault with unchanged numbers goes on when others change; a link may have its own weather', () => {
    const bursts = { everyMs: 300, lastsMs: 300, rate: 1 }
    const lostAt = (changes: boolean): number[] => {
      const net = new SimNet({ seed: 9, weather: { bursts } })
      const [a, b] = [net.addNode('a'), net.addNode('b')]
      const arrival = createArrival()
      const lost: number[] = []
      for (let now = 0; now < 5000; now++) {
        if (changes && now % 500 === 0) net.setWeather(now, { bursts, latency: { ms: 0 } })
        net.send(now, a, b.address, Uint8Array.of(1), 1)
        if (!net.poll(now, b, arrival)) lost.push(now)
      }
      return lost
    }
    expect(lostAt(false).length).toBeGreaterThan(300)
    expect(lostAt(true)).toEqual(lostAt(false))
    const net = new SimNet({ weather: { loss: { rate: 1 } } })
    const [a, b] = [net.addNode('a'), net.addNode('b')]
    net.setLinkWeather(0, a, b, calm())
    const arrival = createArrival()
    net.send(0, a, b.address, Uint8Array.of(1), 1)
    net.send(0, b, a.address, Uint8Array.of(1), 1)
    expect([net.poll(0, b, arrival), net.poll(0, a, arrival)]).toEqual([true, false])
    expect([net.link(b, a).tally.lost, net.link(a, b).weather]).toEqual([1, {}])
  })

  test('[NET13] episodes do not depend on when a link is first used', () => {
    const isThrough = (startAt: number): boolean[] => {
      const net = new SimNet({ seed: 4, weather: { partitions: { everyMs: 500, lastsMs: 1000 } } })
      const [a, b] = [net.addNode('a'), net.addNode('b')]
      const arrival = createArrival()
      const through: boolean[] = []
      for (let now = startAt; now < 20_000; now += 10) {
        net.send(now, a, b.address, Uint8Array.of(1), 1)
        through.push(net.poll(now, b, arrival))
      }
      return through.slice(-500)
    }
    expect(isThrough(0)).toEqual(isThrough(12_340))
  })
})
