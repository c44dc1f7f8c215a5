/** Players of a chaos row in processes of their own, and what they report. */

import type { ChildProcess } from 'node:child_process'

/** What happened to the players of one process so far. */
export interface PlayersReport {
  /** Connected now. */
  readonly playing: number
  /** Could not join. */
  readonly failed: number
  /** Ways back to a seat. */
  readonly backs: number
  /** Connections that are not by UDP, not sealed, or to a server that did not prove its identity. */
  readonly open: number
  /** Lost matches, by the way they were lost. */
  readonly lost: { readonly [why: string]: number }
  readonly joinMs: readonly number[]
  /** How long the reservation of a seat took, where players time it. */
  readonly seatMs: readonly number[]
  /** Without a new tick, around each way back. */
  readonly gapsMs: readonly number[]
}

const NOTHING: PlayersReport = {
  playing: 0, failed: 0, backs: 0, open: 0, lost: {}, joinMs: [], seatMs: [], gapsMs: [],
}

export class Players {
  readonly #children: readonly ChildProcess[]
  readonly #reports: PlayersReport[]

  constructor(children: readonly ChildProcess[]) {
    this.#children = children
    this.#reports = children.map(() => NOTHING)
    children.forEach((child, index) => child.on('message', (report) => {
      this.#reports[index] = report as PlayersReport
    }))
  }

  get playing(): number {
    return this.#sum(({ playing }) => playing)
  }

  get failed(): number {
    return this.#sum(({ failed }) => failed)
  }

  get backs(): number {
    return this.#sum(({ backs }) => backs)
  }

  get open(): number {
    return this.#sum(({ open }) => open)
  }

  /** Matches that were lost, counted by players. */
  get lostCount(): number {
    return this.#sum(({ lost }) => Object.values(lost).reduce((sum, each) => sum + each, 0))
  }

  get lost(): string {
    return this.#reports.map(({ lost }) => JSON.stringify(lost)).join(' ')
  }

  /** In ms; `share` 0.99 is the 99th percentile. */
  join(share: number): number {
    return percentile(this.#reports.flatMap(({ joinMs }) => joinMs), share)
  }

  seat(share: number): number {
    return percentile(this.#reports.flatMap(({ seatMs }) => seatMs), share)
  }

  gap(share: number): number {
    return percentile(this.#reports.flatMap(({ gapsMs }) => gapsMs), share)
  }

  leave(): void {
    for (const child of this.#children) if (child.connected) child.send('leave')
  }

  #sum(read: (report: PlayersReport) => number): number {
    return this.#reports.reduce((sum, report) => sum + read(report), 0)
  }
}

/** The value below which this share of the values is. 0 without values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0
}
