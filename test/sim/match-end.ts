/**
 * The end of a match of the swarm: all memory must be released.
 */

import type { Match } from '../../packages/tickwire/src/core/game/match.ts'
import type { RoomHost } from '../../packages/tickwire/src/core/rooms/room-host.ts'
import type { SimNet } from '../../packages/tickwire/src/testing/sim-net.ts'
import { hold } from './invariants.ts'

export const GONE_MS = 1500

/** Checks a host that is closed, `GONE_MS` later. */
export function holdNothingLeft(host: RoomHost<Match>, match: Pick<Match, 'members'>, net: SimNet): void {
  const { length } = host.endpoint.connections
  hold(length === 0, 'I13', () => `${length} connections outlive their end by ${GONE_MS} ms`)
  const { sent, copies, delivered, dropped } = net.tally
  hold(
    sent + copies === delivered + dropped + net.flying,
    'crash',
    () => 'a datagram vanished from the simulated network',
  )
  const left = host.rooms.length + match.members.length
  hold(left === 0, 'I13', () => `${left} rooms and members are left in a host that is closed`)
}
