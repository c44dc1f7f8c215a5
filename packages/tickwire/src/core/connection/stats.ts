/**
 * What a connection counts. Numbers only ever grow; whoever wants rates subtracts.
 */

/** Why a packet that reached a connection had no effect. */
export interface ConnectionDrops {
  /** Seen before: the network, or an attacker, repeats itself. */
  duplicate: number
  /** Too far behind the newest to say whether it was seen. */
  old: number
  /** Bits that make no packet. */
  malformed: number
  /** A frame kind nobody here understands. */
  unknownFrame: number
  /** Acknowledges what was never sent. */
  dishonestAck: number
  /** Of a type that makes no sense in this state. */
  state: number
  /** Of a key epoch that does not exist. */
  epoch: number
  /** Does not open: someone else wrote or touched it. */
  forged: number
  /** Answers of a handshake that do not open, or come from another server than we meant. */
  handshake: number
  /** More than any honest peer sends. */
  flood: number
  /** Resets that are not those of this connection. */
  reset: number
}

/** Counters of one connection. */
export class ConnectionStats {
  packetsSent: number = 0
  bytesSent: number = 0
  /** Packets that took effect. */
  packetsReceived: number = 0
  bytesReceived: number = 0
  /** Our packets with frames, as far as their fate is known. */
  packetsDelivered: number = 0
  packetsLost: number = 0
  /** The peer's packets that were understood but of no use to a sink, and so not acknowledged. */
  packetsNotAcked: number = 0
  /** How often the peer was followed to a new address. */
  pathMoves: number = 0
  readonly drops: ConnectionDrops = {
    duplicate: 0, old: 0, malformed: 0, unknownFrame: 0, dishonestAck: 0, state: 0, epoch: 0,
    forged: 0, handshake: 0, flood: 0, reset: 0,
  }
}
