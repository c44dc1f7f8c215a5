/**
 * An R-Type server on a UDP socket.
 *
 * ```ts
 * const server = await serveRtype({ port: 4242 }, (event, now) => …)
 * server.send(peer, { type: 'LEVEL_START', levelId: 1, levelName: 'The Drift', estimatedDurationS: 120 })
 * ```
 *
 * The protocol is plain text and has no keys. Nothing opens this port unless a program calls `serveRtype`.
 */

import type { Millis } from '../core/base/time.ts'
import type { RtypePacket } from '../core/rtype/packet-table.ts'
import { RtypeServer } from '../core/rtype-session/server.ts'
import type { RtypePeer, RtypeServerEvent, RtypeServerOptions } from '../core/rtype-session/server-types.ts'
import { monotonicNow } from './clock.ts'
import { systemEntropy } from './entropy.ts'
import { plainLog, type ServeLog } from './status-log.ts'
import { openUdp, type UdpOptions, type UdpPort } from './udp.ts'

/** Timers of Node are this coarse; an earlier deadline would spin. */
const TIMER_MS_MIN = 1
const TIMER_MS_MAX = 1000

/** How an R-Type server listens. */
export interface ServeRtypeOptions extends RtypeServerOptions, UdpOptions {
  /** Where its lines are written. Default: the console. */
  readonly log?: ServeLog
}

/** Opens the port and serves until `close`. `onEvent` is called for joins, inputs and leaves. */
export async function serveRtype(
  options: ServeRtypeOptions,
  onEvent: (event: RtypeServerEvent, now: Millis) => void,
): Promise<ServingRtype> {
  const port = await openUdp(options)
  const log = options.log ?? plainLog()
  log({ level: 'warn', event: 'rtype', message: `R-Type on UDP ${port.localAddress}: plain text, without keys.` })
  return new ServingRtype(port, new RtypeServer(options, systemEntropy), onEvent)
}

/** A running R-Type server. Made by `serveRtype`. */
export class ServingRtype {
  /** The sessions, for statistics. */
  readonly sessions: RtypeServer
  /** The socket, for statistics. */
  readonly port: UdpPort
  readonly #onEvent: (event: RtypeServerEvent, now: Millis) => void
  #timer: ReturnType<typeof setTimeout> | undefined = undefined
  #isClosed: boolean = false

  constructor(port: UdpPort, sessions: RtypeServer, onEvent: (event: RtypeServerEvent, now: Millis) => void) {
    this.port = port
    this.sessions = sessions
    this.#onEvent = onEvent
    port.onDatagram = (from, bytes, length) => {
      sessions.handleDatagram(monotonicNow(), from, bytes, length)
      this.flush()
    }
  }

  /** Queues a packet for a client. `flush` sends it. */
  send(peer: RtypePeer, packet: RtypePacket, flags: number = 0): void {
    this.sessions.send(monotonicNow(), peer, packet, flags)
  }

  /** Sends what is queued and due, and reports events. */
  flush(): void {
    if (this.#isClosed) return
    for (let event = this.sessions.poll(); event !== undefined; event = this.sessions.poll()) {
      this.#onEvent(event, monotonicNow())
    }
    const now = monotonicNow()
    const next = this.sessions.drain(now, (to, bytes, length) => this.port.send(to, bytes, length))
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.flush(), Math.min(TIMER_MS_MAX, Math.max(TIMER_MS_MIN, next - now)))
    // The socket keeps the process alive, unless the program calls `port.unref()`.
    this.#timer.unref()
  }

  /** Removes all clients and closes the port. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.sessions.close(monotonicNow())
    this.flush()
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.port.close()
    await this.port.closed
  }
}
