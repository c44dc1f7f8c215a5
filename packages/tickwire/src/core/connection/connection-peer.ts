/**
 * The inputs of a connection: what it shares with the other connections of its endpoint, its peer, and its security.
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

/** Shared by all connections of one endpoint, including the callbacks to the endpoint. */
export interface ConnectionContext {
  readonly timers: ConnectionTimers
  readonly entropy: Entropy
  readonly provider: CryptoProvider
  /** No packet is longer than this. */
  readonly packetBytesMax: number
  readonly congestion: () => CongestionController
  /** Small packets are never limited below this rate. */
  readonly tickRate: number
  /** Packets per second that an accepted peer is expected to send at most. */
  readonly peerPacketsPerSecond: number
  readonly builder: PacketBuilder
  readonly reader: PacketReader
  /** The connection may have something new to send or to wait for. */
  onWake(connection: Connection): void
  onOpened(connection: Connection): void
  onClosed(connection: Connection, reason: CloseReason): void
}

/** The peer of a connection. */
export interface ConnectionPeer {
  readonly address: string
  /** The id that the server assigned, low and high half; 0 until it is assigned. */
  readonly idLo: number
  readonly idHi: number
  /** The ephemeral key of the initiating side. */
  readonly clientKey: Uint8Array
  readonly user: Uint8Array
  readonly welcome: Uint8Array
  /** On the accepting side the keys; on the initiating side the handshake. */
  readonly keys: KeyRing | ClientHandshake
  /** The cipher and its implementation; empty until it is chosen. */
  readonly suite: string
}

/** The security properties of a connection. */
export interface ConnectionSecurity {
  /** The cipher of its packets, and its implementation. Empty until it is chosen. */
  suite: string
  /**
   * 'verified': the server has proven that it holds the identity key that the client expected, before anything was
   * sealed for it. 'unverified': the client knew no identity key, so an attacker on the path may have answered. Always
   * 'unverified' on the accepting side.
   */
  identity: 'verified' | 'unverified'
}
