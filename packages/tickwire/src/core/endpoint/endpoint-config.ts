/**
 * How an endpoint behaves, checked once at construction.
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
  type ClientSecurity, type CompleteClientSecurity, type CompleteSecurity, type EndpointSecurity, completeClientSecurity, completeSecurity,
} from './endpoint-security.ts'
import { type OriginLimits, completeLimits } from './origin-limits.ts'
import type { CongestionController } from '../delivery/congestion/controller.ts'
import { GoodBadController } from '../delivery/congestion/good-bad.ts'

/** Someone asks to be let in. */
export interface ConnectRequest {
  /** The handle (`Connection.id`) his connection will have if he is let in and proves his address. */
  readonly connection: number
  readonly from: string
  /** What he plays: one of those that this endpoint takes. */
  readonly fingerprint: Uint8Array
  /** What he says of himself: his own words, not proven. */
  readonly user: Uint8Array
  /** What the issuer says of him, when tokens are asked for. */
  readonly token: ConnectToken | undefined
}

/** Why somebody is not let in. */
export type Refusal = Extract<RuleCode, 'full' | 'refused' | 'no-room' | 'locked' | 'ticket'>

/** What becomes of somebody who asks: the welcome he is let in with, or why not. `undefined` is 'refused'. */
export type Verdict = Uint8Array | Refusal | undefined

/** How an endpoint behaves. */
export interface EndpointConfig {
  /** Eight bytes that both sides must share: the schema's fingerprint. */
  readonly fingerprint: Uint8Array
  /** Others that are taken from who connects to us, such as those of other games played here. */
  readonly fingerprints?: readonly Uint8Array[]
  readonly entropy: Entropy
  /** How many may connect to us at once. 0, the default: nobody, we only connect ourselves. */
  readonly maxConnections?: number
  /** What the transport carries; packets are built to this size. At least 1200, the default. */
  readonly maxDatagramBytes?: number
  readonly timers?: Partial<ConnectionTimers>
  /** Makes what says how much a connection may send, one for each. Default: `GoodBadController`. */
  readonly congestion?: () => CongestionController
  /**
   * Ticks a second of the game, the same on both sides: small packets are never held below this rate (60 unless said), and
   * players are expected to send, and their endpoints to keep to, four packets a tick, and 240 a second at least.
   */
  readonly tickRate?: number
  /**
   * Packets a second that whoever connects to us is expected to send at most. Above three times that they are dropped,
   * above ten times he is put out. Default: by `tickRate`; without one 1000, which all controllers keep to. Infinity lifts it.
   */
  readonly peerPacketsPerSecond?: number
  /**
   * Decides who is let in: the welcome bytes, at most 256, or why not. It should keep nothing for long: he may never
   * come, and then nobody will say so. Absent: everyone, with an empty welcome. 'later': `endpoint.settle` will say, within
   * a few seconds, for he asks for ten; he hears nothing until then. Asked again about the same connection it answers at once.
   */
  readonly admit?: (request: ConnectRequest) => Verdict | 'later'
  /** What it seals with, who it is, and whom it lets in. Default: sealed, unknown, everyone. */
  readonly security?: EndpointSecurity
  /** What one origin may ask of us. */
  readonly limits?: Partial<OriginLimits>
  /** Attaches sources and sinks to a connection. Called once for each, before its first packet. */
  readonly assemble: (connection: Connection) => void
}

/** The same, with nothing left out. */
export interface CompleteEndpointConfig extends Required<Omit<EndpointConfig, 'timers' | 'security' | 'limits'>> {
  readonly timers: ConnectionTimers
  readonly security: CompleteSecurity
  readonly limits: OriginLimits
}

/** What is needed of it where nobody is let in. */
export interface CoreEndpointConfig extends Pick<CompleteEndpointConfig, CoreName> {
  readonly security: CompleteClientSecurity
}

type CoreName = 'fingerprint' | 'entropy' | 'maxConnections' | 'maxDatagramBytes' | 'timers' | 'congestion' | 'tickRate' | 'peerPacketsPerSecond' | 'assemble'

/** How an endpoint behaves that only connects to others. */
export interface ClientEndpointConfig extends Pick<EndpointConfig, Exclude<CoreName, 'maxConnections'>> {
  readonly security: ClientSecurity
}

const NO_BYTES = new Uint8Array(0)

/** Fills in defaults; throws `ConfigError` on what cannot work. */
export function completeConfig(config: EndpointConfig): CompleteEndpointConfig {
  const core = completeCore(config)
  return {
    fingerprints: [], admit: () => NO_BYTES, ...config, ...core,
    security: completeSecurity(config.security ?? {}, config.entropy, core.maxConnections > 0),
    limits: completeLimits(config.limits ?? {}),
  }
}

/** Of an endpoint that only connects to others. */
export function completeClientConfig(config: ClientEndpointConfig): CoreEndpointConfig {
  return { ...completeCore(config), security: completeClientSecurity(config.security) }
}

function completeCore(config: Pick<EndpointConfig, CoreName>): Pick<CompleteEndpointConfig, CoreName> {
  const expected = config.tickRate === undefined ? PEER_PACKETS_PER_SECOND
    : Math.max(PLAYER_PACKETS_PER_SECOND_MIN, config.tickRate * PLAYER_PACKETS_PER_TICK)
  // Who only connects is a player, and keeps to what is expected of one.
  const bounds = (config.maxConnections ?? 0) > 0 ? {} : { packetsPerSecondMax: expected }
  const complete: Pick<CompleteEndpointConfig, CoreName> = {
    maxConnections: 0, maxDatagramBytes: DATAGRAM_BYTES_SAFE, congestion: () => new GoodBadController(bounds), tickRate: 60, peerPacketsPerSecond: expected,
    ...config, timers: completeTimers(config.timers ?? {}), fingerprint: config.fingerprint.slice(),
  }
  const { fingerprint, maxConnections, maxDatagramBytes, tickRate, peerPacketsPerSecond } = complete
  if (fingerprint.length !== FINGERPRINT_BYTES) {
    throw new ConfigError('fingerprint', `has ${fingerprint.length} bytes`, `Give ${FINGERPRINT_BYTES}.`)
  }
  if (!Number.isInteger(maxConnections) || maxConnections < 0 || maxConnections > CONNECTIONS_MAX) {
    throw new ConfigError('maxConnections', `is ${maxConnections}`, `Give a whole number from 0 to ${CONNECTIONS_MAX}.`)
  }
  if (!(maxDatagramBytes >= DATAGRAM_BYTES_SAFE && maxDatagramBytes <= DATAGRAM_BYTES_MAX)) {
    throw new ConfigError(
      'maxDatagramBytes', `is ${maxDatagramBytes}`,
      `Give ${DATAGRAM_BYTES_SAFE} to ${DATAGRAM_BYTES_MAX}: a transport that carries less cannot carry a request.`,
    )
  }
  if (!(tickRate > 0 && tickRate <= TICK_RATE_MAX)) {
    throw new ConfigError('tickRate', `is ${tickRate}`, `Give ticks a second, above 0 and up to ${TICK_RATE_MAX}.`)
  }
  if (!(peerPacketsPerSecond >= 1)) {
    throw new ConfigError('peerPacketsPerSecond', `is ${peerPacketsPerSecond}`, 'Give 1 or more; Infinity lifts it.')
  }
  return complete
}
