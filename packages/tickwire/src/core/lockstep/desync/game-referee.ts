/**
 * A referee: a process that has the code of the game, and steps it when two players disagree and no majority decides.
 *
 * It costs nothing until it is used. It continues from the tick of the last request, so a second request costs the
 * ticks in between; an earlier tick is stepped from the start.
 */

import type { PeerId, Tick } from '../../base/time.ts'
import type { Root } from '../../order/sync-messages.ts'
import type { TickLog } from '../../order/tick-log.ts'
import type { LockstepGame } from '../define-lockstep.ts'
import { LockstepRunner } from '../lockstep-runner.ts'
import type { AnyOrder } from '../order.ts'
import type { FeedDiagnostics, FeedStatus, SubmitResult, TickFeed } from '../tick-feed.ts'

/** The ticks of a log that grows, up to a limit. */
export class LogFeed implements TickFeed {
  readonly log: TickLog
  readonly seed: number
  readonly player: PeerId = 0
  /** The last tick that may be taken. */
  until: Tick = 0
  #taken: Tick = 0

  constructor(log: TickLog, seed: number) {
    this.log = log
    this.seed = seed
  }

  submit(): SubmitResult {
    return 'closed'
  }

  poll(): Tick {
    return this.#taken < this.until && this.#taken < this.log.newest ? ++this.#taken : 0
  }

  nextAt(): number {
    return Infinity
  }

  report(): void {}

  /** Whether ticks follow. */
  status(): FeedStatus {
    return this.#taken < this.until ? 'ready' : 'ended'
  }

  /** Numbers for an overlay. */
  diagnostics(): FeedDiagnostics {
    return {
      newest: this.log.newest, taken: this.#taken, rttMs: 0, holdMs: 0, waitingOrders: 0, timing: undefined,
      corrupted: 0,
    }
  }
}

/** Steps one game to decide which state is right. One referee serves one match. */
export class GameReferee {
  readonly #game: LockstepGame
  #runner: LockstepRunner | undefined

  constructor(game: LockstepGame<readonly AnyOrder[]>) {
    this.#game = game
  }

  /** The hash of the state after a tick of the log. Undefined: the log does not have the tick. */
  judge(seed: number, log: TickLog, tick: Tick): Root | undefined {
    if (tick > log.newest) return undefined
    const known = this.#runner
    const isUsable = known !== undefined && known.feed.log === log && known.tick <= tick
    const feed = isUsable ? known.feed as LogFeed : new LogFeed(log, seed)
    const runner = isUsable ? known : new LockstepRunner(this.#game, feed)
    this.#runner = runner
    feed.until = tick
    while (runner.tick < tick && runner.update(0) > 0);
    const [low, high] = runner.hash.value
    return runner.tick === tick ? { low, high } : undefined
  }
}
