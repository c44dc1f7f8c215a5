/**
 * A node of a simulated network as a datagram port, for code that takes a transport.
 *
 * Datagrams arrive when `deliver` is called, never inside `send`, as with a socket and its event loop. Like a UDP
 * socket, it cannot know that a peer is gone, and never reports it.
 */

import { DATAGRAM_BYTES_SAFE } from '../core/base/limits.ts'
import type { Millis } from '../core/base/time.ts'
import { type DatagramPort, type DatagramPortStats, createPortStats } from '../core/endpoint/datagram-port.ts'
import type { SimNet } from './sim-net.ts'
import { type Arrival, createArrival } from './sim-net-flights.ts'
import type { SimNode } from './sim-net-node.ts'

/** A node's socket. */
export class SimPort implements DatagramPort {
  readonly maxDatagramBytes: number
  readonly stats: DatagramPortStats = createPortStats()
  onDatagram: DatagramPort['onDatagram'] = () => {}
  onPathClosed: DatagramPort['onPathClosed'] = () => {}
  #net: SimNet
  #node: SimNode
  #now: () => Millis
  #arrival: Arrival = createArrival()
  #isClosed: boolean = false

  /** `now` is true time: weather does not depend on a node's clock. */
  constructor(net: SimNet, node: SimNode, now: () => Millis, maxDatagramBytes: number = DATAGRAM_BYTES_SAFE) {
    this.#net = net
    this.#node = node
    this.#now = now
    this.maxDatagramBytes = maxDatagramBytes
  }

  send(to: string, bytes: Uint8Array, length: number): void {
    if (length > this.maxDatagramBytes) this.stats.oversized++
    else if (this.#isClosed || !this.#net.send(this.#now(), this.#node, to, bytes, length)) this.stats.unreachable++
    else this.stats.sent++
  }

  close(): void {
    this.#isClosed = true
  }

  /** Delivers what has arrived by now. Returns the number of datagrams. */
  deliver(): number {
    const now = this.#now()
    const arrival = this.#arrival
    let count = 0
    for (; this.#net.poll(now, this.#node, arrival); count++) {
      if (this.#isClosed) continue
      this.stats.received++
      this.onDatagram(arrival.from, arrival.bytes, arrival.length)
    }
    return count
  }
}
