/**
 * What a connection is given: what it shares with its endpoint's others, whom it leads to, and how far that is known.
 */

import type { Entropy } from '../base/entropy.ts'
import type { KeyRing } from '../crypto/key-ring.ts'
import type { CryptoProvider } from '../crypto/provider.ts'
import type { CongestionController } from '../delivery/congestion/controller.ts'
import type { PacketBuilder } from '../packet/packet-builder.ts'
import type { PacketReader } from '../packet/packet-reader.ts'
import type { ClientHandshake } from './client-handshake.ts'
import type { CloseReason } from './close-reason.ts'
import type { Connection } from './connection.ts'
import type { ConnectionTimers } from './timers.ts'

/** What all connections of one endpoint share, and whom they tell. */
export interface ConnectionContext {
  readonly timers: ConnectionTimers
  readonly entropy: Entropy
  readonly provider: CryptoProvider
  /** No packet is longer than this. */
  readonly packetBytesMax: number
  readonly congestion: () => CongestionController
  /** Small packets are never held below this rate. */
  readonly tickRate: number
  /** What one peer that we accepted is expected to send at most. */
  readonly peerPacketsPerSecond: number
  readonly builder: PacketBuilder
  readonly reader: PacketReader
  /** Something has happened: the connection may have something to send, or to wait for, that it had not. */
  onWake(connection: Connection): void
  onOpened(connection: Connection): void
  onClosed(connection: Connection, reason: CloseReason): void
}

/** Whom a connection leads to. */
export interface ConnectionPeer {
  readonly address: string
  /** The id the server gave, low and high half; 0 while asking for one. */
  readonly idLo: number
  readonly idHi: number
  /** The ephemeral key of whoever asked. */
  readonly clientKey: Uint8Array
  readonly user: Uint8Array
  readonly welcome: Uint8Array
  /** Keys, of the side that accepted; of the side that asks, what it asks with. */
  readonly keys: KeyRing | ClientHandshake
  /** Which cipher, by whom; empty until there is one. */
  readonly suite: string
}

/** How far a connection can be trusted. */
export interface ConnectionSecurity {
  /** Which cipher seals its packets, by whose code. Empty until there is one. */
  suite: string
  /** We know that the server is the one we meant: it holds the identity key of our token. False where we knew none. */
  isServerVerified: boolean
}
