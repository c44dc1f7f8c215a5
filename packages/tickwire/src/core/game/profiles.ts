/**
 * Presets for common kinds of games, as plain values. Spread a preset into `defineGame` and override what differs.
 *
 * ```ts
 * const { arena } = profiles
 * const game = defineGame({ ...arena, net: { ...arena.net, interpolationMs: 30 }, input, entities, step })
 * ```
 */

import type { LockstepGame } from '../lockstep/define-lockstep.ts'
import { NET_SETTINGS, type NetSettings, type Predict } from './settings.ts'

/** A preset for `defineGame`. */
export interface Profile {
  /** Ticks per second. */
  readonly tickRate: number
  /** The objects that a client simulates ahead of the server. */
  readonly predict: Predict
  /** Netcode settings. */
  readonly net: NetSettings
}

/** An action game with an authority: 60 Hz, snapshots at 30 Hz, other players drawn 100 ms in the past. */
const fusion: Profile = { tickRate: 60, predict: 'owned', net: NET_SETTINGS }

/** A fast duel on good connections: 128 Hz, a snapshot every tick, other players drawn 20 ms in the past. */
const arena: Profile = {
  tickRate: 128,
  predict: 'owned',
  net: {
    ...NET_SETTINGS, snapshotRate: 128, interpolationMs: 20, interpolationMsMin: 1000 / 128, interpolationMsMax: 100,
    inputRedundancy: 3, timeoutMs: 30_000, connectRetryMs: 500, connectMs: 10_000, goodbyeMs: 1000,
  },
}

/** A lockstep game: 30 Hz, and up to eight players. Nothing is predicted, and there are no snapshots. */
const lockstep: Pick<LockstepGame, 'tickRate' | 'players'> = { tickRate: 30, players: [1, 8] }

/** Many simple objects: 60 Hz, low-cost inputs, the player's own ship predicted. */
const shmup: Profile = {
  tickRate: 60,
  predict: 'owned',
  net: { ...NET_SETTINGS, snapshotRate: 20, interpolationMs: 120, rewindMs: 0 },
}

/** Presets for common kinds of games. */
export const profiles: { readonly [name in 'fusion' | 'arena' | 'shmup']: Profile } & {
  /** For `defineLockstep` of `tickwire/lockstep`. The settings of its relay are those of the room. */
  readonly lockstep: Pick<LockstepGame, 'tickRate' | 'players'>
} = { fusion, arena, lockstep, shmup }
