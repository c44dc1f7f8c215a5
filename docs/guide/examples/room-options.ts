import { bool, defineGame, u8 } from 'tickwire'
import { connect, ConnectError, serveRooms, type Room, type ServingRooms } from 'tickwire/node'

// #region game
export const game = defineGame({
  tickRate: 30,
  input: { right: bool },
  roomOptions: { map: u8, isRanked: bool },
  entities: [],
  step() {},
})
// #endregion

// #region serve
export async function start(port: number): Promise<ServingRooms> {
  return await serveRooms({
    duel: {
      game,
      capacity: 2,
      onCreate(room) {
        room.metadata = { map: String(room.options.map) }
      },
    },
  }, { port })
}
// #endregion

type MatchRoom = Room<typeof game.input>

// #region create
export async function createRoom(url: string, map: number, password: string): Promise<MatchRoom> {
  return await connect(game, url, { join: { create: 'duel', options: { map }, password } })
}
// #endregion

// #region enter
export async function enterRoom(url: string, id: string, ask: () => string): Promise<MatchRoom> {
  for (;;) {
    try {
      return await connect(game, url, { join: { room: id, password: ask() } })
    } catch (error) {
      if (!(error instanceof ConnectError) || error.code !== 'password') throw error
    }
  }
}
// #endregion
