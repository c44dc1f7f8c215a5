/** The last so many of a measure, oldest first, for graphs. It allocates when it is made and never again. */

export class Series {
  readonly capacity: number
  /** Pushed ever. */
  count = 0
  readonly #values: Float64Array

  constructor(capacity: number) {
    this.capacity = capacity
    this.#values = new Float64Array(capacity)
  }

  /** How many there are to look at. */
  get length(): number {
    return Math.min(this.count, this.capacity)
  }

  push(value: number): void {
    this.#values[this.count++ % this.capacity] = value
  }

  /** 0 is the oldest. */
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
