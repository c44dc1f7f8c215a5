/** Loads the module of a lockstep game: its export `game`. */

import type { LockstepGame } from '../core/lockstep/define-lockstep.ts'
import { UsageError } from './command.ts'
import { importGame } from './game-module.ts'

/** The lockstep game in a module. */
export async function loadLockstepModule(path: string): Promise<LockstepGame> {
  const game: unknown = await importGame(path)
  if (typeof game === 'object' && game !== null && 'orders' in game) return game as LockstepGame
  throw new UsageError(`${path}: \`game\` is not a lockstep game. Fix: export what defineLockstep returned.`)
}
