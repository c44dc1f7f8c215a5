import { connect } from 'tickwire/node'
import { game } from './rooms/game.ts'

/** Joins as a player that walks to and fro. `url`: `udp://localhost:4001`, or `http://localhost:4000`. */
export async function startBot(url: string): Promise<{ leave(): void }> {
  // #region bot
  const room = await connect(game, url)
  room.play({ input: () => ({ right: room.view.tick % 60 < 30 }) })
  // #endregion
  return room
}
