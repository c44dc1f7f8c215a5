/**
 * What a loop of ticks costs, and which of them came too late: the same for the match, for raw sockets and for a loop
 * that does nothing.
 *
 * Of CPU there are two figures. That of a tick: from its beginning to its last datagram, the kernel's part included.
 * That of a period: all of the process from one tick to the next, with what came in between, timers and the collector.
 * A tick is missed when it begins a whole period or more after its time.
 */

import { median } from '../harness.ts'
import { cpuMs } from '../scenario/crowd-peer.ts'

export const TICK_RATE = 128
export const TICK_MS: number = 1000 / TICK_RATE

/** What a meter found; milliseconds. */
export interface Metered {
  readonly ticks: number
  readonly missed: number
  readonly period: Spread
  /** Empty if the end of ticks is not reported. */
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

  /** Ticks begin, the first of which was due at a time, and the others since. */
  begin(now: number, dueAt: number): void {
    for (let due = dueAt; now - due >= TICK_MS; due += TICK_MS) this.#missed++
    const cpu = cpuMs()
    if (!Number.isNaN(this.#last)) this.#periods.push(cpu - this.#last)
    this.#last = cpu
  }

  /** All is sent. */
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
 * Calls `tick` 128 times a second, with how many are due, by the same kind of timer that a server sleeps with. Gives
 * what ends it.
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
