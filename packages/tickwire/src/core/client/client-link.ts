/**
 * The way from a room to its server, whatever carries it: the ladder of a page, or one socket of Node.
 */

import type { DatagramPort } from '../endpoint/datagram-port.ts'

/** The transports of clients. */
export type TransportName = 'webtransport' | 'webrtc' | 'websocket' | 'udp' | 'message-port'

/** A datagram port to one server. */
export interface ClientLink extends DatagramPort {
  /** The server's address on this port. */
  readonly address: string
  /** The transport in use; 'none' while it looks for one. */
  readonly transport: TransportName | 'none'
  /** Why no better transport is used. */
  readonly reason: string
  /** How many paths have been proven so far. */
  readonly provenCount: number
  /** Called when another transport carries the match. */
  onSwitched: () => void
  /** The server has accepted the client. */
  settle(): void
  /** Tries better transports again, now. */
  climb(): void
  /** The identity key that the server states, as text. Undefined when it states none. */
  identity(): Promise<string | undefined>
}
