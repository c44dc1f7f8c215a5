/**
 * A flood of spoofed datagrams while sixteen clients play over UDP: how much later are the ticks than without the
 * flood?
 *
 * Server, players and flooder are three processes on loopback. The server is measured in turns, an interval without the
 * flood and one with it, so that other work of the machine affects both. The figure is the difference of the medians of
 * the intervals' 99th percentiles. The spoofed sources never answer: 256 addresses of 127/8; a third of the datagrams
 * are requests, a third are packets of connections that do not exist, and a third are random bytes. Limits by origin do
 * not help here: addresses of this machine are exempt, so the server answers every request with a cookie.
 *
 * On two cores the flooder takes CPU time from the other processes. The table shows how many datagrams really arrived.
 */

import { fork, type ChildProcess } from 'node:child_process'
import { cpus } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { LoadReport } from '../packages/tickwire/src/node/load.ts'
import type { FloodDone } from './attack/flooder.ts'
import type { ServerReport } from './flood/server-process.ts'
import type { Bench, BenchResult } from './harness.ts'

const PLAYERS = 16
const STRETCHES = 3

interface Stretch extends ServerReport {
  readonly isFlooded: boolean
  readonly sent: number
  readonly seconds: number
}

export const bench: Bench = {
  name: 'flood',
  summary: '50,000 spoofed datagrams a second while 16 play: how late their ticks are',
  options: [
    '--seconds N      of flood, in three stretches (default 30)',
    '--rate N         datagrams a second (default 50000)',
  ],
  run: async (args) => {
    const { values } = parseArgs({
      args: [...args],
      options: { seconds: { type: 'string', default: '30' }, rate: { type: 'string', default: '50000' } },
    })
    return await run(Number(values.seconds), Number(values.rate))
  },
}

async function run(seconds: number, rate: number): Promise<BenchResult> {
  const server = start('flood/server-process.ts')
  const { url, udp } = await next<{ url: string; udp: number }>(server)
  const stretchSeconds = seconds / STRETCHES
  const players = start(
    'flood/players-process.ts',
    url,
    String(PLAYERS),
    String(Math.ceil(2 * seconds + STRETCHES * 4 + 10)),
  )
  const felt = next<LoadReport>(players)
  while ((await ask(server)).players < PLAYERS) await sleep(200)
  await sleep(1000)
  const stretches: Stretch[] = []
  for (let round = 0; round < STRETCHES; round++) {
    stretches.push(await watch(server, stretchSeconds, undefined))
    stretches.push(await watch(server, stretchSeconds, { udp, rate }))
  }
  const report = await felt
  server.kill()
  return resultOf(stretches, report, rate)
}

async function watch(
  server: ChildProcess,
  seconds: number,
  flood: { readonly udp: number; readonly rate: number } | undefined,
): Promise<Stretch> {
  const flooder = flood && start('attack/flooder.ts', 'spoofed', String(flood.udp), String(seconds), String(flood.rate))
  if (flooder !== undefined) await next(flooder)
  await ask(server)
  flooder?.send('begin')
  const done = flooder && next<FloodDone>(flooder)
  await sleep(seconds * 1000)
  const report = await ask(server)
  const sent = done === undefined ? 0 : (await done).sent
  await sleep(500)
  return { ...report, isFlooded: flood !== undefined, sent, seconds }
}

function resultOf(stretches: readonly Stretch[], players: LoadReport, rate: number): BenchResult {
  const p99Of = (isFlooded: boolean): number =>
    median(stretches.filter((each) => each.isFlooded === isFlooded).map(({ lateMs }) => at(lateMs, 0.99)))
  const flooded = stretches.filter(({ isFlooded }) => isFlooded)
  const arrived =
    flooded.reduce((sum, { received }) => sum + received, 0) / flooded.reduce((sum, { seconds }) => sum + seconds, 0)
  return {
    tables: [
      {
        title:
          `${PLAYERS} players at 60 ticks a second; ${rate} spoofed datagrams a second were requested; `
          + `${cpus().length} cores`,
        columns: [
          'stretch',
          'sent 1/s',
          'received 1/s',
          'answered 1/s',
          'late p50 ms',
          'p99 ms',
          'worst ms',
          'ticks',
          'skipped',
          'server cores',
        ],
        rows: stretches.map(({ isFlooded, sent, received, answered, lateMs, skipped, cpu, seconds }) => [
          isFlooded ? 'flood' : 'control',
          sent / seconds,
          received / seconds,
          answered / seconds,
          at(lateMs, 0.5),
          at(lateMs, 0.99),
          at(lateMs, 1),
          lateMs.length,
          skipped,
          cpu,
        ]),
      },
      {
        title: 'players, over all of it',
        columns: ['joined', 'stayed', 'round trip p50 ms', 'p99 ms', 'late inputs'],
        rows: [
          [
            players.joined,
            players.stayed,
            players.rttMs.p50,
            players.rttMs.p99,
            `${players.lateInputs} of ${players.inputs}`,
          ],
        ],
      },
    ],
    figures: [
      {
        name: 'flood_tick_ms_p99_added',
        value: p99Of(true) - p99Of(false),
        unit: 'ms',
        against: 'the same without a flood',
        atMost: 3,
      },
      { name: 'flood_us_per_datagram', value: costUs(stretches), unit: 'us', against: null },
      { name: 'flood_players_stayed', value: players.stayed, unit: 'players', against: null, atLeast: PLAYERS },
      { name: 'flood_datagrams_per_second', value: arrived, unit: '1/s', against: null },
    ],
  }
}

/** CPU time of the server for one datagram. Other work of the machine does not affect it. */
function costUs(stretches: readonly Stretch[]): number {
  const sum = (isFlooded: boolean, of: (stretch: Stretch) => number): number =>
    stretches.filter((each) => each.isFlooded === isFlooded).reduce((total, each) => total + of(each), 0)
  const seconds = (isFlooded: boolean, of: (stretch: Stretch) => number): number =>
    sum(isFlooded, (each) => of(each) * each.seconds)
  return (
    (1e6 * (seconds(true, ({ cpu }) => cpu) - seconds(false, ({ cpu }) => cpu)))
    / Math.max(1, sum(true, ({ received }) => received) - sum(false, ({ received }) => received))
  )
}

function start(file: string, ...args: string[]): ChildProcess {
  return fork(fileURLToPath(new URL(file, import.meta.url)), args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
}

function next<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = (code: number | null): void => reject(new Error(`a process of the bench ended with ${code}`))
    child.once('exit', fail)
    child.once('message', (message) => {
      child.off('exit', fail)
      resolve(message as T)
    })
  })
}

async function ask(server: ChildProcess): Promise<ServerReport> {
  const answer = next<ServerReport>(server)
  server.send('report')
  return await answer
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN
}
