/**
 * The world as it arrives at a client: each snapshot newer than the last replaces what the view shows.
 *
 * An older snapshot is understood, acknowledged and not shown. What makes no sense (an entity the game does not have,
 * ids out of order, a row that breaks its bounds) breaks the connection: the authority does not send nonsense.
 */

import { OBJECTS_MAX } from '../base/limits.ts'
import type { Millis, ObjectId, PeerId, Tick } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import { readVarint } from '../bits/varint.ts'
import type { FrameSink, FrameVerdict } from '../packet/frame-source.ts'
import { readDelta } from '../schema/row-delta.ts'
import type { Handle } from '../world/handle.ts'
import { indexOf, NO_TYPE } from '../world/object-table.ts'
import type { World } from '../world/world.ts'
import { FOR_OWNER, TYPE_BITS } from './snapshot-source.ts'

export class SnapshotSink implements FrameSink {
  /** Who we are: only the owner is sent an object's owner fields. */
  peer: PeerId = 0
  /** The newest tick shown; -1 before the first. */
  tick: Tick = -1
  readonly #view: World
  readonly #row: Int32Array
  /** By object index: the snapshot that last named it. */
  readonly #namedBy = new Float64Array(OBJECTS_MAX).fill(-1)

  constructor(view: World) {
    this.#view = view
    this.#row = new Int32Array(view.stores.reduce((most, store) => Math.max(most, store.schema.laneCount), 0))
  }

  /** @hot */
  accept(_now: Millis, _sequence: number, frame: BitReader): FrameVerdict {
    const tick = readVarint(frame)
    const count = readVarint(frame)
    if (count > OBJECTS_MAX) frame.fail()
    const isNews = tick > this.tick
    let before = -1
    for (let seen = 0; seen < count && !frame.failed; seen++) before = this.#acceptObject(frame, tick, before, isNews)
    if (!frame.finish()) return 'broken'
    if (!isNews) return 'ok'
    this.tick = tick
    this.#view.tick = tick
    this.#dropUnnamed(tick)
    this.#view.collectValues()
    return 'ok'
  }

  /** Reads one object; returns its index. */
  #acceptObject(frame: BitReader, tick: Tick, before: number, isNews: boolean): number {
    const id = readVarint(frame)
    const type = frame.readBits(TYPE_BITS)
    const owner = readVarint(frame)
    const index = indexOf(id)
    const store = this.#view.stores[type]
    if (store === undefined || index <= before || id > 0xffff_ffff || id % 65_536 === 0 || owner > 0xffff_ffff) {
      frame.fail()
      return index
    }
    const { schema, heap } = store
    const mask = schema.masks[owner === this.peer ? FOR_OWNER : 0]
    readDelta(frame, schema, mask, this.#row, 0, schema.initialRow, 0, heap)
    if (frame.failed || !isNews) return index
    const handle = this.#seat(id, type, owner)
    handle.$store.load(handle, this.#row, 0)
    this.#namedBy[index] = tick
    return index
  }

  #seat(id: ObjectId, type: number, owner: PeerId): Handle {
    const known = this.#view.atIndexOf(id)
    if (known?.id === id && known.owner === owner) return known
    if (known) this.#view.unseat(known)
    return this.#view.seat(type, id, owner)
  }

  #dropUnnamed(tick: Tick): void {
    const { objects } = this.#view
    for (let index = 0; index < objects.highWater; index++) {
      if (objects.typeAt(index) === NO_TYPE || this.#namedBy[index] === tick) continue
      const handle = this.#view.atIndexOf(objects.idAt(index))
      if (handle) this.#view.unseat(handle)
    }
  }
}
