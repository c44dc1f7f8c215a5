/**
 * Heads of entries in a range-coded block: whoever changed a moment ago is likely to change now, and costs a fraction of a bit.
 *
 *   lively     who was spoken of in the last 8 ticks; from the cursor on, the next of them is asked for:
 *                yes                           he changed: his row follows
 *                no, then yes                  he did not, nor did anybody before him
 *                no, then no                   another entry stands first, at his index at the latest: gap, small | kind 2
 *   nobody is  yes                             the tick ends
 *                no                            another entry: gap, small | kind 2
 *
 * A yes is a bit of the block (`RansSink.bit`); gap and kind are raw, and the gap counts from the cursor, which stands behind the
 * last index that was spoken of or asked for. Chances of a yes follow what was said (a 32nd of the way each time), by context:
 *
 *   0..15      the object changed: in which of the last four ticks he was spoken of, the latest in the highest bit
 *   16         he did not, rather than another entry
 *   17, 18     the tick ends; the same in a key
 *
 * A key begins anew: nobody is lively, and chances are the first ones. Both sides count alike, and nothing is said of it.
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
/** Of 2^15. */
const CHANCE_UNIT = 1024
const CHANCE_BITS = 15
const LEARNING_SHIFT = 5
/** Of a history byte: spoken of in the latest tick; and what the context is of. */
const LATEST = 128
const CONTEXT_SHIFT = 4
const INDEXES_FIRST = 64
/** Above every index. */
const NOBODY = 0x7fff_ffff

/** What a tick says of an index. */
const SAID = { nothing: 0, spoken: 1, gone: 2 } as const

/** First chances: the likelier, the more lately he was spoken of. */
const FIRST_CHANCES: readonly number[] = Array.from({ length: CONTEXTS }, (_, context) =>
  (context < SILENT ? 2 * context + 1 : context <= END ? 31 : 1) * CHANCE_UNIT)

/** Who is lively, and how likely what is. The same on both sides. */
class Liveliness {
  readonly chances: Uint16Array = Uint16Array.from(FIRST_CHANCES)
  /** The context in which the tick ends. */
  end = END
  /** By object index: the last eight ticks, the latest highest. */
  #histories = new Uint8Array(INDEXES_FIRST)
  #said = new Uint8Array(INDEXES_FIRST)
  /** Above every index that was spoken of since the last key, and above every one that is lively. */
  #count = 0
  #livelyEnd = 0
  /** What `from` found last. */
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

  /** The first lively index from one on, which rises within a tick; `NOBODY` when there is none. @hot */
  from(index: number): number {
    if (index <= this.#next) return this.#next
    let next = index
    while (next < this.#livelyEnd && this.#histories[next] === 0) next++
    this.#next = next < this.#livelyEnd ? next : NOBODY
    return this.#next
  }

  /** @hot */
  contextOf(index: number): number {
    return this.#histories[index] >>> CONTEXT_SHIFT
  }

  /** @hot */
  learn(context: number, isYes: boolean): void {
    const chance = this.chances[context]
    this.chances[context] = isYes ? chance + (((1 << CHANCE_BITS) - chance) >> LEARNING_SHIFT) : chance - (chance >> LEARNING_SHIFT)
  }

  /** @hot */
  say(index: number, kind: number): void {
    if (index >= this.#histories.length) this.#grow(index + 1)
    if (index >= this.#count) this.#count = index + 1
    this.#said[index] = kind === DEATH ? SAID.gone : SAID.spoken
  }

  /** The tick is over. @hot */
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
  /** Chances after the last tick that was kept. */
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
    if (next === NOBODY) this.#bit(lively.end, false)
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
    this.#pass(NOBODY)
    this.#bit(this.#lively.end, true)
  }

  keep(): void {
    this.#lively.keep()
    this.#kept.set(this.#lively.chances)
  }

  /** Says of all who are lively below an index that they did not change; who is next. */
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
      if (next === NOBODY) {
        if (!this.#bit(lively.end)) return this.#other(next)
        lively.keep()
        return NO_ENTRY
      }
      if (this.#bit(lively.contextOf(next))) return this.#found(next, CHANGE)
      if (!this.#bit(SILENT)) return this.#other(next)
      this.#cursor = next + 1
    }
  }

  /** An entry that was not asked for. */
  #other(next: number): number {
    const index = this.#cursor + readSmall(this.#reader)
    const kind = this.#reader.readBits(2)
    // Who is asked for is not passed over, and that he changed is a yes.
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
