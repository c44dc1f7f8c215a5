/** An order relay without connections: the frames of its clients are written by hand. */

import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { OrderCursor, OrdersHead } from '../../packages/tickwire/src/core/order/orders-frame.ts'
import { OrderRelay } from '../../packages/tickwire/src/core/order-relay/order-relay.ts'
import type { RelayOptions } from '../../packages/tickwire/src/core/order-relay/relay-options.ts'
import { readTicks, type OrderMeaning } from '../reference/lockstep-checker.ts'

/** What a frame has beside its orders. */
interface Sent {
  /** The number of the kind of all its orders. */
  readonly type?: number
  /** How long the frame needs to the relay, in ms. */
  readonly way?: number
  readonly bytes?: readonly number[]
  /** The newest tick that the client has stepped. */
  readonly executed?: number
}

/** A relay at 30 ticks a second. Player n has slot n - 1. */
export class RelayBench {
  readonly relay: OrderRelay
  /** Indexed by slot: the number of the next order, and whether the client resumed its seat in the same process. */
  readonly next = [1, 1, 1, 1]
  readonly isContinued = [false, false, false, false]
  /** Indexed by slot: half of the shortest round trip, as the connection measured it, in ms. */
  readonly leastUpMs = [0, 0, 0, 0]
  /** The clock of a client, of the time of the relay. */
  clockOf: (slot: number, at: number) => number = (_slot, at) => at

  constructor(options: Partial<RelayOptions> = {}, players = 2) {
    this.relay = new OrderRelay({ tickRate: 30, players: 4, secret: 9, ...options })
    for (let player = 1; player <= players; player++) this.relay.join(0, player)
    this.relay.start(0)
  }

  /** A frame of a slot arrives: sent at `sent`, with orders of these ages. */
  send(
    slot: number, sent: number, agesMs: readonly number[], { type = 0, way = 0, bytes = [1], executed = 0 }: Sent = {},
  ): 'ok' | 'no-ack' | 'broken' {
    this.relay.setLeastUp(slot, this.leastUpMs[slot]!)
    const [head, cursor, out] = [new OrdersHead(), new OrderCursor(), new BitWriter(new Uint8Array(4000))]
    head.stamp = Math.floor(this.clockOf(slot, sent) * 16) & 0xffff
    head.executed = executed
    head.count = agesMs.length
    head.isContinued = this.isContinued[slot]!
    head.first = this.next[slot]!
    this.next[slot] = head.first + agesMs.length
    head.write(out)
    cursor.begin()
    for (const age of agesMs) cursor.write(out, age * 1000, type, Uint8Array.from(bytes), 0, bytes.length)
    this.relay.tick(sent + way)
    return this.relay.handleOrders(sent + way, slot, new BitReader(out.bytes.slice(0, out.finish())))
  }

  ticks(): OrderMeaning[][] {
    return readTicks(this.relay.log.bytes.slice(0, this.relay.log.length))
  }

  /** All orders of players, with their tick. */
  orders(): (OrderMeaning & { tick: number })[] {
    return this.ticks().flatMap((orders, at) =>
      orders.filter(({ player }) => player > 0).map((each) => ({ ...each, tick: at + 1 })),
    )
  }
}
