/**
 * The code of docs/guide/lockstep.md about groups of relays. It is compiled with the tests and run by
 * test/contract/lockstep-handover.test.ts.
 */

import type { LockstepRoom } from 'tickwire/lockstep'
import { serveLockstep, type GroupRelay, type ServingLockstep } from 'tickwire/node'
import { game } from './lockstep/game.ts'

// #region serve
/** One relay of a group. `relays` is the same list for all of them, `identity` the secret key of this one: 32 bytes. */
export async function serveInGroup(
  relays: readonly GroupRelay[], identity: Uint8Array, port: number,
): Promise<ServingLockstep> {
  return await serveLockstep({ match: { game } }, {
    port, relays, security: { identity },
    origins: relays.map(({ url }) => url), // pages of each relay may play on at the others
  })
}
// #endregion

// #region show
/** Shows the player that the match went on at another relay. */
export function showHandover(room: LockstepRoom<typeof game.orders>, show: (text: string) => void): void {
  room.onContinued((tick) => show(`The relay was lost. The match goes on from tick ${tick}.`))
}
// #endregion
