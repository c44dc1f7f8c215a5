/**
 * Snapshots as they arrive: each row goes into the sparse Timeline at its tick, in whatever order packets come.
 *
 * Staleness is judged by object and never by packet: a row that is older than the newest one of its object is remembered
 * and changes nothing else. What came, changed and left is in `held`; `held.drain` tells it.
 *
 *   'ok'       every entry was understood and is remembered: the authority may build on it
 *   'no-ack'   a baseline is not here (any more), or the tick is older than the window: what stood before it is kept, the
 *              rest of the frame cannot be read; where it would have been news, the whole row is asked for
 *   'broken'   no honest peer sends this
 *
 * Invariant: the row remembered for (object, tick) is the authority's row at that tick, in the field set we were given.
 *
 * It does not draw, predict or interpolate.
 */

import { OBJECTS_MAX, UNDECODABLE_FRAMES_MAX } from '../base/limits.ts'
import type { Millis, ObjectId, PeerId, Tick } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import { readVarint } from '../bits/varint.ts'
import { RowPair, type FieldSet, type RowCoder } from '../codec/row-coder.ts'
import type { FrameSink, FrameVerdict } from '../packet/frame-source.ts'
import type { Timeline } from '../world/timeline.ts'
import type { World } from '../world/world.ts'
import { KIND, NO_STEP, readAge, readKind, readStep } from './entry-code.ts'
import { HeldObjects } from './held-objects.ts'
import { REASON, type Probe, type RowProbe } from './probe.ts'
import { packedCoders, typeBits } from './replicator.ts'
import { WantedRows } from './wanted-rows.ts'

export interface SnapshotSinkOptions {
  /** By type; the same kind on both sides. Default: packed coders. */
  readonly coders?: readonly RowCoder[]
  /** Ticks from one telling to the next; the same on both sides. Default: 1. */
  readonly strideTicks?: number
}

const NO_TICK = -1
const NO_ROW = -1
const GENERATIONS = 65_536
const ID_MAX = 0xffff_ffff
const ORDINAL_MAX = 0xffff

// Imported constants as the module's own: read through an import they are loaded anew each time.
const { entered: ENTERED, changed: CHANGED, full: FULL, gone: GONE } = REASON

export class SnapshotSink implements FrameSink {
  /** The newest tick told; -1 before the first. */
  tick: Tick = NO_TICK
  /** The newest tick that is believed: an authority that is a client cannot have stepped further than we let it. */
  tickMax: Tick = Number.MAX_SAFE_INTEGER
  /** The highest object index that is believed: tables are as long as that. */
  indexMax: number = OBJECTS_MAX - 1
  /** Frames whose rest could not be read, since a baseline was not here. */
  undecodableCount = 0
  /** Entries that were older than what is known of their object. */
  staleCount = 0
  /** Told of every entry that is read, as the sender's is of those it writes. Here nobody knows that a row was lost: it `changed`. */
  probe: (Probe & Partial<RowProbe>) | undefined = undefined
  readonly held: HeldObjects
  /** What must be asked for; to be added to the connection as a source. */
  readonly wanted: WantedRows = new WantedRows()
  readonly #world: World
  readonly #timeline: Timeline
  /** Of the handshake; and those by which the frame at hand is read. */
  readonly #ownCoders: readonly RowCoder[]
  #coders: readonly RowCoder[]
  readonly #typeBits: number
  readonly #strideTicks: number
  readonly #pair = new RowPair()
  /** The row that is being read, and a copy of its baseline: storing a row may move the pools. */
  readonly #row: Int32Array
  readonly #base: Int32Array
  /** Of the last delta: how old its baseline is, and whether the row before it was used. 0: there was none. */
  #age = 0
  #hasOlder = false
  #reason: number = CHANGED
  #undecodableRun = 0

  /** `timeline` is filled, and is of `world`, whose heap its values live in. */
  constructor(world: World, timeline: Timeline, options: SnapshotSinkOptions = {}) {
    this.held = new HeldObjects(world)
    this.#world = world
    this.#timeline = timeline
    this.#ownCoders = options.coders ?? packedCoders(world)
    this.#coders = this.#ownCoders
    this.#typeBits = typeBits(world)
    this.#strideTicks = options.strideTicks ?? 1
    const lanes = world.stores.reduce((most, store) => Math.max(most, store.schema.laneCount), 0)
    this.#row = new Int32Array(lanes)
    this.#base = new Int32Array(lanes)
  }

  /** Reads a frame, by the tables of the handshake unless others are given. @hot */
  accept(_now: Millis, _sequence: number, frame: BitReader, coders: readonly RowCoder[] = this.#ownCoders): FrameVerdict {
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
      const step = readStep(frame, index)
      if (step === NO_STEP) break
      index += step >> 1
      if (index > this.indexMax) frame.fail()
      isDecodable = this.#acceptEntry(frame, tick, index, (step & 1) === 1)
      if (this.probe !== undefined && !frame.failed) entryBits = this.#show(this.probe, index, entryBits, frame.bitPosition - from)
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

  /** A frame cannot be read to its end: the sender must not build on it. Who sends only such is broken. */
  refuse(): FrameVerdict {
    this.undecodableCount++
    return ++this.#undecodableRun > UNDECODABLE_FRAMES_MAX ? 'broken' : 'no-ack'
  }

  /** Shows an entry that was read to who looks on. Returns the bits of all entries so far. */
  #show(probe: Probe, index: number, bitsBefore: number, bits: number): number {
    probe.onEntry(0, index, this.held.types[index], this.#reason, bits - bitsBefore)
    return bits
  }

  /** Reads one entry; false when it, and so the rest of the frame, cannot be read. @hot */
  #acceptEntry(frame: BitReader, tick: Tick, index: number, isPlain: boolean): boolean {
    if (frame.failed) return true
    this.held.reserve(index + 1)
    const kind = isPlain ? KIND.delta : readKind(frame)
    this.#reason = kind === KIND.gone ? GONE : kind !== KIND.full ? CHANGED : this.held.ids[index] === 0 ? ENTERED : FULL
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

  /** Reads what a plain delta takes from the one before it: how old the baseline is, and whether the row before it is used. Gives whether it rested. */
  #readManner(frame: BitReader, kind: number): boolean {
    const age = readAge(frame)
    const isRested = age > 1 && frame.readBits(1) === 1
    const hasOlder = kind !== KIND.same && !isRested && frame.readBits(1) === 1
    // As before is said by one bit: two spellings of one entry are one too many.
    if (kind === KIND.delta && !isRested && age === this.#age && hasOlder === this.#hasOlder) frame.fail()
    this.#age = age
    this.#hasOlder = hasOlder
    return isRested
  }

  #acceptGone(tick: Tick, index: number, isDespawned: boolean): void {
    const { held } = this
    if (tick > held.floors[index]) held.floors[index] = tick
    if (held.ids[index] === 0 || tick <= held.tellings[index]) {
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
    const authorityTick = frame.failed ? 0 : this.#readToken(frame, tick, type)
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
    if (this.held.ids[index] === id && this.held.tellings[index] === tick) this.held.authorityTicks[index] = authorityTick
    if (this.held.ids[index] === id && birthTick !== NO_TICK) {
      this.held.birthTicks[index] = birthTick
      this.held.birthOrdinals[index] = ordinal
    }
    return true
  }

  /** Whether somebody else was told to live at an index in a tick. */
  #isContradicted(tick: Tick, index: number, id: ObjectId, type: number): boolean {
    const references = this.#timeline.references(tick)
    return index < references.length && references[index] !== 0 && this.#timeline.find(type, id, tick) < 0
  }

  /** A full row has come: who is held, and from when on rows of him can be built upon. */
  #hold(tick: Tick, index: number, id: ObjectId, type: number, set: number, owner: PeerId): void {
    const { held } = this
    const isHeld = held.ids[index] === id && held.types[index] === type && held.sets[index] === set
    if (tick <= held.tellings[index] || tick <= held.floors[index]) {
      // Of somebody or something else than is held now: nothing up to this tick belongs to that.
      if (!isHeld && tick > held.floors[index]) held.floors[index] = tick
      this.staleCount++
      return
    }
    if (!isHeld) {
      if (held.tellings[index] > held.floors[index]) held.floors[index] = held.tellings[index]
      if (held.ids[index] === id && held.types[index] === type) {
        held.unname(index)
        held.sets[index] = set
      } else {
        if (held.ids[index] !== 0) this.wanted.settle(held.ids[index])
        held.enter(index, id, type, set)
      }
    }
    this.wanted.settle(id)
    held.tellings[index] = tick
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
    if (kind === KIND.deltaOwned) this.#token = this.#readToken(frame, tick, type)
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
      const olderTick = baseTick - this.#strideTicks
      pair.olderAt = olderTick > held.floors[index] ? this.#timeline.find(type, id, olderTick) : NO_ROW
      pair.olderTicks = this.#strideTicks
      pair.olderRows = this.#timeline.pools[type].rows
      if (pair.olderAt < 0) return this.#refuse(tick, index)
    }
    if (kind === KIND.same) this.#row.set(this.#base)
    else this.#read(frame, type, held.sets[index])
    if (frame.failed) return true
    const isNews = tick > held.tellings[index]
    const isStored = this.#store(tick, index, kind === KIND.deltaOwned ? owner : this.#baseOwner, baseTick, isRested)
    if (isStored && isNews && kind === KIND.deltaOwned) held.authorityTicks[index] = this.#token
    return isStored
  }

  /** Since when the owner of a shared object writes it, as told in a tick; 0 of all others. */
  #readToken(frame: BitReader, tick: Tick, type: number): Tick {
    if (!this.#world.stores[type].isShared) return 0
    const since = readVarint(frame)
    if (since > tick + 1) frame.fail()
    return tick + 1 - since
  }

  #token: Tick = 0

  /** The owner that stands with the baseline last found. */
  #baseOwner: PeerId = 0

  /** Puts the newest row up to a baseline's tick, if it is still here, under the row that is to be read. */
  #findBase(index: number, id: ObjectId, type: number, tick: Tick): boolean {
    const { held } = this
    const timeline = this.#timeline
    let pool = timeline.pools[type]
    let at = timeline.find(type, id, tick)
    const isExact = at >= 0
    if (!isExact) {
      const told = timeline.changedAt(id)
      const known = told > tick ? timeline.lastKnown(type, id, tick, 0) : told
      if (known > held.floors[index]) at = known === told ? timeline.findLatest(type, id) : timeline.find(type, id, known)
    }
    if (at < 0 && held.namedTicks[index] === tick) {
      pool = held.pools[type]
      at = held.namedRows[index] * pool.laneCount
    }
    if (at < 0) return false
    for (let lane = 0; lane < pool.laneCount; lane++) this.#base[lane] = pool.rows[at + lane]
    this.#baseOwner = pool.owners[at / pool.laneCount]
    // It held until then: so it is still found when the window has left the tick of its change behind.
    if (!isExact) timeline.put(tick, type, id, this.#baseOwner, this.#base, 0)
    this.#pair.baseRows = this.#base
    this.#pair.baseAt = 0
    return true
  }

  /** A baseline is not here. Only what would have been news is asked for. */
  #refuse(tick: Tick, index: number): boolean {
    const { held } = this
    if (held.ids[index] !== 0 && tick > held.tellings[index]) this.wanted.ask(held.ids[index])
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

  /** A baseline's row held until the tick before: it is known there, and a stride before, where the next delta may look for it. */
  #rest(tick: Tick, id: ObjectId, type: number, baseTick: Tick): void {
    const timeline = this.#timeline
    const older = tick - this.#strideTicks
    if (older > baseTick && timeline.find(type, id, older) < 0) timeline.put(older, type, id, this.#baseOwner, this.#base, 0)
    if (timeline.find(type, id, tick - 1) < 0) timeline.put(tick - 1, type, id, this.#baseOwner, this.#base, 0)
  }

  /** Remembers a row that was read over a baseline. */
  #store(tick: Tick, index: number, owner: PeerId, baseTick: Tick, isRested: boolean): boolean {
    const { held } = this
    const timeline = this.#timeline
    const id = held.ids[index]
    const type = held.types[index]
    const isNews = tick > held.tellings[index]
    // It stood still until the tick before: without that row, who draws would smear its start over the whole rest.
    if (isRested) this.#rest(tick, id, type, baseTick)
    if (!timeline.put(tick, type, id, owner, this.#row, 0)) return false
    if (!isNews) {
      this.staleCount++
      return true
    }
    held.name(index, baseTick, this.#baseOwner, this.#base, 0)
    held.tellings[index] = tick
    held.owners[index] = owner
    held.touch(index)
    return true
  }
}

function fieldSet(set: number): FieldSet {
  return set === 0 ? 0 : set === 1 ? 1 : 2
}
