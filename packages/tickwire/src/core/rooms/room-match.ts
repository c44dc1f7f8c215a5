/**
 * A match, as its room and the room host see it.
 *
 * The host reports clients and drives the match. It knows neither the world nor the rules of the match: `game/match.ts`
 * is a match with a world, and an order relay can be another.
 *
 * No call has a time: the time of the host's current call is `now` of the `RoomWiring` that a room is built with.
 *
 *   attach ──▶ enter ──▶ detach ──▶ leave
 *     ▲                    │
 *     └────────────────────┘      the seat was held: the same player, on another connection
 */

import type { Millis, PeerId } from '../base/time.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import type { Connection } from '../connection/connection.ts'
import type { DatagramPort } from '../endpoint/datagram-port.ts'
import type { MatchImage } from './room-image.ts'
import type { Member } from './room-rules.ts'

/** Recorders of datagrams. */
export interface PacketTap {
  /** Whether any recorder records datagrams. The rest is called only then. */
  readonly hasPacketRecorders: boolean
  handleDatagram(from: string, bytes: Uint8Array, length: number): void
  /** Returns the port, wrapped so that sent datagrams are recorded. */
  tap(port: Pick<DatagramPort, 'send'>): Pick<DatagramPort, 'send'>
}

/** What a match implements to be hosted in a room. */
export interface RoomMatch {
  /** Recorders of datagrams. */
  readonly watch: PacketTap
  /** Adds the sources and sinks of a client to its connection. The client is new, or has resumed its seat. */
  attach(connection: Connection, member: Member): void
  /** The first packets of a new player have arrived. It joins with the next tick. */
  enter(peer: PeerId): void
  /** The connection is lost. The player stays, without inputs, until it is attached again or leaves. */
  detach(peer: PeerId): void
  /** The player leaves with the next tick. */
  leave(peer: PeerId, reason: CloseReason): void
  /** Runs the due ticks and returns how many ran. */
  tick(): number
  /** When the next tick is due. */
  nextAt(): Millis
  /** Processes what has arrived. Called before every drain of the endpoint. */
  receive(): void
  /** The state between two ticks. Undefined when it is too large. May throw an error of the game's code. */
  saveMatch(): MatchImage | undefined
  /** Takes over a state. Returns 'restored', or why the image was refused. */
  restoreMatch(image: MatchImage): string
  /** Adds a player of a restored match: disconnected, and without inputs. */
  restorePlayer(member: Member): void
  /** Restored players that no client and no code has taken over leave. Called once, after `resumeMs`. */
  dropUnclaimed(reason: CloseReason): void
}
