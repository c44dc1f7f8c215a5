/** Serves skirmish with fog that a page cannot lift: this process steps every match, and sends what a team sees. */

import { serveRooms, type ServingRooms } from 'tickwire/node'
import type { SkirmishSettings } from './arguments.ts'
import { fogGame, teamOf } from './fog-game.ts'
import { SEATS } from './rules.ts'

/** How long the seat of a lost connection is kept. */
const RESUME_MS = 60_000

/** Serves matches. Throws ConfigError when it cannot. */
export async function serveFog(
  { port, observers }: Pick<SkirmishSettings, 'port' | 'observers'>, folder: string = './public',
): Promise<ServingRooms> {
  const game = fogGame()
  return await serveRooms(
    { skirmish: { game, capacity: SEATS, spectators: observers, resumeMs: RESUME_MS, interest: { teamOf } } },
    { port, static: folder },
  )
}
