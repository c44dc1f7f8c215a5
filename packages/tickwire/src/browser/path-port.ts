/**
 * A datagram port with one path: what the three transports of a browser have in common.
 *
 * A transport provides a `Carrier`, and passes the port what it receives and when it ends. Datagrams that would queue
 * behind a slow network are dropped and counted: rows would be stale on arrival, and reliable data is sent again.
 */

import { DATAGRAM_BYTES_SAFE } from '../core/base/limits.ts'
import { type DatagramPort, type DatagramPortStats, createPortStats } from '../core/endpoint/datagram-port.ts'

/** Most bytes that may be buffered in a socket or a channel. A tick's burst fits, a second of play does not. */
export const BUFFERED_BYTES_MAX = 16_384
/** What Chromium reports until it has measured the path; version 150 always reports it. */
const UNMEASURED_BYTES = 1024

/** The sending side of a transport. */
export interface Carrier {
  /** The callee may keep `bytes`. */
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

  /** `address` is the address of its only path. */
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

  /** Handles data that the transport received. */
  receive(data: unknown): void {
    const bytes = data instanceof ArrayBuffer ? new Uint8Array(data) : data
    if (!(bytes instanceof Uint8Array) || bytes.length > this.maxDatagramBytes) this.stats.refused++
    else if (!this.#isEnded) {
      this.stats.received++
      this.onDatagram(this.#address, bytes, bytes.length)
    }
  }

  /** Handles the end of the transport. */
  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.onPathClosed(this.#address)
  }
}

/** What a transport that is loaded later needs of the page. */
export interface PortMaker {
  makePort(address: string, carrier: Carrier): PathPort
  readonly bufferedBytesMax: number
  mayCarryPackets(maxDatagramSize: number): boolean
}

export const portMaker: PortMaker = {
  makePort: (address, carrier) => new PathPort(address, carrier),
  bufferedBytesMax: BUFFERED_BYTES_MAX,
  mayCarryPackets,
}

/**
 * Whether a session with this maximum datagram size may carry our packets. An unmeasured one is tried: a handshake
 * packet has full length, and gets no answer if that is too long.
 */
export function mayCarryPackets(maxDatagramSize: number): boolean {
  return maxDatagramSize >= DATAGRAM_BYTES_SAFE || maxDatagramSize === UNMEASURED_BYTES
}
