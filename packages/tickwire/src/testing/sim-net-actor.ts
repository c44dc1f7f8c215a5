/**
 * A node of a simulated network that runs in simulated time. Datagrams and its own deadlines wake it, by its own clock,
 * but not while it is paused or asleep.
 *
 * The network uses true time; the code on the node sees only the node's time.
 */

import type { Millis } from '../core/base/time.ts'
import type { DatagramPort } from '../core/endpoint/datagram-port.ts'
import type { SimActor, SimClock } from './sim-clock.ts'
import type { SimNet } from './sim-net.ts'
import type { SimNode } from './sim-net-node.ts'
import { SimPort } from './sim-net-port.ts'

/** The code that runs on a node: an endpoint with `drain`, or a host. All times are the node's. */
export interface NetResident {
  /** A datagram has arrived at its node. */
  handleDatagram(now: Millis, from: string, bytes: Uint8Array, length: number): void
  /** Does what is due, sends what is due, and returns its next deadline. */
  pump(now: Millis, port: Pick<DatagramPort, 'send'>): Millis
}

/** A node with a resident. */
export class SimNetActor implements SimActor {
  /** The node. */
  readonly node: SimNode
  /** The socket of the node. */
  readonly port: SimPort
  #net: SimNet
  #resident: NetResident
  /** The resident's next deadline, on its clock. */
  #dueAt: Millis = -Infinity

  /** Adds itself to `clock`. */
  constructor(net: SimNet, node: SimNode, clock: SimClock, resident: NetResident) {
    this.#net = net
    this.node = node
    this.#resident = resident
    this.port = new SimPort(net, node, () => clock.now)
    this.port.onDatagram = (from, bytes, length) =>
      resident.handleDatagram(node.clock.localAt(clock.now), from, bytes, length)
    clock.add(this)
  }

  nextAt(): Millis {
    const { clock } = this.node
    return Math.min(clock.wakeAt(this.#net.nextAt(this.node)), clock.timerAt(clock.trueAt(this.#dueAt)))
  }

  /** Handles what has arrived and sends what is due, if the node runs. Call it also after a call to the resident. */
  wake(now: Millis): void {
    const { clock } = this.node
    if (!clock.isAwake(now)) return
    this.port.deliver()
    this.#dueAt = this.#resident.pump(clock.localAt(now), this.port)
  }
}
