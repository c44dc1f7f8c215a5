/**
 * Serves a rendezvous: players find each other by a code, and their machines exchange addresses. Game data never passes
 * here, and a match goes on when the rendezvous is gone.
 *
 * ```ts
 * const rendezvous = await serveRendezvous({ port: 8080, relays: [{ address: '203.0.113.10:7777' }], issuer: secret })
 * ```
 */

import { randomBytes } from 'node:crypto'
import type { Registry } from 'prom-client'
import type { Tracer } from 'tickwire'
import { Readiness } from '../http/readiness.ts'
import { createSite, listenSite, type Site } from '../http/site.ts'
import type { Leases } from '../store/leases.ts'
import { openLeases } from '../store/open-store.ts'
import { createRegistry, readCounter, readGauge } from '../telemetry/metrics.ts'
import { VERSION } from '../version.ts'
import { type KnownRelay, RelayIssuer } from './relay-issuer.ts'
import { addRendezvousRoutes, createRendezvousCounts, type RendezvousCounts } from './routes.ts'
import { SessionDirectory } from './session-directory.ts'
import { Sessions } from './sessions.ts'
import { SignalSockets } from './signal-sockets.ts'

/** The port of a rendezvous, unless another is given. */
export const RENDEZVOUS_PORT_DEFAULT = 8080

/** Members that are connected at the same time. */
export const MEMBERS_MAX = 20_000

/** How a rendezvous is served. */
export interface RendezvousOptions {
  /** Default 8080; 0: any free port. */
  readonly port?: number
  /** A numeric address of this machine. Default: all of them. */
  readonly address?: string
  /** Relays for the members of sessions: the first is used first, the second is its standby. Default: none. */
  readonly relays?: readonly KnownRelay[]
  /** The secret key of the issuer of relay tokens, 32 bytes. Default: random; relays need its public key. */
  readonly issuer?: Uint8Array
  /** The name in relay tokens. Default `relay`. */
  readonly audience?: string
  /** 32 secret bytes, the same after a restart: hosts then keep their codes. Default: random. */
  readonly secretKey?: Uint8Array
  /**
   * `redis://…`: several instances share their sessions, so a host and its guests may be at different ones. All of
   * them need the same `secretKey` and `issuer`. Default: memory.
   */
  readonly store?: string
  /** How long a code is valid without its host, in ms. Default 600,000. */
  readonly codeMs?: number
  /** Most sessions at once. Default 10,000. */
  readonly sessionsMax?: number
  /** Most sessions of one origin at once. Default 20. */
  readonly sessionsPerOrigin?: number
  /** A folder with the page of the game. Default: none. */
  readonly static?: string
  /** Where links lead. Default: the address of the rendezvous itself. */
  readonly pageUrl?: string
  /** The query of links: `?tick=64`. Default: none. */
  readonly pageQuery?: string
  /** Pages of these origins may use it, in addition to its own. Default: none. */
  readonly origins?: readonly string[] | 'any'
  /** Proxies whose client addresses are trusted. Default: none. */
  readonly trustedProxies?: readonly string[]
  /** Records joins that come with a span (`openTraces`). Default: nothing does. */
  readonly tracer?: Tracer | undefined
}

/** A rendezvous that is being served. */
export interface ServingRendezvous {
  readonly port: number
  /** The public key of the issuer of its relay tokens. */
  readonly issuerPublicKey: Uint8Array
  readonly counts: Readonly<RendezvousCounts>
  readonly registry: Registry
  readonly readiness: Readiness
  close(): Promise<void>
}

/** Serves a rendezvous. Throws `ConfigError` when the port is taken. */
export async function serveRendezvous(options: RendezvousOptions = {}): Promise<ServingRendezvous> {
  const registry = createRegistry('rendezvous', VERSION)
  const app = await createSite({
    title: 'Tickwire rendezvous', registry, maxWebSockets: MEMBERS_MAX, tracer: options.tracer,
    ...(options.static !== undefined && { static: options.static }),
    ...(options.trustedProxies && { trustedProxies: options.trustedProxies }),
  })
  const readiness = new Readiness(app)
  const leases = options.store === undefined ? undefined : await openLeases(options.store, registry)
  const { counts, issuerPublicKey, close } = await addRendezvous(app, options, registry, leases)
  const port = await listenSite(app, options.port ?? RENDEZVOUS_PORT_DEFAULT, options.address)
  return {
    port, counts, issuerPublicKey, registry, readiness,
    close: async () => {
      close()
      await app.close()
      await leases?.close()
    },
  }
}

/** Adds a rendezvous to a site, which must carry `MEMBERS_MAX` WebSockets. */
export async function addRendezvous(
  app: Site, options: RendezvousOptions, registry: Registry, leases?: Leases,
): Promise<Pick<ServingRendezvous, 'counts' | 'issuerPublicKey'> & { close(): void }> {
  const { origins = [], codeMs = 600_000, sessionsMax = 10_000 } = options
  const sessions = new Sessions(
    { codeMs, sessionsMax, sessionsPerOrigin: options.sessionsPerOrigin ?? 20 }, options.secretKey ?? randomBytes(32),
  )
  const relays = new RelayIssuer(
    options.relays ?? [], options.issuer ?? randomBytes(32), options.audience ?? 'relay',
  )
  const counts = createRendezvousCounts()
  const directory = leases?.isShared === true ? new SessionDirectory(leases, sessions) : undefined
  const { pageUrl, pageQuery = '' } = options
  await app.register(async (scope) => {
    // reason: a scope of a site has the same types as the site.
    addRendezvousRoutes(scope as unknown as Site, { sessions, directory, relays, counts, origins, pageUrl, pageQuery })
  })
  const sockets = new SignalSockets(app.server, sessions, origins, { tracer: options.tracer, directory })
  if (directory !== undefined) {
    directory.onLost = (session) => {
      sockets.drop(session)
      sessions.remove(session)
    }
  }
  addMetrics(registry, sessions, sockets, counts)
  return { counts, issuerPublicKey: relays.publicKey, close: () => {
    sockets.close()
    directory?.close()
  } }
}

function addMetrics(registry: Registry, sessions: Sessions, sockets: SignalSockets, counts: RendezvousCounts): void {
  readGauge(registry, { name: 'tickwire_rendezvous_sessions', help: 'Live sessions.', read: () => sessions.size })
  readGauge(registry, { name: 'tickwire_rendezvous_members', help: 'Open sockets.', read: () => sockets.size })
  readCounter(registry, {
    name: 'tickwire_rendezvous_requests_total', help: 'Sessions and joins, by result.', label: 'result',
    read: () => counts,
  })
  readCounter(registry, {
    name: 'tickwire_rendezvous_signals_total', help: 'Messages between members.', read: () => sockets.signals,
  })
}
