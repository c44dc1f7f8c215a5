/**
 * Datagrams over MessagePorts: between a page and its Worker, between two pages of one site, or within a process.
 *
 * Each port is a path with an address of its own. One message is one datagram, as a Uint8Array; `null` closes the path.
 */

import { DATAGRAM_BYTES_SAFE } from '../base/limits.ts'
import { createPortStats, type DatagramPort, type DatagramPortStats } from './datagram-port.ts'

/** What is needed of a MessagePort. Those of pages, Workers and Node have it. */
export interface MessagePortLike {
  /** Sends a copy of the message to the other end. */
  postMessage(message: unknown): void
  /** Calls `listener` for each message. */
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
  /** Begins to deliver messages. */
  start(): void
  /** Closes both ends. */
  close(): void
}

/** Several MessagePorts as one datagram port. */
export class MessagePorts implements DatagramPort {
  readonly maxDatagramBytes: number = DATAGRAM_BYTES_SAFE
  readonly stats: DatagramPortStats = createPortStats()
  onDatagram: DatagramPort['onDatagram'] = () => {}
  onPathClosed: DatagramPort['onPathClosed'] = () => {}
  readonly #prefix: string
  readonly #ports = new Map<string, MessagePortLike>()
  #count = 0

  /** Addresses begin with `prefix`. */
  constructor(prefix: string = 'port:') {
    this.#prefix = prefix
  }

  /** Adds a port. Returns its address. */
  admit(port: MessagePortLike): string {
    const address = `${this.#prefix}${++this.#count}`
    this.#ports.set(address, port)
    port.addEventListener('message', ({ data }) => this.#handle(address, data))
    port.start()
    return address
  }

  send(to: string, bytes: Uint8Array, length: number): void {
    const port = this.#ports.get(to)
    if (length > this.maxDatagramBytes) this.stats.oversized++
    else if (port === undefined) this.stats.unreachable++
    else {
      port.postMessage(bytes.slice(0, length))
      this.stats.sent++
    }
  }

  close(): void {
    for (const [address, port] of this.#ports) {
      port.postMessage(null)
      this.#forget(address, port)
    }
  }

  #handle(address: string, data: unknown): void {
    const port = this.#ports.get(address)
    if (port === undefined) return
    if (data === null) this.#forget(address, port)
    else if (!(data instanceof Uint8Array) || data.length === 0 || data.length > this.maxDatagramBytes)
      this.stats.refused++
    else {
      this.stats.received++
      this.onDatagram(address, data, data.length)
    }
  }

  #forget(address: string, port: MessagePortLike): void {
    this.#ports.delete(address)
    port.close()
    this.onPathClosed(address)
  }
}
