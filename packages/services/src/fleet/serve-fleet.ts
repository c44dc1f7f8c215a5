/**
 * Serves a fleet: many processes with rooms behind one address. Clients ask it for a seat and then talk to the process
 * that has it; no game data passes here, and matches go on when the fleet service is gone.
 *
 * ```ts
 * const fleet = await serveFleet({ port: 8090 })
 * ```
 */

import { createHmac, randomBytes } from 'node:crypto'
import type { Registry } from 'prom-client'
import type { Tracer } from 'tickwire'
import { Readiness } from '../http/readiness.ts'
import { createSite, listenSite } from '../http/site.ts'
import type { Leases } from '../store/leases.ts'
import { MemoryLeases } from '../store/memory-leases.ts'
import { MemoryRecords } from '../store/memory-records.ts'
import type { Records } from '../store/records.ts'
import { createRegistry, readCounter, readGauge } from '../telemetry/metrics.ts'
import { VERSION } from '../version.ts'
import { GameServers } from './game-servers.ts'
import { addMatchRoutes, Matchmaker, type MatchCounts } from './matchmaker.ts'
import { skillWindow, type Propose } from './propose.ts'
import { addResultRoutes } from './results.ts'
import { addFleetRoutes } from './routes.ts'
import { SeatDesk, type SeatCounts } from './seat-desk.ts'
import { SeatLimit, SEATS_PER_ORIGIN_DEFAULT } from './seat-limit.ts'

/** The port of a fleet service, unless another is given. */
export const FLEET_PORT_DEFAULT = 8090

/** How a fleet is served. */
export interface FleetServiceOptions {
  /** Default 8090; 0: any free port. */
  readonly port?: number
  /** A numeric address of this machine. Default: all of them. */
  readonly address?: string
  /** The secret that all processes of the fleet share. Default, and if empty: none, and all are on this machine. */
  readonly secret?: string
  /** What instances share. Default: memory, for one instance. */
  readonly leases?: Leases
  /** Where results of matches are kept. Default: memory, until the process ends. */
  readonly records?: Records
  /** Groups players that look for a match. Default: `skillWindow()`. */
  readonly propose?: Propose
  /** Pages of these origins may ask for seats, in addition to its own. Default: none. */
  readonly origins?: readonly string[] | 'any'
  /** Requests of one origin in a minute. Default 600. */
  readonly requestsPerMinute?: number
  /** Seats that one origin may reserve within ten seconds. Requests of the fleet do not count. Default 128. */
  readonly seatsPerOrigin?: number
  /** Proxies whose client addresses are trusted. Default: none. */
  readonly trustedProxies?: readonly string[]
  /** A folder with the page of the game. Default: none. */
  readonly static?: string
  /** Records requests that come with a span (`openTraces`). Default: nothing does. */
  readonly tracer?: Tracer | undefined
}

/** A fleet that is being served. */
export interface ServingFleet {
  readonly port: number
  readonly url: string
  readonly servers: GameServers
  readonly counts: Readonly<SeatCounts>
  /** Its number as the leader of matchmaking. 0: another instance is. */
  readonly leads: number
  readonly registry: Registry
  readonly readiness: Readiness
  close(): Promise<void>
}

/** Serves a fleet. Throws `ConfigError` when the port is taken. */
export async function serveFleet(options: FleetServiceOptions = {}): Promise<ServingFleet> {
  const { port = FLEET_PORT_DEFAULT, leases = new MemoryLeases(), origins = [] } = options
  // Everyone can compute the key of an empty secret.
  const secret = options.secret || undefined
  const { records = new MemoryRecords() } = options
  const servers = new GameServers(leases)
  // Instances with the same secret sign with the same key.
  const issuer = secret === undefined ? randomBytes(32) : createHmac('sha256', secret).update('issuer').digest()
  const instance = randomBytes(16).toString('hex')
  const seats = new SeatDesk({ servers, leases, instance, issuer, secret })
  const registry = createRegistry('fleet', VERSION)
  const app = await createSite({
    title: 'Tickwire fleet', registry, tracer: options.tracer,
    ...(options.requestsPerMinute !== undefined && { requestsPerMinute: options.requestsPerMinute }),
    ...(options.trustedProxies && { trustedProxies: options.trustedProxies }),
    ...(options.static !== undefined && { static: options.static }),
  })
  const readiness = new Readiness(app)
  const limit = new SeatLimit(options.seatsPerOrigin ?? SEATS_PER_ORIGIN_DEFAULT)
  addFleetRoutes(app, { servers, seats, leases, secret, origins, limit })
  const matchmaker = new Matchmaker({ leases, servers, seats, instance, propose: options.propose ?? skillWindow() })
  addMatchRoutes(app, matchmaker, { secret, limit })
  addResultRoutes(app, { records, secret })
  const close = async (): Promise<void> => {
    matchmaker.close()
    servers.close()
    await app.close()
  }
  addMetrics(registry, servers, seats.counts, matchmaker.counts)
  const bound = await listenSite(app, port, options.address)
  await servers.refresh()
  return {
    port: bound, url: `http://localhost:${bound}`, servers, counts: seats.counts,
    registry, readiness,
    get leads() {
      return matchmaker.leads
    },
    close,
  }
}

function addMetrics(registry: Registry, servers: GameServers, counts: SeatCounts, matches: MatchCounts): void {
  readGauge(registry, {
    name: 'tickwire_fleet_servers', help: 'Game servers that are listed.', read: () => servers.all.length,
  })
  readGauge(registry, {
    name: 'tickwire_fleet_rooms', help: 'Their rooms.',
    read: () => servers.all.reduce((sum, { rooms }) => sum + rooms.length, 0),
  })
  readGauge(registry, {
    name: 'tickwire_fleet_players', help: 'Their players.',
    read: () => servers.all.reduce((sum, { players }) => sum + players, 0),
  })
  readGauge(registry, {
    name: 'tickwire_fleet_stale', help: '1 while the store does not confirm the list.',
    read: () => Number(servers.isStale),
  })
  readCounter(registry, {
    name: 'tickwire_fleet_seats_total', help: 'Requests for seats, by result.', label: 'result', read: () => counts,
  })
  readCounter(registry, {
    name: 'tickwire_fleet_matchmaking_total', help: 'Tickets and matches, by event.', label: 'event',
    read: () => matches,
  })
}
