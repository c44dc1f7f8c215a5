/** What a lockstep room needs of the machine that it runs on. */

import type { Millis } from '../base/time.ts'
import type { CryptoProvider } from '../crypto/provider.ts'
import type { DatagramPort } from '../endpoint/datagram-port.ts'
import type { CodeSite } from '../lockstep/desync/code-site.ts'
import type { LockstepCard } from '../order/lockstep-card.ts'
import type { HostedRelay, HostingOptions, PortSource } from './hosted-relay.ts'
import type { MeshParty } from './mesh-gathering.ts'
import type { ClientPlatform, ServerSite } from './platform.ts'

/**
 * Hooks between a lockstep room and its relay, for tools that simulate a bad network. `pass` sends or handles the
 * packet; a hook may call it later, twice, or not at all.
 */
export interface WireHooks {
  /** A packet that is to be sent. */
  send(bytes: Uint8Array, length: number, pass: (bytes: Uint8Array, length: number) => void): void
  /** A packet that has arrived. */
  receive(bytes: Uint8Array, length: number, pass: (bytes: Uint8Array, length: number) => void): void
}

/** What a place needs of the machine: its clock and timers, and how a server is reached. */
export interface LockstepMachine {
  /** The engine that runs the game, for reports of desyncs. Default: unknown. */
  readonly engine?: string
  /** Finds the line of the source for a line of a bundle. Default: lines are as the engine names them. */
  readonly sourceLine?: (site: CodeSite) => Promise<CodeSite>
  /** The clock, the timers and the random bytes of the machine. */
  readonly platform: ClientPlatform
  /** The server at a URL, or at the other end of a MessagePort. */
  site(where: string | PortSource): ServerSite
  /** Runs a relay for one match on this machine. */
  host(card: LockstepCard, options: HostingOptions): Promise<HostedRelay>
  /** Joins a mesh by its code, and resolves when all players are there, at the latest after `ms`. */
  joinMesh(code: string, ms: Millis, provider: CryptoProvider): Promise<MeshParty>
  /** Opens a port that other machines reach at an address of this one, and resolves theirs. */
  openPeerPort(own: string, others: readonly string[]): Promise<PeerPort>
  /** What packets are sealed with. */
  readonly provider: CryptoProvider
  /** Whether the provider can sign. Default: yes. */
  readonly canSign?: boolean
}

/** A port of a peer of a mesh. */
export interface PeerPort {
  /** The port. */
  readonly port: DatagramPort
  /** The addresses of the others on this port, in their order. */
  readonly addresses: readonly string[]
}
