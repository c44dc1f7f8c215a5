/**
 * Entry heads in a range-coded block. An object that changed recently is likely to change now, and costs a fraction of
 * a bit.
 *
 *   lively     objects with an entry in the last 8 ticks. The next of them from the cursor on is asked about:
 *                yes                           it changed: its row follows
 *                no, then yes                  it did not, and no index before it has an entry
 *                no, then no                   a different entry, no later than its index: gap, small | kind 2
 *   none left  yes                             the tick ends
 *                no                            a further entry: gap, small | kind 2
 *
 * A yes is a bit of the block (`RansSink.bit`). Gap and kind are raw. The gap counts from the cursor, which is behind
 * the last index that had an entry or was asked about. The probability of a yes adapts to the answers (by a 32nd of the
 * difference each time), per context:
 *
 *   0..15      the object changed: in which of the last four ticks it had an entry, the latest in the highest bit
 *   16         it did not, rather than a different entry
 *   17, 18     the tick ends; the same in a key
 *
 * A key starts over: no object is lively, and the probabilities are the initial ones. Both sides adapt alike, so none
 * of this is transmitted.
 */

import { OBJECTS_MAX } from '../base/limits.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import type { RansSink, RansSource } from '../codec/rans-stream.ts'
import { ENTRY, NO_ENTRY, type EntryHeadsReader, type EntryHeadsWriter, type EntryKind } from './entry-heads.ts'
import { readSmall, writeSmall } from './small-number.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const { change: CHANGE, death: DEATH } = ENTRY
const SILENT = 16
const END = 17
const CONTEXTS = 19
/** The unit of the initial probabilities, which are fractions of 2^15. */
const CHANCE_UNIT = 1024
const CHANCE_BITS = 15
const LEARNING_SHIFT = 5
/** In a history byte: the bit of the latest tick, and the shift that gives the context. */
const LATEST = 128
const CONTEXT_SHIFT = 4
const INDEXES_FIRST = 64
/** Above every index: no lively object. */
const NO_INDEX = 0x7fff_ffff

/** What a tick says of an index. */
const SAID = { nothing: 0, spoken: 1, gone: 2 } as const

/** Initial probabilities: higher for objects that had an entry more recently. */
const FIRST_CHANCES: readonly number[] = Array.from({ length: CONTEXTS }, (_, context) =>
  (context < SILENT ? 2 * context + 1 : context <= END ? 31 : 1) * CHANCE_UNIT)

/** The lively objects and the probabilities. The same on both sides. */
class Liveliness {
  readonly chances: Uint16Array = Uint16Array.from(FIRST_CHANCES)
  /** The context of the end of the tick. */
  end = END
  /** Indexed by object index: one bit for each of the last eight ticks, the latest highest. */
  #histories = new Uint8Array(INDEXES_FIRST)
  #said = new Uint8Array(INDEXES_FIRST)
  /** Above every index with an entry since the last key, and above every lively index. */
  #count = 0
  #livelyEnd = 0
  /** The last result of `from`. */
  #next = NO_ENTRY

  begin(isKey: boolean): void {
    this.end = isKey ? END + 1 : END
    this.#said.fill(SAID.nothing, 0, this.#count)
    if (isKey) this.#clear()
    this.#livelyEnd = this.#count
    this.#next = NO_ENTRY
  }

  #clear(): void {
    this.#histories.fill(0, 0, this.#count)
    this.#count = 0
    this.chances.set(FIRST_CHANCES)
  }

  /** The first lively index at or after `index`, which ascends within a tick; `NO_INDEX` when there is none. @hot */
  from(index: number): number {
    if (index <= this.#next) return this.#next
    let next = index
    while (next < this.#livelyEnd && this.#histories[next] === 0) next++
    this.#next = next < this.#livelyEnd ? next : NO_INDEX
    return this.#next
  }

  /** @hot */
  contextOf(index: number): number {
    return this.#histories[index] >>> CONTEXT_SHIFT
  }

  /** @hot */
  learn(context: number, isYes: boolean): void {
    const chance = this.chances[context]
    this.chances[context] = isYes
      ? chance + (((1 << CHANCE_BITS) - chance) >> LEARNING_SHIFT)
      : chance - (chance >> LEARNING_SHIFT)
  }

  /** @hot */
  say(index: number, kind: number): void {
    if (index >= this.#histories.length) this.#grow(index + 1)
    if (index >= this.#count) this.#count = index + 1
    this.#said[index] = kind === DEATH ? SAID.gone : SAID.spoken
  }

  /** Ends the tick. @hot */
  keep(): void {
    const histories = this.#histories
    for (let index = 0; index < this.#count; index++) {
      const said = this.#said[index]
      histories[index] = said === SAID.gone ? 0 : (histories[index] >>> 1) | (said === SAID.spoken ? LATEST : 0)
    }
  }

  #grow(count: number): void {
    const size = Math.max(count, this.#histories.length * 2)
    const [histories, said] = [this.#histories, this.#said]
    this.#histories = new Uint8Array(size)
    this.#histories.set(histories)
    this.#said = new Uint8Array(size)
    this.#said.set(said)
  }
}

export class LivelyHeadsWriter implements EntryHeadsWriter {
  readonly #out: BitWriter
  readonly #block: RansSink
  readonly #lively = new Liveliness()
  /** Probabilities after the last tick that was kept. */
  readonly #kept = Uint16Array.from(FIRST_CHANCES)
  #cursor = 0

  constructor(out: BitWriter, block: RansSink) {
    this.#out = out
    this.#block = block
  }

  begin(isKey: boolean): void {
    this.#lively.chances.set(this.#kept)
    this.#lively.begin(isKey)
    this.#cursor = 0
  }

  /** @hot */
  write(index: number, kind: EntryKind): void {
    const lively = this.#lively
    const next = this.#pass(index)
    const gap = index - this.#cursor
    this.#cursor = index + 1
    lively.say(index, kind)
    if (next === NO_INDEX) this.#bit(lively.end, false)
    else {
      const isChange = next === index && kind === CHANGE
      this.#bit(lively.contextOf(next), isChange)
      if (isChange) return
      this.#bit(SILENT, false)
    }
    writeSmall(this.#out, gap)
    this.#out.writeBits(kind, 2)
  }

  end(): void {
    this.#pass(NO_INDEX)
    this.#bit(this.#lively.end, true)
  }

  keep(): void {
    this.#lively.keep()
    this.#kept.set(this.#lively.chances)
  }

  /** Writes that the lively objects below an index did not change; returns the next lively index. */
  #pass(end: number): number {
    const lively = this.#lively
    let next = lively.from(this.#cursor)
    for (; next < end; next = lively.from(next + 1)) {
      this.#bit(lively.contextOf(next), false)
      this.#bit(SILENT, true)
      this.#cursor = next + 1
    }
    return next
  }

  #bit(context: number, isYes: boolean): void {
    this.#block.bit(isYes, this.#lively.chances[context])
    this.#lively.learn(context, isYes)
  }
}

export class LivelyHeadsReader implements EntryHeadsReader {
  kind = 0
  readonly #reader: BitReader
  readonly #block: RansSource
  readonly #lively = new Liveliness()
  #cursor = 0

  constructor(reader: BitReader, block: RansSource) {
    this.#reader = reader
    this.#block = block
  }

  begin(isKey: boolean): void {
    this.#lively.begin(isKey)
    this.#cursor = 0
  }

  /** @hot */
  next(): number {
    const lively = this.#lively
    for (;;) {
      const next = lively.from(this.#cursor)
      if (next === NO_INDEX) {
        if (!this.#bit(lively.end)) return this.#other(next)
        lively.keep()
        return NO_ENTRY
      }
      if (this.#bit(lively.contextOf(next))) return this.#found(next, CHANGE)
      if (!this.#bit(SILENT)) return this.#other(next)
      this.#cursor = next + 1
    }
  }

  /** An entry that is not an answer about the next lively object. */
  #other(next: number): number {
    const index = this.#cursor + readSmall(this.#reader)
    const kind = this.#reader.readBits(2)
    // It must not skip the object that was asked about, and a change of that object would have been a yes.
    if (index > next || (index === next && kind === CHANGE) || index >= OBJECTS_MAX) this.#reader.fail()
    return this.#reader.failed ? NO_ENTRY : this.#found(index, kind)
  }

  #found(index: number, kind: number): number {
    this.kind = kind
    this.#cursor = index + 1
    this.#lively.say(index, kind)
    return index
  }

  #bit(context: number): boolean {
    const isYes = this.#block.bit(this.#lively.chances[context])
    this.#lively.learn(context, isYes)
    return isYes
  }
}
