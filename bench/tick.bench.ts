/**
 * The cost of a whole match for its server: 24 fighters and 8 spectators, 128 ticks a second, every tick sent to all.
 *
 * Timed is all work of a server in a tick with its real host: open and read all packets, `step`, sample, compute
 * interest, write, seal and send all packets. Not timed: clients, which are real hosts too and run in between. There
 * are no sockets. Times are CPU time of this process, because wall time on a busy machine includes other programs. The
 * heap is read before and after the server's part of every tick.
 *
 * Payload is that of UDP, with our own header and authentication tag; wire includes the headers of UDP and IPv4.
 * Snapshots are also shown separately from the rest of the payload.
 */

import { parseArgs } from 'node:util'
import { getHeapStatistics } from 'node:v8'
import { bestProvider } from '../packages/tickwire/src/node/crypto.ts'
import { collect, median, type Bench, type BenchResult } from './harness.ts'
import { cpuMs } from './scenario/crowd-peer.ts'
import { TICK_RATE } from './tick/arena.ts'
import { ArenaMatch } from './tick/arena-match.ts'

const UDP_IP_BYTES = 28
const DELAY_TICKS = 3
const WARMUP_TICKS = 600

interface Settings {
  readonly fighters: number
  readonly spectators: number
  readonly ticks: number
  readonly heapTicks: number
  readonly seed: number
}

export const bench: Bench = {
  name: 'tick',
  summary: "a server's tick with everything in it: 24 fighters and 8 spectators at 128 Hz",
  options: [
    '--fighters N     (default 24)', '--spectators N   (default 8)', '--ticks N        timed (default 2000)',
    '--heap-ticks N   over which the heap is watched (default 10000)', '--seed N         (default 1)',
  ],
  run: async (args) => {
    const options = {
      fighters: { type: 'string', default: '24' },
      spectators: { type: 'string', default: '8' },
      ticks: { type: 'string', default: '2000' },
      'heap-ticks': { type: 'string', default: '10000' },
      seed: { type: 'string', default: '1' },
    } as const
    const { values } = parseArgs({ args: [...args], options })
    return run({
      fighters: Number(values.fighters),
      spectators: Number(values.spectators),
      ticks: Number(values.ticks),
      heapTicks: Number(values['heap-ticks']),
      seed: Number(values.seed),
    })
  },
}

function run({ fighters, spectators, ticks, heapTicks, seed }: Settings): BenchResult {
  const provider = bestProvider()
  const match = new ArenaMatch({ fighters, spectators, seed, provider, delayTicks: DELAY_TICKS })
  match.join()
  for (let tick = 0; tick < WARMUP_TICKS; tick++) match.run()
  const timed = time(match, ticks)
  const heap = watchHeap(match, heapTicks)
  const clients = fighters + spectators
  const perSecond = TICK_RATE / ticks / clients
  const at = (share: number): number => timed.cpu[Math.min(Math.floor(timed.cpu.length * share), timed.cpu.length - 1)]!
  const wallAt = (share: number): number =>
    timed.wall[Math.min(Math.floor(timed.wall.length * share), timed.wall.length - 1)]!
  const snapshots = (timed.snapshotBytes * perSecond) / 1000
  const payload = (timed.bytes * perSecond) / 1000
  const wire = payload + (timed.datagrams * perSecond * UDP_IP_BYTES) / 1000
  const objects = match.server.world.stores.map((store) => `${[...store.living()].length} ${store.schema.name}`)
  return {
    tables: [
      {
        title:
          `${fighters} fighters, ${spectators} spectators, ${TICK_RATE} Hz, ${ticks} ticks, `
          + `${objects.join(' and ')}, sealed by ${provider.name}`,
        columns: ['ms a tick', 'p50', 'p90', 'p99', 'most'],
        rows: [
          ['CPU', median(timed.cpu), at(0.9), at(0.99), at(1)],
          ['on the wall', median(timed.wall), wallAt(0.9), wallAt(0.99), wallAt(1)],
        ],
      },
      {
        title: 'a client, each second',
        columns: ['', 'KB', 'packets'],
        rows: [
          ['to the client: snapshots', snapshots, ''],
          ['to the client: payload', payload, timed.datagrams * perSecond],
          ['to the client: wire, with UDP and IPv4', wire, ''],
          [
            'from the client: wire',
            ((timed.bytesIn + timed.datagramsIn * UDP_IP_BYTES) * perSecond) / 1000,
            timed.datagramsIn * perSecond,
          ],
        ],
      },
    ],
    figures: [
      { name: 'tick_p50_ms', value: median(timed.cpu), unit: 'ms', against: null, atMost: 1 },
      { name: 'tick_p99_ms', value: at(0.99), unit: 'ms', against: null, atMost: 4 },
      { name: 'kb_per_s_per_client', value: payload, unit: 'KB/s', against: null, atMost: 50 },
      { name: 'wire_kb_per_s_per_client', value: wire, unit: 'KB/s', against: null },
      {
        name: 'heap_bytes_per_tick',
        value: heap,
        unit: 'B/tick',
        against: `the server's host alone, ${heapTicks} ticks`,
        atMost: 256,
      },
    ],
  }
}

interface Timed {
  /** Ascending. */
  readonly cpu: readonly number[]
  readonly wall: readonly number[]
  readonly bytes: number
  readonly datagrams: number
  readonly bytesIn: number
  readonly datagramsIn: number
  readonly snapshotBytes: number
}

function time(match: ArenaMatch, ticks: number): Timed {
  const [cpu, wall]: [number[], number[]] = [[], []]
  const before = { ...counts(match) }
  match.server.watch.resetBandwidth()
  for (let tick = 0; tick < ticks; tick++) {
    match.serveClients()
    const [cpuStart, wallStart] = [cpuMs(), performance.now()]
    match.serve()
    wall.push(performance.now() - wallStart)
    cpu.push(cpuMs() - cpuStart)
  }
  const after = counts(match)
  const { bits, headBits } = match.server.bandwidth()
  const ascending = (values: number[]): number[] => values.sort((a, b) => a - b)
  return {
    cpu: ascending(cpu), wall: ascending(wall), snapshotBytes: (bits + headBits) / 8,
    bytes: after.bytes - before.bytes, datagrams: after.datagrams - before.datagrams,
    bytesIn: after.bytesIn - before.bytesIn, datagramsIn: after.datagramsIn - before.datagramsIn,
  }
}

function counts({ bytesOut, datagramsOut, bytesIn, datagramsIn }: ArenaMatch): {
  bytes: number
  datagrams: number
  bytesIn: number
  datagramsIn: number
} {
  return { bytes: bytesOut, datagrams: datagramsOut, bytesIn, datagramsIn }
}

/**
 * Bytes that the server's part of a tick leaves on the heap: the mean over all ticks in which nothing was collected.
 */
function watchHeap(match: ArenaMatch, ticks: number): number {
  const used = (): number => getHeapStatistics().used_heap_size
  const measure = (body: () => void): number => {
    const before = used()
    body()
    return used() - before
  }
  collect()
  let idle = Infinity
  for (let round = 0; round < 50; round++) {
    const cost = measure(() => {})
    if (cost >= 0) idle = Math.min(idle, cost)
  }
  let [sum, count] = [0, 0]
  for (let tick = 0; tick < ticks; tick++) {
    match.serveClients()
    const left = measure(() => match.serve())
    if (left < 0) continue
    sum += left - idle
    count++
  }
  return count === 0 ? NaN : Math.max(0, sum / count)
}
