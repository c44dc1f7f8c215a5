/** The game of the pages that play by code: hello, or the arena with `?arena` in the address. */

import { Fighter } from '../../games/arena/definitions.ts'
import { arenaGame } from '../../games/arena/game.ts'
import { game as hello, Player } from '../../games/hello/game.ts'

const isArena = location.search === '?arena'

export const game = (isArena ? arenaGame() : hello) as unknown as typeof hello
/** The entity that each player has one object of. */
export const Body = (isArena ? Fighter : Player) as unknown as typeof Player
