/** docs/guide/rooms.md: admission by a function of your own. */

import { ServingRooms, serveRooms } from 'tickwire/node'
import { game } from './rooms/game.ts'

/** A stand-in for the database of the game. */
export interface Accounts {
  find(user: Uint8Array): Promise<{ readonly name: string; readonly isBanned: boolean } | undefined>
}

export async function serveMembers(accounts: Accounts, port: number): Promise<ServingRooms> {
  // #region auth
  return await serveRooms({
    ranked: {
      game,
      capacity: 2,
      async onAuth({ token, room }) {
        if (room.metadata.season !== 'autumn') return false
        const account = token === undefined ? undefined : await accounts.find(token.user)
        return account !== undefined && !account.isBanned && account
      },
      onJoin: (room, { id, user }) => console.log(`${room.id}: player ${id} is`, user),
      metadata: { season: 'autumn' },
    },
  }, { port })
  // #endregion
}
