/** The report about one desync, as JSON: from all players, with what the diverged ones found. */

import type { PeerId, Tick } from '../base/time.ts'

/** How a desync was decided. */
export type DesyncVerdict = 'majority' | 'referee' | 'first' | 'void' | 'equal' | 'unknown'

/** What one player reported. */
export interface PlayerReport {
  /** The player. */
  readonly player: PeerId
  /** The tick of its state. */
  readonly tick: Tick
  /** The hash of its state, 16 hexadecimal digits. */
  readonly stateHash: string
  /** Its generator, 32 hexadecimal digits. */
  readonly rngState: string
  /** The engine and the build. */
  readonly machine: string
  /** Whether it differs from the others. */
  readonly isDiverged: boolean
}

/** The outcome for one diverged player. */
export interface DivergedReport {
  /** The player. */
  readonly player: PeerId
  /** healed: it plays on. named: it was not repaired. refused, timed-out: the repair failed. */
  readonly outcome: 'named' | 'healed' | 'refused' | 'timed-out'
  /** The player that its state was compared with. */
  readonly donor: PeerId
  /** The differences, and their cause, as the player found them (`DesyncFinding`). Null: nothing was found. */
  readonly finding: unknown
}

/** The report about one desync. */
export interface DesyncReport {
  /** The version of this report: 1. */
  readonly version: 1
  /** The seed of the match. */
  readonly seed: number
  /** The first tick in which states differed. */
  readonly tick: Tick
  /** How it was decided which state is right. */
  readonly verdict: DesyncVerdict
  /** The hash of the right state. Empty: there is none. */
  readonly stateHash: string
  /** From every player that answered. */
  readonly players: readonly PlayerReport[]
  /** The outcome for each diverged player. */
  readonly diverged: readonly DivergedReport[]
  /** How long it took from the first sign to this report, in ms. */
  readonly tookMs: number
  /** The last ticks up to the desync: tick, and its bytes in hexadecimal digits. */
  readonly orderLogExcerpt: readonly (readonly [tick: Tick, body: string])[]
}

/** The name of the file of a report. */
export function desyncReportName({ seed, tick }: Pick<DesyncReport, 'seed' | 'tick'>): string {
  return `desync_report_${seed}_${tick}.json`
}

/** 64 bits as hexadecimal digits. */
export function rootText({ low, high }: { readonly low: number; readonly high: number }): string {
  return `${(high >>> 0).toString(16).padStart(8, '0')}${(low >>> 0).toString(16).padStart(8, '0')}`
}
