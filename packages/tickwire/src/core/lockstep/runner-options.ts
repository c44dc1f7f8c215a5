/** The options of a runner, and the interface of its watch. */

import type { StepTraps } from '../base/step-traps.ts'
import type { Tick } from '../base/time.ts'
import type { TickEvent } from '../order/tick-event.ts'
import type { Roster } from './roster.ts'

/** Sees every tick of a runner before the game's listeners do. */
export interface RunnerWatch {
  /** A tick was stepped, and has this hash: low and high half. */
  handleStepped(tick: Tick, low: number, high: number): void
  /**
   * The world was replaced by another one: by an image, by a past world of the match, or by a repair. The ticks after
   * `tick` that were stepped before are not those of the match.
   */
  handleReplaced?(tick: Tick): void
  /** The relay looks at a desync. `level`: how much its rules ask clients to write for debugging (`DebugLog`). */
  handleDesync?(level: number): void
}

/** What is known about the tick of an image. */
export interface JumpOptions {
  /** The players after it. Default: they are read from the log, which must be whole. */
  readonly roster?: Roster
  /** Whether the tick may be in the past: only in replays. Default: false. */
  readonly mayGoBack?: boolean
}

/** How a runner is made. */
export interface RunnerOptions {
  /** Ticks that one call may step, so that a client that catches up still draws. Default: 30. */
  readonly ticksPerUpdate?: number
  /** For development: every tick is also stepped from an image of the world, and compared. Default: false. */
  readonly heavy?: boolean
  /** For development: a second world is stepped with the same ticks, and compared. Default: false. */
  readonly dual?: boolean
  /**
   * For development: `check` must not change the world. True: an order whose check does throws. A function: it is
   * called with the problem and its fix. Default: false; `connect` warns in development.
   */
  readonly checkPurity?: boolean | ((problem: string) => void)
  /** The runner went on from an image: the ticks up to this one were not stepped. */
  readonly onJump?: (tick: Tick) => void
  /**
   * For development: `step` and the callbacks of the game may not use clocks, `Math.random`, inexact `Math` and other
   * things that differ between machines. Called once for each use, with the fix. Default: `connect` warns in
   * development.
   */
  readonly traps?: Pick<StepTraps, 'run'>
  /** A tick event was executed. */
  readonly onEvent?: (event: TickEvent, tick: Tick) => void
  /** A tick was stepped: its hash, low and high half. */
  readonly onTick?: (tick: Tick, low: number, high: number) => void
}
