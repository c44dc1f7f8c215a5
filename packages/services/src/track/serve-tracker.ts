/**
 * Serves a tracker: a public list of games. Hosts publish signed listings, and everyone may browse. Game data never
 * passes here, and matches go on when the tracker is gone.
 *
 * ```ts
 * const tracker = await serveTracker({ port: 8080, issuers: [publicKey] })
 * ```
 */

import type { Registry } from 'prom-client'
import type { Tracer } from 'tickwire'
import { mergeGames } from 'tickwire/engine'
import type { TrackerSource } from 'tickwire/node'
import { type Static, Type } from 'typebox'
import { Readiness } from '../http/readiness.ts'
import { createSite, listenSite, type Site } from '../http/site.ts'
import { TokenDoor } from '../issue/token-door.ts'
import type { Leases } from '../store/leases.ts'
import { openLeases } from '../store/open-store.ts'
import { createRegistry, readCounter, readGauge } from '../telemetry/metrics.ts'
import { VERSION } from '../version.ts'
import { BrowsePages } from './browse-pages.ts'
import { Federation } from './federation.ts'
import { GAMES_POLICY, gamesPage } from './games-page.ts'
import { Listings } from './listings.ts'
import { addTrackRoutes, createTrackCounts, type PublishRule, type TrackCounts } from './track-routes.ts'

/** The port of a tracker, unless another is given. */
export const TRACKER_PORT_DEFAULT = 8080

/** What a tracker does, apart from its port. */
export interface TrackingOptions {
  /** Public keys of the issuers of publish tokens: one, or two while one replaces the other. Default: none. */
  readonly issuers?: readonly Uint8Array[]
  /** The name in publish tokens. Default `tracker`. */
  readonly audience?: string
  /**
   * Which requests may publish. `token`: those with a publish token. `local`: also programs of this machine. `open`:
   * all, with limits for each origin. Default `token`.
   */
  readonly publish?: PublishRule
  /** How long a listing lives without a renewal, in ms. Default 30,000. */
  readonly heartbeatTtlMs?: number
  /** Most listings. Default 10,000. */
  readonly listingsMax?: number
  /** Most listings of one origin. Default 20. */
  readonly listingsPerOrigin?: number
  /** Listings that one origin may publish in a minute. Default 10. */
  readonly publishesPerMinute?: number
  /** Other trackers whose games are on the page `/games`: at most 10, by https. Default: none. */
  readonly federate?: readonly (string | TrackerSource)[]
}

/** How a tracker is served. */
export interface TrackerOptions extends TrackingOptions {
  /** Default 8080; 0: any free port. */
  readonly port?: number
  /** A numeric address of this machine. Default: all of them. */
  readonly address?: string
  /** `redis://…`: several instances share their listings. Default: memory. */
  readonly store?: string
  /** Requests of one origin in a minute. Default 600. */
  readonly requestsPerMinute?: number
  /** Proxies whose client addresses are trusted. Default: none. */
  readonly trustedProxies?: readonly string[]
  /** Records requests that come with a span (`openTraces`). Default: nothing does. */
  readonly tracer?: Tracer | undefined
}

/** A tracker that is being served. */
export interface ServingTracker {
  readonly port: number
  readonly counts: Readonly<TrackCounts>
  readonly registry: Registry
  readonly readiness: Readiness
  close(): Promise<void>
}

const GamesQuery = Type.Object({
  game: Type.Optional(Type.String({ maxLength: 64 })), region: Type.Optional(Type.String({ maxLength: 64 })),
  free: Type.Optional(Type.String({ maxLength: 1 })),
})

/** Serves a tracker. Throws `ConfigError` when the port is taken, or an option is invalid. */
export async function serveTracker(options: TrackerOptions = {}): Promise<ServingTracker> {
  const registry = createRegistry('track', VERSION)
  const leases = await openLeases(options.store, registry)
  const { requestsPerMinute, trustedProxies } = options
  const app = await createSite({
    title: 'Tickwire tracker', registry, tracer: options.tracer,
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(trustedProxies && { trustedProxies }),
  })
  const readiness = new Readiness(app)
  const tracker = await addTracker(app, options, leases, registry)
  const port = await listenSite(app, options.port ?? TRACKER_PORT_DEFAULT, options.address)
  const close = async (): Promise<void> => {
    await app.close()
    tracker.close()
    await leases.close()
  }
  return { port, registry, readiness, counts: tracker.counts, close }
}

/** Adds a tracker to a site. */
export async function addTracker(
  app: Site, options: TrackingOptions, leases: Leases, registry: Registry,
): Promise<{ readonly counts: TrackCounts; close(): void }> {
  const { issuers = [], audience, publish = 'token' } = options
  const listings = new Listings(leases, {
    ttlMs: options.heartbeatTtlMs ?? 30_000, listingsMax: options.listingsMax ?? 10_000,
    listingsPerOrigin: options.listingsPerOrigin ?? 20,
  })
  const [pages, counts] = [new BrowsePages(listings), createTrackCounts()]
  const federation = new Federation(options.federate ?? [])
  const door = issuers.length === 0 ? undefined : new TokenDoor('publish', issuers, audience)
  await listings.open()
  await app.register(async (scope) => {
    // reason: a scope of a site has the same types as the site.
    addTrackRoutes(scope as unknown as Site, {
      listings, pages, leases, rule: publish, door, counts, publishesPerMinute: options.publishesPerMinute ?? 10,
    })
  })
  addGamesPage(app, listings, federation, publish)
  readGauge(registry, { name: 'tickwire_track_listings', help: 'Listings.', read: () => listings.games.size })
  readCounter(registry, {
    name: 'tickwire_track_requests_total', help: 'Requests of hosts, by result.', label: 'result', read: () => counts,
  })
  readCounter(registry, {
    name: 'tickwire_track_browse_total', help: 'Pages of the list, by source.', label: 'source',
    read: () => pages.counts,
  })
  readCounter(registry, {
    name: 'tickwire_track_expired_total', help: 'Listings that were not renewed.', read: () => listings.expired,
  })
  return {
    counts,
    close: () => {
      listings.close()
      federation.close()
    },
  }
}

function addGamesPage(app: Site, listings: Listings, federation: Federation, rule: PublishRule): void {
  app.get('/games', { schema: { hide: true, querystring: GamesQuery } }, async (request, reply) => {
    const { game, region, free }: Static<typeof GamesQuery> = request.query
    const own = mergeGames([{
      url: '', badge: rule === 'token' ? 'verified' : 'community', foreign: [],
      listings: [...listings.games.values()].map(({ listing }) => listing),
    }])
    const keys = new Set(own.map(({ listing }) => listing?.sig))
    const others = (await federation.games()).filter(({ listing }) => listing === undefined || !keys.has(listing.sig))
    const filter = { ...(game && { game }), ...(region && { region }), ...(free === '1' && { free: true }) }
    return await reply.type('text/html; charset=utf-8').header('content-security-policy', GAMES_POLICY)
      .header('referrer-policy', 'no-referrer').send(gamesPage([...own, ...others], filter, listings.isStale))
  })
}
