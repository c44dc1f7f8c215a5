/**
 * The rows that one client has written, for objects that it owns or owned, as they arrive at the server.
 *
 * They are snapshots like those of the server (snapshot-sink.ts), in a sparse Timeline of their own. Nothing here
 * touches the world: `AcceptedWrites` asks for the row of a tick whose writer the client was. Rows that the client had
 * no right to write are counted on arrival and never applied:
 *
 *   forged   the client never owned the object, or only the server may write it, or the row names a different owner
 *   late     the client owned it once and does not know of the transfer yet. Honest clients do this in every transfer
 *   ahead    the row is of a tick that the client cannot have stepped yet
 */

import { WRITTEN_VALUES_PER_WINDOW } from '../../base/limits.ts'
import type { Millis, ObjectId, PeerId, Tick } from '../../base/time.ts'
import type { BitReader } from '../../bits/bit-reader.ts'
import type { RowCoder } from '../../codec/row-coder.ts'
import type { FrameSink, FrameVerdict } from '../../packet/frame-source.ts'
import { indexOf } from '../../world/object-table.ts'
import { Timeline } from '../../world/timeline.ts'
import type { World } from '../../world/world.ts'
import type { HeldObserver } from '../receive/held-objects.ts'
import { SnapshotSink } from '../snapshot-sink.ts'
import type { ClaimBook } from './claim-book.ts'

/** Rows that a client wrote without the right to. Counted, never thrown. */
export class WriteRefusals {
  /** Rows of objects that the client never owned, or that are not shared. */
  forged = 0
  /** Rows of an object that the client owned before, and no longer owns. */
  late = 0
  /** Rows of ticks too far in the future. */
  ahead = 0
  /** Frames that arrived after the client had written too many new texts, byte strings and lists. */
  values = 0
}

export interface WrittenRowsOptions {
  /** Ticks that are stored; the same as on the writing side. */
  readonly windowTicks: number
  /** Ticks that a client may be ahead of the server. */
  readonly aheadTicks: number
  /** Indexed by type; the same kind as on the writing side. Default: packed coders. */
  readonly coders?: readonly RowCoder[]
}

/** How many claims back a former owner is still recognised: all that the book stores. */
const TOKENS_BACK = 8

export class WrittenRows implements FrameSink, HeldObserver {
  readonly peer: PeerId
  readonly sink: SnapshotSink
  readonly timeline: Timeline
  readonly refusals: WriteRefusals = new WriteRefusals()
  readonly #world: World
  readonly #book: ClaimBook
  readonly #aheadTicks: number
  /** Values new to the world's heap since `#windowFrom`. */
  #newValues = 0
  #windowFrom: Tick = 0
  /**
   * Indexed by object index: the newest claim that the client writes by, and the first tick of its rows with that
   * claim. A client that regained an object and does not know it yet still writes by the old claim.
   */
  #claims = new Float64Array(0)
  #claimsFrom = new Float64Array(0)

  constructor(peer: PeerId, world: World, book: ClaimBook, options: WrittenRowsOptions) {
    this.peer = peer
    this.#world = world
    this.#book = book
    this.#aheadTicks = options.aheadTicks
    this.timeline = new Timeline(world, options.windowTicks)
    this.sink = new SnapshotSink(world, this.timeline, options.coders === undefined ? {} : { coders: options.coders })
  }

  accept(now: Millis, sequence: number, frame: BitReader): FrameVerdict {
    // The client was sent every object that it may write: a higher index never existed.
    this.sink.indexMax = this.#world.objects.highWater - 1
    const { tick, heap } = this.#world
    if (tick >= this.#windowFrom + this.timeline.windowTicks) {
      this.#windowFrom = tick
      this.#newValues = 0
    }
    // All clients share the world's heap: one client must not fill it. A frame that is not acknowledged is sent again.
    if (this.#newValues >= WRITTEN_VALUES_PER_WINDOW) {
      this.refusals.values++
      return 'no-ack'
    }
    const addedBefore = heap.addedCount
    const verdict = this.sink.accept(now, sequence, frame)
    this.#newValues += heap.addedCount - addedBefore
    this.sink.held.drain(this)
    return verdict
  }

  /**
   * The client's row of an object in a tick that a claim gives to it; -1 when there is none, or when the client did not
   * know of the claim. @hot
   */
  find(type: number, id: ObjectId, tick: Tick, claimTick: Tick): number {
    const index = indexOf(id)
    if (index >= this.#claims.length || claimTick > this.#claims[index]) return -1
    if (claimTick === this.#claims[index] && tick < this.#claimsFrom[index]) return -1
    const at = this.timeline.find(type, id, tick)
    return at >= 0 && this.timeline.owner(type, id, tick) === this.peer ? at : -1
  }

  /** Releases the rows, once the client is gone. */
  close(): void {
    this.#world.dropValuesOf(this.timeline)
    this.#world.dropValuesOf(this.sink.held)
  }

  onEntered(id: ObjectId, type: number, owner: PeerId): void {
    this.#judge(id, type, owner)
  }

  onChanged(id: ObjectId, type: number, owner: PeerId): void {
    this.#judge(id, type, owner)
  }

  onLeft(): void {
    // The client no longer writes it. The server, not the client, decides which peer does.
  }

  #judge(id: ObjectId, type: number, owner: PeerId): void {
    const { refusals } = this
    const { held } = this.sink
    const tick = held.receivedAt[indexOf(id)]
    this.#note(indexOf(id), held.authorityTicks[indexOf(id)], tick)
    if (!this.#world.stores[type].isShared || owner !== this.peer) refusals.forged++
    else if (tick > this.#world.tick + this.#aheadTicks) refusals.ahead++
    else if (this.#book.writerAt(id, tick) !== this.peer && this.#world.objects.isAlive(id)) {
      if (this.#hasHeld(id)) refusals.late++
      else refusals.forged++
    }
  }

  #note(index: number, claim: Tick, tick: Tick): void {
    if (index >= this.#claims.length) {
      const [claims, from] = [this.#claims, this.#claimsFrom]
      this.#claims = new Float64Array(2 * index + 64).fill(-1)
      this.#claims.set(claims)
      this.#claimsFrom = new Float64Array(2 * index + 64)
      this.#claimsFrom.set(from)
    }
    if (claim === this.#claims[index]) return
    // Rows of a first ownership cannot be confused with those of an earlier one.
    this.#claimsFrom[index] = this.#claims[index] < 0 ? 0 : tick
    this.#claims[index] = claim
  }

  #hasHeld(id: ObjectId): boolean {
    for (let back = 0; back < TOKENS_BACK; back++) if (this.#book.ownerBack(id, back) === this.peer) return true
    return false
  }
}
