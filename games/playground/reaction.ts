/**
 * How long it takes until something that is seen follows the keys: from the moment they turn to the moment it does.
 */

const REMEMBERED = 5

export class Reaction {
  #turnedAt = NaN
  #direction = 0
  #before = NaN
  #isWaiting = false
  #last: number[] = []

  /** The middle one of the last few, or NaN before the first. */
  get ms(): number {
    return [...this.#last].sort((a, b) => a - b)[this.#last.length >> 1] ?? NaN
  }

  /** When the keys last turned. */
  get turnedAt(): number {
    return this.#turnedAt
  }

  /** Where the keys say to go: -1, 0 or 1. */
  get direction(): number {
    return this.#direction
  }

  /** The keys say where to go. */
  press(now: number, direction: number): void {
    if (direction === this.#direction) return
    this.#direction = direction
    this.#turnedAt = now
    this.#isWaiting = direction !== 0
  }

  /** It is seen here. True when it has just begun to go where the keys say. */
  see(now: number, place: number): boolean {
    const isFollowing = this.#isWaiting && Math.sign(place - this.#before) === this.#direction
    this.#before = place
    if (!isFollowing) return false
    this.#isWaiting = false
    this.#last = [...this.#last.slice(1 - REMEMBERED), now - this.#turnedAt]
    return true
  }

  /** What was measured before does not count any more. */
  forget(): void {
    this.#last = []
    this.#isWaiting = false
  }
}
