/**
 * Players per core: the whole server process, end to end, beside the servers that people use.
 *
 * All servers run the game of `e2e/workload.ts`: one room, all players see all, 30 Hz, an input per player and tick.
 * Each server is used as its documentation says, in a process on one core; its clients run in another process on
 * another core and read all that they receive. Rivals run in turns, so that the rest of the machine slows all alike.
 */

import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bundle, run, type Rival, type RivalRun } from './e2e/rival.ts'
import { TICK_RATE } from './e2e/workload.ts'
import { median, type Bench, type BenchResult, type Figure } from './harness.ts'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const RIVALS = [
  { name: 'tickwire', program: 'tickwire', args: ['websocket'] },
  { name: 'tickwire-udp', program: 'tickwire', args: ['udp'] },
  { name: 'colyseus', program: 'colyseus', args: [] },
  { name: 'nengi', program: 'nengi', args: [] },
  { name: 'ws', program: 'ws', args: [] },
  { name: 'socketio', program: 'socketio', args: [] },
] as const
const WARMUP_SECONDS = 3
/** A server that uses more of its core is full: more players would only wait. */
const FULL = 0.95
/** Clients that use more of their core may be late themselves. */
const CLIENTS_FULL = 0.9
/** Figures are of these numbers of players, so they are run several times. Others are run once. */
const MEASURED = [100, 200]
const BAD_LINE_PLAYERS = 100
const COUNTS = '25,50,100,200,400'

export const bench: Bench = {
  name: 'e2e',
  summary: 'players per core: whole server processes beside Colyseus, nengi, ws and socket.io (about 12 minutes)',
  options: [
    `--players LIST   numbers of players (default ${COUNTS}; a full server is not given more)`,
    '--only LIST      rivals: tickwire, tickwire-udp, colyseus, nengi, ws, socketio (default all)',
    '--runs N         with 100 and 200 players, in turns (default 3)',
    '--seconds N      of each run (default 5)',
    '--lines LIST     clean, bad: 50 to 250 ms and 2 % loss, with 100 players (default both)',
    '--quick          100 players, one run, clean lines: for development',
  ],
  run: async (args) => {
    const text = { type: 'string' } as const
    const { values } = parseArgs({
      args: [...args],
      options: {
        players: text, only: text, runs: text, seconds: text, lines: text, quick: { type: 'boolean', default: false },
      },
    })
    const { quick } = values
    const only = values.only?.split(',')
    const rivals = await Promise.all(
      RIVALS.filter(({ name }) => only === undefined || only.includes(name)).map(async ({ name, program, args }) => ({
        name,
        server: await bundled(`${program}-server`),
        clients: await bundled(`${program}-clients`),
        args,
      })),
    )
    const plan: Plan = { runs: Number(values.runs ?? (quick ? 1 : 3)), seconds: Number(values.seconds ?? 5) }
    const lines = (values.lines ?? (quick ? 'clean' : 'clean,bad')).split(',')
    const counts = (values.players ?? (quick ? '100' : COUNTS)).split(',').map(Number)
    const clean = lines.includes('clean') ? await raceAll(rivals, counts, plan) : []
    const badPlan = { ...plan, runs: Math.min(plan.runs, 2), line: await bundled('line') }
    const bad = lines.includes('bad') ? await raceAll(rivals, [BAD_LINE_PLAYERS], badPlan) : []
    return resultOf(clean, bad)
  },
}

function bundled(program: string): Promise<string> {
  return bundle(join(ROOT, `bench/e2e/${program}-process.ts`), join(ROOT, `.cache/e2e/${program}.mjs`), ROOT)
}

/** How each rival is run. */
interface Plan {
  readonly runs: number
  readonly seconds: number
  readonly line?: string
}

/** The runs of one rival with so many players. */
interface Raced {
  readonly rival: string
  readonly players: number
  readonly runs: readonly RivalRun[]
}

async function raceAll(rivals: readonly Rival[], counts: readonly number[], plan: Plan): Promise<Raced[]> {
  const raced: Raced[] = []
  const out = new Set<string>()
  const failed = new Set<string>()
  for (const players of counts) {
    const all = rivals.filter(({ name }) => !out.has(name)).map((rival) => ({ rival, runs: [] as RivalRun[] }))
    const turns = MEASURED.includes(players) ? plan.runs : 1
    for (let turn = 0; turn < turns; turn++) {
      for (const { rival, runs } of turn % 2 === 0 ? all : all.toReversed()) {
        if (out.has(rival.name)) continue
        process.stderr.write(`${rival.name}, ${players} players, run ${turn + 1} of ${turns}\n`)
        try {
          runs.push(await run(rival, { ...plan, players, warmupSeconds: WARMUP_SECONDS }))
        } catch (error) {
          // A server that loses clients twice is not measured with these players, and the bench goes on.
          process.stderr.write(`${rival.name}: ${String(error)}\n`)
          if (failed.has(rival.name)) out.add(rival.name)
          failed.add(rival.name)
        }
      }
    }
    for (const { rival, runs } of all) {
      if (runs.length > 0) raced.push({ rival: rival.name, players, runs })
      if (runs.length > 0 && middle(runs, ({ cpuMs, wallMs }) => cpuMs / wallMs) > FULL) out.add(rival.name)
    }
  }
  return raced
}

function resultOf(raced: readonly Raced[], bad: readonly Raced[]): BenchResult {
  const game = 'one room, all see all, 30 Hz, an input per player and tick; medians'
  return {
    tables: [
      tableOf(game, raced),
      tableOf(`the same over lines of 50 to 250 ms with 2 % loss; medians`, bad),
    ].filter(({ rows }) => rows.length > 0),
    figures: [
      ...ratio(raced, 'e2e_cpu_ratio_colyseus_100', 'tickwire', 100, share, 1.2),
      ...ratio(raced, 'e2e_cpu_ratio_colyseus_200', 'tickwire', 200, share, 1.2),
      ...ratio(raced, 'e2e_cpu_ratio_colyseus_udp_100', 'tickwire-udp', 100, share, 1),
      ...ratio(bad, 'e2e_cpu_ratio_colyseus_bad_line_100', 'tickwire', 100, share),
      ...ratio(raced, 'e2e_bytes_ratio_colyseus_100', 'tickwire', 100, bytesPerMs, 0.25),
      ...perCore(raced),
      ...lateness(raced),
      ...memory(raced),
    ],
  }
}

function tableOf(title: string, raced: readonly Raced[]): BenchResult['tables'][number] {
  return {
    title,
    columns: [
      'server', 'players', 'CPU % of a core', 'players per core', 'us a player and tick', 'B/s a player',
      'tick late ms p99', 'RSS MB', 'clients',
    ],
    rows: raced.map(({ rival, players, runs }) => [
      rival,
      players,
      middle(runs, share) * 100,
      Math.round(players / middle(runs, share)),
      middle(runs, ({ cpuMs, ticks }) => (cpuMs * 1000) / ticks / players),
      Math.round((middle(runs, bytesPerMs) * 1000) / players),
      middle(runs, ({ latenessMs99 }) => latenessMs99),
      Math.round(middle(runs, ({ residentBytes }) => residentBytes) / 2 ** 20),
      middle(runs, clientsShare) > CLIENTS_FULL ? 'their core is full' : 'keep up',
    ]),
  }
}

/** Tickwire's value over that of Colyseus, run by run; nothing where one of them did not run. */
function ratio(
  raced: readonly Raced[],
  name: string,
  rival: string,
  players: number,
  value: (run: RivalRun) => number,
  atMost?: number,
): Figure[] {
  const [own, other] = [runsOf(raced, rival, players), runsOf(raced, 'colyseus', players)]
  const turns = Math.min(own.length, other.length)
  if (turns === 0) return []
  const ratios = own.slice(0, turns).map((each, index) => value(each) / value(other[index]!))
  const ratio = { name, value: middle(ratios, (each) => each), unit: 'x', against: 'Colyseus 0.18' }
  return [atMost === undefined ? ratio : { ...ratio, atMost }]
}

/** Players that a core carries, if each costs what one of a hundred does. */
function perCore(raced: readonly Raced[]): Figure[] {
  return ['tickwire', 'tickwire-udp', 'colyseus'].flatMap((rival) => {
    const runs = runsOf(raced, rival, 100)
    const name = `e2e_players_per_core_${rival.replace('-', '_')}`
    return runs.length === 0 ? [] : [{ name, value: 100 / middle(runs, share), unit: 'players', against: null }]
  })
}

/** How late the ticks of 200 players begin, 99 of 100. */
function lateness(raced: readonly Raced[]): Figure[] {
  const runs = runsOf(raced, 'tickwire', 200)
  if (runs.length === 0) return []
  const value = middle(runs, ({ latenessMs99 }) => latenessMs99)
  return [{ name: 'e2e_tick_late_ms_200', value, unit: 'ms', against: null, atMost: 5 }]
}

function runsOf(raced: readonly Raced[], rival: string, players: number): readonly RivalRun[] {
  return raced.find((each) => each.rival === rival && each.players === players)?.runs ?? []
}

/** Resident memory that each player adds, from the fewest players to the most. */
function memory(raced: readonly Raced[]): Figure[] {
  const own = raced.filter(({ rival }) => rival === 'tickwire')
  const [first, last] = [own[0], own.at(-1)]
  if (first === undefined || last === undefined || first === last) return []
  const bytes = ({ runs }: Raced): number => middle(runs, ({ residentBytes }) => residentBytes)
  const value = (bytes(last) - bytes(first)) / (last.players - first.players) / 1024
  return [{ name: 'e2e_memory_kb_per_player', value, unit: 'KB', against: null, atMost: 128 }]
}

function middle<T>(values: readonly T[], value: (each: T) => number): number {
  return median(values.map(value).sort((a, b) => a - b))
}

/** Of a core, at the full tick rate: a server that the machine starves runs fewer ticks, which must not look cheap. */
function share({ cpuMs, ticks }: RivalRun): number {
  return (cpuMs * TICK_RATE) / (ticks * 1000)
}

function clientsShare({ clientsCpuMs, wallMs }: RivalRun): number {
  return clientsCpuMs / wallMs
}

function bytesPerMs({ bytesOut, ticks }: RivalRun): number {
  return (bytesOut * TICK_RATE) / (ticks * 1000)
}
