/**
 * The interface between a transport and the engine: it carries datagrams to addresses, complete or not at all.
 *
 * Order, delivery and uniqueness are not guaranteed. Nothing changes on transports that guarantee them. Addresses are
 * strings in the transport's own format. A port can send to any address from which it receives. Contract:
 * `test/contract/transport.contract.ts`.
 *
 * A port never throws because of the network. It counts errors, and it drops datagrams rather than queue without bound.
 */

/** Carries datagrams. */
export interface DatagramPort {
  /** The longest datagram that can be sent. Longer ones are dropped and counted. */
  readonly maxDatagramBytes: number
  /** Counters of datagrams. */
  readonly stats: DatagramPortStats
  /** Sends the first `length` bytes of `bytes`. The caller may reuse `bytes` on return. */
  send(to: string, bytes: Uint8Array, length: number): void
  /** Closes the port permanently. `onPathClosed` follows for every open path. */
  close(): void
  /** Set by the owner of the port. `bytes` are valid during the call only. */
  onDatagram: (from: string, bytes: Uint8Array, length: number) => void
  /** Set by the owner of the port. `address` can no longer send or be reached. Datagram sockets never call this. */
  onPathClosed: (address: string) => void
}

/** Counters of a port. */
export interface DatagramPortStats {
  /** Datagrams that were handed to the transport. */
  sent: number
  /** Datagrams that were passed to `onDatagram`. */
  received: number
  /** Outgoing, dropped: longer than `maxDatagramBytes`. */
  oversized: number
  /** Outgoing, dropped: the address does not exist or is closed. */
  unreachable: number
  /** Outgoing, dropped: the socket's queue is full. */
  congested: number
  /** Incoming, dropped: text, too long, or not a datagram. */
  refused: number
  /** Errors of the underlying socket. */
  errors: number
}

/** Counters at zero. */
export function createPortStats(): DatagramPortStats {
  return { sent: 0, received: 0, oversized: 0, unreachable: 0, congested: 0, refused: 0, errors: 0 }
}
