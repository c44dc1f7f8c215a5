/** Guests of a row with codes or listings, in a process of their own, and what they report. */

import type { ChildProcess } from 'node:child_process'
import { percentile } from './players.ts'

/** What happened to the guests of one process so far. */
export interface GuestsReport {
  /** Connected now. */
  readonly playing: number
  /** Could not join. */
  readonly failed: number
  /** Matches that ended. */
  readonly closed: number
  /** Connections that were lost, and came back to their seats. */
  readonly backs: number
  /** Reliable messages that did not arrive. */
  readonly lostMessages: number
  /** The longest time without a message, for each guest. */
  readonly gapsMs: readonly number[]
}

export class Guests {
  readonly #child: ChildProcess
  #report: GuestsReport = { playing: 0, failed: 0, closed: 0, backs: 0, lostMessages: 0, gapsMs: [] }

  constructor(child: ChildProcess) {
    this.#child = child
    child.on('message', (report) => { this.#report = report as GuestsReport })
  }

  get now(): GuestsReport {
    return this.#report
  }

  /** Disconnects, and ends of matches. */
  get lost(): number {
    return this.#report.closed + this.#report.backs
  }

  /** In ms; `share` 0.95 is the 95th percentile of the guests. */
  gap(share: number): number {
    return percentile(this.#report.gapsMs, share)
  }

  /** Gaps count from now on. */
  forgetGaps(): void {
    this.#child.send('forget')
  }
}
