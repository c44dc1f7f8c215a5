/**
 * The parts that a page loads when it uses them: transports other than WebSocket, hosting, and the lines of a desync
 * report. Nothing else may import their files: a bundler puts a module that is imported both ways into the first load.
 *
 * They are given what they need of the page (`portMaker`). If they imported it, a bundler would put it into a third
 * file, which the first load would fetch too.
 */

import type { MatchRequest } from '../core/client/find-match.ts'
import type { FleetSeat } from '../core/client/fleet-place.ts'
import type { FleetRoute, SeatRequest } from '../core/client/fleet.ts'
import type { JoinSpans, JoinTracing } from '../core/client/join-spans.ts'
import type { HostedRelay, HostingOptions } from '../core/client/hosted-relay.ts'
import type { CryptoProvider } from '../core/crypto/provider.ts'
import type { DatagramPort } from '../core/endpoint/datagram-port.ts'
import type { Game } from '../core/game/define-game.ts'
import type { CodeSite } from '../core/lockstep/desync/code-site.ts'
import type { LockstepCard } from '../core/order/lockstep-card.ts'
import type { HostedMesh } from '../core/client/mesh-code.ts'
import type { MeshParty } from '../core/client/mesh-gathering.ts'
import type { CodePlan } from './code-rungs.ts'
import type { MeetingPlan } from './meeting-plan.ts'
import { portMaker } from './path-port.ts'
import type { RungSource } from './rungs.ts'

/** Offers a channel to the server that answers at `url` (http:// or https://); resolves once it is open. */
export async function openWebRtc(url: string, signal?: AbortSignal): Promise<DatagramPort> {
  const { openWebRtc: open } = await import('./webrtc.ts')
  return await open(portMaker, url, signal)
}

/**
 * Opens a session at `url` (https://) and resolves once datagrams can be sent to that address. `hashes`: SHA-256 of
 * certificates to accept in place of ones signed by an authority.
 */
export async function openWebTransport(
  url: string,
  hashes: readonly BufferSource[],
  signal?: AbortSignal,
): Promise<DatagramPort> {
  const { openWebTransport: open } = await import('./webtransport.ts')
  return await open(portMaker, url, hashes, signal)
}

/** The spans of a join. */
export async function openSpans(options: JoinTracing): Promise<JoinSpans | undefined> {
  const { JoinSpans: spans } = await import('../core/client/join-spans.ts')
  return spans.of(options)
}

/** The transports to a host that is known by a code. Rejects with a ConnectError. */
export async function openCodeRungs(plan: CodePlan): Promise<RungSource> {
  const { meetByCode } = await import('./code-rungs.ts')
  return await meetByCode(plan, portMaker)
}

/** The way to a server of a fleet. */
export async function openFleetRoute(
  base: string, fingerprint: Uint8Array, seat: FleetSeat | undefined, spans: JoinSpans | undefined,
): Promise<FleetRoute> {
  const { fleetRoute } = await import('./fleet-machine.ts')
  return fleetRoute(base, fingerprint, seat, spans)
}

/**
 * Reserves seats in one room of a fleet, one for each of a party. Give each player one of them: `connect(game,
 * fleet(url, seat))`. Rejects with a ConnectError that says why.
 */
export async function findSeats(
  game: Game, url: string | URL, request: SeatRequest = {},
): Promise<readonly FleetSeat[]> {
  const { findSeatsHere } = await import('./fleet-machine.ts')
  return await findSeatsHere(game, String(url), request)
}

/**
 * Waits until the matchmaker of a fleet has found other players, and returns the seats of this party. Rejects with a
 * ConnectError when that takes too long.
 */
export async function findMatch(
  game: Game, url: string | URL, request: MatchRequest = {},
): Promise<readonly FleetSeat[]> {
  const { findMatchHere } = await import('./fleet-machine.ts')
  return await findMatchHere(game, String(url), request)
}

/** Makes the code of a mesh. Rejects when the rendezvous does not answer. */
export async function openMesh(
  plan: MeetingPlan, game: object, players: number, isStrong: boolean,
): Promise<HostedMesh> {
  const { hostPageMesh } = await import('./mesh-paths.ts')
  return await hostPageMesh(plan, game, players, isStrong, portMaker)
}

/** Joins a mesh by its code. Rejects with a ConnectError. */
export async function joinMesh(
  plan: MeetingPlan, code: string, ms: number, provider: CryptoProvider,
): Promise<MeshParty> {
  const { joinPageMesh } = await import('./mesh-paths.ts')
  return await joinPageMesh(plan, code, ms, provider, portMaker)
}

/** Starts the Worker of a hosted match, and opens its relay. */
export async function hostRelay(card: LockstepCard, options: HostingOptions): Promise<HostedRelay> {
  const { hostRelay: host } = await import('./hosted-relay.ts')
  return await host(card, options)
}

/** The line of the source for a line of a bundle. */
export async function sourceLine(site: CodeSite): Promise<CodeSite> {
  const { sourceLine: find } = await import('./source-line.ts')
  return await find(site)
}
