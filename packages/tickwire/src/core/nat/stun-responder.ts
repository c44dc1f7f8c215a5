/**
 * A STUN server without sockets: it sends a peer the address that the peer has from outside.
 *
 * Its answers are longer than the questions by 12 bytes (24 for IPv6), so they are limited for each origin and in
 * total.
 */

import type { Entropy } from '../base/entropy.ts'
import type { Millis } from '../base/time.ts'
import type { Transmit } from '../connection/transmit.ts'
import { type GateOptions, RelayGate } from './relay-gate.ts'
import { StunMessage, answerBinding, readStun } from './stun.ts'

/** Answers Binding requests. */
export class StunResponder {
  /** Answers, requests over a limit, and datagrams that are not a Binding request. They only grow. */
  readonly counts: { stun: number; limited: number; malformed: number } = { stun: 0, limited: 0, malformed: 0 }
  #gate: RelayGate
  #message: StunMessage = new StunMessage()

  /** Default: this machine and its local network are exempt from the limit for each origin. */
  constructor(entropy: Entropy, options: Partial<GateOptions> = {}) {
    this.#gate = new RelayGate({ areLocalExempt: true, addressOf: (address) => address, ...options }, entropy)
  }

  /** A datagram arrived. True when `out` must be sent. */
  handleDatagram(now: Millis, from: string, bytes: Uint8Array, length: number, out: Transmit): boolean {
    if (!readStun(bytes, length, this.#message)) {
      this.counts.malformed++
      return false
    }
    if (!this.#gate.mayStun(now, from)) {
      this.counts.limited++
      return false
    }
    out.to = from
    out.length = answerBinding(this.#message, from, out.bytes)
    if (out.length > 0) this.counts.stun++
    else this.counts.malformed++
    return out.length > 0
  }
}
