/**
 * Everything in one process and in memory: a relay, a rendezvous, a tracker and a token issuer. It is what friends on
 * one network need, and a whole service on one small machine.
 */

import { randomBytes } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import type { Registry } from 'prom-client'
import { bestProvider, openRelay, type RelayServer } from 'tickwire/node'
import { Readiness } from '../http/readiness.ts'
import { createSite, listenSite } from '../http/site.ts'
import { Issuer } from '../issue/issuer.ts'
import { addIssuer } from '../issue/serve-issuer.ts'
import {
  addRendezvous, MEMBERS_MAX, RENDEZVOUS_PORT_DEFAULT, type RendezvousOptions,
} from '../rendezvous/serve-rendezvous.ts'
import { addRelayMetrics } from '../relay/relay-metrics.ts'
import { openLeases } from '../store/open-store.ts'
import { createRegistry } from '../telemetry/metrics.ts'
import { addTracker, type TrackingOptions } from '../track/serve-tracker.ts'
import { VERSION } from '../version.ts'

/** How all services are served. */
export interface ServeAllOptions
  extends Omit<RendezvousOptions, 'relays' | 'audience'>, Omit<TrackingOptions, 'issuers' | 'audience'> {
  /** The UDP port of the relay, and the TCP port of its WebSocket. Default 7777; 0: any free ports. */
  readonly relayPort?: number
  /** The address that players reach this machine at. Default: its address on the local network. */
  readonly publicAddress?: string
  /** Texts of 16 or more characters that may ask for tokens. Default: none, so no token is issued to others. */
  readonly apiKeys?: readonly string[]
  /** `redis://…`: several processes share listings and codes. All need the same `secretKey`. Default: memory. */
  readonly store?: string
}

/** All services, being served. */
export interface ServingAll {
  /** Where players reach codes and games. */
  readonly url: string
  readonly port: number
  readonly relay: RelayServer
  readonly registry: Registry
  readonly readiness: Readiness
  close(): Promise<void>
}

/** Serves everything. Throws `ConfigError` when a port is taken. */
export async function serveAll(options: ServeAllOptions = {}): Promise<ServingAll> {
  const { relayPort, publicAddress = ownAddress(), issuer: secret = randomBytes(32) } = options
  const { publicKey } = bestProvider().importSigning(Uint8Array.from(secret))
  const relay = await openRelay({
    // The players of one machine's match share its relay, and a host sends for all of them.
    quota: { kbitsPerSecond: 16_000, packetsPerSecond: 8000 },
    issuers: [publicKey], relayed: publicAddress, webSocket: {}, ...(relayPort !== undefined && { port: relayPort }),
    ...(options.address !== undefined && { address: options.address }),
  })
  try {
    const host = publicAddress.includes(':') ? `[${publicAddress}]` : publicAddress
    const webSocket = relay.webSocket === undefined ? undefined : new URL(relay.webSocket.url)
    if (webSocket !== undefined) webSocket.hostname = host
    const known = { address: relay.relayed, ...(webSocket !== undefined && { url: webSocket.href }) }
    const site = await openSite(options, secret, known)
    addRelayMetrics(relay, site.registry)
    return {
      url: `http://${host}:${site.port}/`, port: site.port, relay, registry: site.registry, readiness: site.readiness,
      close: async () => {
        await site.close()
        await relay.close()
      },
    }
  } catch (error) {
    await relay.close()
    throw error
  }
}

/** The services of HTTP, on one port. */
async function openSite(
  options: ServeAllOptions, secret: Uint8Array, relay: { readonly address: string; readonly url?: string },
): Promise<Pick<ServingAll, 'port' | 'registry' | 'readiness' | 'close'>> {
  const registry = createRegistry('all', VERSION)
  const leases = await openLeases(options.store, registry)
  const app = await createSite({
    title: 'Tickwire services', registry, maxWebSockets: MEMBERS_MAX, tracer: options.tracer,
    ...(options.static !== undefined && { static: options.static }),
    ...(options.trustedProxies && { trustedProxies: options.trustedProxies }),
  })
  const readiness = new Readiness(app)
  const issuer = new Issuer([secret])
  const rendezvous = await addRendezvous(
    app, { ...options, issuer: secret, relays: [relay], audience: 'relay' }, registry, leases,
  )
  const tracker = await addTracker(
    app, { publish: 'local', ...options, audience: 'tracker', issuers: issuer.publicKeys }, leases, registry,
  )
  addIssuer(app, issuer, options.apiKeys ?? [], leases, registry)
  const port = await listenSite(app, options.port ?? RENDEZVOUS_PORT_DEFAULT, options.address)
  return {
    port, registry, readiness,
    close: async () => {
      rendezvous.close()
      await app.close()
      tracker.close()
      await leases.close()
    },
  }
}

/** The address of this machine on its network; of the machine itself when it has none. */
function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1'
}
