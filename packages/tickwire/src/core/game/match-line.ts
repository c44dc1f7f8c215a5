/**
 * The connection of one client of a match, and everything that the match keeps for it. `server-frames.ts` says which
 * part of it sends and receives which frames.
 */

import type { ChannelSet } from '../channel/channel-set.ts'
import type { Connection } from '../connection/connection.ts'
import type { InboundLimit } from '../delivery/inbound-limit.ts'
import type { FrameSink, FrameSource } from '../packet/frame-source.ts'
import type { WrittenRows } from '../replication/authority/written-rows.ts'
import type { ClientInterest } from '../replication/interest/client-interest.ts'
import type { RpcLine } from '../rpc/rpc-line.ts'
import type { InputBuffer } from '../time/input-buffer.ts'
import type { Player } from './authority.ts'
import type { Peer } from './define-game.ts'
import type { EventMail } from './event-mail.ts'

/** The connection of a player or spectator in another process. */
export interface Line {
  readonly role: 'player' | 'spectator'
  readonly player: Player
  readonly connection: Connection
  readonly inputs: InputBuffer
  readonly channels: ChannelSet
  readonly calls: RpcLine<Peer>
  /** Limits the messages and calls that are accepted from this client. */
  readonly messages: InboundLimit
  /** What this client may know. */
  readonly interest: ClientInterest
  /** Events from `step` for this client. */
  readonly events: EventMail
  /** A delayed spectator. It is not sent events or calls of the present. */
  readonly isLate: boolean
  readonly timing: FrameSource
  /** The inputs of the other players. Undefined unless the client predicts all players. */
  readonly peerInputs: FrameSource | undefined
  readonly snapshots: FrameSource
  /** Entropy tables that changed since the match began. */
  readonly tables: FrameSource
  /** The input buffer; for a spectator, a sink that counts the frames. */
  readonly inputSink: FrameSink
  /** The rows that the client asks to be sent again. */
  readonly wantedRows: FrameSink
  /** Rows of shared objects that the player sends. Undefined for spectators, and in games without shared objects. */
  readonly written: WrittenRows | undefined
}
