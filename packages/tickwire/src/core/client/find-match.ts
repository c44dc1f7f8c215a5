/** Seats in a fleet, before `connect`: for a party that stays together, and for players that a matchmaker groups. */

import type { Game } from '../game/define-game.ts'
import { ConnectError } from './connect-error.ts'
import type { FleetSeat } from './fleet-place.ts'
import { FleetClient, type FleetMachine, type SeatRequest } from './fleet.ts'

/** What a player looks for, and what the matchmaker may know. */
export interface MatchRequest {
  /** The type of room. Default: the first one of this game. */
  readonly type?: string
  /** The strength of the player, in the units of the game. Default 0. */
  readonly skill?: number
  /** How many players come: they stay together, and the first gets the seats of all. Default 1. */
  readonly party?: number
  /** Anything else that `propose` of the game uses, such as a map: short texts. Default: none. */
  readonly attributes?: { readonly [name: string]: string }
  /** How long to look, in ms. Default 60,000. */
  readonly timeoutMs?: number
  /** Ends the search. Default: nothing ends it. */
  readonly signal?: { readonly aborted: boolean }
}

/** How long one request waits for the matchmaker. */
const POLL_MS = 10_000
/** Pause after a request without an answer, or with an answer of 500 or above: the fleet or its store restarts. */
const PAUSE_MS = 500

/** Reserves seats in one room, one for each of a party. Rejects with a ConnectError. */
export async function findSeatsBy(
  machine: FleetMachine, url: string, game: Game, request: SeatRequest,
): Promise<readonly FleetSeat[]> {
  return await new FleetClient(url, game.fingerprint, machine).reserve(request)
}

/** Waits for a match with others. Rejects with a ConnectError when none was found in time. */
export async function findMatchBy(
  machine: FleetMachine, url: string, game: Game, request: MatchRequest,
): Promise<readonly FleetSeat[]> {
  const client = new FleetClient(url, game.fingerprint, machine)
  const { timeoutMs = 60_000, signal, ...asked } = request
  const id = client.drawId()
  const path = `match/tickets/${id}`
  const until = machine.now() + timeoutMs
  let hasAnswered = true
  for (let leftMs = timeoutMs; leftMs > 0 && signal?.aborted !== true; leftMs = until - machine.now()) {
    const waitMs = Math.min(POLL_MS, Math.ceil(leftMs))
    // The same request again renews the ticket, or brings it back if the fleet lost it.
    const body = { ...asked, id, fingerprint: client.fingerprint, waitMs }
    const answer = await client.ask('POST', 'match/tickets', body, waitMs + POLL_MS).catch(() => undefined)
    if (answer?.status === 200) return client.readSeats(answer.status, answer.body)
    hasAnswered = answer !== undefined && answer.status < 500
    if (answer !== undefined && hasAnswered && answer.status !== 202) client.readSeats(answer.status, answer.body)
    if (!hasAnswered) await machine.wait(PAUSE_MS)
  }
  if (!hasAnswered) throw client.away()
  await client.ask('DELETE', path, undefined, POLL_MS).catch(() => {})
  throw new ConnectError(client.base, { by: 'protocol', code: 'full' }, { detail: 'no match was found in time' })
}
