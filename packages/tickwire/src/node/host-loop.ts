/**
 * Drives a host of rooms on the event loop of Node, for `RoomServer` and `ServingLockstep`: wakes it after datagrams
 * and at the time that its last `drain` returned, and closes sockets that no connection uses.
 */

import { PATH_SCAN_MS, PATH_UNUSED_MS } from '../core/base/limits.ts'
import type { RoomHost } from '../core/rooms/room-host.ts'
import { monotonicNow as now } from './clock.ts'
import type { PortBundle } from './port-bundle.ts'

/** What is needed of a host. */
type DrivenHost = Pick<RoomHost, 'tick' | 'drain'> & {
  readonly endpoint: { readonly connections: RoomHost['endpoint']['connections'] }
}

/** How long to wait until the players have received the end of their connections. */
const CLOSE_MS = 500

export class HostLoop {
  readonly #host: DrivenHost
  readonly #ports: PortBundle
  readonly #pathScan: NodeJS.Timeout
  #timer: NodeJS.Timeout | undefined
  #isWakeDue = false
  #isOver = false

  constructor(host: DrivenHost, ports: PortBundle) {
    this.#host = host
    this.#ports = ports
    this.#pathScan = setInterval(() => this.#closeUnusedPaths(), PATH_SCAN_MS)
    this.#pathScan.unref()
  }

  /** Many datagrams may arrive in one turn of the event loop; they are processed together. */
  wakeSoon(): void {
    if (this.#isWakeDue) return
    this.#isWakeDue = true
    setImmediate(() => {
      this.#isWakeDue = false
      this.wake()
    })
  }

  /** Runs the due ticks, sends what is due, and sleeps until the next deadline. */
  wake(): void {
    if (this.#isOver) return
    const time = now()
    this.#host.tick(time)
    const wakeAt = this.#host.drain(time, this.#ports)
    clearTimeout(this.#timer)
    if (wakeAt !== Infinity) this.#timer = setTimeout(() => this.wake(), Math.max(0, wakeAt - now()))
  }

  /** Resolves when no connection is left, or after `ms`, or when the loop has ended. */
  async untilEmpty(ms: number): Promise<void> {
    await this.until(() => this.#host.endpoint.connections.length === 0, ms)
  }

  /** Resolves when something is true, or after `ms`, or when the loop has ended. */
  async until(isTrue: () => boolean, ms: number): Promise<void> {
    this.wakeSoon()
    for (const deadline = now() + ms; !isTrue() && now() < deadline && !this.#isOver;) await sleep(20)
  }

  /** Sends the ends of all connections, and waits a moment until they have arrived. */
  async flush(): Promise<void> {
    const deadline = now() + CLOSE_MS
    while (this.#host.endpoint.connections.length > 0 && now() < deadline) {
      this.wake()
      await sleep(10)
    }
  }

  end(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    clearInterval(this.#pathScan)
  }

  /** Closes sockets and sessions without a connection: each costs memory, and a place that a client could use. */
  #closeUnusedPaths(): void {
    const used = new Set(this.#host.endpoint.connections.map(({ address }) => address))
    this.#ports.closeUnused(used, now() - PATH_UNUSED_MS)
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => { setTimeout(resolve, ms) })
}
