/**
 * Compares what is drawn with the real state: how late it is, how far it deviates from the path, how often it stands
 * still.
 *
 * While the object rests, and a second longer, no draw counts as standing still: it shows what is true.
 *
 * The drawn position is searched on the path of the last second: the nearest point gives the deviation, and its time
 * the delay.
 */

import type { Point } from './pen.ts'

const WAY_MS = 1000
const STILL = 0.01
/** An object that has not moved for so long rests. */
const REST_MS = 100

interface Place {
  readonly now: number
  readonly x: number
  readonly y: number
}

export class Witness {
  /** Draws that were compared while the object moved, and those that showed the same as the one before. */
  draws = 0
  still = 0
  /** The largest deviation from the path, and the smoothed delay of draws. */
  strayMax = 0
  lateMs = NaN
  /** Recently drawn positions, oldest first. */
  trail: Point[] = []
  #way: Place[] = []
  #restedAt = -Infinity

  /** Compares the real position now with the drawn one. */
  compare(
    now: number,
    truth: { readonly x: number; readonly y: number },
    drawn: { readonly x: number; readonly y: number },
  ): void {
    const { x, y } = drawn
    this.#way = [...this.#way.filter((place) => place.now > now - WAY_MS), { now, x: truth.x, y: truth.y }]
    const before = this.trail.at(-1)
    this.trail = [...this.trail.slice(-30), [x, y]]
    if (before === undefined || this.#way.length < 30) return
    const past = this.#way.findLast((place) => place.now <= now - REST_MS)
    if (past !== undefined && distance(truth.x, truth.y, past.x, past.y) < STILL) this.#restedAt = now
    if (now - this.#restedAt > WAY_MS) {
      this.draws++
      if (distance(x, y, before[0], before[1]) < STILL) this.still++
    }
    let nearest: Place = { now, x: Infinity, y: Infinity }
    for (const place of this.#way)
      if (distance(x, y, place.x, place.y) <= distance(x, y, nearest.x, nearest.y)) nearest = place
    this.strayMax = Math.max(this.strayMax, distance(x, y, nearest.x, nearest.y))
    const lateMs = now - nearest.now
    this.lateMs = Number.isNaN(this.lateMs) ? lateMs : this.lateMs + (lateMs - this.lateMs) / 50
  }

  /** The fraction of draws that showed nothing new. */
  get stillPart(): number {
    return this.draws === 0 ? NaN : this.still / this.draws
  }

  forget(): void {
    this.draws = this.still = this.strayMax = 0
    this.lateMs = NaN
    this.#way = []
  }
}

function distance(x: number, y: number, otherX: number, otherY: number): number {
  return Math.hypot(x - otherX, y - otherY)
}
