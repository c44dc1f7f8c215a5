/**
 * Measures a loop of ticks: its CPU time, and which ticks were late. The same meter is used for the match, for raw
 * sockets and for an empty loop.
 *
 * There are two figures of CPU time. A tick is the time from its beginning to its last datagram, including the kernel's
 * part. A period is all CPU time of the process from one tick to the next, including received packets, timers and
 * garbage collection. A tick is missed when it begins a whole period or more after its time.
 */

import { median } from '../harness.ts'
import { cpuMs } from '../scenario/crowd-peer.ts'

export const TICK_RATE = 128
export const TICK_MS: number = 1000 / TICK_RATE

/** The results of a meter, in milliseconds. */
export interface Metered {
  readonly ticks: number
  readonly missed: number
  readonly period: Spread
  /** Empty if the loop does not report the end of its ticks. */
  readonly tick: Spread
}

export interface Spread {
  readonly mean: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly most: number
}

export class TickMeter {
  readonly #periods: number[] = []
  readonly #ticks: number[] = []
  #missed = 0
  #last = NaN

  /** One or more ticks begin. The first was due at `dueAt`. */
  begin(now: number, dueAt: number): void {
    for (let due = dueAt; now - due >= TICK_MS; due += TICK_MS) this.#missed++
    const cpu = cpuMs()
    if (!Number.isNaN(this.#last)) this.#periods.push(cpu - this.#last)
    this.#last = cpu
  }

  /** Everything of this tick has been sent. */
  end(): void {
    this.#ticks.push(cpuMs() - this.#last)
  }

  result(): Metered {
    return {
      ticks: this.#periods.length,
      missed: this.#missed,
      period: spreadOf(this.#periods),
      tick: spreadOf(this.#ticks),
    }
  }
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  return {
    mean: sorted.reduce((sum, ms) => sum + ms, 0) / sorted.length,
    p50: sorted.length === 0 ? NaN : median(sorted), p90: at(sorted, 0.9), p99: at(sorted, 0.99), most: at(sorted, 1),
  }
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? NaN
}

/**
 * Calls `tick` 128 times a second with the number of due ticks, by the same kind of timer that a server uses. Returns a
 * function that ends the loop.
 */
export function loop(tick: (dueAt: number, due: number) => void): () => void {
  const start = performance.now()
  let ran = 0
  let timer: NodeJS.Timeout | undefined
  const sleep = (): void => {
    timer = setTimeout(() => {
      const due = Math.floor((performance.now() - start) / TICK_MS) - ran
      if (due > 0) tick(start + (ran + 1) * TICK_MS, due)
      ran += due
      sleep()
    }, Math.max(0, start + (ran + 1) * TICK_MS - performance.now()))
  }
  sleep()
  return () => clearTimeout(timer)
}
