/**
 * The part of the bench that runs inside a server process: it measures the process and answers the bench.
 *
 * The bench sends `measure` when all clients have joined and the caches are warm, and `report` at the end.
 */

import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

/** The resources that a server process used between `measure` and `report`. */
export interface ServerReport {
  readonly cpuMs: number
  readonly wallMs: number
  readonly ticks: number
  /** How late ticks began: the 99th percentile, in ms. */
  readonly latenessMs99: number
  readonly residentBytes: number
  /** Bytes handed to sockets: WebSocket frames with their heads, or UDP datagrams. */
  readonly bytesOut: number
}

/** Counts ticks and how late they are. */
export class TickWatch {
  #lateness: number[] = []
  #period: number
  #nextAt = 0

  constructor(tickRate: number) {
    this.#period = 1000 / tickRate
  }

  get ticks(): number {
    return this.#lateness.length
  }

  /** A tick begins at `now`. Its lateness is the time since its place in a grid of the tick rate. */
  tick(now: number = performance.now()): void {
    // A server that missed a whole tick starts a new grid, as fixed loops do.
    if (this.#nextAt === 0 || now - this.#nextAt > 8 * this.#period) this.#nextAt = now
    this.#lateness.push(Math.max(0, now - this.#nextAt))
    this.#nextAt += this.#period
    if (now < this.#nextAt - this.#period) this.#nextAt = now + this.#period
  }

  reset(): void {
    this.#lateness = []
    this.#nextAt = 0
  }

  latenessMs99(): number {
    const sorted = this.#lateness.toSorted((a, b) => a - b)
    return sorted[Math.floor(sorted.length * 0.99)] ?? 0
  }
}

/** Every TCP connection that this process accepted. */
const sockets: Socket[] = []
subscribe('net.server.socket', (message) => {
  sockets.push((message as { readonly socket: Socket }).socket)
})

/** Answers the bench. `udpBytesOut` is a running count; what TCP connections send is counted here. */
export function reportWhenAsked(watch: TickWatch, port: number, udpBytesOut: () => number = () => 0): void {
  const bytesOut = (): number => udpBytesOut() + sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0)
  let cpuFrom = process.cpuUsage()
  let wallFrom = performance.now()
  let bytesFrom = 0
  process.on('message', (message) => {
    if (message === 'measure') {
      watch.reset()
      cpuFrom = process.cpuUsage()
      wallFrom = performance.now()
      bytesFrom = bytesOut()
    }
    if (message === 'report') {
      const { user, system } = process.cpuUsage(cpuFrom)
      const report: ServerReport = {
        cpuMs: (user + system) / 1000,
        wallMs: performance.now() - wallFrom,
        ticks: watch.ticks,
        latenessMs99: watch.latenessMs99(),
        residentBytes: process.memoryUsage.rss(),
        bytesOut: bytesOut() - bytesFrom,
      }
      process.send?.(report)
    }
  })
  process.on('disconnect', () => process.exit(0))
  process.send?.({ port })
}
