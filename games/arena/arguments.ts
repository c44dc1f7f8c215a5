/** The command line of the arena. */

import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LoadWeather } from 'tickwire/node'
import { outOfBounds, PORTS, readOptions, type Misuse } from '../command-line.ts'
import { BOT_LEVELS, botLevel, type BotLevel } from './bot-levels.ts'
import { LIMITS, TICK_RATE } from './game.ts'
import { parseWeather } from './weather.ts'

export const HELP: string = `npm start -- arena [options]

Serves the arena: open it in a browser, on this machine or a phone.

  --port 4000               the port; 0 takes any free port
  --bots 5                  the number of bots, while at least one player is there
  --level gentle            how well they fight: gentle, normal or hard
  --tick 128                ticks a second
  --frags 25 --minutes 10   the end of a match
  --weather 100ms,20ms,5%   simulated latency each way, jitter and loss, for all players
  --record match.twr        record to this file, for npx tickwire inspect, bandwidth and train
  --learn                   train the codec during the match, to send fewer bits
  --host                    host and play, also behind a router: prints a code, a link and a QR code, opens the page
                            here, and the match ends when you leave
  --rendezvous URL          with --host: where players meet; without it, they meet here, on your network
  --local                   for this machine alone: the page plays against bots, without a network
  --help

Ctrl-C ends it.`

export interface ArenaSettings {
  readonly port: number
  readonly bots: number
  /** How well bots fight. Default: gentle. */
  readonly level?: BotLevel
  readonly tickRate: number
  readonly limits: typeof LIMITS
  readonly weather?: LoadWeather | undefined
  readonly isLocal: boolean
  readonly isLearning?: boolean
  /** The file that the match is recorded to. */
  readonly recordPath?: string
  /** Whether players join by a code, and the host plays too and ends the match by leaving. */
  readonly isHosting?: boolean
  /** Where players meet. Undefined: in this process. */
  readonly rendezvous?: string
  /** Called when the last player or spectator has left. */
  readonly onEmpty?: () => void
  /** The folder of the page. */
  readonly folder: string
}

/** The parsed settings; or what is wrong with the command line. */
export function readArguments(args: readonly string[]): ArenaSettings | 'help' | Misuse {
  const refuse = (problem: string): Misuse => ({ problem })
  const values = readOptions(args, {
    port: { type: 'string', default: '4000' },
    bots: { type: 'string', default: '5' },
    level: { type: 'string', default: 'gentle' },
    tick: { type: 'string', default: `${TICK_RATE}` },
    frags: { type: 'string', default: `${LIMITS.frags}` },
    minutes: { type: 'string', default: `${LIMITS.seconds / 60}` },
    weather: { type: 'string' },
    record: { type: 'string' },
    learn: { type: 'boolean', default: false },
    local: { type: 'boolean', default: false },
    host: { type: 'boolean', default: false },
    rendezvous: { type: 'string' },
  })
  if (values === 'help' || 'problem' in values) return values
  const wrong = outOfBounds(values, { port: PORTS, bots: [0, 24], tick: [20, 128], frags: [1, 255], minutes: [1, 60] })
  if (wrong !== undefined) return wrong
  if (values.local && values.host)
    return refuse('--local plays without a network, and --host lets others in: choose one')
  if (values.rendezvous !== undefined && (!values.host || !URL.canParse(values.rendezvous)))
    return refuse('--rendezvous takes a URL such as https://play.example, and needs --host')
  for (const name of ['record', 'learn'] as const) {
    if (values.local && values[name] !== undefined && values[name] !== false)
      return refuse(`--local plays in the page, where --${name} does not reach: choose one`)
  }
  const level = botLevel(values.level)
  if (level === undefined)
    return refuse(`--level takes ${BOT_LEVELS.join(', ')}, not ${JSON.stringify(values.level)}`)
  const weather = values.weather === undefined ? undefined : parseWeather(values.weather)
  if (values.weather !== undefined && weather === undefined)
    return refuse(`--weather takes something like 100ms,20ms,5%, not ${JSON.stringify(values.weather)}`)
  return {
    port: Number(values.port),
    bots: Number(values.bots),
    level,
    tickRate: Number(values.tick),
    limits: { frags: Number(values.frags), seconds: Number(values.minutes) * 60 },
    weather,
    ...(values.record !== undefined && { recordPath: resolve(typedIn(), values.record) }),
    isLocal: values.local,
    isHosting: values.host,
    ...(values.rendezvous !== undefined && { rendezvous: values.rendezvous }),
    isLearning: values.learn,
    folder: fileURLToPath(new URL('./public', import.meta.url)),
  }
}

/** The folder in which the command was typed: npm changes to the root of the repository, and then to the game. */
function typedIn(): string {
  return process.env['INIT_CWD'] ?? process.cwd()
}
