/** docs/guide/fleet.md: a page that plays in a fleet. */

import { connect, findMatch, findSeats, fleet, withBanner, type Room } from 'tickwire/browser'
import { game } from './game.ts'

const url = 'http://localhost:8090'

// #region quick
export async function quick(): Promise<Room<typeof game.input>> {
  return await withBanner(connect(game, fleet(url), { join: { quick: 'duel' } }))
}
// #endregion

// #region ranked
export async function ranked(skill: number): Promise<Room<typeof game.input>> {
  const [seat] = await findMatch(game, url, { type: 'duel', skill })
  return await connect(game, fleet(url, seat))
}
// #endregion

// #region party
/** One player of a party reserves seats for all, and sends each friend one of them. */
export async function invite(friends: number): Promise<readonly { readonly url: string; readonly room: string }[]> {
  return await findSeats(game, url, { type: 'duel', party: 1 + friends })
}
// #endregion
