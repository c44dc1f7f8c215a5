/**
 * Lag compensation: what a player saw when firing, on the authority, in the middle of `step`.
 *
 *   rewinder.rewind(peer, viewTick, (past) => past.cast({ from, direction, ignore: peer }))
 *
 * `viewTick` is the fractional tick that the player's screen showed; the input carries it (`RenderClock.renderTick`).
 * Objects of the entities that have hitboxes (and of those in `entities`) are posed at that moment from the authority's
 * Timeline, by the code that draws them on a client. The player's own objects have their current state, because the
 * player's client predicts them. All are in a separate read-only world: the live world does not change, and may be
 * written while looking at the past.
 *
 *   world.rewind(peer, fn)      calls this with the view tick of the peer's current input. The past passed to `fn` is
 *                               valid until `fn` returns.
 *
 * A moment further back than `maxMs`, or newer than the newest sampled tick, is clamped and counted. Beyond `perTick`
 * rewinds in one tick the past is the newest tick, posed once for all of them, and counted: many shots at once cannot
 * stall the authority. Objects that died since are not in the past: a shot passes through them.
 *
 * The rewinder does not know which packets a client lost, or how often it is sent any. If that is not every tick, pass
 * the received ticks as `acked`: an `AckedRing` per client, in which its snapshot source notes acknowledged ticks.
 */

import { ConfigError } from '../base/assert.ts'
import { REWIND_MS, REWINDS_PER_TICK } from '../base/limits.ts'
import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import { MODE, Poser, type PoseOptions, type AckedTicks } from '../interpolate/pose.ts'
import type { Entity } from '../schema/definition.ts'
import { NO_TYPE, SLOT_MASK } from '../world/object-table.ts'
import type { Timeline } from '../world/timeline.ts'
import { World } from '../world/world.ts'
import type { Hitboxes } from './hitbox-shape.ts'
import { Past } from './past.ts'

export interface RewindOptions extends PoseOptions {
  readonly hitboxes: Hitboxes
  /** Entities without hitboxes that the past should contain too. */
  readonly entities?: readonly Entity[]
  /** How far back a shot may reach. The Timeline must cover it. */
  readonly maxMs?: number
  readonly perTick?: number
}

const HIDDEN = MODE.hidden
const NO_TICK = -1

export class Rewinder {
  /** Counters: rewinds; those with a clamped moment; those beyond the limit of a tick; objects posed. */
  rewinds = 0
  clamped = 0
  refused = 0
  posed = 0
  /** How far back the last rewind went, in ticks, after clamping. */
  distanceTicks = 0
  readonly #world: World
  readonly #timeline: Timeline
  readonly poser: Poser
  readonly #scene: World
  readonly #past: Past
  readonly #isWanted: Uint8Array
  /** How far back a shot may reach, and how many rewinds one tick may do. */
  readonly maxTicks: number
  readonly perTick: number
  /** The tick that is being counted, and its number of rewinds. */
  #countTick: Tick = NO_TICK
  #count = 0
  /** The tick whose newest state is in the scene, for rewinds beyond the limit; -1: the scene shows another moment. */
  #crowdTick: Tick = NO_TICK
  #isBusy = false

  constructor(entities: readonly Entity[], world: World, timeline: Timeline, options: RewindOptions) {
    const { hitboxes, maxMs = REWIND_MS, perTick = REWINDS_PER_TICK, tickRate } = options
    this.maxTicks = maxMs * tickRate / 1000
    if (!(this.maxTicks >= 0 && this.maxTicks <= timeline.windowTicks - 2)) {
      throw new ConfigError(
        'maxMs',
        `too long (got ${maxMs} ms at ${tickRate} Hz, the Timeline has ${timeline.windowTicks} ticks)`,
        'rewind less, or use a longer windowMs.',
      )
    }
    if (!(Number.isInteger(perTick) && perTick >= 0))
      throw new ConfigError(
        'perTick',
        `invalid number (expected 1 or more, got ${perTick})`,
        'give how many rewinds one tick may do.',
      )
    this.#world = world
    this.#timeline = timeline
    this.perTick = perTick
    this.poser = new Poser(timeline, options)
    this.#scene = new World(entities, { isReadOnly: true, sharing: world })
    this.#past = new Past(this.#scene, hitboxes)
    this.#isWanted = new Uint8Array(entities.length)
    for (const entity of [...hitboxes.map(([each]) => each), ...(options.entities ?? [])])
      this.#isWanted[world.storeOf(entity).type] = 1
  }

  /** Calls `fn` with the world as `peer` saw it at `viewTick`, and returns its result. */
  rewind<T>(peer: PeerId, viewTick: number, fn: (past: Past) => T, acked?: AckedTicks): T {
    if (this.#isBusy) throw new RangeError('a rewind within a rewind: look at both pasts one after the other')
    this.#isBusy = true
    try {
      if (this.#isTooMany()) this.#showNewest()
      else this.#show(peer, this.#clamp(viewTick), acked)
      return fn(this.#past)
    } finally {
      this.#isBusy = false
    }
  }

  #isTooMany(): boolean {
    const { newest } = this.#timeline
    this.rewinds++
    if (this.#countTick !== newest) this.#count = 0
    this.#countTick = newest
    if (this.#count++ < this.perTick) return false
    this.refused++
    return true
  }

  #clamp(viewTick: number): number {
    const { newest } = this.#timeline
    const oldest = Math.max(newest - this.maxTicks, 0)
    // NaN is clamped to the newest tick.
    const moment = viewTick > oldest ? (viewTick < newest ? viewTick : newest) : viewTick <= oldest ? oldest : newest
    if (moment !== viewTick) this.clamped++
    return moment
  }

  #showNewest(): void {
    const { newest } = this.#timeline
    if (this.#crowdTick === newest) return
    this.#show(NO_PEER, newest, undefined)
    this.#crowdTick = newest
  }

  /** Sets the scene to a moment. @hot */
  #show(peer: PeerId, moment: number, acked: AckedTicks | undefined): void {
    const { objects } = this.#world
    const { words, highWater } = objects
    this.#crowdTick = NO_TICK
    this.poser.moment[0] = moment
    this.distanceTicks = this.#timeline.newest - moment
    for (let index = 0; index < highWater; index++) {
      const type = words[(index << 2) + 2] >>> 24
      if (type === NO_TYPE || this.#isWanted[type] === 0) this.#empty(index)
      else this.#showOne(index, type, words[index << 2], words[(index << 2) + 1] === peer, acked)
    }
    for (let index = highWater; index < this.#scene.objects.highWater; index++) this.#empty(index)
  }

  #showOne(index: number, type: number, id: ObjectId, isOwn: boolean, acked: AckedTicks | undefined): void {
    const scene = this.#scene
    const { objects } = scene
    const live = this.#world.stores[type]
    const { cellCount } = live.schema
    if (index >= objects.highWater || objects.typeAt(index) !== type || objects.idAt(index) !== id) {
      this.#empty(index)
      scene.seat(type, id, this.#world.objects.ownerAt(index))
    }
    const { cells } = scene.stores[type]
    const at = objects.slotAt(index) * cellCount
    this.posed++
    if (isOwn) {
      const from = (this.#world.objects.words[(index << 2) + 2] & SLOT_MASK) * cellCount
      for (let cell = 0; cell < cellCount; cell++) cells[at + cell] = live.cells[from + cell]
      objects.setOwner(index, this.#world.objects.ownerAt(index))
    } else if (this.poser.poseKnown(type, id, acked, cells, at) === HIDDEN) {
      this.#empty(index)
    } else {
      objects.setOwner(index, this.poser.owner)
    }
  }

  /** Removes the object at an index of the scene. */
  #empty(index: number): void {
    const { objects } = this.#scene
    if (index >= objects.highWater || objects.typeAt(index) === NO_TYPE) return
    const handle = this.#scene.atIndexOf(objects.idAt(index))
    if (handle !== undefined) this.#scene.unseat(handle)
  }
}

/** A peer that owns no object. */
const NO_PEER = -1
