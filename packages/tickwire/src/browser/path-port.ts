/**
 * A datagram port with one path: what the three transports of a browser have in common.
 *
 * A transport brings a `Carrier`, tells the port what it received and that it has ended. What would wait behind a slow
 * network is dropped and counted: rows are stale by the time they would arrive, and what matters is sent again.
 */

import { DATAGRAM_BYTES_SAFE } from '../core/base/limits.ts'
import { type DatagramPort, type DatagramPortStats, createPortStats } from '../core/endpoint/datagram-port.ts'

/** What may wait unsent in a socket or a channel. A burst of a tick fits, a second of play does not. */
export const BUFFERED_BYTES_MAX = 16_384

/** The sending side of a transport. */
export interface Carrier {
  /** May keep `bytes`. */
  send(bytes: Uint8Array<ArrayBuffer>): 'sent' | 'congested' | 'closed'
  close(): void
}

export class PathPort implements DatagramPort {
  readonly maxDatagramBytes: number = DATAGRAM_BYTES_SAFE
  readonly stats: DatagramPortStats = createPortStats()
  onDatagram: DatagramPort['onDatagram'] = () => {}
  onPathClosed: DatagramPort['onPathClosed'] = () => {}
  readonly #address: string
  readonly #carrier: Carrier
  #isEnded = false

  /** `address` is what its one path is called. */
  constructor(address: string, carrier: Carrier) {
    this.#address = address
    this.#carrier = carrier
  }

  send(to: string, bytes: Uint8Array, length: number): void {
    if (length > this.maxDatagramBytes) this.stats.oversized++
    else if (to !== this.#address || this.#isEnded) this.stats.unreachable++
    else {
      const verdict = this.#carrier.send(bytes.slice(0, length))
      if (verdict === 'sent') this.stats.sent++
      else if (verdict === 'congested') this.stats.congested++
      else this.stats.unreachable++
    }
  }

  close(): void {
    if (this.#isEnded) return
    this.#carrier.close()
    this.end()
  }

  /** The transport has received something. */
  receive(data: unknown): void {
    const bytes = data instanceof ArrayBuffer ? new Uint8Array(data) : data
    if (!(bytes instanceof Uint8Array) || bytes.length > this.maxDatagramBytes) this.stats.refused++
    else if (!this.#isEnded) {
      this.stats.received++
      this.onDatagram(this.#address, bytes, bytes.length)
    }
  }

  /** The transport is over. */
  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.onPathClosed(this.#address)
  }
}
