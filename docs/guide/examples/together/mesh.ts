/** A mesh that forms by a code. For docs/guide/play-together.md. */

// #region first
import { mesh, type LockstepGame, type LockstepRoom } from 'tickwire/lockstep'
import { connect, host } from 'tickwire/node'

/** The first player. `say` shows the code to people. */
export async function begin(
  game: LockstepGame, rendezvous: string, say: (code: string) => void,
): Promise<LockstepRoom> {
  const hosted = await host(game, { rendezvous, mesh: 2 })
  say(hosted.code)
  return await connect(game, mesh(hosted))
}
// #endregion

// #region others
export async function join(game: LockstepGame, rendezvous: string, code: string): Promise<LockstepRoom> {
  return await connect(game, mesh(code), { rendezvous })
}
// #endregion
