/** The code of docs/guide/rooms.md, "Bots". It is run by test/sim/room-bots.test.ts. */

import type { InitOf, Match, Peer, World } from 'tickwire'
import { Coin, game, Player } from './first-game/game.ts'

// #region think
/** Walks to a coin. Each bot has one of its own, so that they do not walk together. */
function think(world: World, me: Peer): InitOf<typeof game.input> {
  const player = [...world.each(Player)].find(({ owner }) => owner === me.id)
  const coins = [...world.each(Coin)]
  const coin = coins[me.id % coins.length]
  if (player === undefined || coin === undefined) return {}
  const [dx, dy] = [coin.x - player.x, coin.y - player.y]
  return { left: dx < -8, right: dx > 8, up: dy < -8, down: dy > 8 }
}

/** For the server: `serveRooms({ coins: { game, onCreate: addBots } })`, or `addBots(serving.host)`. */
export function addBots(match: Match<typeof game.input>): void {
  for (let bot = 0; bot < 2; bot++) match.addBot(think)
}
// #endregion
