/**
 * Shows a recording: any moment of it, at any speed, interpolated between ticks like a live match.
 *
 *   const theatre = new Theatre(recording, game)
 *   theatre.show(1200.4)            its `view` is the world four tenths after tick 1200
 *
 * Playback puts its ticks into a sparse Timeline, and the clients' interpolator draws from that: a client can draw a
 * recording just as it draws a match. Forward moves continue from the current tick; all other moves are seeks.
 */

import type { ObjectId, Tick } from '../base/time.ts'
import { Interpolator } from '../interpolate/interpolator.ts'
import { Timeline } from '../world/timeline.ts'
import { World } from '../world/world.ts'
import { Playback, type Played, type RecordedGame } from './playback.ts'
import type { ChunkList } from './recording.ts'

/** Ticks that are stored, and how far ahead a move still plays all ticks instead of a seek. */
const WINDOW_TICKS = 64
const JUMP_TICKS = 32
const NOTHING = -1

/** Shows any moment of a recording, between two ticks too, as a live match would be drawn. */
export class Theatre {
  /** The world that is shown. */
  readonly view: World
  /** The playback that it shows. */
  readonly playback: Playback
  readonly #timeline: Timeline
  readonly #interpolator: Interpolator
  /** The objects that existed in the last tick played. */
  readonly #present = new Set<ObjectId>()
  #moment = NOTHING

  constructor(list: ChunkList, game: RecordedGame) {
    this.playback = new Playback(list, game)
    this.view = new World(game.entities, { isReadOnly: true, sharing: this.playback.world })
    this.#timeline = new Timeline(this.view, WINDOW_TICKS)
    this.#interpolator = new Interpolator(this.view, this.#timeline, { tickRate: list.head.tickRate })
  }

  /** Shows a moment, in ticks. If the recording does not have it, the view stays as it is. */
  show(moment: number): Played {
    const tick = Math.floor(moment)
    const { playback } = this
    if (
      this.#moment === NOTHING
      || moment < this.#moment
      || tick > playback.tick + JUMP_TICKS
      || playback.tick === NOTHING
    ) {
      const found = this.#jump(tick)
      if (found !== 'ok') return found
    }
    let played: Played = 'ok'
    // One tick beyond the moment: interpolation needs the rows on both sides.
    while (playback.tick <= tick && played === 'ok') {
      played = playback.step()
      if (played === 'ok') this.#showTick()
    }
    if (playback.tick < tick) return this.#overGap(moment)
    this.#moment = Math.min(moment, playback.tick)
    this.#interpolator.smoother.begin(0)
    this.#interpolator.draw(this.#moment)
    this.view.tick = tick
    return 'ok'
  }

  /** Starts again at a tick. */
  #jump(tick: Tick): Played {
    this.#interpolator.clear()
    this.#timeline.truncate(NOTHING)
    this.#present.clear()
    this.#moment = NOTHING
    const found = this.playback.seek(tick)
    if (found === 'ok') this.#showTick()
    return found
  }

  /** The ticks up to here are missing: continues after the gap. */
  #overGap(moment: number): Played {
    const found = this.#jump(Math.floor(moment))
    return found === 'ok' ? this.show(moment) : found
  }

  #showTick(): void {
    const { world, tick } = this.playback
    this.playback.writeTo(this.#timeline)
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
    this.#interpolator.receivedTick = tick
  }
}
