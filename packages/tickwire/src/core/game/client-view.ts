/**
 * What a client draws: the others as they were a moment ago, smoothly; his own objects as they are predicted now.
 *
 *   snapshots -> sink -> confirmed Timeline -> Interpolator -+
 *                             |                              +-> view world, read-only -> draw
 *                             +-> Predictor ---- cells ------+   + offset of corrections
 *
 * It is brought up to a moment once a draw. Whatever `step` reads of others (`world.seen`) is this same view.
 */

import type { Millis, ObjectId, PeerId, Tick } from '../base/time.ts'
import { Interpolator } from '../interpolate/interpolator.ts'
import { Poser } from '../interpolate/pose.ts'
import { RenderClock } from '../interpolate/render-clock.ts'
import type { CorrectionListener } from '../predict/corrections.ts'
import type { Predictor } from '../predict/predictor.ts'
import type { ToldRow } from '../predict/truth.ts'
import type { HeldObserver } from '../replication/held-objects.ts'
import { SnapshotSink } from '../replication/snapshot-sink.ts'
import type { Shape } from '../schema/field.ts'
import type { Handle } from '../world/handle.ts'
import { indexOf } from '../world/object-table.ts'
import { Timeline, windowTicks } from '../world/timeline.ts'
import { World } from '../world/world.ts'
import type { ClientAuthority } from './client-authority.ts'
import type { Game } from './define-game.ts'
import { ViewRewinding } from './rewinding.ts'
import { poseOptions } from './settings.ts'
import { Sighting } from './sighting.ts'
import { View } from './view.ts'

/** Who has not drawn for this long does not draw at all. */
const WATCHED_MS = 250

export class ClientView implements HeldObserver, CorrectionListener {
  readonly view: View
  readonly world: World
  /** What the authority told, by tick: sparse. */
  readonly confirmed: Timeline
  readonly snapshots: SnapshotSink
  readonly interpolator: Interpolator
  readonly renderClock: RenderClock
  readonly #game: Game<Shape>
  readonly #shared: Pick<ClientAuthority, 'handleTold' | 'handleGone'> | undefined
  #predictor: Predictor | undefined = undefined
  #isBegun = false
  #ticksAt: (now: Millis) => number = () => 0
  #poser: Poser | undefined = undefined
  /** The row that is being handed on, used again for each. */
  readonly #row: ToldRow = { tick: 0, type: 0, id: 0, owner: 0, rows: new Int32Array(0), at: 0, birthTick: 0, birthOrdinal: 0, authorityTick: 0 }
  #noted: Tick = -1
  /** The moment that was last drawn for somebody, and when that was. */
  readonly #shown = new Float64Array([-1, -Infinity])
  /** When the view was last brought up to a moment. */
  readonly #drawnAt = new Float64Array([-1])
  #drawnVersion = -1
  #sighting: Sighting | undefined = undefined

  constructor(game: Game<Shape>, shared?: Pick<ClientAuthority, 'handleTold' | 'handleGone'>) {
    this.#shared = shared
    const { entities, tickRate, net } = game
    this.#game = game
    this.world = new World(entities, { isReadOnly: true })
    this.view = new View(this.world)
    this.confirmed = new Timeline(this.world, windowTicks(tickRate))
    this.snapshots = new SnapshotSink(this.world, this.confirmed, { coders: game.coders, strideTicks: game.snapshotTicks })
    this.renderClock = new RenderClock(tickRate, {
      delayMs: net.interpolationMs, delayMsMin: net.interpolationMsMin, delayMsMax: net.interpolationMsMax,
    })
    this.interpolator = new Interpolator(this.world, this.confirmed, {
      ...poseOptions(tickRate, net), halfLifeMs: net.smoothingMs,
      onShown: (handle) => this.view.events.handleShown(handle),
      onHidden: (handle) => this.view.events.handleHidden(handle),
    })
  }

  /** From now on these objects are drawn as predicted; `ticksAt` says which tick is played, with its fraction. */
  begin(predictor: Predictor | undefined, ticksAt: (now: Millis) => number): void {
    this.#ticksAt = ticksAt
    this.#predictor = predictor
    this.#isBegun = true
    if (predictor === undefined) return
    this.#poser = new Poser(predictor.timeline, poseOptions(this.#game.tickRate, this.#game.net))
    this.#sighting = new Sighting(predictor.world, this.world)
    predictor.world.sight = this.#sighting
    if (this.#game.hitboxes !== undefined) predictor.world.rewinding = new ViewRewinding(this.#game, this.world)
  }

  /** Something came: notes when, for the moment to draw follows it. */
  handleArrival(now: Millis, heard: Tick): void {
    const newest = Math.max(this.snapshots.tick, heard)
    if (newest <= this.#noted) return
    this.#noted = newest
    this.interpolator.heard = newest
    this.renderClock.note(now, newest)
  }

  /** Hands what was told on to who predicts and who interpolates. */
  absorb(): void {
    // Before we know who we are nobody could be told which objects are ours.
    if (this.#isBegun) this.snapshots.held.drain(this)
  }

  /** Before a tick: `step` sees others as they are drawn now, if it looks at them at all. */
  prepare(now: Millis): void {
    this.absorb()
    // Calls wait for the moment that is drawn, also where nobody draws.
    this.renderClock.advance(now)
    const isAimed = this.#game.hitboxes !== undefined && !this.#isWatched(now)
    if (isAimed || (this.#sighting?.looks ?? 0) > 0) this.#bring(now)
  }

  /** The moment that the player looks at: the one that was last drawn for him, or, where nobody draws, the one it is. */
  viewTick(now: Millis): number {
    return this.#isWatched(now) ? this.#shown[0] : this.renderClock.renderTick
  }

  /** Brings the view up to a moment, for somebody who looks at it: what he aims at from now on is this. */
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

  onEntered(id: ObjectId, type: number, owner: PeerId): void {
    this.interpolator.enter(type, id, this.snapshots.held.tellings[indexOf(id)])
    this.#tell(id, type, owner)
  }

  onChanged(id: ObjectId, type: number, owner: PeerId): void {
    this.#tell(id, type, owner)
  }

  onLeft(id: ObjectId): void {
    const tick = Math.max(this.snapshots.held.floors[indexOf(id)], 0)
    this.interpolator.leave(id, tick)
    this.#predictor?.handleGone(tick, id)
    this.#shared?.handleGone(id)
  }

  handleCorrection(type: number, id: ObjectId, before: Float64Array, beforeAt: number, after: Float64Array, afterAt: number): void {
    const handle = this.world.atIndexOf(id)
    if (handle?.id !== id) return
    this.interpolator.smoother.shift(type, this.world.stores[type].slotOf(handle), before, beforeAt, after, afterAt)
  }

  #tell(id: ObjectId, type: number, owner: PeerId): void {
    if (this.world.stores[type].isShared) this.#shared?.handleTold(id, owner, this.snapshots.held)
    const predictor = this.#predictor
    if (predictor === undefined) return
    const { held } = this.snapshots
    const index = indexOf(id)
    const row = this.#row
    row.tick = this.confirmed.changedAt(id)
    row.type = type
    row.id = id
    row.owner = owner
    row.rows = this.confirmed.pools[type].rows
    row.at = this.confirmed.findLatest(type, id)
    row.birthTick = Math.max(held.birthTicks[index], 0)
    row.birthOrdinal = Math.max(held.birthOrdinals[index], 0)
    row.authorityTick = held.authorityTicks[index]
    if (row.at >= 0) predictor.handleRow(row)
  }

  /** Who was drawn as predicted and is not predicted any more leaves the view, or is the interpolator's again. */
  #hideGone(predictor: Predictor): void {
    const { renamed } = predictor
    for (let at = 0; at < renamed.length; at += 2) this.#rename(renamed[at], renamed[at + 1])
    renamed.length = 0
    for (const store of this.world.stores) {
      for (const handle of store.living()) {
        if (!this.#own.has(handle.id) || predictor.world.objects.isAlive(handle.id)) continue
        const { id } = handle
        this.#own.delete(id)
        const isTold = this.snapshots.held.ids[indexOf(id)] === id
        const isOthers = isTold && this.snapshots.held.owners[indexOf(id)] !== predictor.peer
        // Who is told of stays out of the view until he is gone, or comes back; who never was leaves his place to others.
        if (isTold) this.interpolator.setLocal(id, false)
        if (!isOthers) this.#hide(handle)
        if (!isTold) this.interpolator.setLocal(id, false)
      }
    }
  }

  #hide(handle: Handle): void {
    // Also where somebody else of ours has his index: nobody would look for him again.
    this.#own.delete(handle.id)
    this.view.events.handleHidden(handle)
    this.world.unseat(handle)
  }

  /** What was born here has its real id. */
  #rename(from: ObjectId, to: ObjectId): void {
    const handle = this.world.atIndexOf(from)
    if (handle?.id !== from) return
    const other = this.world.atIndexOf(to)
    if (other !== undefined) this.#hide(other)
    this.world.rename(handle, to)
    this.#own.delete(from)
    this.#own.add(to)
    this.interpolator.setLocal(from, false)
    this.interpolator.setLocal(to, true)
  }

  readonly #own = new Set<ObjectId>()

  #showPredicted(predictor: Predictor, now: Millis): void {
    for (const store of predictor.world.stores) {
      for (const predicted of store.living()) {
        const { id, owner } = predicted
        let handle = this.world.atIndexOf(id)
        if (!this.#own.has(id)) {
          this.#own.add(id)
          this.interpolator.setLocal(id, true)
        }
        const isNew = handle?.id !== id
        if (handle !== undefined && isNew) this.#hide(handle)
        if (handle === undefined || isNew) handle = this.world.seat(store.type, id, owner)
        if (handle.owner !== owner) this.world.setOwner(handle, owner)
        const shown = handle.$store
        const slot = shown.slotOf(handle)
        if (isNew) this.interpolator.smoother.reset(store.type, slot)
        handle.$cells.set(predicted.$cells)
        if (isNew) this.view.events.handleShown(handle)
      }
    }
    if (this.#game.drawAhead) this.#showAhead(predictor, now)
    for (const id of this.#own) {
      const shown = this.world.stores[this.world.objects.typeAt(indexOf(id))]
      const slot = this.world.objects.slotAt(indexOf(id))
      this.interpolator.smoother.apply(shown.type, slot, shown.cells, slot * shown.schema.cellCount)
    }
  }

  /** Draws own objects on the way to the tick to come: a game of 30 ticks is drawn smoothly, and not a tick late. */
  #showAhead(predictor: Predictor, now: Millis): void {
    const poser = this.#poser
    if (poser === undefined) return
    const share = Math.max(0, Math.min(this.#ticksAt(now) - predictor.tick, 1))
    if (share === 0) return
    poser.moment[0] = predictor.tick + share
    predictor.lookAhead(() => {
      for (const id of this.#own) {
        const type = this.world.objects.typeAt(indexOf(id))
        const { cells, schema } = this.world.stores[type]
        // Who is not there any more in the tick to come is drawn as he is.
        if (predictor.world.objects.isAlive(id)) poser.poseKnown(type, id, undefined, cells, this.world.objects.slotAt(indexOf(id)) * schema.cellCount)
      }
    })
  }
}
