/**
 * The rows that a client writes: the shared objects that it owns, as it stepped them, sent to the server.
 *
 *   predicted world --- after each new tick ---> spoken world -> Timeline -> Replicator -> SnapshotSource -> the wire
 *
 * The predicted Timeline is cut and stepped again when a prediction about something else was wrong; this Timeline never
 * is. A row that was sent for a tick is final: a later step of that tick restores it (predict/own-word.ts). Rows are
 * sent in the field set of owners, and only for objects that have the server's id: an object spawned here ahead of time
 * waits for its id.
 */

import type { Millis, ObjectId, PeerId, Tick } from '../../base/time.ts'
import type { BitWriter } from '../../bits/bit-writer.ts'
import type { FrameSource } from '../../packet/frame-source.ts'
import type { RowCoder } from '../../codec/row-coder.ts'
import type { Entity } from '../../schema/definition.ts'
import { indexOf } from '../../world/object-table.ts'
import { Timeline } from '../../world/timeline.ts'
import { World } from '../../world/world.ts'
import { AllRelevant } from '../interest/all-relevant.ts'
import { Replicator } from '../replicator.ts'
import { SnapshotSource } from '../snapshot-source.ts'
import type { Claims } from './claim.ts'

/** The parts of a game that writing needs. */
export interface SpokenGame {
  readonly entities: readonly Entity[]
  readonly coders: readonly RowCoder[]
}

export class SpokenRows implements FrameSource {
  readonly source: SnapshotSource
  readonly #world: World
  readonly #timeline: Timeline
  readonly #peer: PeerId
  readonly #claims: Claims
  /** By object: the claim with which the client last wrote it. */
  readonly #said = new Map<ObjectId, Tick>()

  /** `sharing` is the world whose heap the predicted rows refer to. */
  constructor({ entities, coders }: SpokenGame, peer: PeerId, sharing: World, claims: Claims, windowTicks: number) {
    this.#peer = peer
    this.#claims = claims
    this.#world = new World(entities, { isReadOnly: true, sharing })
    this.#timeline = new Timeline(this.#world, windowTicks)
    const replicator = new Replicator(this.#world, this.#timeline, { coders, claims })
    this.source = new SnapshotSource(replicator, new AllRelevant(this.#world, peer), peer)
  }

  /**
   * Records the rows of a tick that was stepped for the first time. `isOurs` says which objects this client may write.
   * @hot
   */
  speak(predicted: World, isOurs: (id: number) => boolean): void {
    const { tick } = predicted
    const isBegun = this.#timeline.newest >= 0
    // The clock was set back: the rows recorded for these ticks are final.
    if (isBegun && tick <= this.#timeline.newest) return
    if (isBegun) this.#standStill(tick - 1)
    for (let type = 0; type < predicted.stores.length; type++)
      if (predicted.stores[type].isShared) this.#copy(predicted, type, isOurs)
    // A client that owns no object sends nothing.
    if (isBegun || this.#world.objects.highWater > 0) this.#sample(tick)
  }

  begin(): void {
    if (this.#timeline.newest >= 0) this.source.begin()
  }

  wantsAt(now: Millis): Millis {
    return this.#timeline.newest >= 0 ? this.source.wantsAt(now) : Infinity
  }

  /** @hot */
  fill(now: Millis, sequence: number, out: BitWriter): boolean {
    return this.#timeline.newest >= 0 && this.source.fill(now, sequence, out)
  }

  onDelivered(now: Millis, sequence: number): void {
    this.source.onDelivered(now, sequence)
  }

  onLost(now: Millis, sequence: number): void {
    this.source.onLost(now, sequence)
  }

  /** The clock was set forward: nothing is known of the ticks between, so all objects were at rest in them. */
  #standStill(until: Tick): void {
    while (this.#timeline.newest < until) this.#sample(this.#timeline.newest + 1)
  }

  #sample(tick: Tick): void {
    this.#world.tick = tick
    this.#world.sample()
    this.#timeline.sample()
  }

  /**
   * An object that this client regained is sent in full. Ticks here run ahead of the claim's tick, and do not show
   * which rows were sent under which claim.
   */
  #sayToken(id: ObjectId): void {
    const claim = this.#claims.authorityTickAt(indexOf(id))
    const said = this.#said.get(id)
    if (said === claim) return
    this.#said.set(id, claim)
    if (said !== undefined) this.source.handleWanted(id)
  }

  #copy(predicted: World, type: number, isOurs: (id: number) => boolean): void {
    const world = this.#world
    const spoken = world.stores[type]
    for (const handle of spoken.living()) {
      const { id } = handle
      const isStill =
        predicted.objects.isAlive(id) && predicted.objects.ownerAt(indexOf(id)) === this.#peer && isOurs(id)
      if (isStill) continue
      this.#said.delete(id)
      world.unseat(handle)
    }
    const store = predicted.stores[type]
    const handles = store.living()
    for (let at = 0; at < handles.length; at++) {
      const { id, owner } = handles[at]
      if (owner !== this.#peer || !isOurs(id)) continue
      let handle = world.atIndexOf(id)
      if (handle !== undefined && handle.id !== id) {
        world.unseat(handle)
        handle = undefined
      }
      handle ??= world.seat(type, id, owner)
      this.#sayToken(id)
      spoken.load(handle, store.rows, store.rowAt(handles[at]))
    }
  }
}
