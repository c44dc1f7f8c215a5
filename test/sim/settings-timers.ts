/** The timers of a connection, observed from outside: how long real hosts wait, and how often they send. */

import { bool, defineGame, type Game, type NetSettings } from 'tickwire'
import { createClientHost } from 'tickwire/engine'
import { Dice, simulate } from 'tickwire/testing'
import type { SettingCheck } from './settings-checks.ts'

const INPUT = { go: bool }

/** Nothing happens in it, at one tick a second: all packets are those that connections send by themselves. */
function quietGame(net: Partial<NetSettings>): Game<typeof INPUT> {
  return defineGame({
    tickRate: 1,
    predict: 'none',
    input: INPUT,
    entities: [],
    net: { predictionMs: 10_000, ...net },
    step: () => {},
  })
}

/** How long each side of a match stays connected after the link was cut, in milliseconds. */
function silenceMs(net: Partial<NetSettings>): { readonly server: number; readonly client: number } {
  const sim = simulate(quietGame(net), { seed: 3 })
  sim.run(1000)
  sim.weather({ loss: 1 })
  const cutAt = sim.clock.now
  const waited = { server: 0, client: 0 }
  const hosts = { server: sim.host, client: sim.players[0]!.host }
  for (let ms = 0; ms < 20_000; ms += 50) {
    sim.run(50)
    for (const side of ['server', 'client'] as const) {
      if (waited[side] === 0 && hosts[side].endpoint.connections.length === 0) waited[side] = sim.clock.now - cutAt
    }
  }
  return waited
}

/** Packets that each side sends in a second in which nothing happens. */
function packetsPerSecond(net: Partial<NetSettings>): { readonly server: number; readonly client: number } {
  const sim = simulate(quietGame(net), { seed: 3 })
  sim.run(4000)
  const sent = (): number[] =>
    [sim.host, sim.players[0]!.host].map(({ endpoint }) => endpoint.connections[0]!.stats.packetsSent)
  const before = sent()
  sim.run(1000)
  const after = sent()
  return { server: after[0]! - before[0]!, client: after[1]! - before[1]! }
}

/** How often, and for how long, a client sends requests to a server that does not answer. */
function asking(net: Partial<NetSettings>): { readonly requests: number; readonly ms: number } {
  const host = createClientHost(quietGame(net), { entropy: new Dice(4) })
  host.connect(0, 'server')
  let requests = 0
  for (let now = 0; ; now += 5) {
    host.drain(now, { send: () => { requests++ } })
    if (host.endpoint.connections.length === 0 || now > 60_000) return { requests, ms: now }
  }
}

/** How long a closing side waits without an answer, and how many disconnects it sends. */
function leaving(
  net: Partial<NetSettings>,
  side: 'server' | 'client',
): { readonly goodbyes: number; readonly ms: number } {
  const sim = simulate(quietGame(net), { seed: 3 })
  sim.run(3000)
  const host = side === 'server' ? sim.rooms : sim.players[0]!.host
  let goodbyes = 0
  const from = sim.clock.now
  host.close(from)
  for (let now = from; ; now += 5) {
    host.drain(now, { send: () => { goodbyes++ } })
    if (host.endpoint.connections.length === 0 || now > from + 60_000) return { goodbyes, ms: now - from }
  }
}

const within = (value: number, least: number, most: number): string =>
  value >= least && value <= most ? `${least} to ${most}` : `${value}`

/** A connection behaves as its settings say. */
export const TIMER_CHECKS: readonly SettingCheck[] = [
  ...(['server', 'client'] as const).flatMap((side) => [
    // A keepalive just before the cut may count: the wait may be up to a heartbeat shorter than the timeout.
    {
      name: `timeoutMs 3000: the ${side} gives up`,
      expected: '2000 to 3100',
      actual: () => within(silenceMs({ timeoutMs: 3000 })[side], 2000, 3100),
    },
    {
      name: `timeoutMs 10000: the ${side} gives up`,
      expected: '9000 to 10100',
      actual: () => within(silenceMs({})[side], 9000, 10_100),
    },
    {
      name: `heartbeatMs 20: packets of the ${side} in a second`,
      expected: '45 to 60',
      actual: () => within(packetsPerSecond({ heartbeatMs: 20 })[side], 45, 60),
    },
    {
      name: `heartbeatMs 1000: packets of the ${side} in a second`,
      expected: '1 to 20',
      actual: () => within(packetsPerSecond({})[side], 1, 20),
    },
    {
      name: `goodbyeMs 200: goodbyes of the ${side}`,
      expected: { goodbyes: 3, ms: 200 },
      actual: () => leaving({}, side),
    },
    {
      name: `goodbyeMs 1000: goodbyes of the ${side}`,
      expected: { goodbyes: 10, ms: 1000 },
      actual: () => leaving({ goodbyeMs: 1000 }, side),
    },
  ]),
  { name: 'connectMs 10000: a client gives up', expected: 10_000, actual: () => asking({}).ms },
  { name: 'connectMs 4000: a client gives up', expected: 4000, actual: () => asking({ connectMs: 4000 }).ms },
  {
    name: 'connectRetryMs 250: requests in 10 s',
    expected: '40 to 50',
    actual: () => within(asking({}).requests, 40, 50),
  },
  {
    name: 'connectRetryMs 500: requests in 10 s',
    expected: '20 to 25',
    actual: () => within(asking({ connectRetryMs: 500 }).requests, 20, 25),
  },
]
