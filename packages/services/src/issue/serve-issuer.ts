/** Serves a token issuer. */

import type { Registry } from 'prom-client'
import type { Tracer } from 'tickwire'
import { Readiness } from '../http/readiness.ts'
import { createSite, listenSite, type Site } from '../http/site.ts'
import type { Leases } from '../store/leases.ts'
import { openLeases } from '../store/open-store.ts'
import { createRegistry, readCounter } from '../telemetry/metrics.ts'
import { VERSION } from '../version.ts'
import { addIssueRoutes, type IssueCounts } from './issue-routes.ts'
import { Issuer } from './issuer.ts'

/** The port of an issuer, unless another is given. */
export const ISSUER_PORT_DEFAULT = 8081

/** How an issuer is served. */
export interface IssuerOptions {
  /** Default 8081; 0: any free port. */
  readonly port?: number
  /** A numeric address of this machine. Default: all of them. */
  readonly address?: string
  /** Secret keys, 32 bytes each: the first signs. Two while one key replaces the other. */
  readonly keys: readonly Uint8Array[]
  /** Texts of 16 or more characters that may ask for tokens. Default: none, so no token is issued. */
  readonly apiKeys?: readonly string[]
  /** `redis://…`: wrong API keys are counted for all instances. Default: memory. */
  readonly store?: string
  /** Proxies whose client addresses are trusted. Default: none. */
  readonly trustedProxies?: readonly string[]
  /** Records requests that come with a span (`openTraces`). Default: nothing does. */
  readonly tracer?: Tracer | undefined
}

/** An issuer that is being served. */
export interface ServingIssuer {
  readonly port: number
  readonly issuer: Issuer
  readonly registry: Registry
  readonly readiness: Readiness
  close(): Promise<void>
}

/** Serves an issuer. Throws `ConfigError` when the port is taken, or a key is invalid. */
export async function serveIssuer(options: IssuerOptions): Promise<ServingIssuer> {
  const issuer = new Issuer(options.keys)
  const registry = createRegistry('issue', VERSION)
  const leases = await openLeases(options.store, registry)
  const app = await createSite({
    title: 'Tickwire token issuer', registry, tracer: options.tracer,
    ...(options.trustedProxies && { trustedProxies: options.trustedProxies }),
  })
  const readiness = new Readiness(app)
  addIssuer(app, issuer, options.apiKeys ?? [], leases, registry)
  const port = await listenSite(app, options.port ?? ISSUER_PORT_DEFAULT, options.address)
  return {
    port, issuer, registry, readiness,
    close: async () => {
      await app.close()
      await leases.close()
    },
  }
}

/** Adds an issuer to a site. */
export function addIssuer(
  app: Site, issuer: Issuer, apiKeys: readonly string[], leases: Leases, registry: Registry,
): void {
  const counts: IssueCounts = { issued: 0, refused: 0, limited: 0 }
  addIssueRoutes(app, { issuer, apiKeys, leases, counts })
  readCounter(registry, {
    name: 'tickwire_issue_tokens_total', help: 'Requests for tokens, by result.', label: 'result', read: () => counts,
  })
}
