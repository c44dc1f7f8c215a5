/** Requests of a page to a fleet. Loaded when a page uses one. */

import { findMatchBy, findSeatsBy, type MatchRequest } from '../core/client/find-match.ts'
import type { FleetSeat } from '../core/client/fleet-place.ts'
import { FleetClient, FleetRoute, type FleetMachine, type SeatRequest } from '../core/client/fleet.ts'
import { type JoinSpans, traceHeaders } from '../core/client/join-spans.ts'
import type { Game } from '../core/game/define-game.ts'

const pageFleet: FleetMachine = {
  entropy: { fill: (bytes) => void crypto.getRandomValues(bytes as Uint8Array<ArrayBuffer>) },
  now: () => performance.now(),
  wait: (ms) => new Promise((resolve) => { setTimeout(resolve, ms) }),
  async ask(method, url, body, ms, traceparent) {
    const headers = { 'content-type': 'application/json', ...traceHeaders(traceparent) }
    const response = await fetch(url, {
      method, signal: AbortSignal.timeout(ms), ...(body && { body: JSON.stringify(body), headers }),
    })
    return { status: response.status, body: await response.json().catch(() => undefined) }
  },
}

/** The way to a server of a fleet. */
export function fleetRoute(
  base: string, fingerprint: Uint8Array, seat: FleetSeat | undefined, spans: JoinSpans | undefined,
): FleetRoute {
  return new FleetRoute(new FleetClient(base, fingerprint, pageFleet, spans), seat)
}

export async function findSeatsHere(game: Game, url: string, request: SeatRequest): Promise<readonly FleetSeat[]> {
  return await findSeatsBy(pageFleet, url, game, request)
}

export async function findMatchHere(game: Game, url: string, request: MatchRequest): Promise<readonly FleetSeat[]> {
  return await findMatchBy(pageFleet, url, game, request)
}
