/**
 * `world.rewind`, for both sides of a match.
 *
 * On the authority it shows the past, posed from the Timeline at the moment that the player's input names. On a client
 * it shows the view: the player aims at what is drawn, so a shot predicted here hits what the authority will find hit.
 * A tick that is stepped again on the client uses the current view; the authority has the final decision anyway.
 */

import { ConfigError } from '../base/assert.ts'
import type { PeerId } from '../base/time.ts'
import type { AckedTicks } from '../interpolate/pose.ts'
import { Past } from '../rewind/past.ts'
import { Rewinder } from '../rewind/rewinder.ts'
import type { Shape } from '../schema/field.ts'
import type { PastView, Rewinding } from '../world/past-view.ts'
import type { Timeline } from '../world/timeline.ts'
import type { World } from '../world/world.ts'
import type { Game } from './define-game.ts'
import { poseOptions } from './settings.ts'

/** What the authority must know of a player to reconstruct its view. */
export interface Eyes {
  /** The tick, with its fraction, that the player sees. -1 for a peer without a view. */
  viewTick(peer: PeerId): number
  /** Which ticks the player was sent. Undefined: all of them. */
  ackedTicks?(peer: PeerId): AckedTicks | undefined
}

export class AuthorityRewinding implements Rewinding {
  readonly rewinder: Rewinder
  readonly #timeline: Timeline
  readonly #eyes: Eyes

  constructor({ entities, hitboxes = [], tickRate, net }: Game<Shape>, world: World, timeline: Timeline, eyes: Eyes) {
    // Two ticks of margin: posing needs the row after the moment too, and the oldest tick is about to be overwritten.
    if ((net.rewindMs * tickRate) / 1000 > timeline.windowTicks - 2) {
      throw new ConfigError(
        'net.rewindMs',
        `too long (got ${net.rewindMs} ms, the history has ${net.historyMs} ms)`,
        'make historyMs at least two ticks longer, or rewindMs shorter.',
      )
    }
    this.#timeline = timeline
    this.#eyes = eyes
    this.rewinder = new Rewinder(entities, world, timeline, {
      ...poseOptions(tickRate, net), hitboxes, maxMs: net.rewindMs, perTick: net.rewindsPerTick,
    })
  }

  rewind<T>(peer: PeerId, fn: (past: PastView) => T): T {
    const viewTick = this.#eyes.viewTick(peer)
    // A bot sees the newest state of the world.
    const tick = viewTick < 0 ? this.#timeline.newest : viewTick
    return this.rewinder.rewind(peer, tick, fn, this.#eyes.ackedTicks?.(peer))
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
