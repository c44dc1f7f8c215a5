/**
 * One receiver's snapshots: what he may know and does not know yet, within the room there is.
 *
 *   frame   tick varint | entries, ascending by object index (entry-code.ts) | zeros to a whole byte
 *
 * Once a tick it lists what is due (due-list.ts), then fills packets from the list, each of which can be read alone. A packet
 * that arrives makes its rows baselines; one that is lost makes what it carried due again. When not everything fits, the
 * most urgent go first.
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
import { DueList } from './due-list.ts'
import { KIND, writeAge, writeGap, writeKind } from './entry-code.ts'
import { NO_RECORD, PacketRecords, RECORD_GONE, RECORD_INDEX, RECORD_PAIRED } from './packet-records.ts'
import { REASON } from './probe.ts'
import type { Relevance } from './relevance.ts'
import { KEY_OLDER, type Replicator } from './replicator.ts'
import { FLAG, NONE, STATE, ToldObjects } from './told-objects.ts'
import { sortAscending } from './urgency-order.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const { same: SAME, rested: RESTED, owned: OWNED, oversized: OVERSIZED } = DELTA
const { known: KNOWN } = STATE
const { despawned: DESPAWNED, mayHold: MAY_HOLD } = FLAG
const { deltaAsBefore: KIND_AS_BEFORE, delta: KIND_DELTA, full: KIND_FULL, gone: KIND_GONE, same: KIND_SAME, deltaOwned: KIND_OWNED } = KIND
const FROM_INITIAL = NO_BASE
const NOT_MADE = NO_DELTA
const NOTHING = NONE
const OLDER = KEY_OLDER
const GONE_BIT = RECORD_GONE
const PAIRED_BIT = RECORD_PAIRED
const INDEX_BITS = RECORD_INDEX
const NOT_OPEN = NO_RECORD
/** Gap 1 and `KIND_AS_BEFORE`, a bit each. */
const NEXT_AS_BEFORE = 0b11
const { gone: REASON_GONE, changed: REASON_CHANGED } = REASON

const NO_SEQUENCE = -1
/** In the place of a delta: the object is gone, and there are no bits of it. */
const GONE = -2
/** What an entry takes beside its delta, about: for choosing who fits. */
const HEAD_BITS_GUESS = 12
/** How much older than the newest a baseline may be for the sake of the row before it. */
const PAIR_LAG_TICKS = 2
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
  readonly #replicator: Replicator
  readonly #peer: PeerId
  readonly #told = new ToldObjects()
  readonly #records = new PacketRecords()
  readonly #due: DueList
  /** The tick that is told. */
  #tick: Tick = NOTHING
  /** Beside the entries that are chosen for a packet: their deltas. */
  #deltas = new Int32Array(0)
  #sequence = NO_SEQUENCE
  /** Nothing has arrived yet, and nothing is on its way: even an empty world has a tick that must be known. */
  #mustGreet = true
  #isGreeted = false
  readonly #capBitsPerTick: number
  readonly #capBitsMax: number
  #capBits = 0
  /** Of the frame that is being written: the index before, the age before, and whether its packet was nearly empty. */
  #beforeIndex = 0
  #beforeAge = 0
  #isRoomy = false
  /** Who did not fit a small packet that was empty. */
  #stuckIndex = -1

  constructor(replicator: Replicator, relevance: Relevance, peer: PeerId, options: SnapshotSourceOptions = {}) {
    const { bytesPerSecond = Infinity, tickRate = 0 } = options
    if (!(bytesPerSecond > 0)) throw new ConfigError('bytesPerSecond', `${bytesPerSecond}`, 'Give a rate above 0, or none.')
    if (bytesPerSecond !== Infinity && !(tickRate > 0)) throw new ConfigError('tickRate', `${tickRate}`, 'A cap needs the tick rate.')
    this.#replicator = replicator
    this.#due = new DueList(this.#told, replicator.marks, relevance)
    this.#peer = peer
    this.#capBitsPerTick = bytesPerSecond === Infinity ? Infinity : bytesPerSecond * 8 / tickRate
    this.#capBitsMax = Math.max(bytesPerSecond * 8 * CAP_SAVED_SECONDS, this.#capBitsPerTick)
  }

  /** The newest tick that the receiver is known to hold an object's row of; -1 when there is none. */
  baselineOf(id: ObjectId): Tick {
    const index = indexOf(id)
    const isKnown = index < this.#told.ids.length && this.#told.ids[index] === id && this.#told.states[index] === KNOWN
    return isKnown ? this.#told.bases[index] : FROM_INITIAL
  }

  /** Entries that still wait for room in this tick. */
  get waitingCount(): number {
    return this.#due.count - this.#due.cursor
  }

  /** Ticks in which not everything that was due could be sent. */
  get shortTicks(): number {
    return this.#due.shortTicks
  }

  /** The receiver asks for an object whole: what he holds of it is of no use to him. */
  handleWanted(id: ObjectId): void {
    const told = this.#told
    const index = indexOf(id)
    if (index < told.ids.length && told.ids[index] === id && told.states[index] === KNOWN) this.#restart(index)
  }

  /** Only a tick makes it want a packet, and whoever runs ticks wakes the connections. */
  attach(): void {}

  begin(): void {
    this.#replicator.update()
    const { tick } = this.#replicator.marks
    if (tick === this.#tick) return
    this.#tick = tick
    this.#due.refresh()
    this.#capBits = Math.min(this.#capBits + this.#capBitsPerTick, this.#capBitsMax)
    if (this.#due.entries.length > this.#deltas.length) this.#deltas = new Int32Array(this.#due.entries.length)
  }

  wantsAt(now: Millis): Millis {
    // Nothing has happened yet.
    if (this.#replicator.timeline.newest < 0) return Infinity
    if (this.#replicator.timeline.newest !== this.#tick || this.#mustGreet) return now
    return this.#due.cursor < this.#due.count && this.#capBits > 0 ? now : Infinity
  }

  /** @hot */
  fill(_now: Millis, sequence: number, out: BitWriter): boolean {
    if (this.#tick === NOTHING || sequence === this.#sequence) return false
    if (!this.#mustGreet && (this.#due.cursor >= this.#due.count || this.#capBits <= 0)) return false
    writeVarint(out, this.#tick)
    if (out.failed) return false
    const headBits = out.bitLength
    this.#beforeIndex = -1
    this.#beforeAge = 0
    this.#isRoomy = out.bitsLeft >= ROOMY_BITS
    this.#open(sequence)
    if (this.#due.isShort) while (this.#fillChosen(sequence, out)) continue
    else this.#fillInOrder(sequence, out)
    const entryBits = out.bitLength - headBits
    if (entryBits === 0 && !this.#mustGreet) {
      this.#records.close(this.#records.find(sequence))
      return false
    }
    // Only now: a packet that nobody fills is not sent, and the next one has its number.
    this.#sequence = sequence
    this.#mustGreet = false
    this.#capBits -= out.bitLength
    this.#replicator.probe?.onFrame(this.#peer, this.#tick, headBits + (-out.bitLength & 7), entryBits)
    return true
  }

  /** @hot */
  onDelivered(_now: Millis, sequence: number): void {
    const { store, mask, starts, counts, ticks } = this.#records
    const slot = this.#records.find(sequence)
    if (slot === NOT_OPEN) return
    this.#isGreeted = true
    const tick = ticks[slot]
    const start = starts[slot]
    const count = counts[slot]
    const isLate = this.#tick - tick >= this.#replicator.timeline.windowTicks
    for (let at = 0; at < count; at++) {
      const entry = store[(start + at) & mask]
      const index = entry & INDEX_BITS
      if ((entry & GONE_BIT) !== 0) this.#told.forget(index, tick)
      // After a window he has let go of a row, unless it is the newest that he was told.
      else if (!isLate || this.#told.sents[index] === tick) this.#told.promote(index, tick, (entry & PAIRED_BIT) !== 0)
    }
    this.#records.close(slot)
  }

  /** @hot */
  onLost(_now: Millis, sequence: number): void {
    const { store, mask, starts, counts, ticks } = this.#records
    const slot = this.#records.find(sequence)
    if (slot === NOT_OPEN) return
    for (let at = 0; at < counts[slot]; at++) this.#told.lose(store[(starts[slot] + at) & mask] & INDEX_BITS, ticks[slot])
    this.#mustGreet = !this.#isGreeted
    this.#records.close(slot)
  }

  /** Writes what is due in the order of the list, which is that of the packet. */
  #fillInOrder(sequence: number, out: BitWriter): void {
    const due = this.#due
    const { entries, count } = due
    for (; due.cursor < count; due.cursor++) {
      const index = entries[due.cursor]
      if (!this.#write(sequence, out, index, this.#deltaOf(index)) && !this.#isTooLarge(index)) return
    }
  }

  /** Chooses from the front of the list what will fit, and writes it in the order of the packet; whether to choose again. */
  #fillChosen(sequence: number, out: BitWriter): boolean {
    const due = this.#due
    const { entries, count } = due
    const deltas = this.#deltas
    const first = due.cursor
    let room = Math.min(out.bitsLeft, this.#capBits)
    let end = first
    while (end < count && (room > 0 || end === first)) {
      const delta = this.#deltaOf(entries[end])
      deltas[end++] = delta
      room -= HEAD_BITS_GUESS + (delta < 0 ? 0 : this.#replicator.cache.bits[delta])
    }
    sortAscending(entries, deltas, first, end)
    for (let at = first; at < end; at++) {
      const index = entries[at]
      if (!this.#write(sequence, out, index, deltas[at]) && !this.#isTooLarge(index)) continue
      entries[at] = entries[due.cursor]
      entries[due.cursor++] = index
    }
    // All that was chosen is too large: others may fit.
    return this.#beforeIndex < 0 && due.cursor > first && due.cursor < count
  }

  /**
   * Whether an entry that did not fit is itself to blame: alone in a large packet, or for the second time in a small one. It
   * waits for another tick, and holds nobody up.
   */
  #isTooLarge(index: number): boolean {
    if (this.#beforeIndex >= 0) return false
    if (this.#isRoomy || this.#stuckIndex === index) return true
    this.#stuckIndex = index
    return false
  }

  /** The delta that an object needs now; `GONE` when it needs to be gone. @hot */
  #deltaOf(index: number): number {
    const told = this.#told
    if (told.states[index] !== KNOWN) return GONE
    const { cache, timeline, marks } = this.#replicator
    let base = told.bases[index]
    let key = told.sets[index]
    if (base !== FROM_INITIAL) {
      const pair = told.pairs[index]
      // Who holds a baseline for longer than the window was told nothing since: any entry after it would have been of a change.
      if (this.#tick - base >= timeline.windowTicks && marks.rowAtOf(index, key, base) < 0) {
        this.#restart(index)
        base = FROM_INITIAL
      } else if (this.#tick - base > 1 && marks.isRested(index, key, base)) {
        // A rest is known to both: there is nothing better than its row.
      } else if (base - pair <= PAIR_LAG_TICKS && pair !== FROM_INITIAL && this.#replicator.coders[marks.types[index]].usesOlder === true) {
        // A slightly older baseline whose motion is known is worth more than the newest one without.
        if (this.#tick - pair + 1 < timeline.windowTicks) {
          base = pair
          key |= OLDER
        }
      }
    }
    const delta = cache.find(index, base, key)
    return delta === NOT_MADE ? this.#replicator.encode(index, base, key) : delta
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
    if (delta === GONE) {
      writeGap(out, index - this.#beforeIndex, index)
      writeKind(out, KIND_GONE)
      out.writeBits((this.#told.flags[index] & DESPAWNED) === 0 ? 0 : 1, 1)
    } else {
      this.#writeDelta(out, index, delta)
    }
    // The first entry may overdraw the cap: else a cap below the size of an entry would be silence.
    if (out.failed || (out.bitLength > this.#capBits && this.#beforeIndex >= 0)) {
      out.rewind(bitLength)
      return false
    }
    this.#remember(sequence, index, delta, out.bitLength - bitLength)
    return true
  }

  #writeDelta(out: BitWriter, index: number, delta: number): void {
    const { bases, flags, bits, wordAts, words } = this.#replicator.cache
    const base = bases[delta]
    const flag = flags[delta]
    const gap = index - this.#beforeIndex
    const age = this.#tick - base
    if (base !== FROM_INITIAL && age === this.#beforeAge && (flag & (SAME | OWNED)) === 0 && (age === 1 || (flag & RESTED) === 0)) {
      // Most entries of a busy world: the next index, as old as the one before.
      if (gap === 1) {
        out.writeBits(NEXT_AS_BEFORE, 2)
      } else {
        writeGap(out, gap, index)
        writeKind(out, KIND_AS_BEFORE)
      }
    } else {
      writeGap(out, gap, index)
      if (base === FROM_INITIAL) {
        writeKind(out, KIND_FULL)
      } else {
        writeKind(out, (flag & SAME) !== 0 ? KIND_SAME : (flag & OWNED) !== 0 ? KIND_OWNED : KIND_DELTA)
        writeAge(out, age, (flag & RESTED) !== 0)
      }
    }
    out.copyWords(words, wordAts[delta], bits[delta])
  }

  /** An entry is in the packet: who it is of has been told, until the packet is lost. */
  #remember(sequence: number, index: number, delta: number, bits: number): void {
    const told = this.#told
    const { probe, cache } = this.#replicator
    const base = delta === GONE ? FROM_INITIAL : cache.bases[delta]
    const isPaired = base !== FROM_INITIAL && (base === this.#tick - 1 || (cache.flags[delta] & RESTED) !== 0)
    this.#records.add(sequence, delta === GONE ? index | GONE_BIT : isPaired ? index | PAIRED_BIT : index)
    if (probe !== undefined) probe.onEntry(this.#peer, index, told.types[index], delta === GONE ? REASON_GONE : told.reasons[index], bits)
    this.#beforeIndex = index
    told.sents[index] = this.#tick
    told.urgencies[index] = 0
    if (delta === GONE) return
    if (base !== FROM_INITIAL) {
      this.#beforeAge = this.#tick - base
      told.reasons[index] = REASON_CHANGED
    }
    told.flags[index] |= MAY_HOLD
  }

  /** Begins the record of a packet. A packet so old that its place is needed is lost. */
  #open(sequence: number): void {
    const occupant = this.#records.occupant(sequence)
    if (occupant >= 0) this.onLost(0, occupant)
    this.#records.open(sequence, this.#tick)
  }
}
