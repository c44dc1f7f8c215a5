/** What a predictor is told once: whose objects it simulates, how far ahead, and who is told what came of it. */

import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import type { External, World } from '../world/world.ts'
import type { CorrectionListener } from './corrections.ts'
import type { SyncFault } from './sync-test.ts'

/** Steps every tick again, for development. */
export interface SyncTestOptions {
  /** From so many ticks before. 0 or nothing: not. */
  readonly syncTest?: number
  /** It came out otherwise. Without this, it throws. */
  readonly onSyncFault?: (fault: SyncFault) => void
}

/** Told of a row that was predicted wrong, before it is put right: both rows, from a place on; -1 where nothing was predicted. */
export type MistakeListener = (
  tick: Tick, type: number, id: ObjectId, predictedRows: Int32Array, predictedAt: number, toldRows: Int32Array, toldAt: number,
) => void

export interface PredictorOptions extends SyncTestOptions {
  /** Whose objects are simulated here. */
  readonly peer: PeerId
  /** Everybody's are. */
  readonly isEverybodys?: boolean
  readonly tickRate: number
  /** How many ticks may be predicted beyond what was heard. */
  readonly windowTicks: number
  readonly seed?: number
  readonly external?: External | undefined
  /** The world whose heap told rows refer to. */
  readonly sharing: World
  /** Runs the game's `step` for the tick that the world is in. */
  readonly step: (world: World) => void
  /** A test begins or ends: nothing that is stepped in between has happened. */
  readonly test?: (isOn: boolean) => void
  /** Told where objects were and are, when going back moved them. */
  readonly corrections?: CorrectionListener
  readonly onMistake?: MistakeListener
  /** A tick was stepped for the first time. */
  readonly onStepped?: (world: World) => void
}
