/**
 * A match as it was some time ago, for who looks on late: so that nobody plays by what a spectator sees.
 *
 *   the match -> recorder -> a ring in memory -> playback, so many ticks behind -> Timeline -> Replicator, Interest -> spectators
 *
 * Spectators are told from the past exactly as players are from the present, by the same rules of interest at that moment; what
 * has not happened there yet is nowhere they could look. What the host says by itself (`send`, `broadcast`) is not delayed.
 */

import { ConfigError } from '../base/assert.ts'
import { RECORDING_KEY_MS } from '../base/limits.ts'
import type { Millis, Tick } from '../base/time.ts'
import { Interest, type InterestOptions } from '../replication/interest/interest.ts'
import { Replicator } from '../replication/replicator.ts'
import { Playback } from '../replay/playback.ts'
import { RecordingRing } from '../replay/recording-ring.ts'
import type { Shape } from '../schema/field.ts'
import { Timeline, windowTicks } from '../world/timeline.ts'
import type { Game } from './define-game.ts'
import type { StepEvent } from './event-codec.ts'
import type { HostWatch } from './host-watch.ts'

/** What was recorded is there to be played after this at the latest. */
const FLUSH_MS = 100
/** Less could not be told from the network's own delay. */
const DELAY_MS_MIN = 500

export class DelayedFeed {
  readonly replicator: Replicator
  readonly interest: Interest
  readonly timeline: Timeline
  readonly #playback: Playback
  readonly #delayTicks: number
  readonly #events: StepEvent[] = []

  constructor(game: Game<Shape>, watch: HostWatch, delayMs: Millis, interest: InterestOptions | undefined) {
    if (!(delayMs >= DELAY_MS_MIN)) throw new ConfigError('spectators.delayMs', `${delayMs} ms`, `Give ${DELAY_MS_MIN} or more, or leave it out: then they see what players see.`)
    this.#delayTicks = Math.round(delayMs * game.tickRate / 1000)
    const ring = new RecordingRing({ windowMs: delayMs + 4 * RECORDING_KEY_MS, bytesMax: Infinity })
    // Rules of interest may look at anything, so everything is recorded; who is told what is decided when it is told.
    watch.record(ring, { fields: 'everything', flushMs: FLUSH_MS })
    this.#playback = new Playback(ring, game)
    const { world } = this.#playback
    this.timeline = new Timeline(world, windowTicks(game.tickRate), game.tickRate)
    this.replicator = new Replicator(world, this.timeline, { coders: game.coders, strideTicks: game.snapshotTicks })
    this.interest = new Interest(world, game.entities, interest)
  }

  /** The tick that is shown; -1 while the match is younger than the delay. */
  get tick(): Tick {
    return this.timeline.newest
  }

  /** The match stands at a tick: goes on to where it was then. */
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

  /** Something happened in the match; it is told in its turn. */
  keep(event: StepEvent): void {
    this.#events.push(event)
  }

  /** What has happened in the feed since the last call. */
  take(): StepEvent[] {
    const { tick } = this
    let count = 0
    while (count < this.#events.length && this.#events[count].tick <= tick) count++
    return this.#events.splice(0, count)
  }
}
