/** Creates the host of lockstep matches: rooms, seats and tickets as for every other match, and relays in the rooms. */

import type { Entropy } from '../base/entropy.ts'
import { ConfigError } from '../base/assert.ts'
import { HANDOVER_RELAYS_MAX, HANDOVER_URL_BYTES_MAX } from '../base/limits.ts'
import { utf8Size } from '../bits/utf8.ts'
import { CRYPTO_BYTES, type CryptoProvider } from '../crypto/provider.ts'
import { pureProvider } from '../crypto/pure-provider.ts'
import { DelayBasedController } from '../delivery/congestion/delay-based.ts'
import { readClaim } from '../order/handover.ts'
import type { NextRelay } from '../order/handover-messages.ts'
import { isSameBytes } from '../order/seed-share.ts'
import { RoomHost } from '../rooms/room-host.ts'
import type { RoomHostOptions, SeatClaim } from '../rooms/room-host-options.ts'
import { RelayMatch, type RelayRoomType } from './relay-match.ts'
import { matchName, type SuccessionParts } from './succession.ts'

/** Options of a host of lockstep matches. */
export interface RelayHostOptions extends RoomHostOptions<RelayMatch> {
  /**
   * The relays of one group, in the order in which a match goes on there. All relays of the group have the same list;
   * the own key in it is skipped. Needs `security.identity`. Default: none, and a match ends with its relay.
   */
  readonly relays?: readonly NextRelay[]
}

/** Creates a room host whose rooms are lockstep matches. It has no game code. */
export function createRelayHost(
  types: { readonly [name: string]: RelayRoomType },
  options: RelayHostOptions,
): RoomHost<RelayMatch> {
  const { entropy, security: { provider = pureProvider } = {} } = options
  const succession = successionOf(options, provider)
  const cards = Object.values(types).map(({ game }) => game)
  return new RoomHost<RelayMatch>(types, options, {
    endpoint: {
      tickRate: Math.max(...cards.map(({ tickRate }) => tickRate)),
      // Ticks are few bytes. Only images need the whole rate of a path, and a rate that falls at single losses would
      // make a client that returns wait for seconds.
      congestion: () => new DelayBasedController(),
    },
    // In the welcome, 0 says that the players agree on the seed.
    seedOf: ({ seed }, drawn) => seed === 'agreed' ? 0 : drawn || 1,
    build: (identity, type, wiring) => new RelayMatch(identity, type, wiring, {
      secret: drawSecret(entropy), entropy, sha256: (bytes) => provider.sha256(bytes), succession,
    }),
    readClaim: (fingerprint, data) => succession && seatClaim(types, succession, fingerprint, data),
  })
}

/** The keys of the relay and of its group. Throws ConfigError if they are not usable. */
function successionOf(
  { relays = [], security }: RelayHostOptions, provider: CryptoProvider,
): SuccessionParts | undefined {
  if (relays.length === 0) return undefined
  const refuse = (problem: string, fix: string): never => { throw new ConfigError('relays', problem, fix) }
  if (security?.identity === undefined)
    return refuse('the relay has no identity', 'give `security.identity`: 32 secret bytes that stay the same.')
  if (relays.length > HANDOVER_RELAYS_MAX)
    return refuse(`too many (expected at most ${HANDOVER_RELAYS_MAX}, got ${relays.length})`, 'leave some out.')
  for (const { url, key } of relays) {
    if (key.length !== CRYPTO_BYTES.publicKey)
      refuse(`${url}: wrong size of the key (expected ${CRYPTO_BYTES.publicKey} bytes, got ${key.length})`,
        'give the public key of the relay.')
    if (utf8Size(url) > HANDOVER_URL_BYTES_MAX)
      refuse(`${url.slice(0, 40)}…: longer than ${HANDOVER_URL_BYTES_MAX} bytes`, 'use a shorter address.')
  }
  const signer = provider.importSigning(security.identity)
  const own = relays.findIndex(({ key }) => isSameBytes(key, signer.publicKey))
  return {
    signer,
    verify: (publicKey, message, signature) => provider.importVerifying(publicKey).verify(message, signature),
    sha256: (bytes) => provider.sha256(bytes),
    // After the last relay comes the first: the ones before this one may be those that were lost.
    relays: [...relays.slice(own + 1), ...relays.slice(0, Math.max(0, own))],
    keys: [signer.publicKey, ...relays.map(({ key }) => key)],
  }
}

/** The seat that a client claims with a certificate of a relay of the group. */
function seatClaim(
  types: { readonly [name: string]: RelayRoomType }, { signer, keys, verify }: SuccessionParts,
  fingerprint: Uint8Array, data: Uint8Array,
): SeatClaim<RelayMatch> | undefined {
  const isKnown = (relayKey: Uint8Array): boolean => keys.some((key) => isSameBytes(key, relayKey))
  const certificate = readClaim(data, signer.publicKey, isKnown, verify)
  if (certificate === undefined || !isSameBytes(certificate.fingerprint, fingerprint)) return undefined
  const typeName = Object.keys(types).find((name) => isSameBytes(types[name].game.fingerprint, fingerprint))
  if (typeName === undefined) return undefined
  const { match, seed, peer, isSpectator } = certificate
  return {
    match: matchName(match), typeName, seed, peer, isSpectator,
    note: ({ succession }) => succession?.noteClaim(certificate),
  }
}

function drawSecret(entropy: Entropy): number {
  const bytes = new Uint8Array(6)
  entropy.fill(bytes)
  return bytes.reduce((value, byte) => value * 256 + byte, 0)
}
