/**
 * What a program gives to an R-Type server, and what it gets from it.
 */

import type { OriginLimits } from '../endpoint/origin-limits.ts'
import type { RtypeEnvelopeOptions } from '../rtype/envelope.ts'
import type { RtypePacketOf } from '../rtype/packet-table.ts'
import type { RtypeDrop } from './link.ts'

/** How a server accepts clients. */
export interface RtypeServerOptions extends Omit<RtypeEnvelopeOptions, 'seal'> {
  /** 1 to 4. Default 4. */
  readonly maxPlayers?: number
  /** The tick rate that SERVER_ACCEPT names, in Hz. Default 60. */
  readonly tickRate?: number
  /** The match that SERVER_ACCEPT names. Default 1. */
  readonly gameInstanceId?: number
  /** After this time without an acknowledgement a reliable packet is sent again, 100 to 500 ms. Default 250. */
  readonly resendMs?: number
  /** A client without a HEARTBEAT for this long is removed, in ms. Default 10,000. */
  readonly timeoutMs?: number
  /** Whether a client is refused with BANNED_CLIENT. Default: none is. */
  readonly isBanned?: (clientId: number, address: string) => boolean
  /** Limits per origin. Default: those of `OriginLimits`. */
  readonly limits?: Partial<OriginLimits>
}

/** A client that has a seat. */
export interface RtypePeer {
  /** Drawn by the server, and known to this client only. */
  readonly playerId: number
  /** Chosen by the client. */
  readonly clientId: number
  /** The player's name: 1 to 31 bytes, without control characters. */
  readonly name: string
  /** Where the client is. */
  readonly address: string
}

/** What happened. */
export type RtypeServerEvent =
  | { readonly kind: 'join'; readonly peer: RtypePeer; readonly replaces: RtypePeer | undefined }
  | { readonly kind: 'input'; readonly peer: RtypePeer; readonly input: RtypePacketOf<'PLAYER_INPUT'> }
  | { readonly kind: 'leave'; readonly peer: RtypePeer; readonly reason: number }

/** Datagrams that had no effect, by reason. */
export type RtypeServerDrop = RtypeDrop | 'stranger' | 'direction' | 'limited' | 'flood' | 'stale'
