/**
 * What a player writes: the rows of shared objects that he owns, as he stepped them, on their way to the server.
 *
 *   predicted world --- after each new tick ---> spoken world -> Timeline -> Replicator -> SnapshotSource -> the wire
 *
 * The predicted Timeline is cut and stepped again when a prediction about something else was wrong; this one never is. What
 * was said of a tick stands, and whoever steps that tick again puts it back (predict/own-word.ts). The server is told in the
 * field set of owners, and of objects that have the server's id: what was spawned here ahead of time waits for its name.
 */

import type { Millis, ObjectId, PeerId, Tick } from '../../base/time.ts'
import type { BitWriter } from '../../bits/bit-writer.ts'
import type { FrameSource } from '../../packet/frame-source.ts'
import type { RowCoder } from '../../codec/row-coder.ts'
import type { Entity } from '../../schema/definition.ts'
import { indexOf } from '../../world/object-table.ts'
import { Timeline } from '../../world/timeline.ts'
import { World } from '../../world/world.ts'
import { AllRelevant } from '../relevance.ts'
import { Replicator } from '../replicator.ts'
import { SnapshotSource } from '../snapshot-source.ts'
import type { Tokens } from './token.ts'

/** What of a game is needed to speak. */
export interface SpokenGame {
  readonly entities: readonly Entity[]
  readonly coders: readonly RowCoder[]
}

export class SpokenRows implements FrameSource {
  readonly source: SnapshotSource
  readonly #world: World
  readonly #timeline: Timeline
  readonly #peer: PeerId
  readonly #tokens: Tokens
  /** By object: the token that we said we write it by. */
  readonly #said = new Map<ObjectId, Tick>()

  /** `sharing` is the world whose heap the predicted rows refer to. */
  constructor({ entities, coders }: SpokenGame, peer: PeerId, sharing: World, tokens: Tokens, windowTicks: number) {
    this.#peer = peer
    this.#tokens = tokens
    this.#world = new World(entities, { isReadOnly: true, sharing })
    this.#timeline = new Timeline(this.#world, windowTicks)
    const replicator = new Replicator(this.#world, this.#timeline, { coders, tokens })
    this.source = new SnapshotSource(replicator, new AllRelevant(this.#world, peer), peer)
  }

  /** A tick was stepped for the first time: says what we write of it. `isOurs` knows which of our objects are ours to write. @hot */
  speak(predicted: World, isOurs: (id: number) => boolean): void {
    const { tick } = predicted
    const isBegun = this.#timeline.newest >= 0
    // The clock was set back: what was said of these ticks stands.
    if (isBegun && tick <= this.#timeline.newest) return
    if (isBegun) this.#standStill(tick - 1)
    for (let type = 0; type < predicted.stores.length; type++) if (predicted.stores[type].isShared) this.#copy(predicted, type, isOurs)
    // Who owns nothing says nothing.
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

  /** The clock was set forward: nothing is known of the ticks between, so all stood still in them. */
  #standStill(until: Tick): void {
    while (this.#timeline.newest < until) this.#sample(this.#timeline.newest + 1)
  }

  #sample(tick: Tick): void {
    this.#world.tick = tick
    this.#world.sample()
    this.#timeline.sample()
  }

  /** What came back to us is said whole: ticks here run ahead of the token's, and do not tell what was said by which. */
  #sayToken(id: ObjectId): void {
    const token = this.#tokens.authorityTickAt(indexOf(id))
    const said = this.#said.get(id)
    if (said === token) return
    this.#said.set(id, token)
    if (said !== undefined) this.source.handleWanted(id)
  }

  #copy(predicted: World, type: number, isOurs: (id: number) => boolean): void {
    const world = this.#world
    const spoken = world.stores[type]
    for (const handle of spoken.living()) {
      const { id } = handle
      const isStill = predicted.objects.isAlive(id) && predicted.objects.ownerAt(indexOf(id)) === this.#peer && isOurs(id)
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
