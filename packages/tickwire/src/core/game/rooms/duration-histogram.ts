/**
 * How long things took, as a histogram of fixed size: percentiles within 10 %, and not a byte allocated for a measurement.
 *
 * Durations are counted in buckets that grow by an eighth of their octave, from a microsecond to over an hour. Read two at two moments
 * and subtract to see what happened in between.
 */

const STEPS_PER_OCTAVE = 8
const OCTAVES = 31
const BUCKETS = STEPS_PER_OCTAVE * OCTAVES
const MICROS_PER_MS = 1000

export class DurationHistogram {
  readonly #counts = new Uint32Array(BUCKETS)
  /** Sum and longest, in milliseconds: cells, since doubles in fields would be allocated. */
  readonly #cells = new Float64Array(2)
  #count = 0

  get count(): number {
    return this.#count
  }

  get sumMs(): number {
    return this.#cells[0]
  }

  get maxMs(): number {
    return this.#cells[1]
  }

  /** @hot */
  record(ms: number): void {
    const micros = Math.max(1, Math.min(ms * MICROS_PER_MS, 0x7fff_ffff)) | 0
    const octave = 31 - Math.clz32(micros)
    // The three bits behind the first say which eighth of the octave.
    const step = octave >= 3 ? (micros >>> (octave - 3)) & 7 : (micros << (3 - octave)) & 7
    this.#counts[octave * STEPS_PER_OCTAVE + step]++
    this.#count++
    this.#cells[0] += ms
    if (ms > this.#cells[1]) this.#cells[1] = ms
  }

  /** Such that this share of all, 0 to 1, took no longer, to within an eighth; 0 when there are none. */
  percentileMs(share: number): number {
    let left = Math.ceil(this.#count * share)
    for (let bucket = 0; bucket < BUCKETS && this.#count > 0; bucket++) {
      left -= this.#counts[bucket]
      if (left <= 0) return Math.min(upperMs(bucket), this.maxMs)
    }
    return this.maxMs
  }

  reset(): void {
    this.#counts.fill(0)
    this.#cells.fill(0)
    this.#count = 0
  }
}

/** Where a bucket ends. */
function upperMs(bucket: number): number {
  const octave = Math.floor(bucket / STEPS_PER_OCTAVE)
  return (1 << octave) * (1 + (bucket % STEPS_PER_OCTAVE + 1) / STEPS_PER_OCTAVE) / MICROS_PER_MS
}
