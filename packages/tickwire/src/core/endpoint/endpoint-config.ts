/**
 * Configuration of an endpoint, checked once at construction.
 */

import { ConfigError } from '../base/assert.ts'
import type { Entropy } from '../base/entropy.ts'
import {
  CONNECTIONS_MAX, DATAGRAM_BYTES_MAX, DATAGRAM_BYTES_SAFE, PEER_PACKETS_PER_SECOND, PLAYER_PACKETS_PER_SECOND_MIN,
  PLAYER_PACKETS_PER_TICK, TICK_RATE_MAX,
} from '../base/limits.ts'
import type { RuleCode } from '../connection/close-reason.ts'
import type { Connection } from '../connection/connection.ts'
import { FINGERPRINT_BYTES } from '../connection/handshake.ts'
import { type ConnectionTimers, completeTimers } from '../connection/timers.ts'
import type { ConnectToken } from '../crypto/connect-token.ts'
import {
  type ClientSecurity, type CompleteClientSecurity, type CompleteSecurity, type EndpointSecurity,
  completeClientSecurity, completeSecurity,
} from './endpoint-security.ts'
import { type OriginLimits, completeLimits } from './origin-limits.ts'
import type { CongestionController } from '../delivery/congestion/controller.ts'
import { GoodBadController } from '../delivery/congestion/good-bad.ts'

/** A client asks to connect. Its address is proven by now. */
export interface ConnectRequest {
  /** The handle (`Connection.id`) that the connection will have if the client is admitted and uses its keys. */
  readonly connection: number
  /** The client's address, in the transport's format. */
  readonly from: string
  /** The schema fingerprint of the client: one of those that this endpoint accepts. */
  readonly fingerprint: Uint8Array
  /** Bytes that the client sent about itself. Not authenticated. */
  readonly user: Uint8Array
  /** The join data of the game. Not authenticated. */
  readonly data: Uint8Array
  /** The client's token, signed by the issuer. Undefined without a token policy, or when tokens are optional. */
  readonly token: ConnectToken | undefined
}

/** Why a client is not admitted. */
export type Refusal = Extract<RuleCode, 'full' | 'refused' | 'no-room' | 'locked' | 'ticket' | 'password' | 'moved'>

/** The decision about a client: the welcome bytes if it is admitted, else the reason. `undefined` means 'refused'. */
export type Verdict = Uint8Array | Refusal | undefined

/** Configuration of an endpoint. */
export interface EndpointConfig {
  /** Eight bytes that both sides must share: the schema's fingerprint. */
  readonly fingerprint: Uint8Array
  /**
   * Other fingerprints that are accepted from connecting clients, such as those of other games on this server. Default:
   * none.
   */
  readonly fingerprints?: readonly Uint8Array[]
  /** The source of random bytes for keys and ids. */
  readonly entropy: Entropy
  /** How many clients may be connected at the same time. 0, the default: the endpoint only connects to others. */
  readonly maxConnections?: number
  /** The longest datagram of the transport. Packets are built to this size. At least 1200, the default. */
  readonly maxDatagramBytes?: number
  /** Timeouts of connections, in ms. Default: `CONNECTION_TIMERS` (`connection/timers.ts`). */
  readonly timers?: Partial<ConnectionTimers>
  /** Creates the congestion controller of one connection. Default: `GoodBadController`. */
  readonly congestion?: () => CongestionController
  /**
   * Ticks per second of the game, the same on both sides. Default 60. Small packets are never limited below this rate.
   * A player's endpoint is expected to send, and limits itself to, four packets per tick, and at least 240 per second.
   */
  readonly tickRate?: number
  /**
   * Packets per second that a connected client is expected to send at most. Packets above three times that rate are
   * dropped. Above ten times that rate the client is disconnected. Default: derived from `tickRate`; without a
   * `tickRate` 1000, which every controller respects. Infinity removes the limit.
   */
  readonly peerPacketsPerSecond?: number
  /**
   * Decides whether a client is admitted. Returns the welcome bytes, at most 256, or the reason for a refusal. It
   * should not keep state for long: the client may never connect, and then no event says so. Default: admits every
   * client, with an empty welcome. 'later': `endpoint.settle` gives the verdict, within a few seconds, because the
   * client gives up after ten. The client receives no answer until then. When called again for the same connection, it
   * must answer at once.
   */
  readonly admit?: (request: ConnectRequest) => Verdict | 'later'
  /** A client was refused, with the reason. `from` is proven, except with `version`. Default: it is not reported. */
  readonly onRefused?: (from: string, code: RuleCode) => void
  /** Cipher, identity and token policy. Default: sealed packets, a random identity, no tokens. */
  readonly security?: EndpointSecurity
  /** Limits for each origin. Default: `ORIGIN_LIMITS` (`endpoint/origin-limits.ts`). */
  readonly limits?: Partial<OriginLimits>
  /** Attaches sources and sinks to a connection. Called once for each connection, before its first packet. */
  readonly assemble: (connection: Connection) => void
}

/** `EndpointConfig` with all defaults filled in. */
export interface CompleteEndpointConfig extends Required<Omit<EndpointConfig, 'timers' | 'security' | 'limits'>> {
  readonly timers: ConnectionTimers
  readonly security: CompleteSecurity
  readonly limits: OriginLimits
}

/** The part of it that an endpoint needs that only connects to others. */
export interface CoreEndpointConfig extends Pick<CompleteEndpointConfig, CoreName> {
  readonly security: CompleteClientSecurity
}

type CoreName =
  | 'fingerprint'
  | 'entropy'
  | 'maxConnections'
  | 'maxDatagramBytes'
  | 'timers'
  | 'congestion'
  | 'tickRate'
  | 'peerPacketsPerSecond'
  | 'assemble'

/** Configuration of an endpoint that only connects to others. */
export interface ClientEndpointConfig extends Pick<EndpointConfig, Exclude<CoreName, 'maxConnections'>> {
  readonly security: ClientSecurity
}

const NO_BYTES = new Uint8Array(0)

/** Fills in defaults; throws `ConfigError` on invalid settings. */
export function completeConfig(config: EndpointConfig): CompleteEndpointConfig {
  const core = completeCore(config)
  return {
    fingerprints: [], admit: () => NO_BYTES, onRefused: () => {}, ...config, ...core,
    security: completeSecurity(config.security ?? {}, config.entropy, core.maxConnections > 0),
    limits: completeLimits(config.limits ?? {}),
  }
}

/** The same for an endpoint that only connects to others. */
export function completeClientConfig(config: ClientEndpointConfig): CoreEndpointConfig {
  return { ...completeCore(config), security: completeClientSecurity(config.security) }
}

function completeCore(config: Pick<EndpointConfig, CoreName>): Pick<CompleteEndpointConfig, CoreName> {
  const expected = config.tickRate === undefined ? PEER_PACKETS_PER_SECOND
    : Math.max(PLAYER_PACKETS_PER_SECOND_MIN, config.tickRate * PLAYER_PACKETS_PER_TICK)
  // An endpoint that only connects is a player, and limits itself to what is expected of a player.
  const bounds = (config.maxConnections ?? 0) > 0 ? {} : { packetsPerSecondMax: expected }
  const complete: Pick<CompleteEndpointConfig, CoreName> = {
    maxConnections: 0,
    maxDatagramBytes: DATAGRAM_BYTES_SAFE,
    congestion: () => new GoodBadController(bounds),
    tickRate: 60,
    peerPacketsPerSecond: expected,
    ...config,
    timers: completeTimers(config.timers ?? {}),
    fingerprint: config.fingerprint.slice(),
  }
  const { fingerprint, maxConnections, maxDatagramBytes, tickRate, peerPacketsPerSecond } = complete
  if (fingerprint.length !== FINGERPRINT_BYTES) {
    throw new ConfigError(
      'fingerprint',
      `wrong size (expected ${FINGERPRINT_BYTES} bytes, got ${fingerprint.length})`,
      'pass the fingerprint unchanged.',
    )
  }
  if (!Number.isInteger(maxConnections) || maxConnections < 0 || maxConnections > CONNECTIONS_MAX) {
    throw new ConfigError(
      'maxConnections',
      `invalid number (expected an integer from 0 to ${CONNECTIONS_MAX}, got ${maxConnections})`,
      'give a number in this range.',
    )
  }
  if (!(maxDatagramBytes >= DATAGRAM_BYTES_SAFE && maxDatagramBytes <= DATAGRAM_BYTES_MAX)) {
    throw new ConfigError(
      'maxDatagramBytes',
      `invalid size (expected ${DATAGRAM_BYTES_SAFE} to ${DATAGRAM_BYTES_MAX} bytes, got ${maxDatagramBytes})`,
      'use a transport that carries this size: smaller ones cannot carry a request.',
    )
  }
  if (!(tickRate > 0 && tickRate <= TICK_RATE_MAX)) {
    throw new ConfigError(
      'tickRate',
      `invalid rate (expected above 0 and at most ${TICK_RATE_MAX} ticks a second, got ${tickRate})`,
      'give a rate in this range.',
    )
  }
  if (!(peerPacketsPerSecond >= 1)) {
    throw new ConfigError(
      'peerPacketsPerSecond',
      `invalid rate (expected 1 or more packets a second, got ${peerPacketsPerSecond})`,
      'give 1 or more; Infinity removes the limit.',
    )
  }
  return complete
}
