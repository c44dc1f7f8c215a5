/** A server of the bench of capacity. Arguments: the number of players, and the kind of game. */

import { serve, serveLockstep, serveRooms } from 'tickwire/node'
import { game as lockstep } from '../../docs/guide/examples/lockstep/game.ts'
import { reportWhenAsked, TickWatch } from '../e2e/server-report.ts'
import { TICK_RATE } from '../e2e/workload.ts'
import { capacityGame, type Kind } from './game.ts'

// Without the checks of development mode.
process.env.NODE_ENV = 'production'

const [players, kind] = process.argv.slice(2) as [string, Kind]
const watch = new TickWatch(TICK_RATE)
const options = { port: 0, address: '127.0.0.1', webtransport: false, webrtc: false } as const
const game = capacityGame(kind, () => watch.tick())
const { url } = kind === 'lockstep' ? await serveLockstep({ match: { game: lockstep } }, options)
  : kind === 'rooms' ? await serveRooms({ room: { game, capacity: 16 } }, { ...options, ops: false })
    : await serve(game, { ...options, ops: false, maxPlayers: 2 * Number(players) })
reportWhenAsked(watch, Number(new URL(url).port))
