/**
 * `tickwire issue`: signs tokens for callers that have an API key.
 */

import { readFileSync } from 'node:fs'
import { ConfigError } from 'tickwire'
import { readKeyOption } from '../cli/key-option.ts'
import { defineService, type Service } from '../cli/service.ts'
import { DRAIN_OPTION, drainService } from '../http/readiness.ts'
import { STORE_OPTION } from '../store/open-store.ts'
import { OPS_ADDRESS, openStatus } from '../telemetry/status.ts'
import { openTraces, OTLP_OPTION } from '../telemetry/traces.ts'
import { isApiKey } from './issue-routes.ts'
import { ISSUER_PORT_DEFAULT, serveIssuer } from './serve-issuer.ts'

/** Serves a token issuer. */
export const issue: Service = defineService({
  summary: 'sign tokens for players, hosts and servers',
  about: `A token issuer: POST /v1/tokens with an API key signs connect, publish, fleet and relay tokens, and GET
/v1/keys has the public keys. It runs until it gets SIGTERM or SIGINT.`,
  options: {
    key: {
      kind: 'list', value: 'FILE',
      help: 'the secret key of the issuer (issuer.key); twice while one replaces another, the one that signs first',
    },
    'api-key': {
      kind: 'list', value: 'FILE',
      help: 'a file with a text of 16 or more characters that may ask for tokens; twice while one replaces another',
    },
    port: { kind: 'whole', default: ISSUER_PORT_DEFAULT, help: 'TCP port; 0 takes any' },
    address: { kind: 'text', value: 'IP', help: 'listen on this address only (all)' },
    store: STORE_OPTION,
    proxy: { kind: 'list', value: 'IP', help: 'a proxy whose client addresses are trusted' },
    drain: DRAIN_OPTION,
    'otel-exporter-otlp-endpoint': OTLP_OPTION,
    ops: { kind: 'whole', default: 9091, help: 'TCP port of /healthz, /readyz and /metrics' },
    'ops-address': OPS_ADDRESS,
  },
  async start(options, world) {
    const { key, port, address, store, proxy, ops } = options
    if (key.length === 0) throw new ConfigError('--key', 'missing', 'make one with "tickwire token keys".')
    if (options['api-key'].length === 0)
      throw new ConfigError('--api-key', 'missing', 'write 16 or more random characters to a file, and name it here.')
    const traces = openTraces({ service: 'issue', endpoint: options['otel-exporter-otlp-endpoint'] })
    const serving = await serveIssuer({
      tracer: traces?.tracer,
      keys: key.map((value) => readKeyOption('--key', value, 'issuer-secret')),
      apiKeys: options['api-key'].map(readApiKey), port, trustedProxies: proxy,
      ...(address !== undefined && { address }), ...(store !== undefined && { store }),
    })
    const status = await openStatus(ops, {
      registry: serving.registry, isReady: () => serving.readiness.isReady,
    }, options['ops-address'])
    world.print(`tokens: http://localhost:${serving.port}/v1/tokens, ${key.length} live keys`)
    world.print(`status: ${status.url}/metrics`)
    drainService(serving, options.drain)
  },
})

/** The API key in a file. Throws `ConfigError` when it is too short. */
export function readApiKey(file: string): string {
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new ConfigError('--api-key', `${file}: ${(error as Error).message}`, 'give a file that can be read.')
  }
  if (isApiKey(text)) return text
  throw new ConfigError('--api-key', `${file}: too short, or not a key`, 'use 16 or more letters and digits.')
}
