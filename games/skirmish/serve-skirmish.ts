/** Serves skirmish in lockstep: an order relay for every match, in which no code of the game runs. */

import type { RelayRoomType } from 'tickwire/lockstep'
import { serveLockstep, type ServeLockstepOptions, type ServingLockstep } from 'tickwire/node'
import type { SkirmishSettings } from './arguments.ts'
import { skirmishGame } from './game.ts'
import { PAUSE_MS_MAX, PAUSES_MAX, TICK_RATE } from './rules.ts'

/** How long the seat of a lost connection is kept. */
const RESUME_MS = 60_000
/** Observers see the match so much later: an observer cannot tell a player what happens now. */
const OBSERVER_DELAY_TICKS: number = 5 * TICK_RATE

/** Serves matches. Throws ConfigError when it cannot. */
export async function serveSkirmish(
  { port, observers, replays }: SkirmishSettings, options: ServeLockstepOptions = { static: './public' },
): Promise<ServingLockstep> {
  const game = skirmishGame({ hasLobby: true })
  const room: RelayRoomType = {
    game, spectators: observers, resumeMs: RESUME_MS, observerDelayTicks: OBSERVER_DELAY_TICKS, seed: 'agreed',
    relay: { pausesMax: PAUSES_MAX, pauseMsMax: PAUSE_MS_MAX },
  }
  return await serveLockstep(
    { skirmish: room }, { ...options, port, ...(replays !== undefined && { replayFolder: replays }) },
  )
}
