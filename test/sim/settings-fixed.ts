/**
 * Numbers that are not settings, each with its value: values that both ends must share, bounds of memory, and initial
 * values of hosts.
 *
 * Where a number shows in behaviour, the behaviour is checked. A bound of memory is compared with its constant.
 */

import { bool, defineGame, entity, fixed, type Game } from 'tickwire'
import { createMatchHost } from 'tickwire/engine'
import { Dice, simulate } from 'tickwire/testing'
import * as limits from '../../packages/tickwire/src/core/base/limits.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { SEND_QUEUES } from '../../packages/tickwire/src/core/channel/send-queue.ts'
import { Farewell } from '../../packages/tickwire/src/core/connection/farewell.ts'
import { completeTimers } from '../../packages/tickwire/src/core/connection/timers.ts'
import { pureProvider } from '../../packages/tickwire/src/core/crypto/pure-provider.ts'
import { completeConfig } from '../../packages/tickwire/src/core/endpoint/endpoint-config.ts'
import { completeClientSecurity } from '../../packages/tickwire/src/core/endpoint/endpoint-security.ts'
import { completeLimits } from '../../packages/tickwire/src/core/endpoint/origin-limits.ts'
import { completeRules } from '../../packages/tickwire/src/core/rooms/room-rules.ts'
import { ACK_BLOCK_BITS_MAX } from '../../packages/tickwire/src/core/packet/ack-block.ts'
import { compileSchema } from '../../packages/tickwire/src/core/schema/schema.ts'
import { ValueHeap } from '../../packages/tickwire/src/core/schema/value-heap.ts'
import { ClockSync } from '../../packages/tickwire/src/core/time/clock-sync.ts'
import { InputBuffer } from '../../packages/tickwire/src/core/time/input-buffer.ts'
import { TimingSource } from '../../packages/tickwire/src/core/time/timing-frame.ts'
import type { SettingCheck } from './settings-checks.ts'

const Dot = entity({ x: fixed(0, 100, 1) }, { name: 'Dot' })
const game = defineGame({ tickRate: 60, input: { go: bool }, entities: [Dot], step: () => {} })

/** Constants that have no other place: the memory that a peer can occupy, and what both ends share. */
const LIMITS = {
  DATAGRAM_BYTES_SAFE: 1200, DATAGRAM_BYTES_MAX: 1500, REPLAY_WINDOW_PACKETS: 1024, SENT_PACKETS_MAX: 256,
  RELIABLE_WINDOW_MESSAGES: 256, MESSAGE_BYTES_MAX: 1024, LARGE_MESSAGE_BYTES_MAX: 260_864, CONNECTIONS_MAX: 4096,
  INPUT_WINDOW: 256, INPUT_AHEAD_MAX: 128, INPUTS_PER_FRAME_MAX: 32, ROOMS_DEFAULT: 256, REKEY_MS: 900_000,
  REKEY_BYTES: 1_073_741_824, KEY_OVERLAP_MS: 5000, RPC_TIMEOUT_MS: 5000, ARRIVALS_REMEMBERED: 128,
} as const

/** How many disconnects are sent within a grace time, if none is answered. */
function goodbyes(graceMs: number): number {
  const farewell = new Farewell()
  farewell.begin(0, false, graceMs)
  let count = 0
  for (let now = 0; !farewell.isOver(now); now++) if (farewell.take(now)) count++
  return count
}

/** Feeds offsets in milliseconds, one a second, at round trips of 0. */
function clockOf(offsets: readonly number[], rttMs: readonly number[] = []): ClockSync {
  const clock = new ClockSync(1000)
  offsets.forEach((offset, at) => {
    const [now, rtt] = [at * 1000, rttMs[at] ?? 0]
    clock.sample(now + offset - rtt / 2, now, rtt)
  })
  return clock
}

const repeated = (value: number, count: number): number[] => Array.from({ length: count }, () => value)

/** When a timing frame is sent, polled every millisecond. */
function timingFrames(fromMs: number, toMs: number): number {
  const schema = compileSchema('input', { go: bool })
  const position = { tick: 7, alpha: () => 0 }
  const source = new TimingSource(position, new InputBuffer(schema, new ValueHeap(), position))
  let count = 0
  for (let now = 0; now < toMs; now++) {
    if (source.fill(now, now + 1, new BitWriter(new Uint8Array(64))) && now >= fromMs) count++
  }
  return count
}

/** After how many milliseconds without a packet a timing frame asks for one of its own. */
function timingWait(): number {
  const position = { tick: 7, alpha: () => 0 }
  const source = new TimingSource(
    position,
    new InputBuffer(compileSchema('input', { go: bool }), new ValueHeap(), position),
  )
  source.fill(5000, 1, new BitWriter(new Uint8Array(64)))
  return source.wantsAt() - 5000
}

/** Ticks that a client samples in one call after a stall that is shorter than a resync. */
function caughtUp(): number {
  const sim = simulate(game, { seed: 3 })
  sim.run(500)
  return sim.players[0]!.host.tick(sim.clock.now + 200)
}

function ticksOf(waitMs: number): number {
  const { rooms: host } = createMatchHost(game, { entropy: new Dice(1) })
  host.tick(0)
  return host.tick(waitMs)
}

const TIMERS = {
  retryMsMin: 200,
  retryMsMax: 250,
  connectMs: 10_000,
  keepaliveMs: 1000,
  timeoutMs: 10_000,
  graceMs: 200,
  rtoMsMin: 50,
  rtoMsMax: 1000,
}

const LANE_TABLE = [
  ['control', 0, 1, 65_536],
  ['orders', 0, 1, 4096],
  ['state', 1, 6, 16_384],
  ['voice', 1, 2, 16_384],
  ['chat', 1, 1, 8192],
  ['bulk', 2, 1, 524_288],
]

/** Checks that each number is the one of the table. */
export const FIXED_CHECKS: readonly SettingCheck[] = [
  ...Object.entries(LIMITS).map(([name, value]) => ({
    name: `${name} is ${value}`,
    expected: value,
    actual: () => limits[name as keyof typeof LIMITS],
  })),
  { name: 'an ack block names 64 packets beside the latest', expected: 100, actual: () => ACK_BLOCK_BITS_MAX },
  { name: 'timers of an endpoint without a game', expected: TIMERS, actual: () => completeTimers({}) },
  { name: 'an endpoint without a game', expected: [0, 1200, 60, 1000], actual: endpointDefaults },
  { name: 'limits of an origin', expected: [5, 10, 50, true], actual: originDefaults },
  {
    name: 'ciphers, best first',
    expected: [1, 2],
    actual: () => completeClientSecurity({ provider: pureProvider }).suites.map(({ id }) => id),
  },
  {
    name: 'lanes',
    expected: LANE_TABLE,
    actual: () =>
      Object.values(SEND_QUEUES).map((queue) => [queue.name, queue.priority, queue.weight, queue.bufferBytes]),
  },
  {
    name: 'a match has 32 seats for players and 8 for spectators',
    expected: [32, 8],
    actual: () => {
      const { capacity, spectatorCapacity } = createMatchHost(game, { entropy: new Dice(1) }).host.seats
      return [capacity, spectatorCapacity]
    },
  },
  {
    name: 'a room has 32 seats, none for spectators; it waits 10 s when it is empty, and holds a seat for 5 s',
    expected: [32, 0, 10_000, 5000],
    actual: roomDefaults,
  },
  { name: 'a server catches up by 8 ticks', expected: 8, actual: () => ticksOf(30_000) },
  { name: 'a client catches up by 8 ticks', expected: 8, actual: caughtUp },
  { name: 'a goodbye of 200 ms is sent 3 times', expected: 3, actual: () => goodbyes(200) },
  { name: 'a goodbye of 1000 ms is sent 10 times', expected: 10, actual: () => goodbyes(1000) },
  { name: 'an answer to a goodbye is sent once', expected: 1, actual: answers },
  {
    name: 'a clock is used from 4 samples on',
    expected: [false, true],
    actual: () => [3, 4].map((count) => clockOf(repeated(0, count)).isConverged),
  },
  {
    name: 'a clock averages the newest 8 samples',
    expected: [1, 0],
    actual: () => [7, 8].map((count) => Math.round(clockOf([8, ...repeated(0, count)]).serverTicksAt(0))),
  },
  {
    name: 'a clock keeps 16 samples',
    expected: [1, 0],
    actual: () => [15, 16].map((count) => clockOf([16, ...repeated(0, count)]).jitterMs),
  },
  { name: 'a clock leaves out round trips above twice the median', expected: [8, 0], actual: outliers },
  {
    name: 'a clock accepts 3 samples in a row that are a jump away',
    expected: [0, 0, 1],
    actual: () => [1, 2, 3].map((count) => clockOf([...repeated(0, 8), ...repeated(5000, count)]).jumps),
  },
  {
    name: 'a timing frame is sent in every packet of the first 2 s',
    expected: 2000,
    actual: () => timingFrames(0, 2000),
  },
  { name: 'then every 45 ms', expected: 22, actual: () => timingFrames(2001, 3000) },
  { name: 'a timing frame asks for a packet after 250 ms', expected: 250, actual: timingWait },
]

function endpointDefaults(): unknown {
  const { maxConnections, maxDatagramBytes, tickRate, peerPacketsPerSecond } = completeConfig({
    fingerprint: new Uint8Array(8),
    entropy: new Dice(1),
    assemble: () => {},
  })
  return [maxConnections, maxDatagramBytes, tickRate, peerPacketsPerSecond]
}

function originDefaults(): unknown {
  const { connections, handshakes, challenges, areLocalExempt } = completeLimits({})
  return [connections, handshakes, challenges, areLocalExempt]
}

function roomDefaults(): unknown {
  const { capacity, spectators, emptyMs, resumeMs } = completeRules('match', { game: game as unknown as Game })
  return [capacity, spectators, emptyMs, resumeMs]
}

function answers(): number {
  const farewell = new Farewell()
  farewell.begin(0, true, 1000)
  return [0, 500, 900].filter((now) => farewell.take(now)).length
}

/**
 * The estimate, in ticks of a millisecond, with one sample that is 64 off: at twice the median round trip, and above
 * it.
 */
function outliers(): unknown {
  return [20, 21].map((rtt) => Math.round(clockOf([...repeated(0, 7), 64], [...repeated(10, 7), rtt]).serverTicksAt(0)))
}
