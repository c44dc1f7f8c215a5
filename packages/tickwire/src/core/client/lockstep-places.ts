/**
 * Where a lockstep match is played, as one value for `connect`. The game and the page are the same for all of them.
 */

import type { Millis } from '../base/time.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import { LocalFeed, type LocalFeedOptions } from '../lockstep/local-feed.ts'
import { LockstepRunner } from '../lockstep/lockstep-runner.ts'
import type { AnyOrder } from '../lockstep/order.ts'
import { ReplayFeed, type PlayedMatch } from '../lockstep/replay-feed.ts'
import { LockstepLine } from './lockstep-line.ts'
import { LockstepRoom, type LockstepDrive, type LockstepPlace } from './lockstep-room.ts'

/** A match whose ticks are made or read in this process. */
class FeedDrive<O extends readonly AnyOrder[]> implements LockstepDrive<O> {
  readonly runner: LockstepRunner<O>
  readonly isAway = false
  onWork: () => void = () => {}
  onAway: () => void = () => {}
  onBack: () => void = () => {}
  onEnd: (reason: CloseReason) => void = () => {}

  constructor(runner: LockstepRunner<O>) {
    this.runner = runner
  }

  drive(now: Millis): Millis {
    this.runner.update(now)
    if (!this.runner.isEnded && this.runner.feed.status() !== 'ended') return this.runner.nextAt()
    this.onEnd({ by: 'local', code: 'ended' })
    return Infinity
  }

  leave(): void {
    this.onEnd({ by: 'local', code: 'left' })
  }
}

/** A match in this process, for one player or for players that share a screen. */
export function local(options: Omit<LocalFeedOptions, 'tickRate'> = {}): LockstepPlace {
  return {
    async enter(game, { runner }, { platform }) {
      const feed = new LocalFeed({ ...options, tickRate: game.tickRate })
      return new LockstepRoom(new FeedDrive(new LockstepRunner(game, feed, runner)), platform)
    },
  }
}

/** A match that was played: `played()` of a room. `speed`: how many times faster. Default: 1. */
export function replay(match: PlayedMatch, { speed = 1 }: { readonly speed?: number } = {}): LockstepPlace {
  return {
    async enter(game, { runner }, { platform }) {
      const feed = new ReplayFeed(match)
      feed.speed = speed
      return new LockstepRoom(new FeedDrive(new LockstepRunner(game, feed, runner)), platform)
    },
  }
}

/** A match at a relay: `serveLockstep` or the program `tickwire lockstep`. In Node, `udp://` is a transport too. */
export function relay(url: string): LockstepPlace {
  return {
    async enter(game, options, machine) {
      return new LockstepRoom(await LockstepLine.open(game, url, options, machine), machine.platform)
    },
  }
}
