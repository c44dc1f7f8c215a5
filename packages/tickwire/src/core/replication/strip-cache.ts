/**
 * Entries of neighbours, one after the other with their heads, made once in a tick and copied in one stroke to everyone who is
 * told them all.
 *
 *   strip     body | head body | head body | ...        of objects of one block, in one field set, from baselines of one level
 *                    └──────── run ────────┘
 *
 * A head depends on the entry before it, so a receiver copies the longest runs in which he is told of everybody, and writes only
 * the head of a run's first. The very first of a strip has none. Whoever is told of somebody that the strip has not makes it grow.
 *
 * Bits stand in the arena of delta-cache.ts: a delta that is made here is kept there too, for who is told it by itself. It does not know
 * who is told what.
 */

import { DATAGRAM_BYTES_MAX } from '../base/limits.ts'
import type { Tick } from '../base/time.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { LONG_AGO, type ChangeMarks } from './change-marks.ts'
import { BLOCK_SHIFT, countBits } from './change-masks.ts'
import { DELTA, isPairedBy, NO_DELTA, type DeltaCache } from './delta-cache.ts'
import { isPlain, mannerOf, NO_MANNER, writeDeltaHead } from './delta-head.ts'
import type { DeltaRows } from './delta-rows.ts'
import type { Adder } from './probe.ts'
import { StripTally } from './strip-tally.ts'

/** No strip: entries must be written one by one. */
export const NO_STRIP = -1

/** Who makes deltas. */
export interface DeltaMaker {
  /** Finds or makes the delta for who holds a row, and perhaps the one before it. */
  deltaFor(index: number, set: number, base: Tick, isPaired: boolean): number
  /** Finds the rows that one is made from. */
  readonly rows: DeltaRows
  /** Makes what was prepared; whether anything has changed. */
  write(out: BitWriter): boolean
}

// Constants of this module, for speed: see schema/leaf-table.ts.
const { oversized: OVERSIZED, rested: RESTED, same: SAME } = DELTA
const NOTHING = NO_STRIP
const NOT_THERE = NO_DELTA
const FORGOTTEN = LONG_AGO
const SHIFT = BLOCK_SHIFT

/** Fewer entries than this are written one by one. */
const MEMBERS_MIN = 4
/** How often a strip grows: views that have next to nothing in common gain nothing from it. */
const GROWTH_MAX = 6
const STRIPS_FIRST = 64
const SCRATCH_BYTES = 1 << 13
/** Longer ones fit no packet. */
const DELTA_BITS_MAX = DATAGRAM_BYTES_MAX << 3
/** Before the first of a strip. */
const NOBODY = -1

export class StripCache {
  /** By strip: its block. */
  blocks: Int32Array = new Int32Array(STRIPS_FIRST)
  /** By strip: the objects in it; those that the deltas are paired for; those with whose rows the one of the tick before is held. */
  masks: Int32Array = new Int32Array(STRIPS_FIRST)
  paireds: Int32Array = new Int32Array(STRIPS_FIRST)
  helds: Int32Array = new Int32Array(STRIPS_FIRST)
  /** Of whom it matters whether they are paired (`pairable`). */
  #pairables = new Int32Array(STRIPS_FIRST)
  /** Those that are plain where the delta before is of the same manner (delta-head.ts). */
  plains: Int32Array = new Int32Array(STRIPS_FIRST)
  /** By strip << 5 | place in the block: the delta, where its bits begin and end in `words`, and its manner. */
  deltas: Int32Array = new Int32Array(STRIPS_FIRST << SHIFT)
  starts: Int32Array = new Int32Array(STRIPS_FIRST << SHIFT)
  ends: Int32Array = new Int32Array(STRIPS_FIRST << SHIFT)
  manners: Int32Array = new Int32Array(STRIPS_FIRST << SHIFT)
  #heads = new Int32Array(0)
  #next = new Int32Array(STRIPS_FIRST)
  #levels = new Float64Array(STRIPS_FIRST)
  #sets = new Uint8Array(STRIPS_FIRST)
  #growths = new Uint8Array(STRIPS_FIRST)
  #count = 0
  /** Who is told how often entries were copied, after the tick. */
  adder: Adder | undefined = undefined
  readonly tally: StripTally = new StripTally()
  readonly #marks: ChangeMarks
  readonly #cache: DeltaCache
  readonly #maker: DeltaMaker
  readonly #strideTicks: number
  readonly #scratch = new Uint8Array(SCRATCH_BYTES)
  readonly #view = new DataView(this.#scratch.buffer)
  readonly #writer = new BitWriter(this.#scratch)

  constructor(marks: ChangeMarks, cache: DeltaCache, maker: DeltaMaker, strideTicks: number) {
    this.#strideTicks = strideTicks
    this.#marks = marks
    this.#cache = cache
    this.#maker = maker
  }

  /** Forgets everything: another tick, with so many indexes. */
  clear(capacity: number): void {
    const blocks = (capacity + 31) >>> SHIFT
    if (blocks > this.#heads.length) this.#heads = new Int32Array(blocks)
    this.#heads.fill(NOTHING)
    this.#count = 0
  }

  /**
   * A strip with some of these objects, whose baselines are of a level, for a field set; `NO_STRIP` when none is worth it. It may have a
   * few that are not `paired` as they should be: `unfit` says which. @hot
   */
  find(block: number, set: number, level: Tick, wanted: number, paired: number): number {
    let strip = this.#heads[block]
    while (strip !== NOTHING && (this.#levels[strip] !== level || this.#sets[strip] !== set || isFar((this.paireds[strip] ^ paired) & wanted & this.masks[strip]))) {
      strip = this.#next[strip]
    }
    if (strip === NOTHING) return countBits(wanted) < MEMBERS_MIN ? NOTHING : this.#make(block, set, level, wanted, paired)
    const missing = wanted & ~this.masks[strip]
    if (missing !== 0 && this.#growths[strip] < GROWTH_MAX && countBits(wanted) >= MEMBERS_MIN) {
      this.#growths[strip]++
      // What was copied of it had other heads.
      if (this.adder !== undefined) this.#tell(this.adder, strip)
      this.paireds[strip] = this.paireds[strip] & this.masks[strip] | paired & ~this.masks[strip]
      this.#fill(strip, block, this.masks[strip] | missing)
    }
    return strip
  }

  /** The strip that has just these objects of a block from a level, paired as they are; `NO_STRIP` if there is none yet. @hot */
  findWhole(block: number, set: number, level: Tick, wanted: number, paired: number): number {
    let strip = this.#heads[block]
    while (strip !== NOTHING) {
      const isThis = this.#levels[strip] === level && this.masks[strip] === wanted && this.#sets[strip] === set
      if (isThis && ((this.paireds[strip] ^ paired) & wanted & this.#pairables[strip]) === 0) return strip
      strip = this.#next[strip]
    }
    return NOTHING
  }

  /** Those for whom it matters whether the row before their baseline is held: who were on the move at a level (`DeltaRows.keyFor`). @hot */
  pairable(block: number, set: number, level: Tick): number {
    const { masks, oldest } = this.#marks
    return level < oldest ? -1 : masks.at(set, block, level) & masks.since(set, block, level, level + this.#strideTicks)
  }

  /** Those of a strip whose deltas are for others than who has these pairs. @hot */
  unfit(strip: number, paired: number): number {
    return this.masks[strip] & (this.paireds[strip] ^ paired)
  }

  /** The delta of an object of a block at a level; `NO_DELTA` when its baseline is gone. */
  deltaAt(index: number, set: number, level: Tick, isPaired: boolean): number {
    const base = this.#marks.lastChange(index, set, level)
    return base === FORGOTTEN ? NOT_THERE : this.#maker.deltaFor(index, set, base, isPaired)
  }

  /** Tells how often the entries of all strips were copied, and begins anew. */
  tell(adder: Adder): void {
    for (let strip = 0; strip < this.#count; strip++) this.#tell(adder, strip)
  }

  #tell(adder: Adder, strip: number): void {
    this.tally.tell(adder, strip, this, this.#marks.types)
  }

  #make(block: number, set: number, level: Tick, wanted: number, paired: number): number {
    if (this.#count === this.masks.length) this.#widen()
    const strip = this.#count++
    this.tally.reserve(this.#count)
    this.#next[strip] = this.#heads[block]
    this.#heads[block] = strip
    this.blocks[strip] = block
    this.#levels[strip] = level
    this.#sets[strip] = set
    this.#growths[strip] = 0
    this.#pairables[strip] = this.pairable(block, set, level)
    // Others will want the rest of those who changed, and most of them with the row before.
    this.paireds[strip] = paired | ~wanted
    this.#fill(strip, block, wanted | this.#others(block, set, level, wanted))
    return strip
  }

  /** Who else of a block changed, and was there at the level. */
  #others(block: number, set: number, level: Tick, wanted: number): number {
    const marks = this.#marks
    let others = marks.masks.at(set, block, marks.tick) & ~wanted
    for (let rest = others; rest !== 0; rest &= rest - 1) {
      const bit = rest & -rest
      const index = block << SHIFT | 31 - Math.clz32(bit)
      if (marks.rowAtOf(index, set, level) < 0) others ^= bit
    }
    return others
  }

  /** Puts entries into a strip: as many as there is room for, and not those that fit no packet. */
  #fill(strip: number, block: number, wanted: number): void {
    const cache = this.#cache
    const out = this.#writer
    out.reset(this.#scratch)
    const { tick } = this.#marks
    const origin = cache.end
    const direct = this.#maker.rows.aim(block, this.#sets[strip], this.#levels[strip])
    let mask = 0
    let held = 0
    let plain = 0
    let before = NOBODY
    let manner = NO_MANNER
    for (let rest = wanted; rest !== 0; rest &= rest - 1) {
      const bit = rest & -rest
      const index = block << SHIFT | 31 - Math.clz32(bit)
      const { bitLength } = out
      const delta = this.#put(strip, index, before, manner, origin, (this.paireds[strip] & bit) !== 0, (direct & bit) !== 0)
      if (out.failed) {
        out.rewind(bitLength)
        break
      }
      if (delta === NOT_THERE) continue
      const flags = cache.flags[delta]
      const base = cache.bases[delta]
      const at = strip << SHIFT | index & 31
      before = index
      manner = mannerOf(tick - base, flags)
      mask |= bit
      if (isPairedBy(base, tick, flags, this.#strideTicks)) held |= bit
      if (isPlain(tick - base, flags, manner)) plain |= bit
      this.deltas[at] = delta
      this.starts[at] = origin + out.bitLength - cache.bits[delta]
      this.ends[at] = origin + out.bitLength
      this.manners[at] = manner
    }
    this.masks[strip] = mask
    this.helds[strip] = held
    this.plains[strip] = plain
    cache.append(this.#view, (out.finish() + 3) >>> 2)
  }

  /** Writes an entry after another; its delta, or `NO_DELTA` when it has no place here. What is made here is kept where it stands. */
  #put(strip: number, index: number, before: number, manner: number, origin: number, isPaired: boolean, isDirect: boolean): number {
    const cache = this.#cache
    const maker = this.#maker
    const { rows } = maker
    const out = this.#writer
    const marks = this.#marks
    const set = this.#sets[strip]
    const base = isDirect ? this.#levels[strip] : marks.lastChange(index, set, this.#levels[strip])
    const key = isDirect ? rows.keyAimed(index, set, isPaired) : base === FORGOTTEN ? NOT_THERE : rows.keyFor(index, set, base, isPaired)
    if (key === NOT_THERE) return NOT_THERE
    const age = marks.tick - base
    const found = cache.find(index, base, key)
    if (found !== NOT_THERE) {
      if ((cache.flags[found] & OVERSIZED) !== 0) return NOT_THERE
      if (before !== NOBODY) writeDeltaHead(out, index - before, index, age, cache.flags[found], manner)
      out.copyWordBits(cache.words, cache.bitAts[found], cache.bits[found])
      return found
    }
    const { bitLength } = out
    let flags = isDirect ? rows.prepareAimed(index, key) : rows.prepare(index, base, key)
    if (before !== NOBODY) writeDeltaHead(out, index - before, index, age, flags, manner)
    let start = out.bitLength
    if (!maker.write(out)) {
      // It is what it was: that stands in the head.
      flags = flags & RESTED | SAME
      out.rewind(bitLength)
      if (before !== NOBODY) writeDeltaHead(out, index - before, index, age, flags, manner)
      start = out.bitLength
    }
    const bits = out.bitLength - start
    if (bits <= DELTA_BITS_MAX) return out.failed ? NOT_THERE : cache.add(index, base, key, flags, origin + start, bits)
    out.rewind(bitLength)
    return NOT_THERE
  }

  #widen(): void {
    const capacity = 2 * this.masks.length
    this.masks = widen(this.masks, new Int32Array(capacity))
    this.paireds = widen(this.paireds, new Int32Array(capacity))
    this.helds = widen(this.helds, new Int32Array(capacity))
    this.plains = widen(this.plains, new Int32Array(capacity))
    this.#pairables = widen(this.#pairables, new Int32Array(capacity))
    this.deltas = widen(this.deltas, new Int32Array(capacity << SHIFT))
    this.starts = widen(this.starts, new Int32Array(capacity << SHIFT))
    this.ends = widen(this.ends, new Int32Array(capacity << SHIFT))
    this.manners = widen(this.manners, new Int32Array(capacity << SHIFT))
    this.blocks = widen(this.blocks, new Int32Array(capacity))
    this.#next = widen(this.#next, new Int32Array(capacity))
    this.#levels = widen(this.#levels, new Float64Array(capacity))
    this.#sets = widen(this.#sets, new Uint8Array(capacity))
    this.#growths = widen(this.#growths, new Uint8Array(capacity))
  }
}

/** Whether too many are not as they should be: three and more are worth a strip of their own. */
function isFar(others: number): boolean {
  const rest = others & others - 1
  return (rest & rest - 1) !== 0
}

function widen<T extends Int32Array | Uint8Array | Float64Array>(from: T, to: T): T {
  to.set(from)
  return to
}
