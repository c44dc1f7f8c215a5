/**
 * Measures the time from a change of the keys until a displayed object follows.
 */

const REMEMBERED = 5

export class Reaction {
  #turnedAt = NaN
  #direction = 0
  #before = NaN
  #isWaiting = false
  #last: number[] = []

  /** The median of the last few, or NaN before the first. */
  get ms(): number {
    return [...this.#last].sort((a, b) => a - b)[this.#last.length >> 1] ?? NaN
  }

  /** When the keys last changed. */
  get turnedAt(): number {
    return this.#turnedAt
  }

  /** The direction of the keys: -1, 0 or 1. */
  get direction(): number {
    return this.#direction
  }

  /** Notes the direction of the keys. */
  press(now: number, direction: number): void {
    if (direction === this.#direction) return
    this.#direction = direction
    this.#turnedAt = now
    this.#isWaiting = direction !== 0
  }

  /** Notes the displayed place. True when the object has just begun to move in the direction of the keys. */
  see(now: number, place: number): boolean {
    const isFollowing = this.#isWaiting && Math.sign(place - this.#before) === this.#direction
    this.#before = place
    if (!isFollowing) return false
    this.#isWaiting = false
    this.#last = [...this.#last.slice(1 - REMEMBERED), now - this.#turnedAt]
    return true
  }

  /** Discards earlier measurements. */
  forget(): void {
    this.#last = []
    this.#isWaiting = false
  }
}
