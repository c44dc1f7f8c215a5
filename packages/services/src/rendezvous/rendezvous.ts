/**
 * `tickwire rendezvous`: players find each other by a code.
 */

import { ConfigError } from 'tickwire'
import { readKeyOption } from '../cli/key-option.ts'
import { defineService, type Service } from '../cli/service.ts'
import { DRAIN_OPTION, drainService } from '../http/readiness.ts'
import { STORE_OPTION } from '../store/open-store.ts'
import { OPS_ADDRESS, openStatus } from '../telemetry/status.ts'
import { openTraces, OTLP_OPTION } from '../telemetry/traces.ts'
import type { KnownRelay } from './relay-issuer.ts'
import { RENDEZVOUS_PORT_DEFAULT, serveRendezvous } from './serve-rendezvous.ts'
import { KEY_FILE_OPTION, readSessionKey } from './session-key.ts'

/** Serves a rendezvous. */
export const rendezvous: Service = defineService({
  summary: 'let players find each other by a code',
  about: `A rendezvous: a host gets a code such as IRON-7K3M, and guests join with it. Their machines exchange addresses
here, and then play without it. It runs until it gets SIGTERM or SIGINT.`,
  options: {
    port: { kind: 'whole', default: RENDEZVOUS_PORT_DEFAULT, help: 'TCP port of HTTP and WebSocket; 0 takes any' },
    address: { kind: 'text', value: 'IP', help: 'listen on this address only (all)' },
    relay: {
      kind: 'list', value: 'IP:PORT[,URL]',
      help: 'a relay for the players, and its ws:// address for pages; twice for a standby',
    },
    issuer: { kind: 'text', value: 'FILE', help: 'the secret key of the issuer of relay tokens (issuer.key)' },
    audience: { kind: 'text', value: 'NAME', default: 'relay', help: 'the name in relay tokens' },
    'key-file': KEY_FILE_OPTION,
    'code-ttl': { kind: 'duration', default: '10min', help: 'how long a code is valid without its host' },
    'max-sessions': { kind: 'whole', default: 10_000, help: 'most matches at the same time' },
    static: { kind: 'text', value: 'FOLDER', help: 'a folder with the page of the game' },
    page: { kind: 'text', value: 'URL', help: 'where links lead (the rendezvous itself)' },
    origin: { kind: 'list', value: 'URL', help: 'pages of this origin may use it; "any" for all' },
    proxy: { kind: 'list', value: 'IP', help: 'a proxy whose client addresses are trusted' },
    store: STORE_OPTION,
    drain: DRAIN_OPTION,
    'otel-exporter-otlp-endpoint': OTLP_OPTION,
    ops: { kind: 'whole', default: 9091, help: 'TCP port of /healthz, /readyz and /metrics' },
    'ops-address': OPS_ADDRESS,
  },
  async start(options, world) {
    const { port, address, relay, issuer, audience, page, origin, proxy, ops, static: folder } = options
    if (relay.length > 0 && issuer === undefined)
      throw new ConfigError('--issuer', 'missing', 'give the secret key of the issuer; relays have its public key.')
    const secretKey = readSessionKey(options['key-file'], options.store)
    const traces = openTraces({ service: 'rendezvous', endpoint: options['otel-exporter-otlp-endpoint'] })
    const serving = await serveRendezvous({
      tracer: traces?.tracer, ...(options.store !== undefined && { store: options.store }),
      port, audience, relays: relay.map(readRelay), codeMs: options['code-ttl'],
      sessionsMax: options['max-sessions'], origins: origin.includes('any') ? 'any' : origin, trustedProxies: proxy,
      ...(address !== undefined && { address }), ...(page !== undefined && { pageUrl: page }),
      ...(folder !== undefined && { static: folder }),
      ...(issuer !== undefined && { issuer: readKeyOption('--issuer', issuer, 'issuer-secret') }),
      ...(secretKey !== undefined && { secretKey }),
    })
    const status = await openStatus(ops, {
      registry: serving.registry, isReady: () => serving.readiness.isReady,
    }, options['ops-address'])
    world.print(`rendezvous: http://${address ?? 'localhost'}:${serving.port}, ${relay.length} relays`)
    world.print(`status: ${status.url}/metrics`)
    drainService(serving, options.drain)
  },
})

function readRelay(text: string): KnownRelay {
  const [address = '', url] = text.split(',', 2)
  if (!/^\[?[0-9a-f.:]+\]?:\d+$/i.test(address))
    throw new ConfigError(`--relay ${text}`, 'not ip:port', 'write --relay 203.0.113.10:7777.')
  return { address, ...(url !== undefined && { url }) }
}
