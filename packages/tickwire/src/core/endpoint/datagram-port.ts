/**
 * What a transport is to the engine: something that carries datagrams to addresses, whole or not at all.
 *
 * Order, arrival and uniqueness are not promised; on transports that promise them anyway nothing changes. Addresses
 * are strings in the transport's own words: whoever receives from one may send to it. Contract:
 * `test/contract/transport.contract.ts`.
 *
 * A port never throws on what the network does: it counts, and drops rather than queue without bound.
 */

/** Carries datagrams. */
export interface DatagramPort {
  /** The longest datagram it takes; longer ones are dropped and counted. */
  readonly maxDatagramBytes: number
  readonly stats: DatagramPortStats
  /** Sends the first `length` of `bytes`, and is done with them on return. */
  send(to: string, bytes: Uint8Array, length: number): void
  /** Stops for good. `onPathClosed` follows for every open path. */
  close(): void
  /** Set by whoever owns the port. `bytes` are valid during the call only. */
  onDatagram: (from: string, bytes: Uint8Array, length: number) => void
  /** Set by whoever owns the port: nothing will come from or reach `address` any more. Datagram sockets never say this. */
  onPathClosed: (address: string) => void
}

/** What a port counts. */
export interface DatagramPortStats {
  sent: number
  received: number
  /** Dropped on the way out: longer than `maxDatagramBytes`. */
  oversized: number
  /** Dropped on the way out: no such address, or it is closed. */
  unreachable: number
  /** Dropped on the way out: the socket's queue is full. */
  congested: number
  /** Dropped on the way in: text, too long, or not a datagram at all. */
  refused: number
  /** Errors of the socket below. */
  errors: number
}

/** Counters at zero. */
export function createPortStats(): DatagramPortStats {
  return { sent: 0, received: 0, oversized: 0, unreachable: 0, congested: 0, refused: 0, errors: 0 }
}
