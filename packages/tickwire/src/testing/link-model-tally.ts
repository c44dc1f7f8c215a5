/**
 * Counts what happened to datagrams, by fault. Tests assert that the faults did occur, and that no datagram vanished
 * unexplained.
 *
 * Invariant, at every moment: `sent + copies` is the sum of all that were dropped, `delivered`, and those in flight.
 */

/** Counters of one directed link, or of many together. */
export class LinkTally {
  /** Datagrams that were sent. */
  sent: number = 0
  /** Datagrams that arrived. */
  delivered: number = 0
  /** Dropped datagrams, each counted for one reason. */
  lost: number = 0
  /** Dropped in a burst of losses. */
  lostInBurst: number = 0
  /** Dropped in an outage. */
  lostInOutage: number = 0
  /** Dropped by a partition. */
  partitioned: number = 0
  /** Dropped because they were longer than the path allowed. */
  tooLong: number = 0
  /** Dropped by a rate limit. */
  policed: number = 0
  /** The line's queue was full. */
  tailDropped: number = 0
  /** Its address was in use when it was sent, and no longer when it arrived. */
  stale: number = 0
  /** More datagrams were in flight than the simulation can hold. */
  overflowed: number = 0
  /** Duplicates made on the way. */
  copies: number = 0
  /** Held back by reordering. */
  held: number = 0
  /** Arrived with flipped bits. */
  bitsFlipped: number = 0
  /** Arrived with changed bytes. */
  bytesChanged: number = 0
  /** Arrived shorter than they were sent. */
  cut: number = 0
  /** Arrived longer than they were sent. */
  extended: number = 0
  /** Arrived mixed with parts of another datagram. */
  spliced: number = 0
  /** Waited in a queue: the line's, or one filled by cross traffic. */
  queued: number = 0
  /** The longest such wait. */
  queuedMsMax: number = 0

  /** Every datagram that was dropped, whatever the reason. */
  get dropped(): number {
    return this.lost + this.lostInBurst + this.lostInOutage + this.partitioned + this.tooLong + this.policed
      + this.tailDropped + this.stale + this.overflowed
  }

  /** Datagrams that arrived different from how they were sent. */
  get corrupted(): number {
    return this.bitsFlipped + this.bytesChanged + this.cut + this.extended + this.spliced
  }

  /** Adds another tally's counters. */
  add(other: LinkTally): void {
    for (const key of Object.keys(this) as Counter[]) {
      this[key] = key === 'queuedMsMax' ? Math.max(this[key], other[key]) : this[key] + other[key]
    }
  }
}

type Counter = Exclude<keyof LinkTally, 'dropped' | 'corrupted' | 'add'>
