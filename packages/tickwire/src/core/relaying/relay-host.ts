/** Creates the host of lockstep matches: rooms, seats and tickets as for every other match, and relays in the rooms. */

import type { Entropy } from '../base/entropy.ts'
import { RoomHost } from '../rooms/room-host.ts'
import type { RoomHostOptions } from '../rooms/room-host-options.ts'
import { RelayMatch, type RelayRoomType } from './relay-match.ts'

/** Creates a room host whose rooms are lockstep matches. It has no game code. */
export function createRelayHost(
  types: { readonly [name: string]: RelayRoomType },
  options: RoomHostOptions<RelayMatch>,
): RoomHost<RelayMatch> {
  const cards = Object.values(types).map(({ game }) => game)
  return new RoomHost<RelayMatch>(types, options, {
    endpoint: { tickRate: Math.max(...cards.map(({ tickRate }) => tickRate)) },
    build: (identity, type, wiring) => new RelayMatch(identity, type, wiring, drawSecret(options.entropy)),
  })
}

function drawSecret(entropy: Entropy): number {
  const bytes = new Uint8Array(6)
  entropy.fill(bytes)
  return bytes.reduce((value, byte) => value * 256 + byte, 0)
}
