/**
 * `tickwire lockstep`: relays for lockstep matches, without code of the games. It serves until a signal ends it.
 */

import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { LOCKSTEP_CARD_CHARS_MAX } from '../core/base/limits.ts'
import { decodeCard } from '../core/order/lockstep-card.ts'
import type { RelayRoomType } from '../core/relaying/relay-match.ts'
import { RANKED_RELAY } from '../core/order-relay/relay-options.ts'
import { LOCKSTEP_PORT_DEFAULT, serveLockstep } from '../node/lockstep-server.ts'
import { type AsyncCommand, UsageError } from './command.ts'

const OPTIONS = {
  card: { type: 'string', multiple: true },
  port: { type: 'string', default: String(LOCKSTEP_PORT_DEFAULT) },
  address: { type: 'string' },
  'max-games': { type: 'string', default: '100' },
  observers: { type: 'string', default: '0' },
  origin: { type: 'string', multiple: true },
  ranked: { type: 'boolean', default: false },
  resume: { type: 'string', default: '60' },
  ops: { type: 'string', default: '9091' },
  drain: { type: 'string', default: '10' },
} as const

const BYTES_PER_CHAR_MAX = 4

/** Serves lockstep matches. */
export const lockstep: AsyncCommand = {
  summary: 'relay the orders of lockstep matches',
  help: `
tickwire lockstep --card FILE [--port N] [--max-games N] [--ranked] [--ops N] [--drain SECONDS]

Relays for lockstep matches, until it gets SIGTERM or SIGINT. It has no code of the games: a card says what it must
know. \`encodeCard(game)\` of tickwire/lockstep makes the card of a game. Clients join with relay(URL).

  --card FILE      the card of a game; several times for several games. Its rooms have the name of the file, up to the
                   first dot
  --port N         TCP port of HTTP and WebSocket (${LOCKSTEP_PORT_DEFAULT}); native UDP has the next one;
                   0 takes any free ports
  --address IP     listen on this address only (all)
  --max-games N    most matches at the same time (100)
  --observers N    most observers of a match (0)
  --origin URL     pages of this origin may join; several times for several
  --ranked         the settings of ranked matches
  --resume SECONDS how long the seat of a lost connection is kept (60)
  --ops N          TCP port of /healthz, /readyz and /metrics, on this machine only (9091)
  --drain SECONDS  how long players may play on after SIGTERM (10)`,
  async run(args, world) {
    const { values } = parseArgs({ args: [...args], options: OPTIONS })
    const rules = {
      spectators: numberOf('--observers', values.observers), resumeMs: numberOf('--resume', values.resume) * 1000,
      ...(values.ranked && { relay: RANKED_RELAY }),
    }
    const { card: files = [] } = values
    if (files.length === 0)
      throw new UsageError('--card: missing. Fix: give the file that encodeCard(game) of tickwire/lockstep made.')
    const types = Object.fromEntries(files.map((file) => [nameOf(file), { ...rules, game: readCard(file) }]))
    if (Object.keys(types).length < files.length)
      throw new UsageError('--card: two files with one name. Fix: rename one of them.')
    const serving = await serveLockstep(types, {
      port: numberOf('--port', values.port), maxRooms: numberOf('--max-games', values['max-games']),
      opsPort: numberOf('--ops', values.ops), drainMs: numberOf('--drain', values.drain) * 1000,
      ...(values.address !== undefined && { address: values.address }),
      ...(values.origin !== undefined && { origins: values.origin }),
    })
    const { udp } = serving.info
    world.print(`lockstep: ${serving.url}${udp === undefined ? '' : `, UDP ${udp.port}`}, ${files.length} games`)
    world.print(`status: ${serving.opsUrl}/metrics`)
    // Never resolves: the process exits with 0 when it has drained.
    return await new Promise(() => {})
  },
}

function nameOf(file: string): string {
  return basename(file).split('.', 1)[0] ?? file
}

function readCard(file: string): RelayRoomType['game'] {
  let card: RelayRoomType['game'] | string
  try {
    const isLong = statSync(file).size > LOCKSTEP_CARD_CHARS_MAX * BYTES_PER_CHAR_MAX
    card = isLong ? 'too long' : decodeCard(readFileSync(file, 'utf8'))
  } catch {
    card = 'cannot be read'
  }
  if (typeof card !== 'string') return card
  throw new UsageError(`--card ${file}: ${card}. Fix: make it with encodeCard(game) of tickwire/lockstep.`)
}

function numberOf(option: string, text: string): number {
  const number = Number(text)
  if (!Number.isInteger(number) || number < 0 || text.trim() === '')
    throw new UsageError(`${option} ${text}: not a number. Fix: give a whole number from 0.`)
  return number
}
