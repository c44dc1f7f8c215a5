/**
 * `npm run soak`: a long run on real sockets, and what grew meanwhile.
 */

import { commandLine, misuse, wholeNumber } from '../command-line.ts'
import { soakAll } from '../../test/soak/all-soak.ts'
import { soakSkirmish } from '../../test/soak/skirmish-soak.ts'
import { reportArena } from '../soak-arena.ts'
import { reportPrograms } from '../soak-programs.ts'

const HELP = `
npm run soak -- [arena|skirmish|all] [options]

arena      (default) the arena at 128 Hz over UDP and a bad connection (40 to 55 ms, 5 % loss, 1 % duplicates, each
           way). Players join and leave, and keys are replaced. Near the end the server is killed, and then all
           players.
skirmish   players of skirmish at two dedicated relays. They join and leave, and matches end and begin. Near the end
           both relays and all players are killed, one after the other: matches go on at the other relay.
all        \`tickwire all\` under churn: games come and go on its list, players browse, matches by code and by relay.
           Near the end the program and the games are killed: everything is listed again.

  --minutes N      how long (default 10)
  --players N      (default 24; skirmish 8; all: games on the list, 8)
  --spectators N   of the arena (default 8)
  --kills N        how often the arena's server is killed (default 3)
  --seed S         for the length of stays, and for the connection (default 1)
  --json           the last line printed is the report as JSON

Exit code: 1 if resident memory grew by more than 20 MiB an hour or the number of descriptors by more than 10 (in runs
of 10 minutes and more), if players were not back in time after a kill (arena 3 s, skirmish 6 s, all 11 s), or if a
match diverged or was lost.`

const { values, positionals } = commandLine(HELP, {
  minutes: { type: 'string' },
  players: { type: 'string' },
  spectators: { type: 'string' },
  kills: { type: 'string' },
  seed: { type: 'string' },
  json: { type: 'boolean' },
})
const [what = 'arena', ...others] = positionals
const minutes = Number(values.minutes ?? 10)
if (!(minutes > 0)) misuse(HELP, '--minutes takes a number above 0')
if (others.length > 0) misuse(HELP, `unexpected: ${others.join(' ')}`)
const seed = wholeNumber(HELP, 'seed', values.seed, 1)
const onProgress = (line: string): void => console.log(`${new Date().toISOString().slice(11, 19)}  ${line}`)
const players = (least: number, otherwise: number): number =>
  wholeNumber(HELP, 'players', values.players, otherwise, least)

const { report, faults } = await run()
for (const fault of faults) console.error(`failed: ${fault}`)
if (values.json === true) console.log(JSON.stringify({ ...report, faults }))
process.exitCode = faults.length === 0 ? 0 : 1

async function run(): Promise<{ readonly report: object; readonly faults: readonly string[] }> {
  switch (what) {
    case 'arena': return await reportArena({
      minutes, seed, onProgress, players: players(1, 24),
      kills: wholeNumber(HELP, 'kills', values.kills, 3),
      spectators: wholeNumber(HELP, 'spectators', values.spectators, 8),
      rekeyMs: 20_000, stayMs: 60_000,
    })
    case 'skirmish':
      return reportPrograms(await soakSkirmish({ minutes, seed, onProgress, players: players(2, 8), stayMs: 180_000 }))
    case 'all':
      return reportPrograms(await soakAll({ minutes, seed, onProgress, players: players(2, 8), stayMs: 120_000 }))
    default:
      return misuse(HELP, `unknown soak "${what}"`)
  }
}
