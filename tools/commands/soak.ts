/**
 * `npm run soak`: a long match on real sockets, and what grew meanwhile.
 */

import { commandLine, misuse, wholeNumber } from '../command-line.ts'
import { soak } from '../../test/soak/soak.ts'

const HELP = `
npm run soak -- [options]

Plays the arena at 128 Hz over UDP and a bad connection (40 to 55 ms, 5 % loss, 1 % duplicates, each way). Players join
and leave, and keys are replaced. Near the end the server is killed.

  --minutes N      how long (default 10)
  --players N      (default 24)
  --spectators N   (default 8)
  --kills N        how often the server is killed (default 3)
  --seed S         for the length of stays, and for the connection (default 1)
  --json           the last line printed is the report as JSON

Exit code: 1 if resident memory grew by more than 20 MiB an hour (in runs of 10 minutes and more), handles grew, or
players were not back within 3 s of the server's restart.`

const RSS_SLOPE_MAX = 20
const HANDLE_SLOPE_MAX = 10
const BACK_MS_MAX = 3_000
/** Shorter runs have no meaningful slope: the garbage collector's period is longer. */
const SLOPE_MINUTES_MIN = 10

const { values } = commandLine(HELP, {
  minutes: { type: 'string' },
  players: { type: 'string' },
  spectators: { type: 'string' },
  kills: { type: 'string' },
  seed: { type: 'string' },
  json: { type: 'boolean' },
})
const minutes = Number(values.minutes ?? 10)
if (!(minutes > 0)) misuse(HELP, '--minutes takes a number above 0')
const kills = wholeNumber(HELP, 'kills', values.kills, 3)
const report = await soak({
  minutes,
  kills,
  players: wholeNumber(HELP, 'players', values.players, 24, 1),
  spectators: wholeNumber(HELP, 'spectators', values.spectators, 8),
  seed: wholeNumber(HELP, 'seed', values.seed, 1),
  rekeyMs: 20_000,
  stayMs: 60_000,
  onProgress: (line) => console.log(`${new Date().toISOString().slice(11, 19)}  ${line}`),
})

const { server, players, comeBacks } = report
const { rssMiB, heapMiB, tickMs } = server
const growth = ({ first, last, slopePerHour }: typeof rssMiB): string =>
  `${first.toFixed(1)} to ${last.toFixed(1)} MiB, ${slopePerHour.toFixed(1)} MiB an hour`
const tick = `p50 ${tickMs.p50.toFixed(2)}, p99 ${tickMs.p99.toFixed(2)}, most ${tickMs.most.toFixed(1)} ms`
const returns = comeBacks.map(
  ({ backMs, ends }) => `all back ${Math.round(backMs)} ms after the restart, notified by ${JSON.stringify(ends)}`,
)
console.log(`
resident memory   ${growth(rssMiB)}
heap              ${growth(heapMiB)}
handles           at most ${server.handles.most}, ${server.handles.slopePerHour.toFixed(1)} more an hour
tick, wall clock  ${tick}; ${server.missedTicks} missed
keys              replaced ${server.rekeys} times
dropped           ${JSON.stringify(server.drops)}
players           ${players.joins} joins, ${players.leaves} leaves, ${players.lost} datagrams lost
ends              ${JSON.stringify(players.ends)}
killed            ${returns.join('\n                  ') || 'never'}`)

const faults = [
  ...(minutes >= SLOPE_MINUTES_MIN && server.rssMiB.slopePerHour > RSS_SLOPE_MAX ? ['resident memory grows'] : []),
  ...(minutes >= SLOPE_MINUTES_MIN && server.handles.slopePerHour > HANDLE_SLOPE_MAX ? ['handles grow'] : []),
  ...(comeBacks.length < kills ? ['not all players reconnected'] : []),
  ...(comeBacks.some(({ backMs }) => backMs > BACK_MS_MAX) ? ['reconnecting took longer than 3 s'] : []),
]
for (const fault of faults) console.error(`failed: ${fault}`)
if (values.json === true) console.log(JSON.stringify({ ...report, faults }))
process.exitCode = faults.length === 0 ? 0 : 1
