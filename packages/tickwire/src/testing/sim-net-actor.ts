/**
 * Somebody on a simulated network who lives in simulated time: woken by datagrams and by his own deadlines, on his own
 * clock, and not at all while he is paused or asleep.
 *
 * The network is in true time, whoever runs on the node sees only the node's.
 */

import type { Millis } from '../core/base/time.ts'
import type { DatagramPort } from '../core/endpoint/datagram-port.ts'
import type { SimActor, SimClock } from './sim-clock.ts'
import type { SimNet } from './sim-net.ts'
import type { SimNode } from './sim-net-node.ts'
import { SimPort } from './sim-net-port.ts'

/** What runs on a node: an endpoint with `drain`, a host. All times are the node's. */
export interface NetResident {
  handleDatagram(now: Millis, from: string, bytes: Uint8Array, length: number): void
  /** Does what is due, sends what is due, and says when it next has something to do. */
  pump(now: Millis, port: Pick<DatagramPort, 'send'>): Millis
}

/** A node that runs something. */
export class SimNetActor implements SimActor {
  readonly node: SimNode
  readonly port: SimPort
  #net: SimNet
  #resident: NetResident
  /** When the resident next has something to do, on its clock. */
  #dueAt: Millis = -Infinity

  /** Adds itself to `clock`. */
  constructor(net: SimNet, node: SimNode, clock: SimClock, resident: NetResident) {
    this.#net = net
    this.node = node
    this.#resident = resident
    this.port = new SimPort(net, node, () => clock.now)
    this.port.onDatagram = (from, bytes, length) => resident.handleDatagram(node.clock.localAt(clock.now), from, bytes, length)
    clock.add(this)
  }

  nextAt(): Millis {
    const { clock } = this.node
    return Math.min(clock.wakeAt(this.#net.nextAt(this.node)), clock.timerAt(clock.trueAt(this.#dueAt)))
  }

  /** Takes in what has arrived and sends what is due, if the node runs. Call it also after telling the resident something. */
  wake(now: Millis): void {
    const { clock } = this.node
    if (!clock.isAwake(now)) return
    this.port.deliver()
    this.#dueAt = this.#resident.pump(clock.localAt(now), this.port)
  }
}
