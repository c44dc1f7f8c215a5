/**
 * One receiver's snapshots: what he may know and does not know yet, within the room there is.
 *
 *   frame   tick varint | entries, ascending by object index (entry-code.ts) | zeros to a whole byte
 *
 * Once a tick it asks the relevance who is in view and the marks what changed, and lists what is due: an object whose row,
 * as far as this receiver may see it, changed since the newest row that he holds or that is on its way. A lost packet makes
 * what it carried due again; who left is said to be gone until that was understood. Then packets are filled from the
 * list; each can be read alone.
 *
 * When not all of it fits, the most urgent go first (urgency-order.ts); urgency is what the relevance adds in each tick that
 * an object waits, so nobody starves.
 *
 * Bits come from the cache that all receivers share. After warm-up nothing is allocated.
 */

import { ConfigError } from '../base/assert.ts'
import { DATAGRAM_BYTES_SAFE } from '../base/limits.ts'
import type { Millis, ObjectId, PeerId, Tick } from '../base/time.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { writeVarint } from '../bits/varint.ts'
import type { FrameSource } from '../packet/frame-source.ts'
import { indexOf } from '../world/object-table.ts'
import { DELTA, NO_BASE, NO_DELTA } from './delta-cache.ts'
import { KIND, writeAge, writeGap, writeKind } from './entry-code.ts'
import { NO_RECORD, PacketRecords, RECORD_GONE, RECORD_INDEX } from './packet-records.ts'
import { REASON } from './probe.ts'
import type { Relevance } from './relevance.ts'
import { KEY_OLDER, type Replicator } from './replicator.ts'
import { BASE, NONE, STATE, ToldObjects } from './told-objects.ts'
import { orderByUrgency, sortAscending } from './urgency-order.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const { same: SAME, rested: RESTED, owned: OWNED, oversized: OVERSIZED } = DELTA
const { none: GONE_FROM_LIST, known: KNOWN, leaving: LEAVING } = STATE
const { gone: REASON_GONE, changed: REASON_CHANGED } = REASON

const NO_SEQUENCE = -1
/** In the place of a delta: the object is gone, and there are no bits of it. */
const GONE = -2
/** What an entry takes beside its delta, about: for choosing who fits. */
const HEAD_BITS_GUESS = 12
/** What is added to who leaves: telling it is cheap, and a ghost is worse than a late row. */
const GONE_URGENCY = 2 ** 60
/** The least that is added a tick: a relevance that says 0 still means "some time". */
const URGENCY_MIN = 2 ** -20
/** Bits of a packet that is nearly empty: what does not fit there does not fit because of its own size. */
const ROOMY_BITS = DATAGRAM_BYTES_SAFE * 7
/** Seconds of a byte cap that may be saved up: a burst of one packet flight, not a flood after silence. */
const CAP_SAVED_SECONDS = 0.25

export interface SnapshotSourceOptions {
  /** Bytes of snapshots a second at most, whatever the path would take. Default: only the path decides. */
  readonly bytesPerSecond?: number
  /** Needed for the cap. */
  readonly tickRate?: number
}

export class SnapshotSource implements FrameSource {
  /** Entries that fit no packet at all, and were not sent. */
  oversizedCount = 0
  /** Ticks in which not everything that was due could be sent. */
  shortTicks = 0
  readonly #replicator: Replicator
  readonly #relevance: Relevance
  readonly #peer: PeerId
  readonly #told = new ToldObjects()
  readonly #records = new PacketRecords()
  /** The tick that the list is of. */
  #tick: Tick = NONE
  /** Indexes, ascending, of everything that is known or leaving; and the list that is being made of the next tick. */
  #known = new Uint32Array(0)
  #knownNext = new Uint32Array(0)
  #knownCount = 0
  /** Due in this tick, from the cursor on: ascending, or by urgency. Beside it, for a packet that is chosen: deltas. */
  #due = new Uint32Array(0)
  #order = new Uint32Array(0)
  #deltas = new Int32Array(0)
  #dueCount = 0
  #cursor = 0
  #isShort = false
  /** The most entries that went out in one tick, all that were due: as many will fit again. */
  #provenCount = 0
  #sequence = NO_SEQUENCE
  /** Nothing has arrived yet, and nothing is on its way: even an empty world has a tick that must be known. */
  #mustGreet = true
  #isGreeted = false
  readonly #capBitsPerTick: number
  readonly #capBitsMax: number
  #capBits = 0
  /** Of the frame that is being written: the index before, the age before, and bits that entries took. */
  #beforeIndex = 0
  #beforeAge = 0
  #isRoomy = false

  constructor(replicator: Replicator, relevance: Relevance, peer: PeerId, options: SnapshotSourceOptions = {}) {
    const { bytesPerSecond = Infinity, tickRate = 0 } = options
    if (!(bytesPerSecond > 0)) throw new ConfigError('bytesPerSecond', `${bytesPerSecond}`, 'Give a rate above 0, or none.')
    if (bytesPerSecond !== Infinity && !(tickRate > 0)) throw new ConfigError('tickRate', `${tickRate}`, 'A cap needs the tick rate.')
    this.#replicator = replicator
    this.#relevance = relevance
    this.#peer = peer
    this.#capBitsPerTick = bytesPerSecond === Infinity ? Infinity : bytesPerSecond * 8 / tickRate
    this.#capBitsMax = Math.max(bytesPerSecond * 8 * CAP_SAVED_SECONDS, this.#capBitsPerTick)
  }

  /** The newest tick that the receiver is known to hold an object's row of; -1 when there is none. */
  baselineOf(id: ObjectId): Tick {
    const index = indexOf(id)
    const isKnown = index < this.#told.ids.length && this.#told.ids[index] === id && this.#told.states[index] === KNOWN
    return isKnown ? this.#told.bases[index] : NO_BASE
  }

  /** Entries that still wait for room in this tick. */
  get waitingCount(): number {
    return this.#dueCount - this.#cursor
  }

  /** The receiver asks for an object whole: what he holds of it is of no use to him. */
  handleWanted(id: ObjectId): void {
    const told = this.#told
    const index = indexOf(id)
    if (index < told.ids.length && told.ids[index] === id && told.states[index] === KNOWN) this.#restart(index)
  }

  begin(): void {
    this.#replicator.update()
    const { tick } = this.#replicator.marks
    if (tick !== this.#tick) this.#list(tick)
  }

  wantsAt(now: Millis): Millis {
    if (this.#replicator.timeline.newest !== this.#tick || this.#mustGreet) return now
    return this.#cursor < this.#dueCount && this.#capBits > 0 ? now : Infinity
  }

  /** @hot */
  fill(_now: Millis, sequence: number, out: BitWriter): boolean {
    if (this.#tick === NONE || sequence === this.#sequence) return false
    if (!this.#mustGreet && (this.#cursor >= this.#dueCount || this.#capBits <= 0)) return false
    this.#sequence = sequence
    writeVarint(out, this.#tick)
    if (out.failed) return false
    const headBits = out.bitLength
    this.#beforeIndex = -1
    this.#beforeAge = 0
    this.#isRoomy = out.bitsLeft >= ROOMY_BITS
    this.#open(sequence)
    if (this.#isShort) this.#fillChosen(sequence, out)
    else this.#fillInOrder(sequence, out)
    const entryBits = out.bitLength - headBits
    this.#capBits -= out.bitLength
    if (entryBits === 0 && !this.#mustGreet) {
      this.#records.close(this.#records.find(sequence))
      return false
    }
    this.#mustGreet = false
    this.#replicator.probe?.onFrame(this.#peer, this.#tick, headBits + (-out.bitLength & 7), entryBits)
    return true
  }

  /** @hot */
  onDelivered(_now: Millis, sequence: number): void {
    const { store, mask, starts, counts, ticks } = this.#records
    const slot = this.#records.find(sequence)
    if (slot === NO_RECORD) return
    this.#isGreeted = true
    const tick = ticks[slot]
    const start = starts[slot]
    const count = counts[slot]
    for (let at = 0; at < count; at++) {
      const entry = store[(start + at) & mask]
      if ((entry & RECORD_GONE) === 0) this.#told.promote(entry, tick)
      else this.#told.forget(entry & RECORD_INDEX, tick)
    }
    this.#records.close(slot)
  }

  /** @hot */
  onLost(_now: Millis, sequence: number): void {
    const { store, mask, starts, counts, ticks } = this.#records
    const slot = this.#records.find(sequence)
    if (slot === NO_RECORD) return
    for (let at = 0; at < counts[slot]; at++) this.#told.lose(store[(starts[slot] + at) & mask] & RECORD_INDEX, ticks[slot])
    this.#mustGreet = !this.#isGreeted
    this.#records.close(slot)
  }

  /** Lists what is due in a tick. Both lists ascend, so one walk over them finds who came, who stayed and who left. @hot */
  #list(tick: Tick): void {
    const { marks } = this.#replicator
    const relevance = this.#relevance
    this.#closeTick()
    this.#tick = tick
    this.#reserve(marks.ids.length)
    relevance.refresh(tick)
    const { count, indexes, weights, sets } = relevance
    const { ids, changed } = marks
    const told = this.#told
    const { sents, urgencies, states } = told
    const known = this.#known
    const knownNext = this.#knownNext
    const due = this.#due
    let knownAt = 0
    let nextCount = 0
    let dueCount = 0
    for (let at = 0; at < count; at++) {
      const index = indexes[at]
      for (; knownAt < this.#knownCount && known[knownAt] < index; knownAt++) {
        const left = known[knownAt]
        this.#leave(left, tick)
        if (states[left] === GONE_FROM_LIST) continue
        knownNext[nextCount++] = left
        if (sents[left] === NONE) due[dueCount++] = left
      }
      const id = index < ids.length ? ids[index] : 0
      if (id === 0) continue
      if (known[knownAt] === index && knownAt < this.#knownCount) knownAt++
      const set = sets[at]
      if (states[index] !== KNOWN || told.ids[index] !== id) told.enter(index, id, marks.types[index], set, tick)
      else if (told.sets[index] !== set) told.restart(index, set, tick)
      knownNext[nextCount++] = index
      if (changed[index << 2 | set] > sents[index]) {
        due[dueCount++] = index
        urgencies[index] += weights[at] > URGENCY_MIN ? weights[at] : URGENCY_MIN
      }
    }
    for (; knownAt < this.#knownCount; knownAt++) {
      const left = known[knownAt]
      this.#leave(left, tick)
      if (states[left] === GONE_FROM_LIST) continue
      knownNext[nextCount++] = left
      if (sents[left] === NONE) due[dueCount++] = left
    }
    this.#known = knownNext
    this.#knownNext = known
    this.#knownCount = nextCount
    this.#dueCount = dueCount
    this.#openTick()
  }

  #leave(index: number, tick: Tick): void {
    const told = this.#told
    told.leave(index, this.#replicator.marks.ids[index] !== told.ids[index], tick)
    told.urgencies[index] = GONE_URGENCY
  }

  /** How the tick before went decides how this one is filled. */
  #closeTick(): void {
    const isDone = this.#cursor === this.#dueCount
    if (!isDone) this.shortTicks++
    this.#isShort = !isDone
    this.#provenCount = isDone && this.#dueCount > this.#provenCount ? this.#dueCount : isDone ? this.#provenCount : this.#cursor
  }

  #openTick(): void {
    this.#cursor = 0
    this.#capBits = Math.min(this.#capBits + this.#capBitsPerTick, this.#capBitsMax)
    // Far more than ever fitted, and nobody knows whether it will: then the order must be right from the first packet on.
    this.#isShort = this.#dueCount > 1 && (this.#isShort || this.#dueCount > 2 * this.#provenCount)
    if (!this.#isShort) return
    orderByUrgency(this.#due, this.#dueCount, this.#told.urgencies, this.#order)
    const due = this.#due
    this.#due = this.#order
    this.#order = due
  }

  /** Writes what is due in the order of the list, which is that of the packet. */
  #fillInOrder(sequence: number, out: BitWriter): void {
    const due = this.#due
    while (this.#cursor < this.#dueCount) {
      const index = due[this.#cursor]
      if (!this.#write(sequence, out, index, this.#deltaOf(index)) && !this.#isTooLarge()) return
      this.#cursor++
    }
  }

  /** Chooses from the front of the list what will fit, and writes it in the order of the packet. */
  #fillChosen(sequence: number, out: BitWriter): void {
    const due = this.#due
    const deltas = this.#deltas
    const first = this.#cursor
    let room = Math.min(out.bitsLeft, this.#capBits)
    let end = first
    while (end < this.#dueCount && (room > 0 || end === first)) {
      const delta = this.#deltaOf(due[end])
      deltas[end++] = delta
      room -= HEAD_BITS_GUESS + (delta < 0 ? 0 : this.#replicator.cache.bits[delta])
    }
    sortAscending(due, deltas, first, end)
    let kept = first
    for (let at = first; at < end; at++) {
      const index = due[at]
      if (this.#write(sequence, out, index, deltas[at]) || this.#isTooLarge()) {
        due[at] = due[kept]
        due[kept++] = index
      }
    }
    this.#cursor = kept
  }

  /** Whether an entry that did not fit would fit no packet: it waits for another tick, and holds nobody up. */
  #isTooLarge(): boolean {
    return this.#beforeIndex < 0 && this.#isRoomy
  }

  /** The delta that an object needs now; `GONE` when it needs to be gone. @hot */
  #deltaOf(index: number): number {
    const told = this.#told
    if (told.states[index] === LEAVING) return GONE
    const { cache, timeline, marks } = this.#replicator
    let base = told.bases[index]
    let key = told.sets[index]
    if (base !== NO_BASE) {
      if (this.#tick - base >= timeline.windowTicks && !this.#isHeld(index, key, base)) {
        this.#restart(index)
        base = NO_BASE
      } else if ((told.flags[index] & BASE.hasOlder) !== 0 && this.#replicator.coders[marks.types[index]].usesOlder === true) {
        if (this.#tick - base + 1 < timeline.windowTicks) key |= KEY_OLDER
      }
    }
    const delta = cache.find(index, base, key)
    return delta === NO_DELTA ? this.#replicator.encode(index, base, key) : delta
  }

  /** Whether both sides still hold a baseline that is older than the window. */
  #isHeld(index: number, set: number, base: Tick): boolean {
    return (this.#told.flags[index] & BASE.loose) === 0 && this.#replicator.marks.rowAtOf(index, set, base) >= 0
  }

  #restart(index: number): void {
    this.#told.restart(index, this.#told.sets[index], this.#tick)
  }

  /** Writes an entry and remembers it, or counts it out for its size; false when it does not fit, and nothing is written. @hot */
  #write(sequence: number, out: BitWriter, index: number, delta: number): boolean {
    if (delta !== GONE && (this.#replicator.cache.flags[delta] & OVERSIZED) !== 0) {
      // As if sent: nothing can be done before it changes.
      this.oversizedCount++
      this.#told.sents[index] = this.#tick
      return true
    }
    const bitLength = out.bitLength
    writeGap(out, index - this.#beforeIndex, index)
    if (delta === GONE) {
      writeKind(out, KIND.gone)
      out.writeBits((this.#told.flags[index] & BASE.despawned) === 0 ? 0 : 1, 1)
    } else {
      this.#writeDelta(out, delta)
    }
    // The first entry may overdraw the cap: else a cap below the size of an entry would be silence.
    if (out.failed || (out.bitLength > this.#capBits && this.#beforeIndex >= 0)) {
      out.rewind(bitLength)
      return false
    }
    this.#remember(sequence, index, delta, out.bitLength - bitLength)
    return true
  }

  /** Writes what an entry has after the gap. */
  #writeDelta(out: BitWriter, delta: number): void {
    const { bases, flags, bits, wordAts, words } = this.#replicator.cache
    const base = bases[delta]
    const flag = flags[delta]
    if (base === NO_BASE) {
      writeKind(out, KIND.full)
    } else {
      const age = this.#tick - base
      const isRested = (flag & RESTED) !== 0
      if (age === this.#beforeAge && (flag & (SAME | OWNED)) === 0 && (age === 1 || !isRested)) {
        writeKind(out, KIND.deltaAsBefore)
      } else {
        writeKind(out, (flag & SAME) !== 0 ? KIND.same : (flag & OWNED) !== 0 ? KIND.deltaOwned : KIND.delta)
        writeAge(out, age, isRested)
      }
    }
    out.copyWords(words, wordAts[delta], bits[delta])
  }

  /** An entry is in the packet: who it is of has been told, until the packet is lost. */
  #remember(sequence: number, index: number, delta: number, bits: number): void {
    const told = this.#told
    const { probe, cache } = this.#replicator
    this.#records.add(sequence, delta === GONE ? index | RECORD_GONE : index)
    if (probe !== undefined) probe.onEntry(this.#peer, index, told.types[index], delta === GONE ? REASON_GONE : told.reasons[index], bits)
    this.#beforeIndex = index
    told.sents[index] = this.#tick
    told.urgencies[index] = 0
    if (delta === GONE) return
    const base = cache.bases[delta]
    if (base !== NO_BASE) {
      this.#beforeAge = this.#tick - base
      told.reasons[index] = REASON_CHANGED
    }
    told.tolds[index] = this.#tick
  }

  /** Begins the record of a packet. A packet so old that its place is needed is lost. */
  #open(sequence: number): void {
    const occupant = this.#records.occupant(sequence)
    if (occupant >= 0) this.onLost(0, occupant)
    this.#records.open(sequence, this.#tick)
  }

  #reserve(need: number): void {
    if (need <= this.#due.length) return
    this.#told.reserve(need)
    const known = new Uint32Array(need)
    known.set(this.#known)
    this.#known = known
    this.#knownNext = new Uint32Array(need)
    this.#due = new Uint32Array(need)
    this.#order = new Uint32Array(need)
    this.#deltas = new Int32Array(need)
  }
}
