/** The two sides of the chat on a simulated network: a line arrives in spite of every fault. */

import { type ReliableOrderedChannel, createEndpoint, drain } from 'tickwire/engine'
import {
  Dice, SimClock, SimNet, SimNetActor, StubCrypto, describeWeather, drawWeather, shrinkWeather, type NetWeather,
  type SimNode,
} from 'tickwire/testing'
import { fingerprint, linesOf, openChannel } from './udp-chat.ts'

// #region weather
/**
 * Sends one line to a server. Returns how long it took to arrive, in simulated time, or undefined if it took more
 * than a minute.
 */
export function sayInWeather(seed: number, weather: NetWeather): number | undefined {
  const clock = new SimClock()
  const net = new SimNet({ seed, weather })
  const security = { provider: new StubCrypto() }

  const live = (node: SimNode, maxConnections: number) => {
    const channels: ReliableOrderedChannel[] = []
    const endpoint = createEndpoint({
      fingerprint, security, entropy: new Dice(seed + node.index), maxConnections,
      assemble: (connection) => void channels.push(openChannel(connection)),
    })
    const actor = new SimNetActor(net, node, clock, {
      handleDatagram: (now, from, bytes, length) => endpoint.handleDatagram(now, from, bytes, length),
      pump: (now, port) => drain(endpoint, now, port, () => {}),
    })
    return { node, endpoint, actor, channels }
  }
  const server = live(net.addNode('server', { isFixed: true }), 1)
  const client = live(net.addNode('client'), 0)

  client.endpoint.connect(client.node.clock.localAt(0), server.node.address)
  client.channels[0]?.send(new TextEncoder().encode('hello'))
  client.actor.wake(0)
  const hasArrived = (): boolean => server.channels.some((channel) => [...linesOf(channel)].includes('hello'))
  return clock.driveUntil(hasArrived, 60_000) ? clock.now : undefined
}
// #endregion

// #region swarm
/** The first seed whose network faults delay the line too long, and the smallest part of the faults that does so. */
export function findTrouble(seeds: number, limitMs: number): string | undefined {
  for (let seed = 1; seed <= seeds; seed++) {
    const fails = (weather: NetWeather): boolean => (sayInWeather(seed, weather) ?? Infinity) > limitMs
    const weather = drawWeather(seed)
    if (fails(weather)) return `seed ${seed}: ${describeWeather(shrinkWeather(weather, fails))}`
  }
  return undefined
}
// #endregion
