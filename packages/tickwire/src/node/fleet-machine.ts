/** Requests of a client to a fleet, on Node. */

import { findMatchBy, findSeatsBy, type MatchRequest } from '../core/client/find-match.ts'
import type { FleetSeat } from '../core/client/fleet-place.ts'
import type { FleetMachine, SeatRequest } from '../core/client/fleet.ts'
import { traceHeaders } from '../core/client/join-spans.ts'
import type { Game } from '../core/game/define-game.ts'
import { monotonicNow } from './clock.ts'
import { systemEntropy } from './entropy.ts'
import { requestJson } from './json-request.ts'

export const nodeFleet: FleetMachine = {
  entropy: systemEntropy,
  now: monotonicNow,
  wait: (ms) => new Promise((resolve) => { setTimeout(resolve, ms) }),
  async ask(method, url, body, ms, traceparent) {
    return await requestJson(url, {
      method, ms, headers: traceHeaders(traceparent), ...(body && { text: JSON.stringify(body) }),
    })
  },
}

/**
 * Reserves seats in one room of a fleet, one for each of a party. Give each player one of them: `connect(game,
 * fleet(url, seat))`. Rejects with a ConnectError that says why.
 */
export async function findSeats(
  game: Game, url: string | URL, request: SeatRequest = {},
): Promise<readonly FleetSeat[]> {
  return await findSeatsBy(nodeFleet, String(url), game, request)
}

/**
 * Waits until the matchmaker of a fleet has found other players, and returns the seats of this party. Rejects with a
 * ConnectError when that takes too long.
 */
export async function findMatch(
  game: Game, url: string | URL, request: MatchRequest = {},
): Promise<readonly FleetSeat[]> {
  return await findMatchBy(nodeFleet, String(url), game, request)
}
