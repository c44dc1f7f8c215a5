/**
 * `tickwire all`: everything in one process, for one small machine.
 */

import { drainOnSignals, LOCKSTEP_PORT_DEFAULT, RELAY_PORT_DEFAULT, serveLockstep } from 'tickwire/node'
import { readKeyOption } from '../cli/key-option.ts'
import { defineService, type Service } from '../cli/service.ts'
import { readApiKey } from '../issue/issue.ts'
import { readCards } from '../lockstep/lockstep.ts'
import { DRAIN_OPTION } from '../http/readiness.ts'
import { RENDEZVOUS_PORT_DEFAULT } from '../rendezvous/serve-rendezvous.ts'
import { KEY_FILE_OPTION, readSessionKey } from '../rendezvous/session-key.ts'
import { STORE_OPTION } from '../store/open-store.ts'
import { OPS_ADDRESS, openStatus } from '../telemetry/status.ts'
import { closeTraces, openTraces, OTLP_OPTION } from '../telemetry/traces.ts'
import { serveAll } from './serve-all.ts'

/** Serves everything. */
export const all: Service = defineService({
  summary: 'all services in one process',
  about: `A relay with STUN and TURN, a rendezvous (join codes), a tracker (the list of games) and a token issuer, in
one process and with everything in memory; with --card an order relay for lockstep games too. Programs of this machine
may publish games without a token. It runs until it gets SIGTERM or SIGINT.`,
  options: {
    port: { kind: 'whole', default: RENDEZVOUS_PORT_DEFAULT, help: 'TCP port of codes, games and tokens; 0 takes any' },
    'relay-port': { kind: 'whole', default: RELAY_PORT_DEFAULT, help: 'UDP and TCP port of the relay; 0 takes any' },
    address: { kind: 'text', value: 'IP', help: 'listen on this address only (all)' },
    public: { kind: 'text', value: 'IP', help: 'the address that players reach this machine at (that of its network)' },
    static: { kind: 'text', value: 'FOLDER', help: 'a folder with the page of the game' },
    origin: { kind: 'list', value: 'URL', help: 'pages of this origin may use codes; "any" for all' },
    issuer: { kind: 'text', value: 'FILE', help: 'the secret key of the token issuer (random)' },
    'api-key': { kind: 'list', value: 'FILE', help: 'a file with a text that may ask for tokens (none may)' },
    federate: { kind: 'list', value: 'URL', help: 'another tracker whose games /games shows; at most 10, by https' },
    card: { kind: 'list', value: 'FILE', help: 'the card of a lockstep game, for its order relay' },
    'lockstep-port': { kind: 'whole', default: LOCKSTEP_PORT_DEFAULT, help: 'TCP port of the order relay' },
    'key-file': KEY_FILE_OPTION,
    store: STORE_OPTION,
    drain: DRAIN_OPTION,
    'otel-exporter-otlp-endpoint': OTLP_OPTION,
    ops: { kind: 'whole', default: 9091, help: 'TCP port of /healthz, /readyz and /metrics' },
    'ops-address': OPS_ADDRESS,
  },
  async start(options, world) {
    const { port, address, public: publicAddress, static: folder, origin, issuer, card, store, ops } = options
    const secretKey = readSessionKey(options['key-file'], store)
    const traces = openTraces({ service: 'all', endpoint: options['otel-exporter-otlp-endpoint'] })
    const serving = await serveAll({
      tracer: traces?.tracer,
      port, relayPort: options['relay-port'], origins: origin.includes('any') ? 'any' : origin,
      federate: options.federate, apiKeys: options['api-key'].map(readApiKey),
      ...(issuer !== undefined && { issuer: readKeyOption('--issuer', issuer, 'issuer-secret') }),
      ...(address !== undefined && { address }), ...(publicAddress !== undefined && { publicAddress }),
      ...(folder !== undefined && { static: folder }), ...(store !== undefined && { store }),
      ...(secretKey !== undefined && { secretKey }),
    })
    const lockstep = card.length === 0 ? undefined : await serveLockstep(readCards(card), {
      port: options['lockstep-port'], signals: false, ...(traces && { tracer: traces.tracer }),
      ...(address !== undefined && { address }),
    })
    const status = await openStatus(ops, {
      registry: serving.registry, isReady: () => serving.readiness.isReady,
    }, options['ops-address'])
    world.print(`relay and stun: UDP ${serving.relay.relayed}`)
    world.print(`codes: ${serving.url}`)
    world.print(`games: ${serving.url}games`)
    if (lockstep !== undefined) world.print(`lockstep: ${lockstep.url}, ${card.length} games`)
    world.print(`status: ${status.url}/metrics`)
    drainOnSignals({
      drainMs: options.drain,
      drain: async (ms) => {
        await Promise.all([serving.readiness.drain(ms), serving.relay.drain(ms), lockstep?.drain(ms)])
        await lockstep?.close()
        await serving.close()
        await closeTraces()
      },
    })
  },
})
