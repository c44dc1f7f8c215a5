/**
 * What one player has written: rows of objects that are, or were, his to write, as they arrive at the server.
 *
 * They are snapshots like those of the server (snapshot-sink.ts), in a sparse Timeline of their own. Nothing here touches
 * the world: `AcceptedWrites` asks for the row of a tick whose writer he was. What he had no right to write is counted as it
 * comes and goes no further:
 *
 *   forged   he has never held the object, or it is the server's by definition, or he writes in another's name
 *   late     he held it once: he has not heard yet that another does. Honest players do this in every transfer
 *   ahead    of a tick that he cannot have stepped yet
 */

import type { Millis, ObjectId, PeerId, Tick } from '../../base/time.ts'
import type { BitReader } from '../../bits/bit-reader.ts'
import type { RowCoder } from '../../codec/row-coder.ts'
import type { FrameSink, FrameVerdict } from '../../packet/frame-source.ts'
import { indexOf } from '../../world/object-table.ts'
import { Timeline } from '../../world/timeline.ts'
import type { World } from '../../world/world.ts'
import type { HeldObserver } from '../held-objects.ts'
import { SnapshotSink } from '../snapshot-sink.ts'
import type { TokenBook } from './token-book.ts'

/** What a player wrote without the right to. Counted, never thrown. */
export class WriteRefusals {
  forged = 0
  late = 0
  ahead = 0
}

export interface WrittenRowsOptions {
  /** Ticks that are remembered; the same as those of who writes. */
  readonly windowTicks: number
  /** Ticks that a player may be ahead of the server. */
  readonly aheadTicks: number
  /** By type; the same kind as those of who writes. Default: packed coders. */
  readonly coders?: readonly RowCoder[]
}

/** Tokens back that somebody is still known to have held an object: all that are remembered. */
const TOKENS_BACK = 8

export class WrittenRows implements FrameSink, HeldObserver {
  readonly peer: PeerId
  readonly sink: SnapshotSink
  readonly timeline: Timeline
  readonly refusals: WriteRefusals = new WriteRefusals()
  readonly #world: World
  readonly #book: TokenBook
  readonly #aheadTicks: number
  /** By index: the newest token that he writes by, and the first tick he said so of. Who regains an object without knowing writes by the old one. */
  #tokens = new Float64Array(0)
  #tokensFrom = new Float64Array(0)

  constructor(peer: PeerId, world: World, book: TokenBook, options: WrittenRowsOptions) {
    this.peer = peer
    this.#world = world
    this.#book = book
    this.#aheadTicks = options.aheadTicks
    this.timeline = new Timeline(world, options.windowTicks)
    this.sink = new SnapshotSink(world, this.timeline, options.coders === undefined ? {} : { coders: options.coders })
  }

  accept(now: Millis, sequence: number, frame: BitReader): FrameVerdict {
    // He was told of every object that he may speak of: a higher index is one that never was.
    this.sink.indexMax = this.#world.objects.highWater - 1
    const verdict = this.sink.accept(now, sequence, frame)
    this.sink.held.drain(this)
    return verdict
  }

  /** His row of an object in a tick that is his by a token; -1 when there is none, or he did not know that it is. @hot */
  find(type: number, id: ObjectId, tick: Tick, tokenTick: Tick): number {
    const index = indexOf(id)
    if (index >= this.#tokens.length || tokenTick > this.#tokens[index]) return -1
    if (tokenTick === this.#tokens[index] && tick < this.#tokensFrom[index]) return -1
    const at = this.timeline.find(type, id, tick)
    return at >= 0 && this.timeline.owner(type, id, tick) === this.peer ? at : -1
  }

  /** Lets go of what it holds, once he is gone. */
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
    // He no longer writes it. Who does is decided here, not there.
  }

  #judge(id: ObjectId, type: number, owner: PeerId): void {
    const { refusals } = this
    const { held } = this.sink
    const tick = held.tellings[indexOf(id)]
    this.#note(indexOf(id), held.authorityTicks[indexOf(id)], tick)
    if (!this.#world.stores[type].isShared || owner !== this.peer) refusals.forged++
    else if (tick > this.#world.tick + this.#aheadTicks) refusals.ahead++
    else if (this.#book.writerAt(id, tick) !== this.peer && this.#world.objects.isAlive(id)) {
      if (this.#hasHeld(id)) refusals.late++
      else refusals.forged++
    }
  }

  #note(index: number, token: Tick, tick: Tick): void {
    if (index >= this.#tokens.length) {
      const [tokens, from] = [this.#tokens, this.#tokensFrom]
      this.#tokens = new Float64Array(2 * index + 64).fill(-1)
      this.#tokens.set(tokens)
      this.#tokensFrom = new Float64Array(2 * index + 64)
      this.#tokensFrom.set(from)
    }
    if (token === this.#tokens[index]) return
    // Rows of a first stay cannot be taken for those of an earlier one.
    this.#tokensFrom[index] = this.#tokens[index] < 0 ? 0 : tick
    this.#tokens[index] = token
  }

  #hasHeld(id: ObjectId): boolean {
    for (let back = 0; back < TOKENS_BACK; back++) if (this.#book.ownerBack(id, back) === this.peer) return true
    return false
  }
}
