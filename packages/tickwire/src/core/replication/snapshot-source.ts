/**
 * The world on its way to one client: for now the whole of it, in every packet, against initial rows.
 *
 *   +---------------+--------------+----------------------------------------------------------+
 *   | tick, varint  | count varint | count objects, ascending by id:                          |
 *   |               |              | id varint | type 8 | owner varint | delta from initial   |
 *   +---------------+--------------+----------------------------------------------------------+
 *
 * What does not fit one packet is left out whole, and counted; baselines, interest and priorities come with
 * replication proper and replace this file's `fill`, not its place.
 */

import type { Millis, PeerId, Tick } from '../base/time.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { writeVarint } from '../bits/varint.ts'
import type { FrameSource } from '../packet/frame-source.ts'
import { writeDelta } from '../schema/row-delta.ts'
import { NO_TYPE } from '../world/object-table.ts'
import type { World } from '../world/world.ts'

export const TYPE_BITS = 8
/** Which mask of the layout is whose: `Layout.masks`. */
const FOR_ALL = 0
export const FOR_OWNER = 2

export class SnapshotSource implements FrameSource {
  /** Snapshots that did not fit a packet and were not sent. */
  oversizedCount = 0
  readonly #world: World
  readonly #peer: PeerId
  #sentTick: Tick = -1

  constructor(world: World, peer: PeerId) {
    this.#world = world
    this.#peer = peer
  }

  begin(): void {}

  wantsAt(now: Millis): Millis {
    return this.#world.tick > this.#sentTick ? now : Infinity
  }

  /** @hot */
  fill(_now: Millis, _sequence: number, out: BitWriter): boolean {
    const world = this.#world
    if (world.tick === this.#sentTick) return false
    this.#sentTick = world.tick
    writeVarint(out, world.tick)
    let count = 0
    for (let type = 0; type < world.stores.length; type++) count += world.stores[type].count
    writeVarint(out, count)
    const { objects } = world
    for (let index = 0; index < objects.highWater; index++) {
      if (objects.typeAt(index) !== NO_TYPE) this.#writeObject(out, index)
    }
    if (!out.failed) return true
    this.oversizedCount++
    return false
  }

  onDelivered(): void {}

  onLost(): void {}

  #writeObject(out: BitWriter, index: number): void {
    const { objects, stores, heap } = this.#world
    const type = objects.typeAt(index)
    const { schema, rows } = stores[type]
    const owner = objects.ownerAt(index)
    const mask = schema.masks[owner === this.#peer ? FOR_OWNER : FOR_ALL]
    writeVarint(out, objects.idAt(index))
    out.writeBits(type, TYPE_BITS)
    writeVarint(out, owner)
    writeDelta(out, schema, mask, rows, objects.slotAt(index) * schema.laneCount, schema.initialRow, 0, heap)
  }
}
