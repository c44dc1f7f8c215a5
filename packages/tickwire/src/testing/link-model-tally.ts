/**
 * What happened on the way, by fault: tests assert that the weather was real, and that nothing got lost unexplained.
 *
 * Invariant, at every moment: `sent + copies` is the sum of all that were dropped, `delivered`, and what is on its way.
 */

/** Counters of one directed link, or of many together. */
export class LinkTally {
  sent: number = 0
  delivered: number = 0
  /** Dropped, each for one reason. */
  lost: number = 0
  lostInBurst: number = 0
  lostInOutage: number = 0
  partitioned: number = 0
  tooLong: number = 0
  policed: number = 0
  /** The line's queue was full. */
  tailDropped: number = 0
  /** Its address was somebody's when it was sent, and nobody's when it came. */
  stale: number = 0
  /** More were on their way than the simulation holds. */
  overflowed: number = 0
  /** Made on the way: duplicates. */
  copies: number = 0
  /** Held back so that others overtake. */
  held: number = 0
  bitsFlipped: number = 0
  bytesChanged: number = 0
  cut: number = 0
  extended: number = 0
  spliced: number = 0
  /** Waited in a queue, the line's or somebody else's. */
  queued: number = 0
  /** The longest such wait. */
  queuedMsMax: number = 0

  /** Every datagram that was dropped, whatever the reason. */
  get dropped(): number {
    return this.lost + this.lostInBurst + this.lostInOutage + this.partitioned + this.tooLong + this.policed
      + this.tailDropped + this.stale + this.overflowed
  }

  /** Datagrams that arrived other than they left. */
  get corrupted(): number {
    return this.bitsFlipped + this.bytesChanged + this.cut + this.extended + this.spliced
  }

  /** Counts another's in. */
  add(other: LinkTally): void {
    for (const key of Object.keys(this) as Counter[]) {
      this[key] = key === 'queuedMsMax' ? Math.max(this[key], other[key]) : this[key] + other[key]
    }
  }
}

type Counter = Exclude<keyof LinkTally, 'dropped' | 'corrupted' | 'add'>
