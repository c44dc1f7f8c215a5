/**
 * `world.rewind`, for both sides of a match.
 *
 * On the authority it is the past, posed from the Timeline at the moment that the player's input names. On a client it is the
 * view: what is drawn is what was aimed at, and the shot that is predicted here hits what the authority will find hit. A
 * tick that is stepped again there looks at the view of now; the authority has the last word anyway.
 */

import { ConfigError } from '../base/assert.ts'
import type { PeerId } from '../base/time.ts'
import type { ToldTicks } from '../interpolate/pose.ts'
import { Past } from '../rewind/past.ts'
import { Rewinder } from '../rewind/rewinder.ts'
import type { Shape } from '../schema/field.ts'
import type { PastView, Rewinding } from '../world/past-view.ts'
import type { Timeline } from '../world/timeline.ts'
import type { World } from '../world/world.ts'
import type { Game } from './define-game.ts'
import { poseOptions } from './settings.ts'

/** What the authority must know of a player to look through his eyes. */
export interface Eyes {
  /** The tick, with its fraction, that he looks at; -1 for who looks at nothing. */
  viewTick(peer: PeerId): number
  /** Which ticks he was told; undefined: all of them. */
  toldTicks?(peer: PeerId): ToldTicks | undefined
}

export class AuthorityRewinding implements Rewinding {
  readonly rewinder: Rewinder
  readonly #timeline: Timeline
  readonly #eyes: Eyes

  constructor({ entities, hitboxes = [], tickRate, net }: Game<Shape>, world: World, timeline: Timeline, eyes: Eyes) {
    // The row after a moment must be remembered too, and the oldest tick is about to be forgotten.
    if (net.rewindMs * tickRate / 1000 > timeline.windowTicks - 2) {
      throw new ConfigError('net.rewindMs', `${net.rewindMs} ms, of ${net.historyMs} that are remembered`, 'Remember two ticks more, or look back less.')
    }
    this.#timeline = timeline
    this.#eyes = eyes
    this.rewinder = new Rewinder(entities, world, timeline, {
      ...poseOptions(tickRate, net), hitboxes, maxMs: net.rewindMs, perTick: net.rewindsPerTick,
    })
  }

  rewind<T>(peer: PeerId, fn: (past: PastView) => T): T {
    const viewTick = this.#eyes.viewTick(peer)
    // A bot sees the world itself.
    return this.rewinder.rewind(peer, viewTick < 0 ? this.#timeline.newest : viewTick, fn, this.#eyes.toldTicks?.(peer))
  }
}

export class ViewRewinding implements Rewinding {
  readonly #past: Past

  constructor({ hitboxes = [] }: Game<Shape>, view: World) {
    this.#past = new Past(view, hitboxes)
  }

  rewind<T>(_peer: PeerId, fn: (past: PastView) => T): T {
    return fn(this.#past)
  }
}
