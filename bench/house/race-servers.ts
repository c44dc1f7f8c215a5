/**
 * The whole server process beside the older program: 100 players that all see each other, 30 ticks a second, over
 * WebSocket.
 */

import { join } from 'node:path'
import { bundle, run, type Rival, type RivalRun } from '../e2e/rival.ts'
import { median, type BenchResult } from '../harness.ts'
import { checkOut } from './tree.ts'

const RUNS = 3
const SECONDS = 10
const WARMUP_SECONDS = 4

/** Runs both servers in turns. The ratio is the median over the runs. */
export async function raceServers(root: string, commit: string, players: number): Promise<BenchResult> {
  const rivals = [await rivalOf(root, commit, checkOut(root, commit)), await rivalOf(root, 'now', root)]
  const runs: RivalRun[][] = [[], []]
  for (let index = 0; index < RUNS; index++) {
    for (const which of index % 2 === 0 ? [0, 1] : [1, 0]) {
      runs[which]!.push(await run(rivals[which]!, { players, seconds: SECONDS, warmupSeconds: WARMUP_SECONDS }))
    }
  }
  const [before, now] = runs as [RivalRun[], RivalRun[]]
  const ratioOf = (value: (run: RivalRun) => number): number =>
    median(now.map((each, index) => value(each) / value(before[index]!)).toSorted((a, b) => a - b))
  const middle = (each: readonly RivalRun[], value: (run: RivalRun) => number): number =>
    median(each.map(value).toSorted((a, b) => a - b))
  return {
    tables: [
      {
        title: `the whole server process: ${players} players that see all, 30 Hz, WebSocket, ${RUNS} runs in turns`,
        columns: ['', 'CPU % of a core', 'KB/s to all', 'CPU % of the clients'],
        rows: [before, now].map((each, which) => [
          which === 0 ? `before (${commit})` : 'now',
          middle(each, cpuShare) * 100,
          middle(each, bytesPerMs),
          middle(each, ({ clientsCpuMs, wallMs }) => clientsCpuMs / wallMs) * 100,
        ]),
      },
    ],
    figures: [
      { name: 'websocket_cpu_ratio_before', value: ratioOf(cpuShare), unit: 'x', against: commit, atMost: 1.05 },
      { name: 'websocket_bytes_ratio_before', value: ratioOf(bytesPerMs), unit: 'x', against: commit },
    ],
  }
}

function cpuShare({ cpuMs, wallMs }: RivalRun): number {
  return cpuMs / wallMs
}

function bytesPerMs({ bytesOut, wallMs }: RivalRun): number {
  return bytesOut / wallMs
}

async function rivalOf(root: string, name: string, tree: string): Promise<Rival> {
  const bundled = (program: string): Promise<string> =>
    bundle(join(root, `bench/e2e/${program}-process.ts`), join(root, `.cache/e2e/${name}-${program}.mjs`), tree)
  return {
    name,
    server: await bundled('tickwire-server'),
    clients: await bundled('tickwire-clients'),
    args: ['websocket'],
  }
}
