/**
 * Serves the arena from a command line: what it offers and where, bots while somebody is there, and a goodbye on Ctrl-C.
 */

import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Peer } from 'tickwire'
import { serve, type LoadWeather, type Serving } from 'tickwire/node'
import { createBot } from './bots.ts'
import { Seat, type input } from './definitions.ts'
import { arenaGame, LIMITS, TICK_RATE } from './game.ts'
import { qrText } from './qr.ts'
import { describeWeather, parseWeather } from './weather.ts'

const HELP = `
npm start -- arena [options]      Serves the arena: open it in a browser, on this machine or a phone.

  --port 4000               where; 0 takes any that is free
  --bots 5                  how many play along while somebody is there
  --tick 128                ticks a second
  --frags 25 --minutes 10   when a match ends
  --weather 100ms,20ms,5%   latency each way, jitter, loss: for all players, to feel what the engine does about it
  --listen                  host it and play it: opens the page here, and the match ends when you leave it
  --local                   for this machine alone: the page plays by itself, against bots, without a network
  --help

Ctrl-C ends it.`

const PLAYERS_MAX = 24
const SPECTATORS_MAX = 8
const PING_MS = 1000
const EMPTY_MS = 3000
/** Peers from here on think on the server. */
const BOTS_FROM = 0x8000_0000

export interface ArenaSettings {
  readonly port: number
  readonly bots: number
  readonly tickRate: number
  readonly limits: typeof LIMITS
  readonly weather?: LoadWeather | undefined
  readonly isLocal: boolean
  /** Who hosts it plays it, and ends it by leaving. */
  readonly isListening?: boolean
  /** The last one has left. */
  readonly onEmpty?: () => void
  /** The folder of the page. */
  readonly folder: string
}

/** Serves and prints. It lives until it is told to end, which `serve` hears by itself. */
export async function startArena(args: string[]): Promise<void> {
  const settings = readArguments(args)
  if (settings === undefined) return
  let serving: Serving<typeof input>
  try {
    serving = await serveArena({ ...settings, ...(settings.isListening && { onEmpty: () => process.kill(process.pid, 'SIGINT') }) })
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
    return
  }
  console.log(greeting(serving, settings))
  if (settings.isListening) openBrowser(serving.url)
}

/** Shows a page to who sits here; where there is no screen, he is told. */
function openBrowser(url: string): void {
  const commands: Partial<Record<NodeJS.Platform, string[]>> = { darwin: ['open'], win32: ['cmd', '/c', 'start', ''] }
  const [command = 'xdg-open', ...args] = process.env.BROWSER === undefined ? commands[process.platform] ?? [] : [process.env.BROWSER]
  const opener = spawn(command, [...args, url], { stdio: 'ignore', detached: true })
  opener.on('error', () => console.log(`\n  No browser could be opened here: open ${url} yourself.`))
  opener.unref()
}

/** Serves a match with bots. Throws ConfigError when it cannot. */
export async function serveArena(settings: ArenaSettings): Promise<Serving<typeof input>> {
  const { port, tickRate, limits, weather, isLocal, folder } = settings
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'match.json'), `${JSON.stringify({ tickRate })}\n`)
  const people = new Set<number>()
  const bots: Peer[] = []
  // Bots play while somebody is there, looking on counts, and make room for people.
  const balance = (): void => {
    const wanted = people.size === 0 ? 0 : Math.min(settings.bots, PLAYERS_MAX - serving.host.seats.players)
    while (bots.length < wanted) bots.push(serving.host.addBot(createBot(bots.length, tickRate)))
    while (bots.length > wanted) serving.host.kick(performance.now(), bots.pop()!)
  }
  const serving: Serving<typeof input> = await serve(arenaGame({ tickRate, limits }), {
    port, static: folder, maxPlayers: PLAYERS_MAX, maxSpectators: SPECTATORS_MAX, spectators: { fields: 'followed' }, ...(weather && { weather }), ...(isLocal && { address: '127.0.0.1' }),
    onJoined: ({ id }) => {
      if (id >= BOTS_FROM) return
      people.add(id)
      balance()
    },
    onLeft: ({ id }) => {
      if (!people.delete(id)) return
      if (people.size > 0) return balance()
      // Who reloads, or stops looking on to play, is back at once.
      setTimeout(() => {
        if (people.size > 0) return
        balance()
        settings.onEmpty?.()
      }, EMPTY_MS).unref()
    },
  })
  const { host } = serving
  const pings = setInterval(() => {
    for (const seat of host.world.each(Seat)) {
      const line = host.connectionOf({ id: seat.owner })
      if (line !== undefined) seat.pingMs = Math.min(Math.round(line.rtt.smoothedMs), 9999)
    }
  }, PING_MS)
  pings.unref()
  return serving
}

function readArguments(args: string[]): ArenaSettings | undefined {
  const refuse = (problem: string): undefined => {
    console.error(`${problem}\n\n${HELP.trim()}`)
    process.exitCode = 2
    return undefined
  }
  let values
  try {
    values = parseArgs({
      args,
      options: {
        port: { type: 'string', default: '4000' }, bots: { type: 'string', default: '5' }, tick: { type: 'string', default: `${TICK_RATE}` },
        frags: { type: 'string', default: `${LIMITS.frags}` }, minutes: { type: 'string', default: `${LIMITS.seconds / 60}` },
        weather: { type: 'string' }, local: { type: 'boolean', default: false }, listen: { type: 'boolean', default: false }, help: { type: 'boolean', short: 'h', default: false },
      },
    }).values
  } catch (error) {
    return refuse(String(error instanceof Error ? error.message : error).replace(/\. To specify .*$/s, ''))
  }
  if (values.help) {
    console.log(HELP.trim())
    return undefined
  }
  const limits = { port: [0, 65_535], bots: [0, 24], tick: [20, 128], frags: [1, 255], minutes: [1, 60] } as const
  for (const [name, [min, max]] of Object.entries(limits)) {
    const value = Number(values[name as keyof typeof limits])
    if (!Number.isInteger(value) || value < min || value > max) return refuse(`--${name} takes a whole number from ${min} to ${max}, not ${JSON.stringify(values[name as keyof typeof limits])}`)
  }
  if (values.local && values.listen) return refuse('--local plays without a network, and --listen lets others in: choose one')
  const weather = values.weather === undefined ? undefined : parseWeather(values.weather)
  if (values.weather !== undefined && weather === undefined) return refuse(`--weather takes something like 100ms,20ms,5%, not ${JSON.stringify(values.weather)}`)
  return {
    port: Number(values.port), bots: Number(values.bots), tickRate: Number(values.tick),
    limits: { frags: Number(values.frags), seconds: Number(values.minutes) * 60 }, weather, isLocal: values.local, isListening: values.listen, folder: './public',
  }
}

function greeting(serving: Serving<typeof input>, { isLocal, bots, tickRate, weather }: ArenaSettings): string {
  const { port } = new URL(serving.url)
  const lan = Object.values(networkInterfaces()).flat().filter((address) => address?.family === 'IPv4' && !address.internal)
  const urls = isLocal ? [] : lan.map((address) => `http://${address?.address}:${port}`)
  const { info } = serving
  const transports = ['webtransport', 'webrtc', 'websocket', 'udp'].filter((name) => name in info)
  return [
    '', `  Arena         ${serving.url}${isLocal ? '/?local' : ''}`,
    ...urls.map((url) => `  on the net    ${url}`),
    ...(isLocal ? [] : urls.length === 0 ? ['  no network    others cannot join; on this machine everything works'] : []),
    `  match         ${tickRate} ticks a second, ${bots} bots, up to ${PLAYERS_MAX} players and ${SPECTATORS_MAX} spectators`,
    `  transports    ${transports.join(', ')}${Object.keys(info.missing).length === 0 ? '' : ` (without ${Object.keys(info.missing).join(', ')})`}`,
    ...(weather === undefined ? [] : [`  weather       ${describeWeather(weather)}`]),
    ...(urls[0] === undefined ? [] : ['', '  Join from a phone on the same network:', '', qrText(urls[0])]),
    '', '  Ctrl-C ends it.',
  ].join('\n')
}
