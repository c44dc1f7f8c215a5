/**
 * A referee: a process that has the code of the game, and steps it when two players disagree and no majority decides.
 *
 * It steps nothing until it is asked. It begins with the last state on which the players agreed, half a minute old at
 * most, or goes on from its last answer. Without either it steps the match from its first tick.
 */

import type { PeerId, Tick } from '../../base/time.ts'
import { splitSnapshot, type Root } from '../../order/sync-messages.ts'
import type { TickLog } from '../../order/tick-log.ts'
import type { LockstepGame } from '../define-lockstep.ts'
import { LockstepRunner } from '../lockstep-runner.ts'
import type { AnyOrder } from '../order.ts'
import { Roster } from '../roster.ts'
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

  skipTo(tick: Tick): void {
    this.#taken = tick
  }

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

/** A state on which the players agreed, as `Referee` has it. */
interface AgreedSnapshot {
  readonly tick: Tick
  readonly snapshot: Uint8Array
}

/** Without an effect if the runner is past it, or the bytes are not a state of this game. */
function jumpTo(runner: LockstepRunner, { tick, snapshot }: AgreedSnapshot): void {
  const parts = splitSnapshot(snapshot)
  const roster = parts && Roster.decode(parts.roster)
  if (parts !== undefined && roster !== undefined) runner.jump(tick, parts.image, { roster })
}

/** Steps one game to decide which state is right. One referee serves one match. */
export class GameReferee {
  /** Ticks that it has stepped, over all requests. */
  stepped = 0
  readonly #game: LockstepGame
  #runner: LockstepRunner | undefined

  constructor(game: LockstepGame<readonly AnyOrder[]>) {
    this.#game = game
  }

  /** The hash of the state after a tick of the log. Undefined: the log does not have the tick. */
  judge(seed: number, log: TickLog, tick: Tick, agreed?: AgreedSnapshot): Root | undefined {
    if (tick > log.newest) return undefined
    const known = this.#runner
    const isUsable = known !== undefined && known.feed.log === log && known.tick <= tick
    const feed = isUsable ? known.feed as LogFeed : new LogFeed(log, seed)
    const runner = isUsable ? known : new LockstepRunner(this.#game, feed)
    this.#runner = runner
    if (agreed !== undefined && agreed.tick <= tick) jumpTo(runner, agreed)
    feed.until = tick
    for (let count = 1; runner.tick < tick && count > 0; this.stepped += count) count = runner.update(0)
    const [low, high] = runner.hash.value
    return runner.tick === tick ? { low, high } : undefined
  }
}
