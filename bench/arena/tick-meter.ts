/**
 * What a loop of ticks costs, and which of them came too late: the same for the match, for raw sockets and for a loop that does nothing.
 *
 * CPU is that of the whole process from one tick to the next: what came in between, the tick, what it sent, the kernel's part of it, the
 * collector. A tick is missed when it begins a whole period or more after its time.
 */

import { median } from '../harness.ts'
import { cpuMs } from '../scenario/crowd-peer.ts'

export const TICK_RATE = 128
export const TICK_MS: number = 1000 / TICK_RATE

/** What a meter found; milliseconds. */
export interface Metered {
  readonly ticks: number
  readonly missed: number
  readonly cpu: { readonly mean: number; readonly p50: number; readonly p90: number; readonly p99: number; readonly most: number }
  /** Of the tick alone, by the clock on the wall: step, write, send. */
  readonly wall: { readonly p50: number; readonly p99: number }
}

export class TickMeter {
  readonly #cpu: number[] = []
  readonly #wall: number[] = []
  #missed = 0
  #last = NaN

  /** Ticks begin, the first of which was due at a time, and the others since. */
  begin(now: number, dueAt: number): void {
    for (let due = dueAt; now - due >= TICK_MS; due += TICK_MS) this.#missed++
    const cpu = cpuMs()
    if (!Number.isNaN(this.#last)) this.#cpu.push(cpu - this.#last)
    this.#last = cpu
  }

  /** It has ended, after so long. */
  end(ms: number): void {
    this.#wall.push(ms)
  }

  result(): Metered {
    const cpu = this.#cpu.toSorted((a, b) => a - b)
    const wall = this.#wall.toSorted((a, b) => a - b)
    return {
      ticks: cpu.length, missed: this.#missed,
      cpu: { mean: cpu.reduce((sum, ms) => sum + ms, 0) / cpu.length, p50: median(cpu), p90: at(cpu, 0.9), p99: at(cpu, 0.99), most: at(cpu, 1) },
      wall: { p50: median(wall), p99: at(wall, 0.99) },
    }
  }
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? NaN
}

/** Calls `tick` 128 times a second, with how many are due, by the same kind of timer that a server sleeps with. Gives what ends it. */
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
