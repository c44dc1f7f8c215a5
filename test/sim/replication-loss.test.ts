/** What packet loss costs a game whose objects have no velocities: hello. */

import { expect, test } from 'vitest'
import { simulate } from 'tickwire/testing'
import { game } from '../../games/hello/game.ts'

const CLIENTS = 8

/** The mean size of the packets that clients receive, in bytes, while all players walk. */
function packetBytes(loss: number): number {
  const link = { latencyMs: 100, jitterMs: 20, loss }
  const sim = simulate(game, { seed: 7, clients: CLIENTS, link, onWarning: false })
  for (let client = 0; client < CLIENTS; client++) {
    sim.script(client, (tick) => {
      const [across, along] = [(tick + client * 17) % 120 < 60, (tick + client * 11) % 90 < 45]
      return { right: across, left: !across, up: along, down: !along }
    })
  }
  sim.run(2000)
  const read = (): readonly [bytes: number, packets: number] => {
    const stats = sim.players.map(({ host }) => host.endpoint.connections[0]!.stats)
    const sum = (key: 'bytesReceived' | 'packetsReceived'): number => stats.reduce((all, each) => all + each[key], 0)
    return [sum('bytesReceived'), sum('packetsReceived')]
  }
  const [bytes, packets] = read()
  sim.run(20_000)
  const after = read()
  return (after[0] - bytes) / (after[1] - packets)
}

test('[REPL9] deltas after a lost packet use the row before the baseline: 5 % loss adds less than a tenth', () => {
  expect(packetBytes(0.05) / packetBytes(0)).toBeLessThan(1.1)
})
