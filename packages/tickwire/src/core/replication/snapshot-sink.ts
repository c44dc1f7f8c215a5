/**
 * Receives snapshots. Each row is stored in the sparse Timeline at its tick, in whatever order packets arrive.
 *
 * Staleness is judged per object, never per packet. A row older than the newest row of its object is stored and changes
 * nothing else. `held` records which objects entered, changed and left; `held.drain` reports them.
 *
 *   'ok'       every entry was read and stored: the authority may use it as a baseline
 *   'no-ack'   a baseline is missing, or the tick is older than the window: the entries before it are kept and the rest
 *              of the frame cannot be read; the full row is requested if the entry would have been news
 *   'broken'   no honest peer sends this
 *
 * Invariant: the row stored for (object, tick) is the authority's row at that tick, in the field set sent to this
 * receiver.
 *
 * This class does not draw, predict or interpolate.
 */

import { OBJECTS_MAX, UNDECODABLE_FRAMES_MAX } from '../base/limits.ts'
import type { Millis, ObjectId, PeerId, Tick } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import { readVarint } from '../bits/varint.ts'
import { RowPair, type FieldSet, type RowCoder } from '../codec/row-coder.ts'
import type { FrameSink, FrameVerdict } from '../packet/frame-source.ts'
import type { Timeline } from '../world/timeline.ts'
import type { World } from '../world/world.ts'
import { KIND, NO_ENTRY, readAge, readKind, readHead } from './encode/entry-code.ts'
import { HeldObjects } from './receive/held-objects.ts'
import { REASON, type Probe, type RowProbe } from './probe.ts'
import { packedCoders, typeBits } from './replicator.ts'
import { WantedRows } from './receive/wanted-rows.ts'

export interface SnapshotSinkOptions {
  /** Indexed by type; the same kind on both sides. Default: packed coders. */
  readonly coders?: readonly RowCoder[]
  /** Ticks from one snapshot to the next; the same on both sides. Default: 1. */
  readonly strideTicks?: number
}

const NO_TICK = -1
const NO_ROW = -1
const GENERATIONS = 65_536
const ID_MAX = 0xffff_ffff
const ORDINAL_MAX = 0xffff

// Imported constants copied into the module: an import is loaded again at each read.
const { entered: ENTERED, changed: CHANGED, full: FULL, gone: GONE } = REASON

export class SnapshotSink implements FrameSink {
  /** The newest tick received; -1 before the first. */
  tick: Tick = NO_TICK
  /** The newest tick accepted. An authority that is a client cannot have stepped further than this. */
  tickMax: Tick = Number.MAX_SAFE_INTEGER
  /** The highest object index accepted. It bounds the length of the tables. */
  indexMax: number = OBJECTS_MAX - 1
  /** Frames that could not be read to the end because a baseline was missing. */
  undecodableCount = 0
  /** Entries older than the newest known row of their object. */
  staleCount = 0
  /**
   * Called for every entry read, like the sender's probe for every entry written. The receiver cannot tell that a row
   * was lost: it reports `changed`.
   */
  probe: (Probe & Partial<RowProbe>) | undefined = undefined
  readonly held: HeldObjects
  /** Full rows to request. Must be added to the connection as a source. */
  readonly wanted: WantedRows = new WantedRows()
  readonly #world: World
  readonly #timeline: Timeline
  /** The coders of the handshake, and the coders of the current frame. */
  readonly #ownCoders: readonly RowCoder[]
  #coders: readonly RowCoder[]
  readonly #typeBits: number
  readonly strideTicks: number
  readonly #pair = new RowPair()
  /** The row being read, and a copy of its baseline: storing a row may move the pools. */
  readonly #row: Int32Array
  readonly #base: Int32Array
  /** The age of the last delta's baseline, and whether the row before that baseline was used. 0: no delta yet. */
  #age = 0
  #hasOlder = false
  #reason: number = CHANGED
  #undecodableRun = 0

  /** `timeline` is filled. It must belong to `world`, whose heap holds its values. */
  constructor(world: World, timeline: Timeline, options: SnapshotSinkOptions = {}) {
    this.held = new HeldObjects(world)
    this.#world = world
    this.#timeline = timeline
    this.#ownCoders = options.coders ?? packedCoders(world)
    this.#coders = this.#ownCoders
    this.#typeBits = typeBits(world)
    this.strideTicks = options.strideTicks ?? 1
    const lanes = world.stores.reduce((most, store) => Math.max(most, store.schema.laneCount), 0)
    this.#row = new Int32Array(lanes)
    this.#base = new Int32Array(lanes)
  }

  /** Reads a frame with the coders of the handshake, unless other coders are given. @hot */
  accept(
    _now: Millis,
    _sequence: number,
    frame: BitReader,
    coders: readonly RowCoder[] = this.#ownCoders,
  ): FrameVerdict {
    this.#coders = coders
    const frameBits = frame.bitsLeft
    const tick = readVarint(frame)
    if (tick > this.tickMax) frame.fail()
    let index = -1
    let isDecodable = true
    let entryBits = 0
    const from = frame.bitPosition
    this.#age = 0
    this.#hasOlder = false
    while (isDecodable && !frame.failed) {
      const step = readHead(frame, index)
      if (step === NO_ENTRY) break
      index += step >> 1
      if (index > this.indexMax) frame.fail()
      isDecodable = this.#acceptEntry(frame, tick, index, (step & 1) === 1)
      if (this.probe !== undefined && !frame.failed)
        entryBits = this.#show(this.probe, index, entryBits, frame.bitPosition - from)
    }
    if (frame.failed || (isDecodable && !frame.finish())) return 'broken'
    if (tick > this.tick) this.tick = tick
    if (this.probe !== undefined) this.probe.onFrame(0, tick, frameBits - entryBits, entryBits)
    this.#world.collectValues()
    if (isDecodable) {
      this.#undecodableRun = 0
      return 'ok'
    }
    return this.refuse()
  }

  /**
   * Counts a frame that cannot be read to its end: the sender must not use it as a baseline. A peer that sends only
   * such frames is broken.
   */
  refuse(): FrameVerdict {
    this.undecodableCount++
    return ++this.#undecodableRun > UNDECODABLE_FRAMES_MAX ? 'broken' : 'no-ack'
  }

  /** Reports one entry to the probe. Returns the bits of all entries so far. */
  #show(probe: Probe, index: number, bitsBefore: number, bits: number): number {
    probe.onEntry(0, index, this.held.types[index], this.#reason, bits - bitsBefore)
    return bits
  }

  /** Reads one entry. Returns false when the entry, and so the rest of the frame, cannot be read. @hot */
  #acceptEntry(frame: BitReader, tick: Tick, index: number, isPlain: boolean): boolean {
    if (frame.failed) return true
    this.held.reserve(index + 1)
    const kind = isPlain ? KIND.delta : readKind(frame)
    this.#reason =
      kind === KIND.gone ? GONE : kind !== KIND.full ? CHANGED : this.held.ids[index] === 0 ? ENTERED : FULL
    if (kind === KIND.full) return this.#acceptFull(frame, tick, index)
    if (kind === KIND.gone) {
      const isDespawned = frame.readBits(1) === 1
      if (!frame.failed) this.#acceptGone(tick, index, isDespawned)
      return true
    }
    const isRested = !isPlain && this.#readManner(frame, kind)
    if (this.#age === 0 || this.#age > tick) frame.fail()
    return frame.failed || this.#acceptDelta(frame, tick, index, kind, isRested)
  }

  /**
   * Reads what a plain delta inherits from the delta before it: the age of the baseline, and whether the row before the
   * baseline is used. Returns whether the object was at rest.
   */
  #readManner(frame: BitReader, kind: number): boolean {
    const age = readAge(frame)
    const isRested = age > 1 && frame.readBits(1) === 1
    const hasOlder = kind !== KIND.same && !isRested && frame.readBits(1) === 1
    // An unchanged manner has an encoding of one bit: an entry must not have two encodings.
    if (kind === KIND.delta && !isRested && age === this.#age && hasOlder === this.#hasOlder) frame.fail()
    this.#age = age
    this.#hasOlder = hasOlder
    return isRested
  }

  #acceptGone(tick: Tick, index: number, isDespawned: boolean): void {
    const { held } = this
    if (tick > held.floors[index]) held.floors[index] = tick
    if (held.ids[index] === 0 || tick <= held.receivedAt[index]) {
      this.staleCount++
      return
    }
    this.wanted.settle(held.ids[index])
    held.leave(index, isDespawned)
  }

  #acceptFull(frame: BitReader, tick: Tick, index: number): boolean {
    const generation = frame.readBits(16)
    const type = frame.readBits(this.#typeBits)
    const set = frame.readBits(2)
    const owner = readVarint(frame)
    if (generation === 0 || type >= this.#coders.length || set > 2 || owner > ID_MAX) frame.fail()
    const authorityTick = frame.failed ? 0 : this.#readClaim(frame, tick, type)
    let birthTick = NO_TICK
    let ordinal = NO_TICK
    if (frame.readBits(1) === 1) {
      birthTick = tick - readVarint(frame)
      ordinal = readVarint(frame)
      if (birthTick < 0 || ordinal > ORDINAL_MAX) frame.fail()
    }
    if (frame.failed) return true
    const pair = this.#pair
    pair.baseRows = this.#world.stores[type].schema.initialRow
    pair.baseAt = 0
    pair.age = 0
    pair.olderAt = NO_ROW
    this.#read(frame, type, set)
    if (frame.failed) return true
    const id = index * GENERATIONS + generation
    if (this.#isContradicted(tick, index, id, type)) {
      frame.fail()
      return true
    }
    if (!this.#timeline.put(tick, type, id, owner, this.#row, 0)) return false
    this.#hold(tick, index, id, type, set, owner)
    if (this.held.ids[index] === id && this.held.receivedAt[index] === tick)
      this.held.authorityTicks[index] = authorityTick
    if (this.held.ids[index] === id && birthTick !== NO_TICK) {
      this.held.birthTicks[index] = birthTick
      this.held.birthOrdinals[index] = ordinal
    }
    return true
  }

  /** Whether the Timeline already has a different object at this index and tick. */
  #isContradicted(tick: Tick, index: number, id: ObjectId, type: number): boolean {
    const references = this.#timeline.references(tick)
    return index < references.length && references[index] !== 0 && this.#timeline.find(type, id, tick) < 0
  }

  /** Records a full row: which object is held, and from which tick on its rows may be baselines. */
  #hold(tick: Tick, index: number, id: ObjectId, type: number, set: number, owner: PeerId): void {
    const { held } = this
    const isHeld = held.ids[index] === id && held.types[index] === type && held.sets[index] === set
    if (tick <= held.receivedAt[index] || tick <= held.floors[index]) {
      // The row belongs to a different object, type or field set: no row up to this tick is a baseline of the held
      // object.
      if (!isHeld && tick > held.floors[index]) held.floors[index] = tick
      this.staleCount++
      return
    }
    if (!isHeld) {
      if (held.receivedAt[index] > held.floors[index]) held.floors[index] = held.receivedAt[index]
      if (held.ids[index] === id && held.types[index] === type) {
        held.unname(index)
        held.sets[index] = set
      } else {
        if (held.ids[index] !== 0) this.wanted.settle(held.ids[index])
        held.enter(index, id, type, set)
      }
    }
    this.wanted.settle(id)
    held.receivedAt[index] = tick
    held.owners[index] = owner
    held.touch(index)
  }

  #acceptDelta(frame: BitReader, tick: Tick, index: number, kind: number, isRested: boolean): boolean {
    const { held } = this
    const type = held.types[index]
    const baseTick = tick - this.#age
    const id = held.ids[index]
    const owner = kind === KIND.deltaOwned ? readVarint(frame) : held.owners[index]
    if (owner > ID_MAX) frame.fail()
    const isBased = id !== 0 && baseTick > held.floors[index] && this.#findBase(index, id, type, baseTick)
    if (!isBased) return this.#refuse(tick, index)
    if (frame.failed) return true
    if (kind === KIND.deltaOwned) this.#claim = this.#readClaim(frame, tick, type)
    const pair = this.#pair
    pair.age = this.#age
    pair.olderAt = NO_ROW
    if (isRested) {
      pair.age = 1
      pair.olderRows = this.#base
      pair.olderAt = 0
      pair.olderTicks = 1
    } else if (this.#hasOlder) {
      if (this.#coders[type].usesOlder !== true) {
        frame.fail()
        return true
      }
      const olderTick = baseTick - this.strideTicks
      pair.olderAt = olderTick > held.floors[index] ? this.#timeline.find(type, id, olderTick) : NO_ROW
      pair.olderTicks = this.strideTicks
      pair.olderRows = this.#timeline.pools[type].rows
      if (pair.olderAt < 0) return this.#refuse(tick, index)
    }
    if (kind === KIND.same) this.#row.set(this.#base)
    else this.#read(frame, type, held.sets[index])
    if (frame.failed) return true
    const isNews = tick > held.receivedAt[index]
    const isStored = this.#store(tick, index, kind === KIND.deltaOwned ? owner : this.#baseOwner, baseTick, isRested)
    if (isStored && isNews && kind === KIND.deltaOwned) held.authorityTicks[index] = this.#claim
    return isStored
  }

  /** Reads the first tick that the owner of a shared object writes, sent relative to `tick`; 0 for other objects. */
  #readClaim(frame: BitReader, tick: Tick, type: number): Tick {
    if (!this.#world.stores[type].isShared) return 0
    const since = readVarint(frame)
    if (since > tick + 1) frame.fail()
    return tick + 1 - since
  }

  #claim: Tick = 0

  /** The owner stored with the baseline last found. */
  #baseOwner: PeerId = 0

  /** Copies the newest row up to the baseline's tick into `#base`, if it is still stored. */
  #findBase(index: number, id: ObjectId, type: number, tick: Tick): boolean {
    const { held } = this
    const timeline = this.#timeline
    let pool = timeline.pools[type]
    let at = timeline.find(type, id, tick)
    const isExact = at >= 0
    if (!isExact) {
      const changedAt = timeline.changedAt(id)
      const known = changedAt > tick ? timeline.lastKnown(type, id, tick, 0) : changedAt
      if (known > held.floors[index])
        at = known === changedAt ? timeline.findLatest(type, id) : timeline.find(type, id, known)
    }
    if (at < 0 && held.namedTicks[index] === tick) {
      pool = held.pools[type]
      at = held.namedRows[index] * pool.laneCount
    }
    if (at < 0) return false
    for (let lane = 0; lane < pool.laneCount; lane++) this.#base[lane] = pool.rows[at + lane]
    this.#baseOwner = pool.owners[at / pool.laneCount]
    // The row was valid until this tick. Storing it here keeps it findable after the tick of its change leaves the
    // window.
    if (!isExact) timeline.put(tick, type, id, this.#baseOwner, this.#base, 0)
    this.#pair.baseRows = this.#base
    this.#pair.baseAt = 0
    return true
  }

  /** A baseline is missing. The full row is requested only if the entry would have been news. */
  #refuse(tick: Tick, index: number): boolean {
    const { held } = this
    if (held.ids[index] !== 0 && tick > held.receivedAt[index]) this.wanted.ask(held.ids[index])
    else this.staleCount++
    return false
  }

  #read(frame: BitReader, type: number, set: number): void {
    const pair = this.#pair
    pair.rows = this.#row
    pair.at = 0
    this.#coders[type].read(frame, fieldSet(set), pair, this.#world.heap)
    if (this.probe !== undefined && !frame.failed) this.probe.onRow?.(type, set, pair)
  }

  /**
   * The baseline's row was valid until the tick before. Stores it there, and one stride before `tick`, where the next
   * delta may look for it.
   */
  #rest(tick: Tick, id: ObjectId, type: number, baseTick: Tick): void {
    const timeline = this.#timeline
    const older = tick - this.strideTicks
    if (older > baseTick && timeline.find(type, id, older) < 0)
      timeline.put(older, type, id, this.#baseOwner, this.#base, 0)
    if (timeline.find(type, id, tick - 1) < 0) timeline.put(tick - 1, type, id, this.#baseOwner, this.#base, 0)
  }

  /** Stores a row that was decoded against a baseline. */
  #store(tick: Tick, index: number, owner: PeerId, baseTick: Tick, isRested: boolean): boolean {
    const { held } = this
    const timeline = this.#timeline
    const id = held.ids[index]
    const type = held.types[index]
    const isNews = tick > held.receivedAt[index]
    // The object was at rest until the tick before. Without that row, interpolation would spread its start over the
    // whole rest.
    if (isRested) this.#rest(tick, id, type, baseTick)
    if (!timeline.put(tick, type, id, owner, this.#row, 0)) return false
    if (!isNews) {
      this.staleCount++
      return true
    }
    held.name(index, baseTick, this.#baseOwner, this.#base, 0)
    held.receivedAt[index] = tick
    held.owners[index] = owner
    held.touch(index)
    return true
  }
}

function fieldSet(set: number): FieldSet {
  return set === 0 ? 0 : set === 1 ? 1 : 2
}
