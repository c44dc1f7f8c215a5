/**
 * Options and counters of a packet relay.
 */

import { ConfigError } from '../base/assert.ts'
import type { Entropy } from '../base/entropy.ts'
import {
  RELAY_ALLOCATIONS_MAX, RELAY_ALLOCATIONS_PER_ORIGIN, RELAY_KBITS_PER_SECOND, RELAY_MEBIBYTES, RELAY_MINUTES,
  RELAY_PACKETS_PER_SECOND,
} from '../base/limits.ts'
import type { CryptoProvider } from '../crypto/provider.ts'
import { familyOf } from './net-address.ts'

/** The most that one allocation may use, whatever its token says. */
export interface RelayLimits {
  /** Default 256. */
  readonly kbitsPerSecond: number
  /** Default 400. */
  readonly packetsPerSecond: number
  /** Default 1024. */
  readonly mebibytes: number
  /** Default 240. */
  readonly minutes: number
}

/** Configuration of a packet relay. */
export interface PacketRelayConfig {
  /** The crypto library. */
  readonly provider: CryptoProvider
  /** The source of random bytes for ids, keys and cookies. */
  readonly entropy: Entropy
  /** The public keys of the issuers of relay tokens: one, or two while one replaces the other. */
  readonly issuers: readonly Uint8Array[]
  /** The name in relay tokens that this relay accepts. Default `relay`. */
  readonly audience?: string
  /** The address of this relay as peers see it, `ip:port`. It is written into answers. */
  readonly relayed: string
  /** Seconds since 1970: the lifetime of tokens is checked with it. */
  readonly wallSeconds: () => number
  /** The most that one allocation may use. Default: see `RelayLimits`. */
  readonly quota?: Partial<RelayLimits>
  /** Default 4096. */
  readonly allocationsMax?: number
  /** Default 8. */
  readonly allocationsPerOrigin?: number
  /** Whether this machine and its local network are exempt from limits for each origin. Default true. */
  readonly areLocalExempt?: boolean
  /** The IP address behind a transport's address. Default: the address itself. */
  readonly addressOf?: (address: string) => string
}

/** The configuration with all defaults. */
export interface RelayOptions extends Required<Omit<PacketRelayConfig, 'quota'>> {
  readonly quota: RelayLimits
}

/** Counters of a relay. They only grow. */
export interface RelayCounts {
  /** Datagrams that were forwarded. */
  forwarded: number
  /** Bytes that were forwarded. */
  forwardedBytes: number
  /** Cookies for addresses that were not proven. */
  cookies: number
  /** New allocations. */
  allocated: number
  /** Allocations that moved to another address. */
  moved: number
  /** Answers to STUN requests. */
  stun: number
  /** Refreshed allocations of TURN clients. */
  refreshed: number
  /** TURN requests of proven clients that got an error. */
  refused: number
  /** Allocations that expired without a release. */
  expired: number
  /** Dropped: invalid bytes. */
  malformed: number
  /** Dropped: over a limit of the origin, or of all origins. */
  limited: number
  /** Dropped: a wrong mac, address or transaction. */
  forged: number
  /** Refused: an unknown allocation. */
  unknown: number
  /** Refused: an invalid token. */
  tokens: number
  /** Refused: no room. */
  full: number
  /** Data that was dropped: without an allocation or binding. */
  unbound: number
  /** Data that was dropped: with a header that may not pass. */
  foreign: number
  /** Data that was dropped: over the quota. */
  overQuota: number
}

export function createRelayCounts(): RelayCounts {
  return {
    forwarded: 0, forwardedBytes: 0, cookies: 0, allocated: 0, moved: 0, stun: 0, refreshed: 0, refused: 0, expired: 0,
    malformed: 0, limited: 0, forged: 0, unknown: 0, tokens: 0, full: 0, unbound: 0, foreign: 0, overQuota: 0,
  }
}

/** Fills in defaults; throws `ConfigError` on invalid settings. */
export function completeRelay(config: PacketRelayConfig): RelayOptions {
  const quota: RelayLimits = {
    kbitsPerSecond: RELAY_KBITS_PER_SECOND, packetsPerSecond: RELAY_PACKETS_PER_SECOND, mebibytes: RELAY_MEBIBYTES,
    minutes: RELAY_MINUTES, ...config.quota,
  }
  if (familyOf(config.relayed) === 0) {
    const problem = `not an address (expected ip:port, got ${JSON.stringify(config.relayed)})`
    throw new ConfigError('relayed', problem, 'give the public address of the relay.')
  }
  for (const [name, value] of Object.entries(quota)) {
    if (!(value >= 1))
      throw new ConfigError(`quota.${name}`, `invalid (expected 1 or more, got ${value})`, 'give 1 or more.')
  }
  return {
    audience: 'relay', allocationsMax: RELAY_ALLOCATIONS_MAX, allocationsPerOrigin: RELAY_ALLOCATIONS_PER_ORIGIN,
    areLocalExempt: true, addressOf: (address) => address, ...config, quota,
  }
}
