/**
 * `tickwire all`: a relay, STUN and a rendezvous in one process.
 */

import { drainOnSignals, RELAY_PORT_DEFAULT } from 'tickwire/node'
import { defineService, type Service } from '../cli/service.ts'
import { RENDEZVOUS_PORT_DEFAULT } from '../rendezvous/serve-rendezvous.ts'
import { openStatus } from '../telemetry/status.ts'
import { serveAll } from './serve-all.ts'

/** Serves everything. */
export const all: Service = defineService({
  summary: 'all services in one process',
  about: `A relay with STUN and TURN, and a rendezvous, in one process and with everything in memory. It runs until it
gets SIGTERM or SIGINT.`,
  options: {
    port: { kind: 'whole', default: RENDEZVOUS_PORT_DEFAULT, help: 'TCP port of the rendezvous; 0 takes any' },
    'relay-port': { kind: 'whole', default: RELAY_PORT_DEFAULT, help: 'UDP and TCP port of the relay; 0 takes any' },
    address: { kind: 'text', value: 'IP', help: 'listen on this address only (all)' },
    public: { kind: 'text', value: 'IP', help: 'the address that players reach this machine at (that of its network)' },
    static: { kind: 'text', value: 'FOLDER', help: 'a folder with the page of the game' },
    origin: { kind: 'list', value: 'URL', help: 'pages of this origin may use it; "any" for all' },
    ops: { kind: 'whole', default: 9091, help: 'TCP port of /healthz, /readyz and /metrics, on this machine only' },
  },
  async start(options, world) {
    const { port, address, public: publicAddress, static: folder, origin, ops } = options
    const serving = await serveAll({
      port, relayPort: options['relay-port'], origins: origin.includes('any') ? 'any' : origin,
      ...(address !== undefined && { address }), ...(publicAddress !== undefined && { publicAddress }),
      ...(folder !== undefined && { static: folder }),
    })
    const { registry } = serving.rendezvous
    const status = await openStatus(ops, { registry, isReady: () => !serving.relay.relay.isDraining })
    world.print(`relay and stun: UDP ${serving.relay.relayed}`)
    world.print(`codes: ${serving.url}`)
    world.print(`status: ${status.url}/metrics`)
    drainOnSignals({ drainMs: 0, drain: () => serving.close() })
  },
})
