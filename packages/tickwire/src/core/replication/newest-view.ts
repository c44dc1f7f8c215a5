/**
 * Shows the newest row of every object that is held, in a world of views: no interpolation, no prediction.
 *
 * The plainest use of `HeldObjects.drain`, and what a spectator of numbers needs.
 */

import { assert } from '../base/assert.ts'
import type { ObjectId, PeerId } from '../base/time.ts'
import type { Handle } from '../world/handle.ts'
import type { Timeline } from '../world/timeline.ts'
import type { World } from '../world/world.ts'
import type { HeldObserver } from './held-objects.ts'
import type { SnapshotSink } from './snapshot-sink.ts'

export class NewestView implements HeldObserver {
  readonly #world: World
  readonly #timeline: Timeline
  readonly #sink: SnapshotSink

  constructor(world: World, timeline: Timeline, sink: SnapshotSink) {
    this.#world = world
    this.#timeline = timeline
    this.#sink = sink
  }

  /** Brings the view up to what is held. */
  refresh(): void {
    this.#world.tick = Math.max(this.#world.tick, this.#sink.tick)
    this.#sink.held.drain(this)
  }

  onEntered(id: ObjectId, type: number, owner: PeerId): void {
    this.#load(this.#world.seat(type, id, owner), type)
  }

  onChanged(id: ObjectId, type: number, owner: PeerId): void {
    const handle = this.#world.atIndexOf(id)
    assert(handle !== undefined && handle.id === id, 'who changes is in view')
    if (handle.owner !== owner) this.#world.setOwner(handle, owner)
    this.#load(handle, type)
  }

  onLeft(id: ObjectId): void {
    const handle = this.#world.atIndexOf(id)
    assert(handle !== undefined && handle.id === id, 'who leaves was in view')
    this.#world.unseat(handle)
  }

  #load(handle: Handle, type: number): void {
    const at = this.#timeline.findLatest(type, handle.id)
    assert(at >= 0, 'the newest row of who is held is remembered')
    handle.$store.load(handle, this.#timeline.pools[type].rows, at)
  }
}
