/** One port as the link of a room: a program on Node, or a room that joins by a MessagePort, has no ladder. */

import type { ClientLink, TransportName } from './client-link.ts'
import type { DatagramPort, DatagramPortStats } from '../endpoint/datagram-port.ts'

export class SingleLink implements ClientLink {
  readonly address: string
  readonly reason = 'the program chose it'
  readonly provenCount = 1
  onDatagram: DatagramPort['onDatagram'] = () => {}
  onPathClosed: DatagramPort['onPathClosed'] = () => {}
  onSwitched: () => void = () => {}
  readonly identity: () => Promise<string | undefined>
  readonly #port: DatagramPort
  readonly #name: TransportName
  #isClosed = false

  /** `address` is the server's address on `port`. */
  constructor(name: TransportName, port: DatagramPort, address: string, identity: () => Promise<string | undefined>) {
    this.#name = name
    this.#port = port
    this.address = address
    this.identity = identity
    port.onDatagram = (from, bytes, length) => this.onDatagram(from, bytes, length)
    port.onPathClosed = (path) => {
      if (!this.#isClosed) this.onPathClosed(path)
    }
  }

  get transport(): TransportName | 'none' {
    return this.#isClosed ? 'none' : this.#name
  }

  get maxDatagramBytes(): number {
    return this.#port.maxDatagramBytes
  }

  get stats(): DatagramPortStats {
    return this.#port.stats
  }

  send(to: string, bytes: Uint8Array, length: number): void {
    this.#port.send(to, bytes, length)
  }

  settle(): void {}

  climb(): void {}

  close(): void {
    this.#isClosed = true
    this.#port.close()
  }
}
