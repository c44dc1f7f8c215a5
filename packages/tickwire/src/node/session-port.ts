/**
 * Datagram sessions as a datagram port: each is a path with a number, `wt:1`, `wt:2`, …
 *
 * What WebTransport and WebRTC providers give is adopted here. A session that is silent for 15 s carries no connection
 * (one that is open speaks every second) and is closed. Refused are more than `maxSessions`, and more than 20 from one
 * origin that is not of the own network: a session costs more than the handshakes that the endpoint counts.
 */

import { CONNECTIONS_PER_ORIGIN, DATAGRAM_BYTES_SAFE } from '../core/base/limits.ts'
import { type DatagramPort, type DatagramPortStats, createPortStats } from '../core/endpoint/datagram-port.ts'
import { originKey } from '../core/endpoint/origin-key.ts'
import { monotonicNow } from './clock.ts'
import type { DatagramSession } from './providers.ts'

const IDLE_MS_MAX = 15_000
const IDLE_SCAN_MS = 5000
/** Who changes paths has two for a while, and who comes back quickly has left one behind. */
const SESSIONS_PER_ORIGIN = 4 * CONNECTIONS_PER_ORIGIN

interface Path {
  readonly session: DatagramSession
  heardAt: number
}

export class SessionPort implements DatagramPort {
  readonly maxDatagramBytes: number = DATAGRAM_BYTES_SAFE
  readonly stats: DatagramPortStats = createPortStats()
  onDatagram: DatagramPort['onDatagram'] = () => {}
  onPathClosed: DatagramPort['onPathClosed'] = () => {}
  readonly #prefix: string
  readonly #maxSessions: number
  readonly #paths: Map<string, Path> = new Map()
  readonly #idleScan: NodeJS.Timeout
  #adopted = 0
  #isClosed = false

  /** `prefix` begins every address of it. */
  constructor(prefix: string, maxSessions: number) {
    this.#prefix = prefix
    this.#maxSessions = maxSessions
    this.#idleScan = setInterval(() => this.closeIdle(monotonicNow() - IDLE_MS_MAX), IDLE_SCAN_MS)
    this.#idleScan.unref()
  }

  get pathCount(): number {
    return this.#paths.size
  }

  /** Takes a session. One too many, or one that carries less than every path must, is closed. */
  adopt(session: DatagramSession): void {
    if (this.#isClosed || this.#isFull(session.originIp) || session.maxDatagramBytes < DATAGRAM_BYTES_SAFE) {
      this.stats.refused++
      session.close()
      return
    }
    const address = `${this.#prefix}${++this.#adopted}`
    const path: Path = { session, heardAt: monotonicNow() }
    this.#paths.set(address, path)
    session.onDatagram = (bytes) => {
      path.heardAt = monotonicNow()
      if (bytes.length > DATAGRAM_BYTES_SAFE) {
        this.stats.refused++
        return
      }
      this.stats.received++
      this.onDatagram(address, bytes, bytes.length)
    }
    session.onClosed = () => {
      if (this.#paths.delete(address)) this.onPathClosed(address)
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

  /** The numeric address behind one of ours; the address itself when it is none. */
  originOf(address: string): string {
    return this.#paths.get(address)?.session.originIp ?? address
  }

  closeIdle(before: number): void {
    for (const { session, heardAt } of [...this.#paths.values()]) if (heardAt < before) session.close()
  }

  #isFull(ip: string): boolean {
    if (this.#paths.size >= this.#maxSessions) return true
    const key = originKey(ip)
    if (key === undefined || key.isLocal) return false
    let count = 0
    for (const { session } of this.#paths.values()) {
      const theirs = originKey(session.originIp)
      if (theirs?.family === key.family && theirs.high === key.high && theirs.low === key.low) count++
    }
    return count >= SESSIONS_PER_ORIGIN
  }
}
