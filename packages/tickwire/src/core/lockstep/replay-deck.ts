/**
 * Moves through a replay: to any tick, forwards and backwards, and at any speed.
 *
 * Seeking begins at the nearest key image before the tick and steps the rest: at most 900 ticks. The deck adds key
 * images of its own while it plays, so a recording without images is seekable where it was played.
 */

import { KEY_IMAGE_TICKS } from '../base/limits.ts'
import type { Tick } from '../base/time.ts'
import { encodeWorld } from '../world/world-image.ts'
import type { LockstepRunner, RunnerWatch } from './lockstep-runner.ts'
import type { PlayedMatch, ReplayFeed } from './replay-feed.ts'

const SPEED_MAX = 16

/** The controls of a replay. */
export class ReplayDeck implements RunnerWatch {
  readonly #runner: LockstepRunner
  readonly #feed: ReplayFeed
  readonly #match: PlayedMatch
  /** Indexed by tick. */
  readonly #keys = new Map<Tick, Uint8Array>()

  constructor(runner: LockstepRunner, feed: ReplayFeed, match: PlayedMatch) {
    this.#runner = runner
    this.#feed = feed
    this.#match = match
    if (runner.tick === 0 && runner.hasBegun) this.#keep()
    runner.watch = this
  }

  handleStepped(tick: Tick): void {
    if (tick % KEY_IMAGE_TICKS === 0 && !this.#keys.has(tick)) this.#keep()
  }

  /** 1 is normal, 0 stands still; up to 16. */
  setSpeed(speed: number): void {
    this.#feed.speed = Math.max(0, Math.min(speed, SPEED_MAX))
    this.#feed.skipTo(this.#runner.tick)
  }

  /** Goes to a tick. False: the replay does not have it, or a tick before it is missing. */
  seek(tick: Tick): boolean {
    const runner = this.#runner
    if (tick < 0 || tick > this.#feed.log.newest) return false
    const key = this.#keyBefore(tick)
    const isBehind = tick < runner.tick
    if (isBehind || (key !== undefined && key.tick > runner.tick)) {
      if (key === undefined || !runner.jump(key.tick, key.image, { mayGoBack: true })) return false
    }
    const { speed } = this.#feed
    this.#feed.speed = Infinity
    this.#feed.until = tick
    this.#feed.skipTo(runner.tick)
    while (runner.tick < tick && runner.update(0) > 0);
    this.#feed.until = Infinity
    this.#feed.speed = speed
    this.#feed.skipTo(runner.tick)
    return runner.tick === tick
  }

  #keep(): void {
    const image = encodeWorld(this.#runner.world)
    if (image !== undefined) this.#keys.set(this.#runner.tick, image)
  }

  #keyBefore(tick: Tick): { readonly tick: Tick; readonly image: Uint8Array } | undefined {
    let best = this.#match.imageBefore?.(tick)
    for (const [at, image] of this.#keys) if (at <= tick && at > (best?.tick ?? -1)) best = { tick: at, image }
    return best
  }
}
