/**
 * The cost of the arena for its server: 24 bots and 8 spectators at 128 ticks a second over real sockets, half of them
 * over UDP and half over WebSocket. One process serves one match, as `npm start` does. The players run in another
 * process, so that the CPU time of the server's process is the server's alone. An empty loop of 128 ticks a second runs
 * beside both: ticks that this loop misses are caused by the machine.
 *
 * Times are CPU time of the server. A tick is the step (collisions, rewinds, rockets, balls, items), the encoding and
 * sealing of packets for 32 clients, and sending them. A period is everything from one tick to the next, including
 * received packets. After the match, raw sockets (node:dgram and ws) send and receive datagrams of the same lengths
 * without content, twice. They are compared by periods.
 */

import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { MatchReport } from './arena/match-process.ts'
import { TICK_MS, TICK_RATE, type Metered, type Spread } from './arena/tick-meter.ts'
import type { Bench, BenchResult, Figure, Table } from './harness.ts'

const WARMUP_MS = 4000
const RAW_MS = 5000
/** A server in C with all data in static arrays, for 16 slots: slots, shared snapshots, buffers. */
const STATIC_BUDGET = { slotBytes: 6656, matchBytes: 360 * 1024 }

export const bench: Bench = {
  name: 'arena',
  summary: 'the arena that npm start serves: 24 bots and 8 spectators at 128 Hz, over UDP and WebSocket',
  options: ['--fighters N     (default 24)', '--spectators N   (default 8)', '--seconds N      timed (default 12)'],
  run: async (args) => {
    const options = {
      fighters: { type: 'string', default: '24' },
      spectators: { type: 'string', default: '8' },
      seconds: { type: 'string', default: '12' },
    } as const
    const { values } = parseArgs({ args: [...args], options })
    return run(Number(values.fighters), Number(values.spectators), Number(values.seconds))
  },
}

interface Place { readonly url: string; readonly udpPort: number }

/** One process of the benchmark. It ends with the benchmark. */
class Part {
  readonly #child: ChildProcess

  constructor(file: string, ...args: (string | number)[]) {
    this.#child = fork(fileURLToPath(new URL(`./arena/${file}.ts`, import.meta.url)), args.map(String))
  }

  tell(what: 'weigh' | 'measure' | 'report' | 'end' | { readonly sizes: readonly number[] }): void {
    this.#child.send(what)
  }

  /** The next message of the process. */
  next<T>(): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#child.once('message', (message) => resolve(message as T))
      this.#child.once('exit', (code) => reject(new Error(`a process of the bench ended with ${code}`)))
    })
  }

  async report<T>(): Promise<T> {
    const report = this.next<T>()
    this.tell('report')
    return report
  }

  end(): void {
    this.#child.kill()
  }
}

async function run(fighters: number, spectators: number, seconds: number): Promise<BenchResult> {
  const clients = fighters + spectators
  const control = new Part('control-process')
  await control.next()
  const { report, beside } = await match(fighters, spectators, seconds, control)
  const rawRuns = [await raw(report, clients), await raw(report, clients)]
  control.end()
  const measured = { fighters, spectators, seconds, report, beside, rawRuns }
  return { tables: tablesOf(measured), figures: figuresOf(measured) }
}

/** All results of one run of the benchmark. */
interface Measured {
  readonly fighters: number
  readonly spectators: number
  readonly seconds: number
  readonly report: MatchReport
  /** The empty loop, which runs beside the match. */
  readonly beside: Metered
  readonly rawRuns: readonly Metered[]
}

function tablesOf({ fighters, spectators, seconds, report, beside, rawRuns }: Measured): Table[] {
  const { metered, memory } = report
  const row = (
    name: string,
    { mean, p50, p90, p99, most }: Spread,
    { missed, ticks }: Metered,
  ): (string | number)[] => [name, mean, p50, p90, p99, most, missed, ticks]
  return [
    {
      title:
        `the arena: ${fighters} bots, ${spectators} spectators, half by UDP, half by WebSocket, ${seconds} s, `
        + `${report.frags} frags`,
      columns: ['CPU, ms', 'mean', 'p50', 'p90', 'p99', 'most', 'missed', 'of'],
      rows: [
        row('a tick of the match', metered.tick, metered),
        row('a period of the match', metered.period, metered),
        ...rawRuns.map((each) => row('a period of raw sockets', each.period, each)),
        row('a period of the empty loop', beside.period, beside),
      ],
    },
    {
      title: 'memory of the server, KB',
      columns: ['', 'measured', 'static arrays in C'],
      rows: [
        [
          'the match, a second of history, and one-time costs of the first player: tables, compiled code',
          memory.match / 1024,
          STATIC_BUDGET.matchBytes / 1024,
        ],
        [
          'each connection: keys, channels, what it holds',
          memory.perConnection / 1024,
          STATIC_BUDGET.slotBytes / 1024,
        ],
        ['all of the process, Node and the game included', memory.process / 1024, ''],
      ],
    },
  ]
}

function figuresOf({ fighters, spectators, report, beside, rawRuns }: Measured): Figure[] {
  const { metered, memory } = report
  const rawMean = Math.min(...rawRuns.map(({ period }) => period.mean))
  const kb = ((report.bytesOut / metered.ticks) * TICK_RATE) / (fighters + spectators) / 1000
  return [
    { name: 'tick_p50_ms', value: metered.tick.p50, unit: 'ms', against: null, atMost: 1.5 },
    { name: 'tick_p99_ms', value: metered.tick.p99, unit: 'ms', against: null, atMost: 4 },
    { name: 'period_mean_ms', value: metered.period.mean, unit: 'ms', against: 'all CPU of the server, a tick' },
    {
      name: 'missed_ticks',
      value: metered.missed,
      unit: '',
      against: `an empty loop beside it: ${beside.missed}`,
      atMost: beside.missed,
    },
    {
      name: 'tick_ratio_raw_sockets',
      value: metered.period.mean / rawMean,
      unit: 'x',
      against: 'the same datagrams by node:dgram and ws, empty',
      atMost: 3,
    },
    { name: 'kb_per_s_per_client', value: kb, unit: 'KB/s', against: null, atMost: 50 },
    {
      name: 'memory_kb_per_connection',
      value: memory.perConnection / 1024,
      unit: 'KB',
      against: `static arrays: ${STATIC_BUDGET.slotBytes / 1024}`,
    },
    {
      name: 'memory_kb_match',
      value: memory.match / 1024,
      unit: 'KB',
      against: `static arrays: ${STATIC_BUDGET.matchBytes / 1024}`,
    },
    {
      name: 'matches_per_process',
      value: Math.floor(TICK_MS / metered.period.mean),
      unit: '',
      against: 'so many fit into one core by their mean',
    },
  ]
}

async function match(
  fighters: number,
  spectators: number,
  seconds: number,
  control: Part,
): Promise<{ report: MatchReport; beside: Metered }> {
  const server = new Part('match-process', fighters, spectators)
  const { url, udpPort } = await server.next<Place>()
  const players = new Part('players-process', url, udpPort, fighters, spectators)
  await players.next()
  await sleep(WARMUP_MS)
  const weighed = server.next()
  server.tell('weigh')
  await weighed
  const all = players.next()
  players.tell('measure')
  await all
  await sleep(WARMUP_MS)
  for (const part of [server, control]) part.tell('measure')
  await sleep(seconds * 1000)
  const beside = await control.report<Metered>()
  const report = await server.report<MatchReport>()
  players.end()
  server.end()
  return { report, beside }
}

async function raw({ sizesIn, sizesOut }: MatchReport, clients: number): Promise<Metered> {
  const server = new Part('raw-process', 'serve', clients)
  const { url, udpPort } = await server.next<Place>()
  server.tell({ sizes: sizesOut })
  const players = new Part('raw-process', 'play', url, udpPort, clients)
  await players.next()
  players.tell({ sizes: sizesIn })
  await sleep(RAW_MS / 2)
  server.tell('measure')
  await sleep(RAW_MS)
  const report = await server.report<Metered>()
  players.end()
  server.end()
  return report
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => { setTimeout(resolve, ms) })
}
