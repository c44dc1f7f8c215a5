/**
 * A match with a delay, for spectators: so that players cannot gain an advantage from what a spectator sees.
 *
 *   the match -> recorder -> ring in memory -> delayed playback -> Timeline -> Replicator, Interest -> spectators
 *
 * Spectators receive the past exactly as players receive the present, with the interest rules of that moment. Later
 * state is not in this world at all. Messages that the host sends itself (`send`, `broadcast`) are not delayed.
 */

import { RECORDING_KEY_MS } from '../base/limits.ts'
import type { Millis, Tick } from '../base/time.ts'
import { Interest, type InterestOptions } from '../replication/interest/interest.ts'
import { Replicator } from '../replication/replicator.ts'
import { Playback } from '../replay/playback.ts'
import { RecordingRing } from '../replay/recording-ring.ts'
import type { Shape } from '../schema/field.ts'
import { windowTicks } from '../world/timeline-window.ts'
import { Timeline } from '../world/timeline.ts'
import type { Game } from './define-game.ts'
import type { StepEvent } from './event-codec.ts'
import type { HostWatch } from './host-watch.ts'

/** Recorded ticks can be played back after this time at the latest. */
const FLUSH_MS = 100

export class DelayedFeed {
  readonly replicator: Replicator
  readonly interest: Interest
  readonly timeline: Timeline
  readonly #playback: Playback
  readonly #delayTicks: number
  readonly #events: StepEvent[] = []

  constructor(game: Game<Shape>, watch: HostWatch, delayMs: Millis, interest: InterestOptions | undefined) {
    this.#delayTicks = Math.round((delayMs * game.tickRate) / 1000)
    const ring = new RecordingRing({ windowMs: delayMs + 4 * RECORDING_KEY_MS, bytesMax: Infinity })
    // Interest rules may read any field, so all fields are recorded. What each client receives is decided at playback.
    watch.record(ring, { fields: 'everything', flushMs: FLUSH_MS })
    this.#playback = new Playback(ring, game)
    const { world } = this.#playback
    this.timeline = new Timeline(world, windowTicks(game.tickRate), game.tickRate)
    this.replicator = new Replicator(world, this.timeline, { coders: game.coders, strideTicks: game.snapshotTicks })
    this.interest = new Interest(world, game.entities, interest)
  }

  /** The tick that is shown. -1 while the match is younger than the delay. */
  get tick(): Tick {
    return this.timeline.newest
  }

  /** `now` is the tick of the match. Advances the playback to the delayed tick. */
  advance(now: Tick): void {
    const target = now - this.#delayTicks
    const playback = this.#playback
    if (target < 1) return
    if (playback.tick < 0) {
      if (playback.seek(Math.max(target, playback.first)) === 'ok') this.timeline.sample()
      return
    }
    while (playback.tick < target && playback.step() === 'ok') this.timeline.sample()
  }

  /** Stores an event of the match until the feed reaches its tick. */
  keep(event: StepEvent): void {
    this.#events.push(event)
  }

  /** The events that the feed has reached since the last call. */
  take(): StepEvent[] {
    const { tick } = this
    let count = 0
    while (count < this.#events.length && this.#events[count].tick <= tick) count++
    return this.#events.splice(0, count)
  }
}
