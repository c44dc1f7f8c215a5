/** R-Type packets by hand: for docs/guide/foreign-protocol.md. */

// #region packets
import { decodeRtype, encodeRtype, RTYPE, RTYPE_FLAG, toThousandths, type RtypePacket } from 'tickwire/rtype'

const out = new Uint8Array(1200)

/** Primary fire while moving up, aimed straight ahead, as a datagram. */
export function inputDatagram(playerId: number, sequence: number, timestamp: number): Uint8Array {
  const packet: RtypePacket = {
    type: 'PLAYER_INPUT',
    playerId,
    inputState: RTYPE.INPUT.MOVE_UP | RTYPE.INPUT.FIRE_PRIMARY,
    aimX: toThousandths(1),
    aimY: toThousandths(0),
  }
  return out.slice(0, encodeRtype(packet, sequence, timestamp, out))
}

/** One line about a datagram. */
export function describeDatagram(datagram: Uint8Array): string {
  const read = decodeRtype(datagram, datagram.length)
  if (typeof read === 'string') return `dropped: ${read}`
  const isReliable = (read.header.flags & RTYPE_FLAG.RELIABLE) !== 0
  return `${read.packet.type} ${read.header.sequence}${isReliable ? ', to be acknowledged' : ''}`
}
// #endregion
