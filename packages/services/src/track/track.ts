/**
 * `tickwire track`: a public list of games.
 */

import { ConfigError } from 'tickwire'
import { readKeyOption } from '../cli/key-option.ts'
import { defineService, type Service } from '../cli/service.ts'
import { DRAIN_OPTION, drainService } from '../http/readiness.ts'
import { STORE_OPTION } from '../store/open-store.ts'
import { OPS_ADDRESS, openStatus } from '../telemetry/status.ts'
import { openTraces, OTLP_OPTION } from '../telemetry/traces.ts'
import { serveTracker, TRACKER_PORT_DEFAULT } from './serve-tracker.ts'
import type { PublishRule } from './track-routes.ts'

const RULES: readonly string[] = ['token', 'local', 'open'] satisfies PublishRule[]
const RATE = /^(\d{1,6})\/min$/

/** Serves a tracker. */
export const track: Service = defineService({
  summary: 'list public games, for players to browse',
  about: `A tracker: hosts publish their games with serve(game, { publish: [URL] }), and players browse them at /games
or with browse() of tickwire/browser. It runs until it gets SIGTERM or SIGINT.`,
  options: {
    port: { kind: 'whole', default: TRACKER_PORT_DEFAULT, help: 'TCP port; 0 takes any' },
    address: { kind: 'text', value: 'IP', help: 'listen on this address only (all)' },
    issuer: {
      kind: 'list', value: 'FILE',
      help: 'the public key of the issuer of publish tokens (issuer.pub); twice while one key replaces another',
    },
    audience: { kind: 'text', value: 'NAME', default: 'tracker', help: 'the name in publish tokens' },
    publish: {
      kind: 'text', value: 'RULE', default: 'local',
      help: 'which hosts may publish: "token", "local" (also programs of this machine) or "open" (all)',
    },
    'heartbeat-ttl': { kind: 'duration', default: '30s', help: 'how long a listing lives without a renewal' },
    'max-listings': { kind: 'whole', default: 10_000, help: 'most listings' },
    'rate-limit': { kind: 'text', value: 'N/min', default: '10/min', help: 'listings that one origin may publish' },
    federate: { kind: 'list', value: 'URL', help: 'another tracker whose games /games shows; at most 10, by https' },
    openra: { kind: 'list', value: 'URL', help: 'a list of OpenRA\'s master server, shown and not joinable' },
    store: STORE_OPTION,
    proxy: { kind: 'list', value: 'IP', help: 'a proxy whose client addresses are trusted' },
    drain: DRAIN_OPTION,
    'otel-exporter-otlp-endpoint': OTLP_OPTION,
    ops: { kind: 'whole', default: 9091, help: 'TCP port of /healthz, /readyz and /metrics' },
    'ops-address': OPS_ADDRESS,
  },
  async start(options, world) {
    const { port, address, issuer, audience, publish, store, proxy, ops, federate, openra } = options
    if (!RULES.includes(publish)) throw new ConfigError('--publish', 'unknown rule', `write ${RULES.join(', ')}.`)
    const perMinute = RATE.exec(options['rate-limit'])?.[1]
    if (perMinute === undefined) throw new ConfigError('--rate-limit', 'not a rate', 'write one such as 10/min.')
    const traces = openTraces({ service: 'track', endpoint: options['otel-exporter-otlp-endpoint'] })
    const serving = await serveTracker({
      tracer: traces?.tracer,
      port, audience, issuers: issuer.map((value) => readKeyOption('--issuer', value, 'issuer-public')),
      // reason: it is one of RULES.
      publish: publish as PublishRule, publishesPerMinute: Number(perMinute), trustedProxies: proxy,
      heartbeatTtlMs: options['heartbeat-ttl'], listingsMax: options['max-listings'],
      federate: [...federate, ...openra.map((url) => ({ url, form: 'openra' as const }))],
      ...(address !== undefined && { address }), ...(store !== undefined && { store }),
    })
    const status = await openStatus(ops, {
      registry: serving.registry, isReady: () => serving.readiness.isReady,
    }, options['ops-address'])
    world.print(`games: http://localhost:${serving.port}/games`)
    if (issuer.length === 0 && publish !== 'open')
      world.print('publish: programs of this machine; give --issuer for others, or --publish open')
    world.print(`status: ${status.url}/metrics`)
    drainService(serving, options.drain)
  },
})
