/**
 * A histogram of durations with a fixed size. Percentiles are exact to within an eighth. Recording allocates nothing.
 *
 * Each octave has eight buckets, from one microsecond to over half an hour. To measure an interval, read the histogram
 * at both ends and subtract.
 */

const STEPS_PER_OCTAVE = 8
const OCTAVES = 31
const BUCKETS = STEPS_PER_OCTAVE * OCTAVES
const MICROS_PER_MS = 1000

/** A histogram as plain values, for another process. */
export interface HistogramImage {
  /** Durations of each bucket. */
  readonly counts: Uint32Array
  /** The sum of all durations, in ms. */
  readonly sumMs: number
  /** The longest, in ms. */
  readonly maxMs: number
}

/** Counts durations in buckets, for metrics. */
export class DurationHistogram {
  readonly #counts = new Uint32Array(BUCKETS)
  /** Sum and maximum, in milliseconds. A typed array, because writing a double to a field would allocate. */
  readonly #cells = new Float64Array(2)
  #count = 0

  /** How many durations were added. */
  get count(): number {
    return this.#count
  }

  /** Their sum, in ms. */
  get sumMs(): number {
    return this.#cells[0]
  }

  /** The longest, in ms. */
  get maxMs(): number {
    return this.#cells[1]
  }

  /** @hot */
  record(ms: number): void {
    const micros = Math.max(1, Math.min(ms * MICROS_PER_MS, 0x7fff_ffff)) | 0
    const octave = 31 - Math.clz32(micros)
    // The three bits below the leading one select the eighth of the octave.
    const step = octave >= 3 ? (micros >>> (octave - 3)) & 7 : (micros << (3 - octave)) & 7
    this.#counts[octave * STEPS_PER_OCTAVE + step]++
    this.#count++
    this.#cells[0] += ms
    if (ms > this.#cells[1]) this.#cells[1] = ms
  }

  /** The duration that this share of all measurements (0 to 1) did not exceed, to within an eighth. 0 when empty. */
  percentileMs(share: number): number {
    let left = Math.ceil(this.#count * share)
    for (let bucket = 0; bucket < BUCKETS && this.#count > 0; bucket++) {
      left -= this.#counts[bucket]
      if (left <= 0) return Math.min(upperMs(bucket), this.maxMs)
    }
    return this.maxMs
  }

  /** A copy as plain values. */
  image(): HistogramImage {
    return { counts: this.#counts.slice(), sumMs: this.sumMs, maxMs: this.maxMs }
  }

  /** Adds the durations of another histogram. */
  add({ counts, sumMs, maxMs }: HistogramImage): void {
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      const count = counts[bucket] ?? 0
      this.#counts[bucket] += count
      this.#count += count
    }
    this.#cells[0] += sumMs
    this.#cells[1] = Math.max(this.#cells[1], maxMs)
  }

  /** Starts again from zero. */
  reset(): void {
    this.#counts.fill(0)
    this.#cells.fill(0)
    this.#count = 0
  }
}

/** The upper bound of a bucket. */
function upperMs(bucket: number): number {
  const octave = Math.floor(bucket / STEPS_PER_OCTAVE)
  return (1 << octave) * (1 + (bucket % STEPS_PER_OCTAVE + 1) / STEPS_PER_OCTAVE) / MICROS_PER_MS
}
