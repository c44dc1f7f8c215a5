/** The Worker of a page that hosts a lockstep match under a code. */

import { runHost } from 'tickwire/worker'
import { game } from '../sim/lockstep-game.ts'

runHost(game)
