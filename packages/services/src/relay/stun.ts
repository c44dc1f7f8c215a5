/**
 * `tickwire stun`: a STUN server.
 */

import { drainOnSignals, openStun, STUN_PORT_DEFAULT } from 'tickwire/node'
import { defineService, type Service } from '../cli/service.ts'

/** Serves STUN. */
export const stun: Service = defineService({
  summary: 'show peers their public address (STUN)',
  about: 'A STUN server (RFC 8489, Binding only), until it gets SIGTERM or SIGINT.',
  options: {
    port: { kind: 'whole', default: STUN_PORT_DEFAULT, help: 'UDP port; 0 takes any free port' },
    address: { kind: 'text', value: 'IP', help: 'listen on this address only (all)' },
  },
  async start({ port, address }, world) {
    const server = await openStun({ port, ...(address !== undefined && { address }) })
    world.print(`stun: UDP ${server.port.localAddress}`)
    drainOnSignals({ drainMs: 0, drain: () => server.close() })
  },
})
