/** The last values of a measurement, oldest first, for graphs. It allocates only on construction. */

export class Series {
  readonly capacity: number
  /** Number of values ever pushed. */
  count = 0
  readonly #values: Float64Array

  constructor(capacity: number) {
    this.capacity = capacity
    this.#values = new Float64Array(capacity)
  }

  /** Number of values available. */
  get length(): number {
    return Math.min(this.count, this.capacity)
  }

  push(value: number): void {
    this.#values[this.count++ % this.capacity] = value
  }

  /** The value at an index; 0 is the oldest. */
  at(index: number): number {
    return this.#values[(this.count - this.length + index) % this.capacity]
  }

  get last(): number {
    return this.count === 0 ? 0 : this.#values[(this.count - 1) % this.capacity]
  }

  get max(): number {
    let max = 0
    for (let index = 0; index < this.length; index++) max = Math.max(max, this.at(index))
    return max
  }

  get mean(): number {
    let sum = 0
    for (let index = 0; index < this.length; index++) sum += this.at(index)
    return this.length === 0 ? 0 : sum / this.length
  }
}
