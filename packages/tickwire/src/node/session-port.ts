/**
 * Datagram sessions as a datagram port. Each session is a path with a numbered address: `wt:1`, `wt:2`, …
 *
 * It adopts the sessions of WebTransport and WebRTC providers. A session that is silent for 15 s carries no connection
 * (a connection sends at least every second) and is closed. Sessions beyond `maxSessions` are refused, and so are those
 * beyond 20 of one origin outside the local network: a session costs more than the handshakes that the endpoint counts.
 */

import { DATAGRAM_BYTES_SAFE, PATHS_PER_ORIGIN, PATH_IDLE_MS, PATH_SCAN_MS } from '../core/base/limits.ts'
import { type DatagramPort, type DatagramPortStats, createPortStats } from '../core/endpoint/datagram-port.ts'
import { monotonicNow } from './clock.ts'
import { OriginTally } from './origin-tally.ts'
import type { DatagramSession } from './providers.ts'

interface Path {
  readonly session: DatagramSession
  /** When the last datagram arrived. */
  receivedAt: number
  /** When a connection was last known to be open on it. */
  usedAt: number
}

export class SessionPort implements DatagramPort {
  readonly maxDatagramBytes: number = DATAGRAM_BYTES_SAFE
  readonly stats: DatagramPortStats = createPortStats()
  onDatagram: DatagramPort['onDatagram'] = () => {}
  onPathClosed: DatagramPort['onPathClosed'] = () => {}
  readonly #prefix: string
  readonly #maxSessions: number
  readonly #tally: OriginTally
  readonly #paths: Map<string, Path> = new Map()
  readonly #idleScan: NodeJS.Timeout
  #adopted = 0
  #isClosed = false

  /** `prefix` begins every address of this port. */
  constructor(
    prefix: string,
    maxSessions: number,
    maxPerOrigin: number = PATHS_PER_ORIGIN,
    areLocalExempt: boolean = true,
  ) {
    this.#prefix = prefix
    this.#maxSessions = maxSessions
    this.#tally = new OriginTally(maxPerOrigin, areLocalExempt)
    this.#idleScan = setInterval(() => this.closeIdle(monotonicNow() - PATH_IDLE_MS), PATH_SCAN_MS)
    this.#idleScan.unref()
  }

  get pathCount(): number {
    return this.#paths.size
  }

  /** Takes a session. It is closed if it exceeds a limit, or if its datagrams are shorter than a path must carry. */
  adopt(session: DatagramSession): void {
    const { originIp } = session
    const isRefused =
      this.#isClosed || this.#paths.size >= this.#maxSessions || session.maxDatagramBytes < DATAGRAM_BYTES_SAFE
    if (isRefused || !this.#tally.take(originIp)) {
      this.stats.refused++
      session.close()
      return
    }
    const address = `${this.#prefix}${++this.#adopted}`
    const path: Path = { session, receivedAt: monotonicNow(), usedAt: monotonicNow() }
    this.#paths.set(address, path)
    session.onDatagram = (bytes) => {
      if (bytes.length > DATAGRAM_BYTES_SAFE) {
        this.stats.refused++
        return
      }
      path.receivedAt = monotonicNow()
      this.stats.received++
      this.onDatagram(address, bytes, bytes.length)
    }
    session.onClosed = () => {
      if (!this.#paths.delete(address)) return
      this.#tally.release(originIp)
      this.onPathClosed(address)
    }
  }

  send(to: string, bytes: Uint8Array, length: number): void {
    if (length > this.maxDatagramBytes) {
      this.stats.oversized++
      return
    }
    const verdict = this.#paths.get(to)?.session.send(bytes, length)
    if (verdict === 'sent') this.stats.sent++
    else if (verdict === 'congested') this.stats.congested++
    else this.stats.unreachable++
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    clearInterval(this.#idleScan)
    for (const { session } of [...this.#paths.values()]) session.close()
  }

  /** The IP address behind an address of this port; the address itself when it is unknown. */
  originOf(address: string): string {
    return this.#paths.get(address)?.session.originIp ?? address
  }

  closeIdle(before: number): void {
    for (const { session, receivedAt } of [...this.#paths.values()]) if (receivedAt < before) session.close()
  }

  /** Closes sessions that have not been in `used` since `before`: no connection was opened on them, or it has ended. */
  closeUnused(used: ReadonlySet<string>, before: number): void {
    for (const [address, path] of [...this.#paths]) {
      if (used.has(address)) path.usedAt = monotonicNow()
      else if (path.usedAt < before) path.session.close()
    }
  }
}
