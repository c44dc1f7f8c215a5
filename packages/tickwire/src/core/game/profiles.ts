/**
 * Games that many games are like, as plain numbers: spread one into `defineGame` and say what is different.
 *
 * ```ts
 * const game = defineGame({ ...profiles.arena, net: { ...profiles.arena.net, interpolationMs: 30 }, input, entities, step })
 * ```
 */

import { NET_SETTINGS, type NetSettings, type Predict } from './settings.ts'

export interface Profile {
  readonly tickRate: number
  readonly predict: Predict
  readonly net: NetSettings
}

/** An action game with an authority: 60 Hz, snapshots at 30, others a tenth of a second ago. */
const fusion: Profile = { tickRate: 60, predict: 'owned', net: NET_SETTINGS }

/** A duel of reflexes on good lines: 128 Hz, a snapshot every tick, others 20 ms ago. */
const arena: Profile = {
  tickRate: 128,
  predict: 'owned',
  net: {
    ...NET_SETTINGS, snapshotRate: 128, interpolationMs: 20, interpolationMsMin: 1000 / 128, interpolationMsMax: 100,
    inputRedundancy: 3, timeoutMs: 30_000,
  },
}

/** Everybody steps everything from everybody's orders: 30 Hz, nothing is predicted. */
const lockstep: Profile = { tickRate: 30, predict: 'none', net: { ...NET_SETTINGS, snapshotRate: 1, interpolationMs: 0 } }

/** A crowd of simple things: 60 Hz, inputs cheap, the own ship predicted. */
const shmup: Profile = { tickRate: 60, predict: 'owned', net: { ...NET_SETTINGS, snapshotRate: 20, interpolationMs: 120, rewindMs: 0 } }

export const profiles: { readonly [name in 'fusion' | 'arena' | 'lockstep' | 'shmup']: Profile } = { fusion, arena, lockstep, shmup }
