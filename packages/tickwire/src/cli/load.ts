/**
 * `tickwire load`: headless players against a server, under simulated network conditions, and what they experienced.
 */

import { parseArgs } from 'node:util'
import type { Game } from '../core/game/define-game.ts'
import type { JoinRequest } from '../core/rooms/join-body.ts'
import { askServer, runLoad, type LoadReport, type Spread } from '../node/load.ts'
import { gameOfText } from '../node/load-game.ts'
import { NAMES_HEADER } from '../node/serve-routes.ts'
import { parseWeather, type LoadWeather } from '../node/load-weather.ts'
import { UsageError, type AsyncCommand, type CommandWorld } from './command.ts'
import { importGame } from './game-module.ts'
import { readCountOption, sizeText } from './recording-option.ts'

/** How long the server may take to answer with the text of its game. */
const GAME_MS = 5000
const OPTIONS = {
  players: { type: 'string' },
  seconds: { type: 'string' },
  weather: { type: 'string', default: '0ms' },
  transport: { type: 'string' },
  room: { type: 'string' },
  code: { type: 'string' },
  type: { type: 'string' },
  game: { type: 'string' },
  ops: { type: 'string' },
  ramp: { type: 'string' },
  seed: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

const PLAYERS = 16
const SECONDS = 10
const RAMP = 50
/** Offset of the operator port from the HTTP port. */
const OPS_BESIDE = 2

/** Runs headless players against a server. */
export const load: AsyncCommand = {
  summary: 'run headless players against a server, and measure their connections',
  help: `
tickwire load URL [--players N] [--seconds S] [--weather LATENCY[,JITTER[,LOSS]]] [--transport udp|websocket]
                  [--room ID | --code CODE | --type TYPE] [--game FILE] [--ops URL] [--ramp N] [--seed N] [--json]

Connects N players to the game served at URL (http://localhost:4000), each with its own socket and with inputs from a
seed, and prints their round trips, losses, late inputs and corrections, and the load of the server.

  --players N     number of players. Default: ${PLAYERS}
  --seconds S     duration. Default: ${SECONDS}
  --weather W     100ms,20ms,5%: latency each way, jitter on top of it, and loss
  --transport T   udp or websocket. Default: udp if the server has it, otherwise websocket
  --type TYPE     quick join to rooms of this type; --room and --code name one room. Default: any room
  --game FILE     a module that exports \`game\`, in JavaScript or TypeScript. With it players predict, and corrections
                  are counted; without it the game is read from the server
  --ops URL       the server's operator port. Default on this machine: two above its HTTP port
  --ramp N        players that join per second. Default: ${RAMP}
  --seed N        seed of inputs and weather. Default: 1
  --json          print the report as JSON

Exit code: 0; 1 when a player could not join or was disconnected.`,
  async run(args, world) {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
    const url = readUrl(positionals)
    const { transport: wanted } = values
    if (wanted !== undefined && wanted !== 'udp' && wanted !== 'websocket')
      throw new UsageError(`--transport: unknown transport "${wanted}". Fix: use udp or websocket.`)
    const asked = {
      url,
      join: readJoin(values.room, values.code, values.type),
      players: readCountOption('--players', values.players, PLAYERS, 1),
      seconds: readCountOption('--seconds', values.seconds, SECONDS, 1),
      rampPerSecond: readCountOption('--ramp', values.ramp, RAMP, 1),
      seed: readCountOption('--seed', values.seed, 1, 0),
      weather: readWeather(values.weather),
      opsUrl: values.ops ?? opsBeside(url),
    }
    const info = await askServer(url).catch((error: unknown) => {
      throw new UsageError(
        `${url}: no game is served there (${whyUnreachable(error)}). Fix: start the server first, or give another URL.`,
      )
    })
    const transport = wanted ?? (info.udp === undefined ? 'websocket' : 'udp')
    if (transport === 'udp' && info.udp === undefined)
      throw new UsageError('--transport udp: the server has no UDP. Fix: use --transport websocket.')
    const report = await runLoad({
      ...asked,
      transport,
      game: await readGame(url, values.game, values.type),
      onProgress: (text) => world.complain(text),
    })
    if (values.json) world.print(JSON.stringify(report, undefined, 2))
    else printReport(report, world)
    return report.stayed === report.asked ? 0 : 1
  },
}

/** `100ms,20ms,5%`: latency, jitter, loss. */
export function readWeather(text: string): LoadWeather {
  const weather = parseWeather(text)
  if (weather !== undefined) return weather
  throw new UsageError(`--weather: cannot read "${text}". Fix: write it as 100ms,20ms,5%.`)
}

/** The message of `fetch failed` is generic: the reason is in its cause. */
function whyUnreachable(error: unknown): string {
  if (error instanceof SyntaxError) return 'the answer is not that of a Tickwire server'
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error && 'code' in error.cause ? String(error.cause.code) : error.message
}

function readUrl(positionals: readonly string[]): string {
  const [url] = positionals
  if (url === undefined || positionals.length > 1) throw new UsageError('Give one URL: where the game is served.')
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new UsageError(`${url} is not the URL of a server. Fix: write http://localhost:4000.`)
  return new URL(url).origin
}

function readJoin(room: string | undefined, code: string | undefined, type: string | undefined): JoinRequest {
  if (room !== undefined) return { room }
  if (code !== undefined) return { code }
  return type === undefined ? {} : { quick: type }
}

async function readGame(url: string, file: string | undefined, type: string | undefined): Promise<Game> {
  if (file !== undefined) return await importGame(file)
  const query = type === undefined ? '' : `?type=${encodeURIComponent(type)}`
  const response = await fetch(`${url}/tickwire/game${query}`, { signal: AbortSignal.timeout(GAME_MS) })
  if (!response.ok) throw new UsageError((await response.text()).trim())
  const game = gameOfText(
    await response.text(),
    JSON.parse(decodeURIComponent(response.headers.get(NAMES_HEADER) ?? '[]')) as string[],
  )
  if (typeof game === 'string')
    throw new UsageError(`this game cannot be played from its text (${game}). Fix: use --game FILE.`)
  return game
}

function opsBeside(url: string): string | undefined {
  const { hostname, port } = new URL(url)
  return hostname === 'localhost' || hostname === '127.0.0.1'
    ? `http://127.0.0.1:${Number(port) + OPS_BESIDE}`
    : undefined
}

function printReport(report: LoadReport, { print }: CommandWorld): void {
  const { asked, joined, stayed, ended, server } = report
  const spread = ({ p50, p90, p99, max }: Spread): string =>
    `p50 ${p50.toFixed(1)}, p90 ${p90.toFixed(1)}, p99 ${p99.toFixed(1)}, worst ${max.toFixed(1)} ms`
  const reasons = Object.entries(ended)
    .map(([code, count]) => `${count} ${code}`)
    .join(', ')
  print(`players       ${asked} requested, ${joined} joined, ${stayed} stayed${reasons === '' ? '' : ` (${reasons})`}`)
  print(`joining       ${spread(report.joinMs)}`)
  print(`round trip    ${spread(report.rttMs)}`)
  print(`loss          ${(report.loss * 100).toFixed(2)} % on the way to the server`)
  print(
    `traffic       ${Math.round(report.packetsPerSecond.sent)} packets/s up, `
      + `${Math.round(report.packetsPerSecond.received)} down; `
      + `${sizeText(Math.round(report.bytesPerSecond.sent))}/s up, `
      + `${sizeText(Math.round(report.bytesPerSecond.received))}/s down`,
  )
  print(`late inputs   ${report.lateInputs} of ${report.inputs}`)
  print(
    `corrections   ${
      report.correctionsPerMinute === undefined
        ? 'not predicted: give --game FILE'
        : `${report.correctionsPerMinute.toFixed(1)} a minute and player`
    }`,
  )
  if (server === undefined) print('server        could not be asked: give --ops URL')
  else {
    print(
      `server        ${(server.cpu * 100).toFixed(0)} % of a core, ${sizeText(server.residentBytes)} resident, `
        + `${server.rooms} rooms, ${server.players} players`,
    )
    print(
      `ticks         p50 ${server.tickMsP50.toFixed(3)}, p99 ${server.tickMsP99.toFixed(3)} ms since the start; `
        + `${server.ticksSkipped} skipped in this run`,
    )
  }
}
