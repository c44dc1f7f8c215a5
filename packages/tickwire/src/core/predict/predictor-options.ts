/**
 * The options of a predictor: which objects it simulates, how far ahead, and which listeners it calls.
 */

import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import type { External } from '../world/external.ts'
import type { World } from '../world/world.ts'
import type { CorrectionListener } from './corrections.ts'
import type { SyncFault } from './sync-test.ts'

/** Steps every tick a second time and compares the results. For development. */
export interface SyncTestOptions {
  /** How many ticks back to start. 0 or undefined: off. */
  readonly syncTest?: number
  /** Called when the results differ. Without this listener a difference throws. */
  readonly onSyncFault?: (fault: SyncFault) => void
}

/**
 * Called before a wrong prediction is corrected. Rows start at `predictedAt` (-1: nothing was predicted) and at
 * `receivedAt`.
 */
export type MistakeListener = (
  tick: Tick,
  type: number,
  id: ObjectId,
  predictedRows: Int32Array,
  predictedAt: number,
  receivedRows: Int32Array,
  receivedAt: number,
) => void

export interface PredictorOptions extends SyncTestOptions {
  /** The peer whose objects are simulated here. */
  readonly peer: PeerId
  /** The objects of all peers are simulated here. */
  readonly isForAll?: boolean
  readonly tickRate: number
  /** How many ticks may be predicted beyond the newest received tick. */
  readonly windowTicks: number
  readonly seed?: number
  readonly external?: External | undefined
  /** The world whose heap the received rows refer to. */
  readonly sharing: World
  /** Runs the game's `step` for the tick that the world is in. */
  readonly step: (world: World) => void
  /** A test begins or ends. Ticks stepped in between must have no side effects. */
  readonly test?: (isOn: boolean) => void
  /** Receives the old and new cells of objects that a rollback moved. */
  readonly corrections?: CorrectionListener
  readonly onMistake?: MistakeListener
  /** A tick was stepped for the first time. */
  readonly onStepped?: (world: World) => void
}
