/**
 * Everything that `step` does to a world, one record after the other: writes to fields, spawns, despawns, changes of
 * owner, random numbers. Of each record only 32 bits are kept, folded over all records so far: two peers find the first
 * record that differs by comparing a few of them. Then the tick is stepped once more, and that record is stored, with
 * the line of code that made it.
 */

import type { ObjectId } from '../../base/time.ts'
import { firstUserFrame, type CodeSite } from './code-site.ts'

/** What `step` did. */
export interface TraceRecord {
  /** The position among all records of the tick, from 0. */
  readonly number: number
  /** The kind of the record. */
  readonly kind: TraceKind
  /** The entity, or 'world'. */
  readonly entity: string
  /** The object; 0: the world. */
  readonly id: ObjectId
  /** The field that was written, or the function that drew a number. */
  readonly field: string
  /** The value that was written or drawn, as text. */
  readonly value: string
  /** The line of code. */
  readonly site: CodeSite | undefined
}

/** What a record is about. */
export type TraceKind = 'write' | 'spawn' | 'despawn' | 'owner' | 'draw'

const KINDS: readonly TraceKind[] = ['write', 'spawn', 'despawn', 'owner', 'draw']
const FIRST_RECORDS = 1024
const PRIME = 0x0100_0193
const BASIS = 0x811c_9dc5 | 0

/** The trace of one tick. */
export class WriteTrace {
  /** How many records there are. */
  count = 0
  /** The record that is stored. */
  record: TraceRecord | undefined = undefined
  readonly #wanted: number
  /** Indexed by record: the fold up to and with it. */
  #folds = new Int32Array(FIRST_RECORDS)
  readonly #number = new DataView(new ArrayBuffer(8))

  /** `wanted`: the record to store. Default: none. */
  constructor(wanted: number = -1) {
    this.#wanted = wanted
  }

  /** The fold of the first `count` records. */
  foldOf(count: number): number {
    return count === 0 ? BASIS : this.#folds[count - 1]
  }

  /**
   * Adds a record. `words` are what is compared beside kind, object and field. `describe` gives names and value.
   * `depth`: how many calls of the engine lie between this one and the game's code.
   */
  note(
    kind: TraceKind, id: ObjectId, field: number, words: readonly number[], depth: number,
    describe: () => readonly [entity: string, field: string, value: string],
  ): void {
    let fold = mix(mix(mix(this.foldOf(this.count), KINDS.indexOf(kind)), id), field)
    for (const word of words) fold = mix(fold, word)
    if (this.count === this.#folds.length) {
      const grown = new Int32Array(2 * this.count)
      grown.set(this.#folds)
      this.#folds = grown
    }
    this.#folds[this.count] = fold
    if (this.count === this.#wanted) {
      const [entity, name, value] = describe()
      const site = firstUserFrame(new Error('trace').stack ?? '', depth + 1)
      this.record = { number: this.count, kind, entity, id, field: name, value, site }
    }
    this.count++
  }

  /** The two halves of a number. All NaN are one. */
  wordsOf(value: number): readonly number[] {
    this.#number.setFloat64(0, Number.isNaN(value) ? NaN : value)
    return [this.#number.getInt32(0), this.#number.getInt32(4)]
  }
}

function mix(fold: number, word: number): number {
  let mixed = Math.imul(fold ^ word, PRIME)
  mixed ^= mixed >>> 15
  return Math.imul(mixed, 0x85eb_ca6b) ^ (mixed >>> 13)
}
