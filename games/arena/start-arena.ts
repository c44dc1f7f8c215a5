/**
 * Serves the arena from a command line: prints its addresses, adds bots while clients are connected, and shuts down on
 * Ctrl-C.
 */

import { spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { ConfigError, type Peer } from 'tickwire'
import { host, plainLog, serve, type HostedMatch, type ServeOptions, type Serving } from 'tickwire/node'
import { showHelp } from '../command-line.ts'
import { HELP, readArguments, type ArenaSettings } from './arguments.ts'
import { createBot } from './bots.ts'
import type { input } from './definitions.ts'
import { arenaGame, TICK_RATE } from './game.ts'
import { greeting } from './greeting.ts'
import { notePings } from './rules.ts'

const TRANSPORTS = ['webtransport', 'webrtc', 'websocket', 'udp'] as const
const PLAYERS_MAX = 24
const SPECTATORS_MAX = 8
const PING_MS = 1000
const EMPTY_MS = 3000
/** Peer ids from here on are bots. */
const BOTS_FROM = 0x8000_0000

/** Serves and prints. It runs until a signal ends it, which `serve` handles. */
export async function startArena(args: string[]): Promise<void> {
  const settings = readArguments(args)
  if (settings === 'help' || 'problem' in settings) return showHelp(HELP, settings)
  let serving: Serving<typeof input>
  let hosted: HostedMatch<Serving<typeof input>> | undefined
  try {
    if (settings.isHosting === true) {
      const onEmpty = (): void => void process.kill(process.pid, 'SIGINT')
      serving = await serveArena({ ...settings, onEmpty }, async (game, options) => {
        hosted = await hostArena(game, options, settings)
        return hosted.serving
      })
    } else serving = await serveArena(settings)
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    console.error(
      error instanceof ConfigError && text.startsWith('port')
        ? `${text}\n  npm start -- --port ${settings.port + 10}`
        : text,
    )
    process.exitCode = 1
    return
  }
  const { info, url } = serving
  console.log(
    greeting({
      url,
      transports: TRANSPORTS
        .filter((name) => name in info)
        .map((name) => name === 'udp' ? `udp on port ${info.udp?.port}` : name),
      missing: info.missing,
      addresses: Object.values(networkInterfaces())
        .flatMap((all) => all ?? [])
        .filter(({ family, internal }) => family === 'IPv4' && !internal)
        .map(({ address }) => address),
      seats: { players: PLAYERS_MAX, spectators: SPECTATORS_MAX },
      ...settings,
      hosted,
    }),
  )
  if (hosted !== undefined) openBrowser(hosted.link)
}

/** Opens a page in the browser of this machine; without a screen, prints a message. */
function openBrowser(url: string): void {
  const commands: Partial<Record<NodeJS.Platform, string[]>> = { darwin: ['open'], win32: ['cmd', '/c', 'start', ''] }
  const [command = 'xdg-open', ...args] =
    process.env.BROWSER === undefined ? (commands[process.platform] ?? []) : [process.env.BROWSER]
  const opener = spawn(command, [...args, url], { stdio: 'ignore', detached: true })
  opener.on('error', () => console.log(`\n  No browser could be opened here: open ${url} yourself.`))
  opener.unref()
}

/** Prints at the end of the process what the recording has become. */
function sayWhatWasRecorded(path: string): void {
  process.once('exit', () => {
    const megabytes = (statSync(path).size / 1e6).toFixed(1)
    console.log(`\n  recorded      ${path}, ${megabytes} MB\n\n  npx tickwire inspect ${path} --open`)
  })
}

type ArenaGame = ReturnType<typeof arenaGame>
type ArenaOptions = ServeOptions<typeof input>

/** Hosts under a code. Without a rendezvous, players meet in this process, on the local network. */
async function hostArena(
  game: ArenaGame, options: ArenaOptions, { rendezvous: given, folder, port, tickRate }: ArenaSettings,
): Promise<HostedMatch<Serving<typeof input>>> {
  const { udp: _, port: __, static: ___, ...rest } = options
  if (given !== undefined) return await host(game, { ...rest, rendezvous: given })
  const { serveAll } = await import('@tickwire/services')
  const query = tickRate === TICK_RATE ? '' : `?tick=${tickRate}`
  const meeting = await serveAll({ port, relayPort: 0, static: folder, pageQuery: query })
  return await host(game, { ...rest, rendezvous: meeting.url })
}

/** Serves a match with bots. Throws ConfigError when it cannot. `open`: how it is served. */
export async function serveArena(
  settings: ArenaSettings,
  open: (game: ArenaGame, options: ArenaOptions) => Promise<Serving<typeof input>> = serve,
): Promise<Serving<typeof input>> {
  const { port, tickRate, limits, weather, isLocal, isLearning, folder, level = 'gentle' } = settings
  const people = new Set<number>()
  const bots: Peer[] = []
  // Bots play while a player or spectator is connected, and leave to make room for players.
  const balance = (): void => {
    const wanted = people.size === 0 ? 0 : Math.min(settings.bots, PLAYERS_MAX - serving.host.seats.players)
    while (bots.length < wanted) bots.push(serving.host.addBot(createBot(bots.length, tickRate, level)))
    while (bots.length > wanted) serving.host.kick(bots.pop()!)
  }
  const serving: Serving<typeof input> = await open(arenaGame({ tickRate, limits }), {
    port,
    static: folder,
    maxPlayers: PLAYERS_MAX,
    maxSpectators: SPECTATORS_MAX,
    spectators: { fields: 'followed' },
    ...(weather && { weather }),
    ...(isLocal && { address: '127.0.0.1' }),
    ...(isLearning === true && { learn: true, log: plainLog('info') }),
    onJoined: ({ id }) => {
      if (id >= BOTS_FROM) return
      people.add(id)
      balance()
    },
    onLeft: ({ id }) => {
      if (!people.delete(id)) return
      if (people.size > 0) return balance()
      // A client that reloads, or changes from spectator to player, reconnects at once.
      setTimeout(() => {
        if (people.size > 0) return
        balance()
        settings.onEmpty?.()
      }, EMPTY_MS).unref()
    },
  })
  const { host } = serving
  const pings = setInterval(() => notePings(host.world, (id) => host.connectionOf({ id })?.rtt.smoothedMs), PING_MS)
  pings.unref()
  try {
    if (settings.recordPath !== undefined) {
      serving.record(settings.recordPath)
      sayWhatWasRecorded(settings.recordPath)
    }
  } catch (error) {
    await serving.close()
    throw error
  }
  return serving
}
