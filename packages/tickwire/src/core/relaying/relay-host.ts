/** Creates the host of lockstep matches: rooms, seats and tickets as for every other match, and relays in the rooms. */

import type { Entropy } from '../base/entropy.ts'
import { pureProvider } from '../crypto/pure-provider.ts'
import { DelayBasedController } from '../delivery/congestion/delay-based.ts'
import { RoomHost } from '../rooms/room-host.ts'
import type { RoomHostOptions } from '../rooms/room-host-options.ts'
import { RelayMatch, type RelayRoomType } from './relay-match.ts'

/** Creates a room host whose rooms are lockstep matches. It has no game code. */
export function createRelayHost(
  types: { readonly [name: string]: RelayRoomType },
  options: RoomHostOptions<RelayMatch>,
): RoomHost<RelayMatch> {
  const { entropy, security: { provider = pureProvider } = {} } = options
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
      secret: drawSecret(entropy), entropy, sha256: (bytes) => provider.sha256(bytes),
    }),
  })
}

function drawSecret(entropy: Entropy): number {
  const bytes = new Uint8Array(6)
  entropy.fill(bytes)
  return bytes.reduce((value, byte) => value * 256 + byte, 0)
}
