/** Runs the soak of the arena, prints its report, and says what is wrong. */

import { soakArena, type SoakOptions, type SoakReport } from '../test/soak/arena-soak.ts'
import { growthLine } from './soak-programs.ts'

const RSS_SLOPE_MAX = 20
/** Not 0: the number of handles varies while players come and go. */
const HANDLE_SLOPE_MAX = 10
const BACK_MS_MAX = 3_000
/** The timeout of a connection, and some time for the next sample. */
const EMPTY_MS_MAX = 15_000
/** Shorter runs have no meaningful slope: the garbage collector's period is longer. */
const SLOPE_MINUTES_MIN = 10

export async function reportArena(
  options: SoakOptions,
): Promise<{ readonly report: SoakReport; readonly faults: readonly string[] }> {
  const { minutes, kills } = options
  const report = await soakArena(options)
  const { server, players, comeBacks, playersKill } = report
  const { tickMs } = server
  const tick = `p50 ${tickMs.p50.toFixed(2)}, p99 ${tickMs.p99.toFixed(2)}, most ${tickMs.most.toFixed(1)} ms`
  const returns = comeBacks.map(
    ({ backMs, ends }) => `all back ${Math.round(backMs)} ms after the restart, notified by ${JSON.stringify(ends)}`,
  )
  console.log(`
resident memory   ${growthLine(server.rssMiB, 'MiB')}
heap              ${growthLine(server.heapMiB, 'MiB')}
handles           at most ${server.handles.most}, ${server.handles.slopePerHour.toFixed(1)} more an hour
tick, wall clock  ${tick}; ${server.missedTicks} missed
keys              replaced ${server.rekeys} times
dropped           ${JSON.stringify(server.drops)}
players           ${players.joins} joins, ${players.leaves} leaves, ${players.lost} datagrams lost
ends              ${JSON.stringify(players.ends)}
killed            ${returns.join('\n                  ') || 'never'}
killed players    empty after ${playersKill.emptyMs} ms, full again after ${playersKill.backMs} ms`)
  const faults = [
    ...(minutes >= SLOPE_MINUTES_MIN && server.rssMiB.slopePerHour > RSS_SLOPE_MAX ? ['resident memory grows'] : []),
    ...(minutes >= SLOPE_MINUTES_MIN && server.handles.slopePerHour > HANDLE_SLOPE_MAX ? ['handles grow'] : []),
    ...(comeBacks.length < kills ? ['not all players reconnected'] : []),
    ...(comeBacks.some(({ backMs }) => backMs > BACK_MS_MAX) ? ['reconnecting took longer than 3 s'] : []),
    ...((playersKill.emptyMs ?? Infinity) > EMPTY_MS_MAX ? ['the server keeps players that were killed'] : []),
    ...(playersKill.backMs === undefined ? ['not all seats of killed players were free again'] : []),
  ]
  return { report, faults }
}
