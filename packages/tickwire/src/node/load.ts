/**
 * Connects headless players to a server, and reports what they experienced and what the server spent.
 *
 * Each player has its own socket, its own network conditions, and inputs drawn from a seed. What the server spent is
 * read from its operator port, if that can be reached.
 */

import type { ClientLink } from '../core/client/client-link.ts'
import { Line } from '../core/client/line.ts'
import type { CloseReason } from '../core/connection/close-reason.ts'
import type { Game } from '../core/game/define-game.ts'
import { DurationHistogram } from '../core/rooms/duration-histogram.ts'
import type { JoinRequest } from '../core/rooms/join-body.ts'
import type { Shape } from '../core/schema/field.ts'
import { monotonicNow as now } from './clock.ts'
import { bestProvider } from './crypto.ts'
import { compileRows } from './compile-rows.ts'
import { RandomInput } from './load-input.ts'
import { WeatherPort, type LoadWeather } from './load-weather.ts'
import { readPrometheus } from './metrics.ts'
import { nodeParts, nodePlatform } from './node-platform.ts'
import { MATCH_PATH, type ServerInfo } from './serve-routes.ts'
import { SingleLink } from '../core/client/single-link.ts'
import { openUdp, resolveUdp } from './udp.ts'
import { openWebSocket } from './websocket.ts'

export interface LoadOptions {
  readonly url: string
  readonly game: Game
  readonly players: number
  readonly seconds: number
  readonly weather: LoadWeather
  readonly transport: 'udp' | 'websocket'
  readonly join: JoinRequest
  readonly seed: number
  /** Players that join per second. */
  readonly rampPerSecond: number
  /** URL of the operator port; undefined when it cannot be reached. */
  readonly opsUrl: string | undefined
  /** Called once a second. */
  onProgress?(text: string): void
}

/** Percentiles, in milliseconds. */
export interface Spread {
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly max: number
}

/** What players experienced. */
export interface LoadReport {
  readonly asked: number
  readonly joined: number
  readonly stayed: number
  /** Why the other players are not connected, and how many for each reason. */
  readonly ended: { readonly [reason: string]: number }
  readonly joinMs: Spread
  readonly rttMs: Spread
  /** Lost fraction of the packets to the server whose fate is known. */
  readonly loss: number
  readonly packetsPerSecond: { readonly sent: number; readonly received: number }
  readonly bytesPerSecond: { readonly sent: number; readonly received: number }
  readonly inputs: number
  readonly lateInputs: number
  /** Mispredictions per minute and player; undefined if nothing is predicted. */
  readonly correctionsPerMinute: number | undefined
  /** What the server spent meanwhile; undefined when its operator port could not be read. */
  readonly server: ServerSpent | undefined
}

export interface ServerSpent {
  /** In cores: 1 is one core fully used. It may exceed 1. */
  readonly cpu: number
  readonly residentBytes: number
  readonly rooms: number
  readonly players: number
  /** Since the server started. */
  readonly tickMsP50: number
  readonly tickMsP99: number
  readonly ticksSkipped: number
}

/** One headless player: a line of `connect`, without a room around it, because it does not return. */
class HeadlessPlayer {
  readonly line: Line
  reason: CloseReason | undefined
  joinedMs = -1
  inputs = 0

  constructor({ game, seed, join }: LoadOptions, link: ClientLink, number: number) {
    const input = new RandomInput(game.inputSchema, seed + number)
    const startedAt = now()
    const parts = nodeParts(bestProvider())
    game.compile(compileRows)
    const line: Line = new Line(game as Game<Shape>, { parts }, nodePlatform, link, {}, join)
    line.host.sampleInput = () => {
      this.inputs++
      return input.next()
    }
    void line.opened.then(() => { this.joinedMs = now() - startedAt })
    void line.closed.then((reason) => { this.reason = reason })
    this.line = line
  }

  get isIn(): boolean {
    return this.joinedMs >= 0 && this.reason === undefined
  }
}

/** The transports that are served at `url`, and their ports. */
export async function askServer(url: string): Promise<ServerInfo> {
  return await (await fetch(`${url}/tickwire/info`, { signal: AbortSignal.timeout(2000) })).json() as ServerInfo
}

/** Runs the players, and reports. */
export async function runLoad(options: LoadOptions): Promise<LoadReport> {
  const players: HeadlessPlayer[] = []
  const rtts = new DurationHistogram()
  const openLink = await linksOf(options)
  const before = await serverNumbers(options.opsUrl)
  const startedAt = now()
  const endAt = startedAt + options.seconds * 1000
  let nextReportAt = startedAt + 1000
  while (now() < endAt) {
    const due = Math.min(options.players, Math.ceil((now() - startedAt) / 1000 * options.rampPerSecond))
    while (players.length < due) {
      players.push(new HeadlessPlayer(options, await openLink(players.length), players.length))
    }
    await sleep(20)
    if (now() < nextReportAt) continue
    nextReportAt += 1000
    for (const { isIn, line: { connection } } of players)
      if (isIn && connection.rtt.samples > 0) rtts.record(connection.rtt.latestMs)
    const inside = players.filter(({ isIn }) => isIn).length
    options.onProgress?.(
      `${Math.round((now() - startedAt) / 1000)} s: ${inside} of ${players.length} players connected, `
        + `round trip ${rtts.percentileMs(0.5).toFixed(1)} ms`,
    )
  }
  const seconds = (now() - startedAt) / 1000
  const server = spent(before, await serverNumbers(options.opsUrl), seconds)
  const report = summarise(players, rtts, seconds, options.game.predict !== 'none', server)
  for (const { line } of players) line.leave()
  await sleep(200)
  for (const { line } of players) line.end()
  return report
}

async function linksOf(
  { url, transport, weather, seed }: LoadOptions,
): Promise<(number: number) => Promise<ClientLink>> {
  const { hostname } = new URL(url)
  const socketUrl = `${url.replace(/^http/, 'ws')}${MATCH_PATH}`
  const udpPort = transport === 'udp' ? (await askServer(url)).udp?.port ?? 0 : 0
  const address = transport === 'udp' ? await resolveUdp(hostname, udpPort) : socketUrl
  return async (number) => {
    const port = transport === 'udp' ? await openUdp() : await openWebSocket(socketUrl)
    const isCalm = weather.latencyMs === 0 && weather.jitterMs === 0 && weather.loss === 0
    const carried = isCalm ? port : new WeatherPort(port, weather, seed ^ (number * 7919))
    return new SingleLink(transport, carried, address, () => Promise.resolve(undefined))
  }
}

function summarise(
  players: readonly HeadlessPlayer[],
  rtts: DurationHistogram,
  seconds: number,
  isPredicted: boolean,
  server: ServerSpent | undefined,
): LoadReport {
  const joins = new DurationHistogram()
  const ended: Record<string, number> = {}
  const sums = {
    lost: 0,
    delivered: 0,
    packetsSent: 0,
    packetsReceived: 0,
    bytesSent: 0,
    bytesReceived: 0,
    inputs: 0,
    late: 0,
    rollbacks: 0,
  }
  for (const { line: { host, connection: { stats } }, joinedMs, reason, inputs } of players) {
    if (joinedMs >= 0) joins.record(joinedMs)
    if (reason !== undefined) ended[reason.code] = (ended[reason.code] ?? 0) + 1
    sums.lost += stats.packetsLost
    sums.delivered += stats.packetsDelivered
    sums.packetsSent += stats.packetsSent
    sums.packetsReceived += stats.packetsReceived
    sums.bytesSent += stats.bytesSent
    sums.bytesReceived += stats.bytesReceived
    sums.inputs += inputs
    sums.late += host.clock.lateInputs
    sums.rollbacks += host.predictor?.rollbacks ?? 0
  }
  const joined = joins.count
  return {
    asked: players.length, joined, stayed: players.filter(({ isIn }) => isIn).length, ended,
    joinMs: spreadOf(joins), rttMs: spreadOf(rtts),
    loss: sums.lost + sums.delivered === 0 ? 0 : sums.lost / (sums.lost + sums.delivered),
    packetsPerSecond: { sent: sums.packetsSent / seconds, received: sums.packetsReceived / seconds },
    bytesPerSecond: { sent: sums.bytesSent / seconds, received: sums.bytesReceived / seconds },
    inputs: sums.inputs, lateInputs: sums.late,
    correctionsPerMinute: isPredicted && joined > 0 ? sums.rollbacks / joined / seconds * 60 : undefined,
    server,
  }
}

function spreadOf(histogram: DurationHistogram): Spread {
  return {
    p50: histogram.percentileMs(0.5),
    p90: histogram.percentileMs(0.9),
    p99: histogram.percentileMs(0.99),
    max: histogram.maxMs,
  }
}

async function serverNumbers(opsUrl: string | undefined): Promise<ReadonlyMap<string, number> | undefined> {
  if (opsUrl === undefined) return undefined
  try {
    const response = await fetch(`${opsUrl}/metrics`, { signal: AbortSignal.timeout(2000) })
    return response.ok ? readPrometheus(await response.text()) : undefined
  } catch {
    return undefined
  }
}

function spent(
  before: ReadonlyMap<string, number> | undefined,
  after: ReadonlyMap<string, number> | undefined,
  seconds: number,
): ServerSpent | undefined {
  if (before === undefined || after === undefined || !after.has('tickwire_rooms')) return undefined
  const of = (name: string): number => after.get(name) ?? 0
  const grown = (name: string): number => of(name) - (before.get(name) ?? 0)
  return {
    cpu:
      (grown('process_cpu_seconds_total{mode="user"}') + grown('process_cpu_seconds_total{mode="system"}')) / seconds,
    residentBytes: of('process_resident_memory_bytes'),
    rooms: of('tickwire_rooms'),
    players: of('tickwire_players'),
    tickMsP50: of('tickwire_tick_seconds{quantile="0.5"}') * 1000,
    tickMsP99: of('tickwire_tick_seconds{quantile="0.99"}') * 1000,
    ticksSkipped: grown('tickwire_ticks_skipped_total{why="late"}'),
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => { setTimeout(resolve, ms) })
}
