/**
 * Passes received rows on: to the interpolator, which draws them; to the predictor, which compares them; and to the
 * client's side of shared objects, which learns the owner.
 */

import type { ObjectId, PeerId } from '../base/time.ts'
import type { Interpolator } from '../interpolate/interpolator.ts'
import type { Predictor } from '../predict/predictor.ts'
import { createReceivedRow, type ReceivedRow } from '../predict/truth.ts'
import type { HeldObserver } from '../replication/receive/held-objects.ts'
import type { SnapshotSink } from '../replication/snapshot-sink.ts'
import { indexOf } from '../world/object-table.ts'
import type { Timeline } from '../world/timeline.ts'
import type { World } from '../world/world.ts'
import type { ClientAuthority } from './client-authority.ts'

/** The part of `ClientAuthority` that receives rows. */
export type SharedRows = Pick<ClientAuthority, 'handleReceived' | 'handleGone'>

export class ViewSink implements HeldObserver {
  /** Undefined when nothing is predicted. */
  predictor: Predictor | undefined = undefined
  readonly #world: World
  readonly #confirmed: Timeline
  readonly #snapshots: SnapshotSink
  readonly #interpolator: Interpolator
  readonly #shared: SharedRows | undefined
  /** The row that is being passed on. Reused for each. */
  readonly #row: ReceivedRow = createReceivedRow()

  constructor(
    world: World,
    confirmed: Timeline,
    snapshots: SnapshotSink,
    interpolator: Interpolator,
    shared: SharedRows | undefined,
  ) {
    this.#world = world
    this.#confirmed = confirmed
    this.#snapshots = snapshots
    this.#interpolator = interpolator
    this.#shared = shared
  }

  /** Passes on everything that was received since the last call. */
  absorb(): void {
    this.#snapshots.held.drain(this)
  }

  onEntered(id: ObjectId, type: number, owner: PeerId): void {
    this.#interpolator.enter(type, id, this.#snapshots.held.receivedAt[indexOf(id)])
    this.#pass(id, type, owner)
  }

  onChanged(id: ObjectId, type: number, owner: PeerId): void {
    this.#pass(id, type, owner)
  }

  onLeft(id: ObjectId): void {
    const tick = Math.max(this.#snapshots.held.floors[indexOf(id)], 0)
    this.#interpolator.leave(id, tick)
    this.predictor?.handleGone(tick, id)
    this.#shared?.handleGone(id)
  }

  #pass(id: ObjectId, type: number, owner: PeerId): void {
    const { held } = this.#snapshots
    if (this.#world.stores[type].isShared) this.#shared?.handleReceived(id, owner, held)
    const { predictor } = this
    if (predictor === undefined) return
    const index = indexOf(id)
    const row = this.#row
    row.tick = this.#confirmed.changedAt(id)
    row.type = type
    row.id = id
    row.owner = owner
    row.rows = this.#confirmed.pools[type].rows
    row.at = this.#confirmed.findLatest(type, id)
    row.birthTick = Math.max(held.birthTicks[index], 0)
    row.birthOrdinal = Math.max(held.birthOrdinals[index], 0)
    row.authorityTick = held.authorityTicks[index]
    if (row.at >= 0) predictor.handleRow(row)
  }
}
