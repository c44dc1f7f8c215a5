/**
 * Counters of a connection. They only grow; subtract two readings to get a rate.
 */

/** Counts of packets that reached a connection and had no effect, by reason. */
export interface ConnectionDrops {
  /** Received before: duplicated by the network or replayed by an attacker. */
  duplicate: number
  /** Too far behind the newest packet to know whether it was received before. */
  old: number
  /** The content could not be parsed. */
  malformed: number
  /** A frame kind without a sink. */
  unknownFrame: number
  /** Acknowledges packets that were never sent. */
  dishonestAck: number
  /** A packet type that is not valid in the current state. */
  state: number
  /** A key epoch that does not exist. */
  epoch: number
  /** Does not decrypt: forged or modified. */
  forged: number
  /** Handshake answers that do not decrypt, or that come from a different server than expected. */
  handshake: number
  /** Packets above the rate of any honest peer. */
  flood: number
  /** Messages, not packets, above the rate of any honest peer. */
  messages: number
  /** Resets with a wrong token. */
  reset: number
}

/** Counters of one connection. */
export class ConnectionStats {
  packetsSent: number = 0
  bytesSent: number = 0
  /** Packets that took effect. */
  packetsReceived: number = 0
  bytesReceived: number = 0
  /** Sent packets with frames whose delivery or loss is known. */
  packetsDelivered: number = 0
  packetsLost: number = 0
  /** Received packets that were valid but that a sink asked not to acknowledge. */
  packetsNotAcked: number = 0
  /** How often the connection moved to a new address of the peer. */
  pathMoves: number = 0
  readonly drops: ConnectionDrops = {
    duplicate: 0, old: 0, malformed: 0, unknownFrame: 0, dishonestAck: 0, state: 0, epoch: 0,
    forged: 0, handshake: 0, flood: 0, messages: 0, reset: 0,
  }
}
