/** The options of a match. A room type has them all: `room-type.ts`. */

import { ConfigError } from '../base/assert.ts'
import { refusePromise, type UserCode } from '../base/user-code.ts'
import type { SyncFault } from '../predict/sync-test.ts'
import type { Peer } from './define-game.ts'
import type { Match } from './match.ts'
import type { MatchInterest } from './match-interest.ts'
import { checkRate } from './settings.ts'
import type { SpectatorOptions } from './spectators.ts'
import type { StepWarning } from './step-checks.ts'

/** Options of a match, apart from its game. */
export interface MatchOptions {
  /**
   * The kind of host: a dedicated server, a player's machine that others join, or a local game that no other player
   * joins. Default: 'dedicated'.
   */
  readonly role?: 'dedicated' | 'listen' | 'local'
  /**
   * Teams, viewpoints, and how objects are found by position. Its functions receive the match. Default: no teams, and
   * every positioned object of a player is a viewpoint.
   */
  readonly interest?: MatchInterest<Match>
  /**
   * The maximum snapshot bytes per second to one client, in addition to congestion control: for all clients, or by
   * client. The most urgent rows go first; the rest follows later. Default: Infinity, so that only congestion control
   * limits.
   */
  readonly bytesPerSecond?: number | ((peer: Peer) => number)
  /**
   * For development: steps every tick again from this many ticks before, and checks that the result is the same.
   * Default: no test.
   */
  readonly syncTest?: number
  /** Called when the sync test fails. Without this option, it throws. */
  readonly onSyncFault?: (fault: SyncFault) => void
  /**
   * For development: in every tick, encodes the world, decodes it into a new one, steps both, and throws if they
   * differ. Default: false.
   */
  readonly heavy?: boolean
  /**
   * For development: checks every tick, and is called once for each kind of mistake in `step` and each field. Default:
   * no checks. In development mode, `serve` and `serveRooms` set it and log the warnings.
   */
  readonly onWarning?: (warning: StepWarning) => void
  /** What spectators see, and with what delay. Default: public fields, without delay. */
  readonly watching?: SpectatorOptions
}

/** A shorter delay of spectators would not differ from normal network delay. */
const DELAY_MS_MIN = 500

/** Throws ConfigError on invalid values. */
export function checkMatchOptions({ bytesPerSecond, watching: { delayMs = 0 } = {} }: MatchOptions): void {
  if (typeof bytesPerSecond === 'number') checkRate(bytesPerSecond)
  if (delayMs !== 0 && !(delayMs >= DELAY_MS_MIN))
    throw new ConfigError(
      'spectators.delayMs',
      `too short (expected at least ${DELAY_MS_MIN} ms, got ${delayMs})`,
      'give a longer delay, or leave it out: spectators then see what players see.',
    )
}

/** `bytesPerSecond` as a function of the client. A function that throws sets no limit. */
export function ratesOf({ bytesPerSecond = Infinity }: MatchOptions, code: UserCode): (peer: Peer) => number {
  if (typeof bytesPerSecond === 'number') return () => bytesPerSecond
  const ask = (peer: Peer): number => {
    const rate = bytesPerSecond(peer)
    refusePromise('bytesPerSecond', rate)
    return checkRate(rate)
  }
  return (peer) => code.run('bytesPerSecond', peer.id, () => ask(peer)) ?? Infinity
}
