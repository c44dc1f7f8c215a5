/**
 * The size of the sender of snapshots, and its cost beside the program that it replaced.
 *
 * The older program comes from the git history and is bundled like the current one. Both run in this process, tick by
 * tick in turns, so that the rest of the machine slows both alike. Times are CPU time of this process.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { median, type Bench, type BenchResult } from './harness.ts'
import { raceServers } from './house/race-servers.ts'
import { loadTree, type ArenaMatchLike, type Tree } from './house/tree.ts'
import { cpuMs } from './scenario/crowd-peer.ts'

/** The last program with cohorts, strips, frames, states and sheets. */
const BEFORE = 'eb8c20e'
const ROUNDS = 15
const TICKS_PER_ROUND = 100
const WARMUP_TICKS = 600
const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const REPLICATION = join(ROOT, 'packages/tickwire/src/core/replication')
const COLUMNS = 120

export const bench: Bench = {
  name: 'house',
  summary: 'lines and classes of the sender, and an arena tick beside the program that it replaced',
  options: [
    '--rounds N     of 100 ticks each (default 15)',
    '--players N    clients of the servers over WebSocket (default 100; 0 leaves the servers out)',
  ],
  run: async (args) => {
    const { values } = parseArgs({
      args: [...args],
      options: { rounds: { type: 'string', default: String(ROUNDS) }, players: { type: 'string', default: '100' } },
    })
    return await run(Number(values.rounds), Number(values.players))
  },
}

async function run(rounds: number, players: number): Promise<BenchResult> {
  const size = sizeOfReplication()
  const [before, after] = [await loadTree(ROOT, BEFORE), await loadTree(ROOT)]
  const race = raceArenas(before, after, rounds)
  const servers = players > 0 ? await raceServers(ROOT, BEFORE, players) : { tables: [], figures: [] }
  return {
    tables: [
      {
        title: 'core/replication, without interest, authority and tests',
        columns: ['', 'files', 'lines', 'lines wider than 120', 'exported classes'],
        rows: [['now', size.files, size.lines, size.wide, size.classes.length]],
      },
      {
        title:
          `the server's part of an arena tick: 24 fighters, 8 spectators, 128 Hz, `
          + `${rounds * TICKS_PER_ROUND} ticks each`,
        columns: ['', 'CPU ms a tick', 'bytes a tick to all clients'],
        rows: [[`before (${BEFORE})`, race.before.ms, race.before.bytes], ['now', race.after.ms, race.after.bytes]],
      },
      ...servers.tables,
    ],
    figures: [
      { name: 'replication_lines', value: size.lines, unit: 'lines', against: null, atMost: 4500 },
      { name: 'replication_classes', value: size.classes.length, unit: 'count', against: null, atMost: 14 },
      {
        name: 'arena_tick_ratio_before',
        value: race.ratio,
        unit: 'x',
        against: `the program of ${BEFORE}`,
        atMost: 1.1,
      },
      {
        name: 'arena_bytes_ratio_before',
        value: race.after.bytes / race.before.bytes,
        unit: 'x',
        against: `the program of ${BEFORE}`,
        atMost: 1.03,
      },
      ...servers.figures,
    ],
  }
}

interface Size {
  readonly files: number
  readonly lines: number
  readonly wide: number
  readonly classes: readonly string[]
}

function sizeOfReplication(): Size {
  const files = readdirSync(REPLICATION, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/^(?:interest|authority)\//.test(relative(REPLICATION, path)))
  const texts = files.map((path) => readFileSync(path, 'utf8'))
  const lines = texts.flatMap((text) => text.trimEnd().split('\n'))
  return {
    files: files.length,
    // A line that is too wide counts as the number of lines that it would take.
    lines: lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / COLUMNS)), 0),
    wide: lines.filter((line) => line.length > COLUMNS).length,
    classes: texts.flatMap((text) =>
      [...text.matchAll(/^export (?:abstract )?class (\w+)/gm)].map(([, name]) => name!),
    ),
  }
}

interface Raced {
  readonly ms: number
  readonly bytes: number
}

/** Both arenas in turns. The ratio is the median over the rounds. */
function raceArenas(
  before: Tree,
  after: Tree,
  rounds: number,
): { readonly before: Raced; readonly after: Raced; readonly ratio: number } {
  const matches = [before, after].map(({ ArenaMatch, bestProvider }) => {
    const match = new ArenaMatch({ fighters: 24, spectators: 8, seed: 1, provider: bestProvider(), delayTicks: 3 })
    match.join()
    for (let tick = 0; tick < WARMUP_TICKS; tick++) match.run()
    return match
  })
  const bytesBefore = matches.map(({ bytesOut }) => bytesOut)
  const sums = [0, 0]
  const ratios = Array.from({ length: rounds }, () => {
    const round = [0, 0]
    for (let tick = 0; tick < TICKS_PER_ROUND; tick++) {
      for (const which of tick % 2 === 0 ? [0, 1] : [1, 0]) round[which]! += timed(matches[which]!)
    }
    round.forEach((ms, which) => { sums[which]! += ms })
    return round[1]! / round[0]!
  })
  const ticks = rounds * TICKS_PER_ROUND
  const [first, second] = matches.map(({ bytesOut }, which): Raced => ({
    ms: sums[which]! / ticks,
    bytes: (bytesOut - bytesBefore[which]!) / ticks,
  }))
  return { before: first!, after: second!, ratio: median(ratios.sort((a, b) => a - b)) }
}

/** CPU of the server's part of one tick. */
function timed(match: ArenaMatchLike): number {
  match.serveClients()
  const from = cpuMs()
  match.serve()
  return cpuMs() - from
}
