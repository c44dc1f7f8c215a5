/**
 * The way from a room to its server, whatever carries it: the ladder of a page, or one socket of Node.
 */

import type { DatagramPort } from '../endpoint/datagram-port.ts'

/** The transports of clients. */
export type TransportName = 'webtransport' | 'webrtc' | 'websocket' | 'udp' | 'message-port'

/**
 * How data reaches the host of a match: directly, by a packet relay, or by a relay through a WebSocket, where UDP is
 * blocked. `none` while there is no path.
 */
export type PathName = 'direct' | 'relay' | 'websocket' | 'none'

/** A datagram port to one server. */
export interface ClientLink extends DatagramPort {
  /** The server's address on this port. */
  readonly address: string
  /** The transport in use; 'none' while it looks for one. */
  readonly transport: TransportName | 'none'
  /** Why no better transport is used. */
  readonly reason: string
  /** How data reaches the host. Default: directly, because the server was named by its address. */
  readonly path?: PathName
  /** Why it is this path. */
  readonly pathReason?: string
  /** How many paths have been proven so far. */
  readonly provenCount: number
  /** Called when another transport carries the match. */
  onSwitched: () => void
  /** The server has accepted the client. From now on `query` leads to its seat; by default the one of before. */
  settle(query?: string): void
  /** Tries better transports again, now. */
  climb(): void
  /** The token that came with the address of the server. Default: none came. */
  readonly token?: Uint8Array
  /** The identity key that the server states, as text. Undefined when it states none. */
  identity(): Promise<string | undefined>
}
