/**
 * Where a lockstep match is played, as one value for `connect`. The game and the page are the same for all of them.
 */

import type { Millis } from '../base/time.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import type { MessagePortLike } from '../endpoint/message-ports.ts'
import { LocalFeed, type LocalFeedOptions } from '../lockstep/local-feed.ts'
import { LockstepRunner } from '../lockstep/lockstep-runner.ts'
import type { AnyOrder } from '../lockstep/order.ts'
import { ReplayDeck } from '../lockstep/replay-deck.ts'
import { ReplayFeed, type PlayedMatch } from '../lockstep/replay-feed.ts'
import type { PortSource } from './hosted-relay.ts'
import { LockstepLine } from './lockstep-line.ts'
import { LockstepRoom, refuseRanked, type LockstepDrive, type LockstepPlace } from './lockstep-room.ts'

/** A match whose ticks are made or read in this process. */
class FeedDrive<O extends readonly AnyOrder[]> implements LockstepDrive<O> {
  readonly runner: LockstepRunner<O>
  readonly isAway = false
  readonly transport = 'none'
  deck: ReplayDeck | undefined = undefined
  onWork: () => void = () => {}
  onAway: () => void = () => {}
  onBack: () => void = () => {}
  onEnd: (reason: CloseReason) => void = () => {}

  constructor(runner: LockstepRunner<O>) {
    this.runner = runner
  }

  drive(now: Millis): Millis {
    this.runner.update(now)
    const isOver = this.runner.isEnded || this.runner.feed.status() === 'ended'
    // A replay at its end waits: the viewer may go back.
    if (this.deck !== undefined && isOver) return Infinity
    if (!isOver) return this.runner.nextAt()
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
    async enter(game, asked, { platform }) {
      refuseRanked(asked, 'a local match')
      const { runner } = asked
      const feed = new LocalFeed({ ...options, tickRate: game.tickRate })
      return new LockstepRoom(new FeedDrive(new LockstepRunner(game, feed, runner)), platform)
    },
  }
}

/** A match that was played: the result of `played()` of a room. `speed`: how many times faster. Default: 1. */
export function replay(match: PlayedMatch, { speed = 1 }: { readonly speed?: number } = {}): LockstepPlace {
  return {
    async enter(game, asked, { platform }) {
      refuseRanked(asked, 'a replay')
      const { runner } = asked
      const feed = new ReplayFeed(match)
      feed.speed = speed
      const drive = new FeedDrive(new LockstepRunner(game, feed, runner))
      drive.deck = new ReplayDeck(drive.runner as unknown as LockstepRunner, feed, match)
      return new LockstepRoom(drive, platform)
    },
  }
}

/**
 * A match at a relay: `serveLockstep`, the program `tickwire lockstep`, or the host of a match. In Node, `udp://` is a
 * transport too. A host in a page is reached by the MessagePort that its `invite` returned. The player of a page that
 * hosts under a code enters with what `host` returned.
 */
export function relay(where: string | MessagePortLike | PortSource): LockstepPlace {
  return {
    async enter(game, options, machine) {
      if (typeof where !== 'string') refuseRanked(options, 'a relay in a page')
      const way = typeof where === 'string' || 'open' in where ? where : once(where)
      return new LockstepRoom(await LockstepLine.open(game, way, options, machine), machine.platform)
    },
  }
}

function once(port: MessagePortLike): PortSource {
  let isUsed = false
  return {
    open() {
      if (isUsed) throw new Error('the MessagePort is closed')
      isUsed = true
      return port
    },
  }
}
