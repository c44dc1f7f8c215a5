/**
 * A recording as a picture that moves: any moment of it, at any speed, drawn between ticks as a live match is.
 *
 *   const theatre = new Theatre(recording, game)
 *   theatre.show(1200.4)            its `view` is the world four tenths after tick 1200
 *
 * Playback tells its ticks to a sparse Timeline, and the interpolator of clients draws from that: whatever a client can draw
 * of a match it can draw of its recording. Forwards it goes on from where it is; everything else is a seek.
 */

import type { ObjectId, Tick } from '../base/time.ts'
import { Interpolator } from '../interpolate/interpolator.ts'
import { Timeline } from '../world/timeline.ts'
import { World } from '../world/world.ts'
import { Playback, type Played, type RecordedGame } from './playback.ts'
import type { ChunkList } from './recording.ts'

/** Ticks that are remembered, and how far ahead is still on the way and not a jump. */
const WINDOW_TICKS = 64
const JUMP_TICKS = 32
const NOTHING = -1

export class Theatre {
  /** What is shown. */
  readonly view: World
  readonly playback: Playback
  readonly #timeline: Timeline
  readonly #interpolator: Interpolator
  /** Who was there in the last tick told. */
  readonly #present = new Set<ObjectId>()
  #moment = NOTHING

  constructor(list: ChunkList, game: RecordedGame) {
    this.playback = new Playback(list, game)
    this.view = new World(game.entities, { isReadOnly: true, sharing: this.playback.world })
    this.#timeline = new Timeline(this.view, WINDOW_TICKS)
    this.#interpolator = new Interpolator(this.view, this.#timeline, { tickRate: list.head.tickRate })
  }

  /** Shows a moment, in ticks. What is not there is not shown: the view stays as it is. */
  show(moment: number): Played {
    const tick = Math.floor(moment)
    const { playback } = this
    if (this.#moment === NOTHING || moment < this.#moment || tick > playback.tick + JUMP_TICKS || playback.tick === NOTHING) {
      const found = this.#jump(tick)
      if (found !== 'ok') return found
    }
    let played: Played = 'ok'
    // One tick more than the moment needs: what lies between two rows needs both.
    while (playback.tick <= tick && played === 'ok') {
      played = playback.step()
      if (played === 'ok') this.#tell()
    }
    if (playback.tick < tick) return this.#overGap(moment)
    this.#moment = Math.min(moment, playback.tick)
    this.#interpolator.smoother.begin(0)
    this.#interpolator.draw(this.#moment)
    this.view.tick = tick
    return 'ok'
  }

  /** Begins anew at a tick. */
  #jump(tick: Tick): Played {
    this.#interpolator.clear()
    this.#timeline.truncate(NOTHING)
    this.#present.clear()
    this.#moment = NOTHING
    const found = this.playback.seek(tick)
    if (found === 'ok') this.#tell()
    return found
  }

  /** The ticks up to here are missing: behind the gap it goes on. */
  #overGap(moment: number): Played {
    const found = this.#jump(Math.floor(moment))
    return found === 'ok' ? this.show(moment) : found
  }

  #tell(): void {
    const { world, tick } = this.playback
    this.playback.tell(this.#timeline)
    for (const id of this.#present) {
      if (world.objects.isAlive(id)) continue
      this.#present.delete(id)
      this.#interpolator.leave(id, tick)
    }
    for (const store of world.stores) {
      for (const { id } of store.living()) {
        if (this.#present.has(id)) continue
        this.#present.add(id)
        this.#interpolator.enter(store.type, id, tick)
      }
    }
    this.#interpolator.heard = tick
  }
}
