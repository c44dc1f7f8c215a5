/**
 * `tickwire relay`: a packet relay and a STUN server on one UDP port.
 */

import { ConfigError } from 'tickwire'
import { drainOnSignals, openRelay, RELAY_PORT_DEFAULT } from 'tickwire/node'
import { readKeyOption } from '../cli/key-option.ts'
import { defineService, type Service } from '../cli/service.ts'
import { createRegistry, readCounter, readGauge } from '../telemetry/metrics.ts'
import { openStatus } from '../telemetry/status.ts'
import { VERSION } from '../version.ts'

/** Serves a packet relay. */
export const relay: Service = defineService({
  summary: 'forward packets between players behind routers',
  about: 'A packet relay and a STUN server on one UDP port, until it gets SIGTERM or SIGINT.',
  options: {
    issuer: {
      kind: 'list', value: 'FILE',
      help: 'the public key of the issuer of relay tokens (issuer.pub); twice while one key replaces another',
    },
    port: { kind: 'whole', default: RELAY_PORT_DEFAULT, help: 'UDP port; 0 takes any free port' },
    address: { kind: 'text', value: 'IP', help: 'listen on this address only (all)' },
    relayed: {
      kind: 'text', value: 'IP',
      help: 'the public address of this relay, with :PORT if it differs (the one this machine sends from)',
    },
    audience: { kind: 'text', value: 'NAME', default: 'relay', help: 'the name in relay tokens' },
    allocations: { kind: 'whole', help: 'how many peers at the same time (4096)' },
    ops: { kind: 'whole', default: 9091, help: 'TCP port of /healthz, /readyz and /metrics, on this machine only' },
    drain: { kind: 'duration', default: '10s', help: 'how long peers have to move after SIGTERM' },
  },
  async start(options, world) {
    const { issuer, port, audience, address, relayed, allocations, ops, drain } = options
    if (issuer.length === 0)
      throw new ConfigError('--issuer', 'is missing', 'give the issuer\'s public key, or a file with it.')
    const server = await openRelay({
      issuers: issuer.map((value) => readKeyOption('--issuer', value, 'issuer-public')), port, audience,
      ...(address !== undefined && { address }), ...(relayed !== undefined && { relayed }),
      ...(allocations !== undefined && { allocationsMax: allocations }),
    })
    const registry = createRegistry('relay', VERSION)
    readGauge(registry, {
      name: 'tickwire_relay_allocations', help: 'Current allocations.', read: () => server.relay.allocations,
    })
    readCounter(registry, {
      name: 'tickwire_relay_total', help: 'Datagrams and allocations, by what happened.',
      read: () => server.relay.counts,
    })
    readCounter(registry, {
      name: 'tickwire_datagrams_total', help: 'Datagrams of the socket, by event.', read: () => server.port.stats,
    })
    readGauge(registry, {
      name: 'tickwire_relay_receive_buffer_bytes', help: 'The kernel\'s receive buffer of the socket.',
      read: () => server.port.recvBufferBytes,
    })
    const status = await openStatus(ops, { registry, isReady: () => !server.relay.isDraining })
    world.print(`relay: UDP ${server.port.localAddress}, given to peers as ${server.relayed}`)
    world.print(`status: ${status.url}/metrics`)
    drainOnSignals({ drainMs: drain, drain: (ms) => server.drain(ms) })
  },
})
