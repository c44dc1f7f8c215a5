/** The Worker of a page that hosts a match. */

import { runHost } from 'tickwire/worker'
import { game } from './code-game.ts'

runHost(game, { maxPlayers: 8 })
