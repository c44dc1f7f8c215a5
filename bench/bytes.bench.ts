/**
 * Measures sealed requests and replies over real UDP beside a raw echo of node:dgram, the memory of idle connections,
 * and the allocations of core.
 *
 * Servers and loads are separate processes (`bytes/echo-server.ts`, `bytes/echo-load.ts`), so the CPU time of a
 * server's process is the cost of its packets, including the kernel's part. Rivals take turns, and ratios are medians
 * of the ratios within a pair of turns, because a busy machine slows both.
 */

import { parseArgs } from 'node:util'
import { bestProvider } from '../packages/tickwire/src/node/crypto.ts'
import { createMemoryEcho } from './bytes/memory-echo.ts'
import { CLIENTS, Child, type EchoKind, PAYLOAD_BYTES, type ServerMark, type ServerReady } from './bytes/protocol.ts'
import { allocatedBytes, interleave, median, type Bench, type BenchResult, type Figure, type Table } from './harness.ts'

const NODE = `node:dgram ${process.version}`
const UDP_IP_BYTES = 28
const IDLE_CONNECTIONS = 1000
const SERVER = new URL('./bytes/echo-server.ts', import.meta.url)
const LOAD = new URL('./bytes/echo-load.ts', import.meta.url)

export const bench: Bench = {
  name: 'bytes',
  summary: 'sealed request and reply over UDP beside a raw echo; idle connections; allocations of core',
  options: [
    '--echoes N     round trips in one turn (default 6000)',
    '--pairs N      timed turns of each rival (default 12)',
  ],
  run: async (args) => {
    const options = { echoes: { type: 'string', default: '6000' }, pairs: { type: 'string', default: '12' } } as const
    const { values } = parseArgs({ args: [...args], options })
    return run(Number(values.echoes), Number(values.pairs))
  },
}

async function run(echoes: number, pairs: number): Promise<BenchResult> {
  const core = measureCore()
  const echo = await measureEcho(echoes, pairs)
  const idle = await measureIdle()
  return {
    tables: [...echo.tables, ...idle.tables, ...core.tables],
    figures: [...echo.figures, ...idle.figures, ...core.figures],
  }
}

interface Rival {
  readonly kind: EchoKind
  readonly server: Child
  readonly load: Child
  readonly provider: string
  /** For each turn: CPU time of the server per echo, in microseconds. */
  readonly cpu: number[]
  last: ServerMark
  first: ServerMark
}

async function startRival(kind: EchoKind): Promise<Rival> {
  const server = new Child(SERVER, [kind])
  const { port, provider } = await server.ask<ServerReady>()
  const load = new Child(LOAD, [kind === 'tickwire' ? kind : 'plain', String(port)])
  await load.ask()
  const last = await server.ask<ServerMark>('mark')
  return { kind, server, load, provider, cpu: [], last, first: last }
}

async function takeTurn(rival: Rival, echoes: number): Promise<number> {
  const before = await rival.server.ask<ServerMark>('mark')
  await rival.load.ask(echoes)
  rival.last = await rival.server.ask<ServerMark>('mark')
  return (rival.last.cpuUs - before.cpuUs) / (rival.last.echoes - before.echoes)
}

async function measureEcho(echoes: number, pairs: number): Promise<BenchResult> {
  const rivals = await Promise.all((['plain', 'tuned', 'tickwire'] as const).map(startRival))
  try {
    for (const rival of rivals) for (let warmup = 0; warmup < 8; warmup++) await takeTurn(rival, echoes)
    for (const rival of rivals) rival.first = rival.last
    for (let pair = 0; pair < pairs; pair++) {
      for (let turn = 0; turn < rivals.length; turn++) {
        const rival = rivals[(pair + turn) % rivals.length]!
        rival.cpu.push(await takeTurn(rival, echoes))
      }
    }
  } finally {
    for (const { server, load } of rivals) {
      server.end()
      load.end()
    }
  }
  return echoResult(rivals, echoes, pairs)
}

function echoResult(rivals: readonly Rival[], echoes: number, pairs: number): BenchResult {
  const [plain, tuned, ours] = rivals as [Rival, Rival, Rival]
  const middle = (values: readonly number[]): number => median(values.toSorted((a, b) => a - b))
  const ratioTo = (other: Rival): number => middle(ours.cpu.map((us, pair) => us / other.cpu[pair]!))
  const perEcho = ({ first, last }: Rival, name: 'datagramsIn' | 'datagramsOut' | 'bytesIn' | 'bytesOut'): number =>
    (last[name] - first[name]) / (last.echoes - first.echoes)
  const packetBytes = perEcho(ours, 'bytesOut') / perEcho(ours, 'datagramsOut')
  return {
    tables: [
      {
        title:
          `${PAYLOAD_BYTES} B each way, ${CLIENTS} clients with one request in flight each, `
          + `${pairs} pairs of ${echoes}; sealed by ${ours.provider}`,
        columns: ['server', 'CPU us/echo', 'least', 'most', 'datagrams in/echo', 'out/echo', 'B/datagram in', 'out'],
        rows: rivals.map((rival) => [
          rival.kind,
          middle(rival.cpu),
          Math.min(...rival.cpu),
          Math.max(...rival.cpu),
          perEcho(rival, 'datagramsIn'),
          perEcho(rival, 'datagramsOut'),
          perEcho(rival, 'bytesIn') / perEcho(rival, 'datagramsIn'),
          perEcho(rival, 'bytesOut') / perEcho(rival, 'datagramsOut'),
        ]),
      },
    ],
    figures: [
      // The budget is for the fastest provider; with another provider the figure has no bound.
      {
        name: 'cpu_ratio_raw_echo',
        value: ratioTo(plain),
        unit: 'ratio',
        against: NODE,
        ...(isFast(ours.provider) && { atMost: 1.6 }),
      },
      { name: 'cpu_ratio_tuned_echo', value: ratioTo(tuned), unit: 'ratio', against: `${NODE}, lookup replaced` },
      { name: 'cpu_us_per_packet', value: middle(ours.cpu) / 2, unit: 'us', against: null },
      { name: 'raw_cpu_us_per_packet', value: middle(plain.cpu) / 2, unit: 'us', against: null },
      { name: 'payload_bytes_per_packet', value: PAYLOAD_BYTES, unit: 'B', against: null },
      {
        name: 'wire_bytes_per_packet',
        value: packetBytes + UDP_IP_BYTES,
        unit: 'B',
        against: 'with IPv4 and UDP headers',
      },
      { name: 'overhead_bytes_per_packet', value: packetBytes - PAYLOAD_BYTES, unit: 'B', against: 'without them' },
    ],
  }
}

function isFast(provider: string): boolean {
  return provider.includes('sodium')
}

/** Memory of a server for idle connections: before and after, with garbage collected. */
async function measureIdle(): Promise<BenchResult> {
  const server = new Child(SERVER, ['tickwire'])
  const { port } = await server.ask<ServerReady>()
  const load = new Child(LOAD, ['idle', String(port)])
  try {
    await load.ask()
    // The first few connections allocate memory that all connections share.
    await load.ask(10)
    const before = await server.ask<ServerMark>('collect')
    const opened = await load.ask<number>(IDLE_CONNECTIONS)
    if (opened !== IDLE_CONNECTIONS) throw new Error(`${opened} of ${IDLE_CONNECTIONS} connections opened`)
    const after = await server.ask<ServerMark>('collect')
    const alive = (after.aliveBytes - before.aliveBytes) / opened
    const rss = (after.rssBytes - before.rssBytes) / opened
    return {
      tables: [
        {
          title: `${opened} idle connections, one channel each`,
          columns: ['', 'B each'],
          rows: [
            ['heap and buffers', alive],
            ['resident', rss],
          ],
        },
      ],
      figures: [
        {
          name: 'bytes_per_idle_connection',
          value: Math.max(alive, rss),
          unit: 'B',
          against: 'the larger of heap and resident growth',
          atMost: 65_536,
        },
      ],
    }
  } finally {
    server.end()
    load.end()
  }
}

/** Core alone, in this process. */
function measureCore(): { tables: Table[]; figures: Figure[] } {
  const { echo, packets } = createMemoryEcho(bestProvider())
  const ops = 500
  const exchange = (): void => {
    for (let op = 0; op < ops; op++) echo()
  }
  const before = packets()
  const [timing] = interleave([{ name: 'core', ops: 2 * ops, run: exchange }], 21)
  const perEcho = (packets() - before) / (ops * 81)
  const bytes = allocatedBytes(exchange, 2 * ops)
  return {
    tables: [{
      title: `core alone: two endpoints in memory, ${PAYLOAD_BYTES} B, sealed and opened`,
      columns: ['', 'ns/packet', 'fastest', 'slowest', 'packets/echo'],
      rows: [['one side sends, the other receives', timing!.ns, timing!.nsMin, timing!.nsMax, perEcho]],
    }],
    figures: [
      { name: 'core_alloc_bytes_per_packet', value: bytes, unit: 'B', against: null },
      { name: 'core_ns_per_packet', value: timing!.ns, unit: 'ns', against: null },
    ],
  }
}
