/**
 * How many more players two workers carry than one (`workers` of `serveRooms`, docs/adr/0050-workers.md).
 *
 * Each worker has the same number of players, in rooms of 16, with one worker and with two, in turns. A process is
 * full when it uses its whole core, so the players that a server carries are its players over the largest share of a
 * core that one of its processes uses. That is computed from CPU time: a busy machine makes all processes
 * slower, not more expensive.
 */

import { spawn, type ChildProcess } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bundle } from './e2e/rival.ts'
import { median, type Bench } from './harness.ts'
import type { ProcessCpu } from './workers/server-process.ts'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const WARMUP_MS = 3000

export const bench: Bench = {
  name: 'workers',
  summary: 'players that two workers carry, over those of one (about two minutes; Linux only)',
  options: [
    '--players N    of each worker, in rooms of 16 (default 96)',
    '--runs N       of each, in turns (default 3)',
    '--seconds N    of each run (default 8)',
  ],
  run: async (args) => {
    const text = { type: 'string' } as const
    const { values } = parseArgs({ args: [...args], options: { players: text, runs: text, seconds: text } })
    const [players, runs, seconds] = [values.players ?? 96, values.runs ?? 3, values.seconds ?? 8].map(Number)
    const server = await bundled('server')
    const clients = await bundled('clients')
    const rows: (readonly (string | number)[])[] = []
    const carried: Record<number, number[]> = { 1: [], 2: [] }
    for (let turn = 0; turn < runs!; turn++) {
      for (const workers of turn % 2 === 0 ? [1, 2] : [2, 1]) {
        process.stderr.write(`${workers} workers, run ${turn + 1} of ${runs}\n`)
        const { each, wallMs } = await run(server, clients, workers, workers * players!, seconds! * 1000)
        const shares = each.map(({ cpuMs }) => cpuMs / wallMs)
        carried[workers]!.push((workers * players!) / Math.max(...shares))
        rows.push([workers, ...shares.slice(0, -1).map(percent), ...(workers === 1 ? ['-'] : []),
          percent(shares.at(-1)!), each.map((one) => one.players).slice(0, -1).join(' + '),
          Math.round(carried[workers]!.at(-1)!)])
      }
    }
    const ratios = carried[2]!.map((two, turn) => two / carried[1]![turn]!)
    return {
      tables: [{
        title: `${players} players a worker, in rooms of 16, 30 Hz; CPU in % of a core`,
        columns: ['workers', 'first worker', 'second worker', 'first process', 'players', 'players until one is full'],
        rows,
      }],
      figures: [{
        name: 'workers_players_ratio', value: median(ratios.toSorted((a, b) => a - b)), unit: 'x',
        against: 'one worker', atLeast: 1.7,
      }],
    }
  },
}

function bundled(name: string): Promise<string> {
  return bundle(join(ROOT, `bench/workers/${name}-process.ts`), join(ROOT, `.cache/workers/${name}.mjs`), ROOT)
}

/** CPU time of each process of the server while the clients play. */
async function run(
  server: string, clients: string, workers: number, players: number, ms: number,
): Promise<{ readonly each: readonly ProcessCpu[]; readonly wallMs: number }> {
  const serving = start(server, [String(workers)])
  let playing: ChildProcess | undefined
  try {
    const { url } = (await next(serving)) as { readonly url: string }
    playing = start(clients, [url, String(players)])
    await next(playing)
    await sleep(WARMUP_MS)
    const [before, from] = [await ask(serving), performance.now()]
    await sleep(ms)
    const [after, until] = [await ask(serving), performance.now()]
    const each = after.map(({ cpuMs, players: count }, index) => ({
      players: count, cpuMs: cpuMs - before[index]!.cpuMs,
    }))
    return { each, wallMs: until - from }
  } finally {
    playing?.kill()
    serving.disconnect()
    await new Promise((resolve) => { serving.once('exit', resolve) })
  }
}

function start(path: string, args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
}

async function ask(serving: ChildProcess): Promise<readonly ProcessCpu[]> {
  serving.send('cpu')
  return (await next(serving)) as readonly ProcessCpu[]
}

function next(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.once('message', resolve)
    child.once('exit', (code) => reject(new Error(`A process of the bench ended with ${code}.`)))
  })
}

function percent(share: number): number {
  return Math.round(share * 1000) / 10
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => { setTimeout(resolve, ms) })
}
