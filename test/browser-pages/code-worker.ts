/** The Worker of a page that hosts hello. */

import { runHost } from 'tickwire/worker'
import { game } from '../../games/hello/game.ts'

runHost(game, { maxPlayers: 8 })
