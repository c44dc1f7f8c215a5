/**
 * The orderly end of a match at a relay that is asked to end, in a group of relays.
 *
 *   begin ──▶ no more ticks; the last one is signed ──▶ all clients have it ──▶ they are closed with `moved`
 *
 * The clients do not wait then: they claim their seats at the next relay at once, as after a crash (`succession.ts`). A
 * match that may go on at no other relay is made void instead.
 */

import { HANDOVER_EXIT_MS } from '../base/limits.ts'
import type { Millis, PeerId, Tick } from '../base/time.ts'
import type { OrderRelay } from '../order-relay/order-relay.ts'
import type { Client } from './relay-client.ts'
import type { Succession } from './succession.ts'

export class RelayExit {
  readonly #relay: OrderRelay
  readonly #succession: Succession | undefined
  readonly #clients: ReadonlyMap<PeerId, Client>
  readonly #newestFor: (peer: PeerId) => Tick
  #beganAt: Millis = Infinity

  constructor(
    relay: OrderRelay, succession: Succession | undefined, clients: ReadonlyMap<PeerId, Client>,
    newestFor: (peer: PeerId) => Tick,
  ) {
    this.#relay = relay
    this.#succession = succession
    this.#clients = clients
    this.#newestFor = newestFor
  }

  /** Whether the match is on its way to the next relay. */
  get isLeaving(): boolean {
    return this.#beganAt !== Infinity
  }

  /** Whether all clients have all ticks, and nothing waits for them. */
  get isDelivered(): boolean {
    for (const [peer, { source, sync, isHeld }] of this.#clients) {
      // A client that waits for an image has no ticks.
      if (!isHeld && source.ackedBytes < this.#relay.log.endOf(this.#newestFor(peer))) return false
      if (sync.waitingBytes > 0) return false
    }
    return true
  }

  /** Lets the match go on at the next relay. False: it may not, or it has not begun. */
  begin(now: Millis): boolean {
    if (this.isLeaving || this.#relay.hasEnded || this.#succession?.signLast() !== true) return false
    this.#beganAt = now
    this.#relay.freeze()
    for (const { source } of this.#clients.values()) source.wake()
    return true
  }

  /** Ends the match with the next tick, because it may go on at no other relay. False: it may, or it is over. */
  makeVoid(): boolean {
    if (this.#relay.hasEnded || !this.#relay.isRunning || this.#succession?.mayContinue !== false) return false
    this.#relay.end('relay-lost')
    return true
  }

  /** Whether the clients may go. Those that have no certificate of their seat are closed with `shutdown`. */
  isDone(now: Millis): boolean {
    if (!this.isDelivered && now < this.#beganAt + HANDOVER_EXIT_MS) return false
    for (const [peer, { connection }] of this.#clients)
      if (this.#succession?.isCertified(peer) !== true) connection.close(now, 'shutdown')
    return true
  }
}
