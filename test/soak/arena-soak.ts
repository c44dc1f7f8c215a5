/**
 * A long match on real sockets: the arena's server, players behind a bad link that come and go, keys that are replaced,
 * and near the end a server and then players that are killed without warning. It looks for leaks.
 *
 * Slopes are taken from the server's first life, which is four fifths of the time, without its first tenth; then the
 * server is killed a few times, and the return of the players is timed from the moment it listens again. At last the
 * process of the players is killed: the server has to remove all of them, and to give their seats to others.
 */

import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createSocket } from 'node:dgram'
import { growthOf, quantile, type Growth } from './growth.ts'
import type { ComeBack, PlayersSample, PlayersMessage, ServerSample } from './arena-messages.ts'

export interface SoakOptions {
  readonly minutes: number
  readonly players: number
  readonly spectators: number
  readonly kills: number
  readonly rekeyMs: number
  /** How long a player stays, on average. */
  readonly stayMs: number
  readonly seed: number
  onProgress?(line: string): void
}

export interface SoakReport {
  readonly minutes: number
  readonly server: {
    readonly rssMiB: Growth
    readonly heapMiB: Growth
    readonly handles: { readonly most: number; readonly slopePerHour: number }
    readonly tickMs: { readonly p50: number; readonly p99: number; readonly most: number }
    readonly missedTicks: number
    readonly rekeys: number
    readonly drops: Readonly<Record<string, number>>
  }
  readonly players: PlayersSample
  readonly comeBacks: readonly ComeBack[]
  /** After the kill of the players: until the server had removed all, and until new players had their seats. */
  readonly playersKill: { readonly emptyMs: number | undefined; readonly backMs: number | undefined }
}

/** The share of the first life in the time, and the share of warm-up in that. */
const FIRST_LIFE = 0.8
const WARM_UP = 0.1
/** A killed server stays down for this long. */
const DEAD_MS = 1_000
/** How long players may take to reconnect after a kill: longer than the timeout of a connection. */
const COME_BACK_MS_MAX = 15_000
/** How long the server may keep killed players, and others may wait for their seats. A connection times out in 10 s. */
const KILLED_PLAYERS_MS_MAX = 60_000
const PROGRESS_MS = 10_000
const MINUTE_MS = 60_000

const pause = (ms: number): Promise<void> => new Promise((resolve) => {
  setTimeout(resolve, ms)
})

export async function soakArena(options: SoakOptions): Promise<SoakReport> {
  const { minutes, players, spectators, kills, rekeyMs, stayMs, seed, onProgress = () => {} } = options
  const port = await freePort()
  const samples: { readonly at: number; readonly sample: ServerSample }[] = []
  const startServer = async (): Promise<ChildProcess> => {
    const child = start('arena-server-process.ts', [port, players, spectators, rekeyMs])
    await new Promise<void>((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`the server ended with ${code} before it was up`)))
      child.on('message', (message: ServerSample | 'up') => {
        if (message === 'up') resolve()
        else samples.push({ at: performance.now(), sample: message })
      })
    })
    return child
  }
  let server = await startServer()
  let last: PlayersSample = { playing: 0, joins: 0, leaves: 0, ends: {}, lost: 0 }
  const comeBacks: ComeBack[] = []
  const startPlayers = (): ChildProcess => {
    const child = start('arena-players-process.ts', [port, players, spectators, stayMs, seed])
    child.on('message', (message: PlayersMessage) => {
      if ('sample' in message) last = message.sample
      else comeBacks.push(message.comeBack)
    })
    return child
  }
  let crowd = startPlayers()
  const progress = setInterval(() => onProgress(lineOf(samples.at(-1)?.sample, last)), PROGRESS_MS)
  try {
    await pause(minutes * MINUTE_MS * FIRST_LIFE)
    const life = samples.slice()
    for (let kill = 0; kill < kills; kill++) {
      await pause(minutes * MINUTE_MS * (1 - FIRST_LIFE) / (kills + 1))
      crowd.send('killed')
      server.kill('SIGKILL')
      await once(server, 'exit')
      await pause(DEAD_MS)
      server = await startServer()
      crowd.send('returned')
      for (let waited = 0; comeBacks.length <= kill && waited < COME_BACK_MS_MAX; waited += 50) await pause(50)
      const back = comeBacks[kill]
      onProgress(
        back === undefined
          ? 'killed: not all players came back'
          : `killed: ${back.players} back ${Math.round(back.backMs)} ms after its return, `
            + `ended by ${JSON.stringify(back.ends)}`,
      )
    }
    await pause(minutes * MINUTE_MS * (1 - FIRST_LIFE) / (kills + 1))
    if (crowd.exitCode !== null) throw new Error(`the players ended with ${crowd.exitCode}`)
    const before = last
    crowd.kill('SIGKILL')
    await once(crowd, 'exit')
    const emptyMs = await waitFor(() => samples.at(-1)?.sample.connections === 0, KILLED_PLAYERS_MS_MAX)
    last = { ...last, joins: 0 }
    crowd = startPlayers()
    const backMs = await waitFor(() => last.joins >= players + spectators, KILLED_PLAYERS_MS_MAX)
    onProgress(`killed the players: the server was empty after ${emptyMs} ms, and full again after ${backMs} ms`)
    if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode}`)
    return { minutes, server: judge(life), players: before, comeBacks, playersKill: { emptyMs, backMs } }
  } finally {
    clearInterval(progress)
    server.kill('SIGKILL')
    crowd.kill('SIGKILL')
  }
}

/** How long it took. Undefined: longer than `msMax`. */
async function waitFor(isDone: () => boolean, msMax: number): Promise<number | undefined> {
  const startedAt = performance.now()
  while (!isDone()) {
    if (performance.now() - startedAt > msMax) return undefined
    await pause(50)
  }
  return Math.round(performance.now() - startedAt)
}

function judge(life: readonly { readonly at: number; readonly sample: ServerSample }[]): SoakReport['server'] {
  const warm = life.slice(Math.floor(life.length * WARM_UP))
  const ticks = warm.flatMap(({ sample }) => sample.ticks)
  const end = life.at(-1)?.sample
  const grown = (of: (sample: ServerSample) => number): Growth => growthOf(warm.map((one) => [one.at, of(one.sample)]))
  if (end === undefined) throw new Error('the server printed nothing')
  return {
    rssMiB: grown(({ rssMiB }) => rssMiB),
    heapMiB: grown(({ heapMiB }) => heapMiB),
    handles: {
      most: Math.max(...warm.map(({ sample }) => sample.handles)),
      slopePerHour: grown(({ handles }) => handles).slopePerHour,
    },
    tickMs: { p50: quantile(ticks, 0.5), p99: quantile(ticks, 0.99), most: quantile(ticks, 1) },
    missedTicks: end.missed - (warm[0]?.sample.missed ?? 0),
    rekeys: end.rekeys,
    drops: end.drops,
  }
}

function lineOf(sample: ServerSample | undefined, { playing, joins, leaves, ends }: PlayersSample): string {
  if (sample === undefined) return 'starting'
  const { rssMiB, heapMiB, handles, missed, rekeys } = sample
  const players = `${playing} in, ${joins} joins, ${leaves} leaves, ends ${JSON.stringify(ends)}`
  const memory = `rss ${rssMiB.toFixed(1)} MiB, heap ${heapMiB.toFixed(1)} MiB`
  return `${players}; ${memory}, ${handles} handles, ${rekeys} rekeys, ${missed} ticks missed`
}

function start(file: string, args: readonly number[]): ChildProcess {
  return fork(new URL(file, import.meta.url), args.map(String), {
    execArgv: ['--conditions=tickwire-source', '--import', 'tsx'],
  })
}

async function freePort(): Promise<number> {
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  await once(socket, 'close')
  return port
}
