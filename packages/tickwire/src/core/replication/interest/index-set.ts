/**
 * A set of object indexes, as bits: no duplicates, and read in ascending order whatever the order of insertion.
 *
 *   words     one bit per index
 *   summary   one bit per word that is not 0: to read 50 of 65,536 indexes, scan 64 words, not 2,048
 *
 * Callers read the set in loops of their own, over these arrays.
 */

export class IndexSet {
  words: Uint32Array = new Uint32Array(1)
  summary: Uint32Array = new Uint32Array(1)
  /** The number of indexes in the set, or more after `addAll`. */
  sizeMax = 0

  /** Makes room for indexes below `capacity`; the content is kept. */
  reserve(capacity: number): void {
    const wordCount = (capacity + 31) >>> 5
    if (wordCount <= this.words.length) return
    const [words, summary] = [this.words, this.summary]
    this.words = new Uint32Array(wordCount)
    this.words.set(words)
    this.summary = new Uint32Array((wordCount + 31) >>> 5)
    this.summary.set(summary)
  }

  /** @hot */
  add(index: number): void {
    const word = index >>> 5
    const bit = 1 << (index & 31)
    if ((this.words[word] & bit) !== 0) return
    this.words[word] |= bit
    this.summary[word >>> 5] |= 1 << (word & 31)
    this.sizeMax++
  }

  /** Adds all indexes of `other`. There must be room for them. @hot */
  addAll(other: IndexSet): void {
    if (other.sizeMax === 0) return
    this.sizeMax += other.sizeMax
    for (let at = 0; at < other.summary.length; at++) {
      let rest = other.summary[at]
      this.summary[at] |= rest
      while (rest !== 0) {
        const word = (at << 5) + 31 - Math.clz32(rest & -rest)
        rest &= rest - 1
        this.words[word] |= other.words[word]
      }
    }
  }

  /** @hot */
  clear(): void {
    this.words.fill(0)
    this.summary.fill(0)
    this.sizeMax = 0
  }
}
