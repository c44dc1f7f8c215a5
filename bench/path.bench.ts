/**
 * How fast two players behind routers meet, in simulated time: 50 ms of round trip between any two machines, a little
 * jitter, and the real endpoints, relays and races on a simulated internet (`testing/sim-nat.ts`).
 *
 * `connected`: from the answer to the code until the guest's connection is open. As in `node/code-link.ts`, the socket
 * of signalling is open by then, the offer does not wait for the relays, and what they say follows it. A message
 * between the players goes through the rendezvous, one round trip. `direct`: from then until the host's connection uses
 * the direct path. `relay kill`: symmetric routers, a reliable message every 20 ms, and the relay in use is killed; the
 * gap is the longest time in which nothing arrived.
 */

import { parseArgs } from 'node:util'
import type { NatKind } from '../packages/tickwire/src/testing/sim-nat.ts'
import { NatStage } from '../test/nat/nat-stage.ts'
import type { Bench, BenchResult } from './harness.ts'

const RTT_MS = 50
const OPTIONS = { latencyMs: RTT_MS / 2, jitterMs: 2 }
const SYMMETRIC: NatKind = { mapping: 'port', filtering: 'port' }

export const bench: Bench = {
  name: 'path',
  summary: 'how fast two players behind routers meet, and how long the end of a relay is felt',
  options: ['--seeds N        simulated meetings of each kind (default 50)'],
  run: (args) => {
    const { values } = parseArgs({ args: [...args], options: { seeds: { type: 'string', default: '50' } } })
    return Promise.resolve(run(Number(values.seeds)))
  },
}

function run(count: number): BenchResult {
  const seeds = Array.from({ length: count }, (_, index) => index + 1)
  const direct = seeds.map((seed) => meet(seed, {}))
  const relayed = seeds.map((seed) => meet(seed, SYMMETRIC))
  const kills = seeds.map(killRelay)
  const connected = direct.map(({ connectedMs }) => connectedMs)
  const directAfter = direct.map(({ directAfterMs }) => directAfterMs)
  const byRelay = relayed.map(({ connectedMs }) => connectedMs)
  const gaps = kills.map(({ gapMs }) => gapMs)
  const row = (name: string, values: readonly number[]): (string | number)[] =>
    [name, at(values, 0.5), at(values, 0.95), Math.max(...values)]
  return {
    tables: [{
      title: `${count} simulated meetings of each kind, ${RTT_MS} ms between any two machines`,
      columns: ['ms', 'p50', 'p95', 'most'],
      rows: [
        row('port-restricted routers: connected', connected), row('direct after that', directAfter),
        row('symmetric routers: connected by relay', byRelay), row('relay killed: longest gap', gaps),
      ],
    }],
    figures: [
      { name: 'connected_ms_p50', value: at(connected, 0.5), unit: 'ms', against: null, atMost: 6 * RTT_MS },
      { name: 'connected_relay_ms_p50', value: at(byRelay, 0.5), unit: 'ms', against: null },
      { name: 'direct_after_ms_p50', value: at(directAfter, 0.5), unit: 'ms', against: null, atMost: 300 },
      { name: 'relay_kill_gap_ms_p95', value: at(gaps, 0.95), unit: 'ms', against: null, atMost: 1200 },
      {
        name: 'relay_kill_lost', value: kills.reduce((sum, { lost }) => sum + lost, 0), unit: 'messages',
        against: null, atMost: 0,
      },
    ],
  }
}

function meet(seed: number, kind: NatKind): { connectedMs: number; directAfterMs: number } {
  const stage = new NatStage(kind, kind, { seed, ...OPTIONS })
  stage.prepareHost()
  const startedAt = stage.clock.now
  stage.meetByCode(RTT_MS)
  const isConnected = stage.clock.driveUntil(() => stage.guest.connections[0]?.isOpen === true, 10_000)
  const connectedAt = stage.clock.now
  const isDirect = (): boolean => /^198\.51\.100\.2:/.test(stage.host.connections[0]?.address ?? '')
  if (!isConnected) throw new Error(`seed ${seed}: not connected`)
  if (kind !== SYMMETRIC && !stage.clock.driveUntil(isDirect, 10_000)) throw new Error(`seed ${seed}: not direct`)
  return { connectedMs: connectedAt - startedAt, directAfterMs: stage.clock.now - connectedAt }
}

function killRelay(seed: number): { gapMs: number; lost: number } {
  const stage = new NatStage(SYMMETRIC, SYMMETRIC, { seed, ...OPTIONS })
  stage.meet()
  stage.play(2000)
  stage.relayHosts[0]!.isDead = true
  let [gapMs, count, arrivedAt] = [0, stage.host.received.length, stage.clock.now]
  for (const end = stage.clock.now + 4000; stage.clock.now < end;) {
    stage.play(20)
    if (stage.host.received.length === count) continue
    count = stage.host.received.length
    gapMs = Math.max(gapMs, stage.clock.now - arrivedAt)
    arrivedAt = stage.clock.now
  }
  const { received } = stage.host
  const holes = received.filter((value, index) => value !== index).length
  return { gapMs, lost: holes + Math.max(0, stage.sent - received.length - 20) }
}

/** The value below which this share of the values is. */
function at(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!
}
