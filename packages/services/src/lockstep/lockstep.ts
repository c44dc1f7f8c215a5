/**
 * `tickwire lockstep`: relays for lockstep matches, without code of the games.
 */

import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { ConfigError } from 'tickwire'
import { decodeCard, RANKED_ROOM, type RelayRoomType } from 'tickwire/lockstep'
import {
  drainOnSignals, LOCKSTEP_PORT_DEFAULT, parseWeather, serveLockstep, type GroupRelay, type LoadWeather,
} from 'tickwire/node'
import { readKeyOption } from '../cli/key-option.ts'
import { defineService, type Service } from '../cli/service.ts'
import { OPS_ADDRESS, openStatus } from '../telemetry/status.ts'
import { closeTraces, openTraces, OTLP_OPTION } from '../telemetry/traces.ts'
import { lockstepRegistry } from './lockstep-metrics.ts'

/** A longer file is not a card; `decodeCard` has a lower limit. */
const CARD_BYTES_MAX = 65_536

/** Serves lockstep matches. */
export const lockstep: Service = defineService({
  summary: 'relay the orders of lockstep matches',
  about: `Relays for lockstep matches, until it gets SIGTERM or SIGINT. It has no code of the games: a card says what it
must know. encodeCard(game) of tickwire/lockstep makes the card of a game. Clients join with relay(URL).`,
  options: {
    card: {
      kind: 'list', value: 'FILE',
      help: 'the card of a game; several times for several. Its rooms have the name of the file, up to the first dot',
    },
    port: {
      kind: 'whole', default: LOCKSTEP_PORT_DEFAULT,
      help: 'TCP port of HTTP and WebSocket; native UDP has the next one; 0 takes any free ports',
    },
    address: { kind: 'text', value: 'IP', help: 'listen on this address only (all)' },
    'max-games': { kind: 'whole', default: 100, help: 'most matches at the same time' },
    observers: { kind: 'whole', default: 0, help: 'most observers of a match' },
    origin: { kind: 'list', value: 'URL', help: 'pages of this origin may join; several times for several' },
    ranked: { kind: 'flag', help: 'ranked matches: late orders are dropped, equal delays, an agreed seed' },
    resume: { kind: 'duration', default: '60s', help: 'how long the seat of a lost connection is kept' },
    ops: { kind: 'whole', default: 9091, help: 'TCP port of /healthz, /readyz and /metrics' },
    'ops-address': OPS_ADDRESS,
    drain: { kind: 'duration', default: '10s', help: 'how long players may play on after SIGTERM' },
    weather: {
      kind: 'text', value: 'W',
      help: 'for trying a game: latency each way, jitter and loss, such as 100ms,20ms,5% (none)',
    },
    identity: { kind: 'text', value: 'KEY', help: 'the secret key of this relay, or its file (a random one)' },
    relays: {
      kind: 'text', value: 'URL#KEY,…',
      help: 'the relays of a group, with their public keys: a match whose relay is lost goes on at the next (none)',
    },
    replays: { kind: 'text', value: 'FOLDER', help: 'record matches here, sealed by the server (they are not)' },
    'otel-exporter-otlp-endpoint': OTLP_OPTION,
    reports: { kind: 'text', value: 'FOLDER', help: 'write reports of desyncs here (they are not written)' },
  },
  async start(options, world) {
    const { card: files, observers, resume, ranked, port, address, origin, ops, drain } = options
    if (files.length === 0)
      throw new ConfigError('--card', 'missing', 'give the file that encodeCard(game) of tickwire/lockstep made.')
    const rules = { spectators: observers, resumeMs: resume, ...(ranked && RANKED_ROOM) }
    const traces = openTraces({ service: 'lockstep', endpoint: options['otel-exporter-otlp-endpoint'] })
    const serving = await serveLockstep(readCards(files, rules), {
      ...(traces && { tracer: traces.tracer }),
      port, maxRooms: options['max-games'], signals: false,
      ...(options.weather !== undefined && { weather: readWeather(options.weather) }),
      ...(options.identity !== undefined && {
        security: { identity: readKeyOption('--identity', options.identity, 'server-secret') },
      }),
      ...(options.relays !== undefined && { relays: readRelays(options.relays) }),
      ...(options.replays !== undefined && { replayFolder: options.replays }),
      ...(options.reports !== undefined && { reportFolder: options.reports }),
      ...(address !== undefined && { address }), ...(origin.length > 0 && { origins: origin }),
    })
    const status = await openStatus(ops, {
      registry: lockstepRegistry(serving), isReady: () => !serving.rooms.isDraining,
    }, options['ops-address'])
    drainOnSignals({
      drainMs: drain,
      drain: async (ms) => {
        await serving.drain(ms)
        await closeTraces()
      },
    })
    const { udp } = serving.info
    world.print(`lockstep: ${serving.url}${udp === undefined ? '' : `, UDP ${udp.port}`}, ${files.length} games`)
    world.print(`status: ${status.url}/metrics`)
  },
})

function readRelays(text: string): GroupRelay[] {
  return text.split(',').map((entry) => {
    const at = entry.lastIndexOf('#')
    if (at < 0) throw new ConfigError(`--relays ${entry}`, 'without a key', 'write each as URL#KEY.')
    return { url: entry.slice(0, at), key: readKeyOption('--relays', entry.slice(at + 1), 'server-public') }
  })
}

function readWeather(text: string): LoadWeather {
  const weather = parseWeather(text)
  if (weather !== undefined) return weather
  throw new ConfigError(`--weather ${text}`, 'not a weather', 'write it as 100ms,20ms,5%.')
}

/** Room types by the names of the files. Throws `ConfigError` for a file that is no card. */
export function readCards(
  files: readonly string[], rules: Omit<RelayRoomType, 'game'> = {},
): { readonly [name: string]: RelayRoomType } {
  const types = Object.fromEntries(files.map((file) => [nameOf(file), { ...rules, game: readCard(file) }]))
  if (Object.keys(types).length < files.length)
    throw new ConfigError('--card', 'two files with one name', 'rename one of them.')
  return types
}

function nameOf(file: string): string {
  return basename(file).split('.', 1)[0] ?? file
}

function readCard(file: string): RelayRoomType['game'] {
  let card: RelayRoomType['game'] | string
  try {
    card = statSync(file).size > CARD_BYTES_MAX ? 'too long' : decodeCard(readFileSync(file, 'utf8'))
  } catch {
    card = 'cannot be read'
  }
  if (typeof card !== 'string') return card
  throw new ConfigError(`--card ${file}`, card, 'make it with encodeCard(game) of tickwire/lockstep.')
}
