/**
 * Serves skirmish from a command line: the page, and an order relay for every match, in which no code of the game runs.
 * With `--fog` the server steps the matches itself: `serve-fog.ts`.
 */

import type { RelayRoomType } from 'tickwire/lockstep'
import { serveLockstep, type ServeLockstepOptions, type ServingLockstep } from 'tickwire/node'
import { showHelp } from '../command-line.ts'
import { HELP, readArguments, type SkirmishSettings } from './arguments.ts'
import { skirmishGame } from './game.ts'
import { PAUSE_MS_MAX, PAUSES_MAX, TICK_RATE } from './rules.ts'
import { serveFog } from './serve-fog.ts'
import { serveGroup } from './serve-group.ts'

/** How long the seat of a lost connection is kept. */
const RESUME_MS = 60_000
/** Observers see the match so much later: an observer cannot tell a player what happens now. */
const OBSERVER_DELAY_TICKS: number = 5 * TICK_RATE

export async function startSkirmish(args: string[]): Promise<void> {
  const settings = readArguments(args)
  if (settings === 'help' || 'problem' in settings) return showHelp(HELP, settings)
  try {
    const { url } = settings.fog ? await serveFog(settings)
      : settings.standby ? await serveGroup(settings) : await serveSkirmish(settings)
    const how = settings.fog ? 'This server steps the matches: a page receives what its team sees.\n\n' : ''
    console.log(`Skirmish, for up to eight players in each match; bots take the other seats\n\n`
      + `  ${url}${settings.fog ? '/?fog' : ''}\n\n${how}Ctrl-C ends it.`)
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
  }
}

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
