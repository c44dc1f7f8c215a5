/**
 * How many players one core carries, for the kinds of game in docs/guide/capacity.md: rooms of 16 in which all see all,
 * a room of 100 in which all see all, a room of 200 in which each sees about twelve, and lockstep matches of eight.
 *
 * The server runs on one core and its clients on another, over WebSocket. Players per core are players over the share
 * of the core that the server's process uses, by CPU time.
 */

import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Kind } from './capacity/game.ts'
import { bundle, run, type RivalRun } from './e2e/rival.ts'
import { TICK_RATE } from './e2e/workload.ts'
import { median, type Bench } from './harness.ts'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const WARMUP_SECONDS = 3
const ROOM_PLAYERS = 16
const KINDS: readonly { readonly kind: Kind; readonly players: number; readonly what: string }[] = [
  { kind: 'rooms', players: 96, what: 'all see all, in rooms of 16, 30 Hz' },
  { kind: 'crowd', players: 100, what: 'all see all, 100 in one room, 30 Hz' },
  { kind: 'distance', players: 200, what: 'interest by distance: each of 200 sees about twelve, 30 Hz' },
  { kind: 'lockstep', players: 64, what: 'lockstep, in matches of eight' },
]

export const bench: Bench = {
  name: 'capacity',
  summary: 'players that one core carries, for three kinds of game (about three minutes)',
  options: ['--runs N       of each kind, in turns (default 3)', '--seconds N    of each run (default 6)'],
  run: async (args) => {
    const text = { type: 'string' } as const
    const { values } = parseArgs({ args: [...args], options: { runs: text, seconds: text } })
    const server = await bundled('server')
    const clients = await bundled('clients')
    const seconds = Number(values.seconds ?? 6)
    const runs = new Map<Kind, RivalRun[]>(KINDS.map(({ kind }) => [kind, []]))
    for (let turn = 0; turn < Number(values.runs ?? 3); turn++) {
      for (const { kind, players } of turn % 2 === 0 ? KINDS : KINDS.toReversed()) {
        process.stderr.write(`${kind}, run ${turn + 1}\n`)
        const rival = { name: kind, server, clients, args: [kind] }
        try {
          runs.get(kind)!.push(await run(rival, { players, seconds, warmupSeconds: WARMUP_SECONDS }))
        } catch (error) {
          // On a starved machine clients time out while they join. The other runs go on.
          process.stderr.write(`${kind}: ${String(error)}\n`)
        }
      }
    }
    const measured = KINDS.filter(({ kind }) => runs.get(kind)!.length > 0)
    const middle = (kind: Kind, value: (run: RivalRun) => number): number =>
      median(runs.get(kind)!.map(value).toSorted((a, b) => a - b))
    const shareOf = (kind: Kind): number => middle(kind, (each) => each.cpuMs / msOf(each, kind))
    return {
      tables: [{
        title: 'one core, over WebSocket; medians',
        columns: ['game', 'players', 'CPU % of a core', 'players per core', 'B/s a player', 'RSS MB'],
        rows: measured.map(({ kind, players, what }) => [
          what,
          players,
          shareOf(kind) * 100,
          Math.round(players / shareOf(kind)),
          Math.round(middle(kind, (each) => (each.bytesOut / msOf(each, kind)) * 1000) / players),
          Math.round(middle(kind, ({ residentBytes }) => residentBytes) / 2 ** 20),
        ]),
      }],
      figures: measured.map(({ kind, players }) => ({
        name: `capacity_${kind}_per_core`, value: players / shareOf(kind), unit: 'players', against: null,
      })),
    }
  },
}

/** The time of the run, by its ticks: a server that the machine starves runs fewer, which must not look cheap. */
function msOf({ ticks, wallMs }: RivalRun, kind: Kind): number {
  const rooms = kind === 'rooms' ? KINDS[0]!.players / ROOM_PLAYERS : 1
  return kind === 'lockstep' ? wallMs : (ticks * 1000) / (rooms * TICK_RATE)
}

function bundled(name: string): Promise<string> {
  return bundle(join(ROOT, `bench/capacity/${name}-process.ts`), join(ROOT, `.cache/capacity/${name}.mjs`), ROOT)
}
