/**
 * The view that a client draws: other players' objects interpolated slightly in the past, its own objects as predicted.
 *
 *   snapshots -> sink -> confirmed Timeline -> Interpolator -+
 *                             |                              +-> view world, read-only -> draw
 *                             +-> Predictor ---- cells ------+   + offset of corrections
 *
 * It is updated once per draw. When `step` reads other players' objects (`world.seen`), it reads this same view.
 *
 * This class draws. `view-sink.ts` passes received rows on, `own-objects.ts` has the objects drawn as predicted,
 * and `spawn-renames.ts` gives predicted spawns their real ids.
 */

import type { Millis, ObjectId, Tick } from '../base/time.ts'
import type { UserCode } from '../base/user-code.ts'
import { Interpolator } from '../interpolate/interpolator.ts'
import { Poser } from '../interpolate/pose.ts'
import { RenderClock } from '../interpolate/render-clock.ts'
import type { CorrectionListener } from '../predict/corrections.ts'
import type { Predictor } from '../predict/predictor.ts'
import { SnapshotSink } from '../replication/snapshot-sink.ts'
import type { Shape } from '../schema/field.ts'
import { indexOf } from '../world/object-table.ts'
import { windowTicks } from '../world/timeline-window.ts'
import { Timeline } from '../world/timeline.ts'
import { World } from '../world/world.ts'
import type { Game } from './define-game.ts'
import { OwnObjects } from './own-objects.ts'
import { ViewRewinding } from './rewinding.ts'
import { poseOptions } from './settings.ts'
import { Sighting } from './sighting.ts'
import { SpawnRenames } from './spawn-renames.ts'
import { View } from './view.ts'
import { ViewSink, type SharedRows } from './view-sink.ts'

/** A client that has not drawn for this long counts as not drawing at all. */
const WATCHED_MS = 250

export class ClientView implements CorrectionListener {
  view: View
  readonly world: World
  /** The rows that the authority sent, by tick. Sparse. */
  readonly confirmed: Timeline
  readonly snapshots: SnapshotSink
  readonly interpolator: Interpolator
  readonly renderClock: RenderClock
  readonly #game: Game<Shape>
  readonly #sink: ViewSink
  readonly #own: OwnObjects
  readonly #renames: SpawnRenames
  #predictor: Predictor | undefined = undefined
  #isBegun = false
  #ticksAt: (now: Millis) => number = () => 0
  #poser: Poser | undefined = undefined
  #noted: Tick = -1
  /** The render tick of the last draw for a player, and the time of that draw. */
  readonly #shown = new Float64Array([-1, -Infinity])
  /** The time that the view was last updated to. */
  readonly #drawnAt = new Float64Array([-1])
  #drawnVersion = -1
  #sighting: Sighting | undefined = undefined

  constructor(game: Game<Shape>, code: UserCode, shared?: SharedRows) {
    const { entities, tickRate, net } = game
    this.#game = game
    this.world = new World(entities, { isReadOnly: true })
    this.view = new View(this.world, code)
    this.confirmed = new Timeline(this.world, windowTicks(tickRate))
    this.snapshots = new SnapshotSink(this.world, this.confirmed, {
      coders: game.coders,
      strideTicks: game.snapshotTicks,
    })
    this.renderClock = new RenderClock(tickRate, {
      delayMs: net.interpolationMs, delayMsMin: net.interpolationMsMin, delayMsMax: net.interpolationMsMax,
    })
    this.interpolator = new Interpolator(this.world, this.confirmed, {
      ...poseOptions(tickRate, net), halfLifeMs: net.smoothingMs,
      onShown: (handle) => this.view.events.handleShown(handle),
      onHidden: (handle) => this.view.events.handleHidden(handle),
    })
    this.#sink = new ViewSink(this.world, this.confirmed, this.snapshots, this.interpolator, shared)
    this.#own = new OwnObjects(this.world, this.interpolator, () => this.view.events)
    this.#renames = new SpawnRenames(this.world, this.interpolator, this.#own)
  }

  /** Draws into the view of an earlier connection. Its listeners stay. */
  adopt(view: View): void {
    this.view = view
    view.show(this.world)
  }

  /** Starts drawing predicted objects. `ticksAt` gives the client's tick at a time, with its fraction. */
  begin(predictor: Predictor | undefined, ticksAt: (now: Millis) => number): void {
    this.#ticksAt = ticksAt
    this.#predictor = predictor
    this.#sink.predictor = predictor
    this.#isBegun = true
    if (predictor === undefined) return
    this.#poser = new Poser(predictor.timeline, poseOptions(this.#game.tickRate, this.#game.net))
    this.#sighting = new Sighting(predictor.world, this.world)
    predictor.world.sight = this.#sighting
    if (this.#game.hitboxes !== undefined) predictor.world.rewinding = new ViewRewinding(this.#game, this.world)
  }

  /** Records the arrival time of new data. The render clock follows it. */
  handleArrival(now: Millis, receivedTick: Tick): void {
    const newest = Math.max(this.snapshots.tick, receivedTick)
    if (newest <= this.#noted) return
    this.#noted = newest
    this.interpolator.receivedTick = newest
    this.renderClock.note(now, newest)
  }

  /** Passes received rows on to the predictor and the interpolator. */
  absorb(): void {
    // Before the peer id is known, it cannot be decided which objects are this client's own.
    if (this.#isBegun) this.#sink.absorb()
  }

  /** Before a tick: updates the view of other objects, if `step` reads it at all. */
  prepare(now: Millis): void {
    this.absorb()
    // Calls wait for the render tick, also on a client that never draws.
    this.renderClock.advance(now)
    const isAimed = this.#game.hitboxes !== undefined && !this.#isWatched(now)
    if (isAimed || (this.#sighting?.looks ?? 0) > 0) this.#bring(now)
  }

  /** The tick that the player sees: that of the last draw, or the current render tick if the client does not draw. */
  viewTick(now: Millis): number {
    return this.#isWatched(now) ? this.#shown[0] : this.renderClock.renderTick
  }

  /** Updates the view to a time and draws it. From now on, the player aims at what this view shows. */
  draw(now: Millis): View {
    this.#bring(now)
    this.#shown[0] = this.renderClock.renderTick
    this.#shown[1] = now
    return this.view
  }

  #isWatched(now: Millis): boolean {
    return now - this.#shown[1] <= WATCHED_MS
  }

  #bring(now: Millis): View {
    const version = this.#predictor?.version ?? 0
    if (now === this.#drawnAt[0] && version === this.#drawnVersion) return this.view
    this.#drawnVersion = version
    const seconds = this.#drawnAt[0] < 0 ? 0 : (now - this.#drawnAt[0]) / 1000
    this.#drawnAt[0] = now
    this.absorb()
    const { renderClock, interpolator, world } = this
    renderClock.advance(now)
    interpolator.smoother.begin(seconds)
    if (this.#predictor !== undefined) this.#hideGone(this.#predictor)
    if (renderClock.renderTick >= 0) {
      interpolator.draw(renderClock.renderTick)
      world.tick = Math.max(world.tick, Math.floor(renderClock.renderTick))
    }
    if (this.#predictor !== undefined) this.#showPredicted(this.#predictor, now)
    this.view.events.handleDrawn()
    world.collectValues()
    return this.view
  }

  handleCorrection(
    type: number,
    id: ObjectId,
    before: Float64Array,
    beforeAt: number,
    after: Float64Array,
    afterAt: number,
  ): void {
    const handle = this.world.atIndexOf(id)
    if (handle?.id !== id) return
    this.interpolator.smoother.shift(type, this.world.stores[type].slotOf(handle), before, beforeAt, after, afterAt)
  }

  #hideGone(predictor: Predictor): void {
    this.#renames.apply(predictor)
    this.#own.release(predictor, this.snapshots.held, (id) => this.#renames.handleEnded(predictor, id))
  }

  #showPredicted(predictor: Predictor, now: Millis): void {
    this.#own.show(predictor)
    if (this.#game.drawAhead) this.#showAhead(predictor, now)
    for (const id of this.#own.ids) {
      const shown = this.world.stores[this.world.objects.typeAt(indexOf(id))]
      const slot = this.world.objects.slotAt(indexOf(id))
      this.interpolator.smoother.apply(shown.type, slot, shown.cells, slot * shown.schema.cellCount)
    }
  }

  /**
   * Draws the client's own objects between the current and the next predicted tick. So a game at 30 ticks per second is
   * drawn smoothly, without a tick of delay.
   */
  #showAhead(predictor: Predictor, now: Millis): void {
    const poser = this.#poser
    if (poser === undefined) return
    const share = Math.max(0, Math.min(this.#ticksAt(now) - predictor.tick, 1))
    if (share === 0) return
    poser.moment[0] = predictor.tick + share
    predictor.lookAhead(() => {
      for (const id of this.#own.ids) {
        const type = this.world.objects.typeAt(indexOf(id))
        const { cells, schema } = this.world.stores[type]
        // An object that does not exist in the next tick is drawn at its current state.
        if (predictor.world.objects.isAlive(id))
          poser.poseKnown(type, id, undefined, cells, this.world.objects.slotAt(indexOf(id)) * schema.cellCount)
      }
    })
  }
}
