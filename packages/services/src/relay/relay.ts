/**
 * `tickwire relay`: a packet relay, STUN and TURN on one UDP port, and a WebSocket for networks without UDP.
 */

import { readFileSync } from 'node:fs'
import { ConfigError } from 'tickwire'
import { drainOnSignals, openRelay, RELAY_PORT_DEFAULT } from 'tickwire/node'
import { readKeyOption } from '../cli/key-option.ts'
import { defineService, type Service } from '../cli/service.ts'
import { createRegistry } from '../telemetry/metrics.ts'
import { OPS_ADDRESS, openStatus } from '../telemetry/status.ts'
import { VERSION } from '../version.ts'
import { addRelayMetrics } from './relay-metrics.ts'

function readText(option: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError(option, `cannot read ${file} (${String(error)})`, 'give a file that exists.')
  }
}

/** Serves a packet relay. */
export const relay: Service = defineService({
  summary: 'forward packets between players behind routers',
  about: 'A packet relay, STUN and TURN on one UDP port, and WebSocket (/v1/relay) on the TCP port of the same\n'
    + 'number, for networks without UDP. It runs until it gets SIGTERM or SIGINT.',
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
    ws: { kind: 'whole', help: 'TCP port of the WebSocket (that of --port)' },
    'no-ws': { kind: 'flag', help: 'no WebSocket' },
    cert: {
      kind: 'text', value: 'FILE', help: 'a certificate, so that the WebSocket is wss, as pages from https need',
    },
    key: { kind: 'text', value: 'FILE', help: 'the key of the certificate' },
    kbits: { kind: 'whole', help: 'kbit/s of one peer at most, whatever its token says (256)' },
    mebibytes: { kind: 'whole', help: 'MiB of one peer at most (1024)' },
    audience: { kind: 'text', value: 'NAME', default: 'relay', help: 'the name in relay tokens' },
    allocations: { kind: 'whole', help: 'how many peers at the same time (4096)' },
    ops: { kind: 'whole', default: 9091, help: 'TCP port of /healthz, /readyz and /metrics' },
    'ops-address': OPS_ADDRESS,
    drain: { kind: 'duration', default: '10s', help: 'how long peers have to move after SIGTERM' },
  },
  async start(options, world) {
    const { issuer, port, audience, address, relayed, allocations, ops, drain } = options
    const { ws, 'no-ws': isWithoutWebSocket, cert, key, kbits, mebibytes } = options
    if ((cert === undefined) !== (key === undefined))
      throw new ConfigError('--cert', 'stands alone', 'give --cert and --key, or neither.')
    const tls = cert !== undefined && key !== undefined
      ? { cert: readText('--cert', cert), key: readText('--key', key) } : undefined
    if (issuer.length === 0)
      throw new ConfigError('--issuer', 'is missing', 'give the issuer\'s public key, or a file with it.')
    const server = await openRelay({
      issuers: issuer.map((value) => readKeyOption('--issuer', value, 'issuer-public')), port, audience,
      ...(address !== undefined && { address }), ...(relayed !== undefined && { relayed }),
      ...(allocations !== undefined && { allocationsMax: allocations }),
      quota: { ...(kbits !== undefined && { kbitsPerSecond: kbits }), ...(mebibytes !== undefined && { mebibytes }) },
      ...(!isWithoutWebSocket && {
        webSocket: { ...(ws !== undefined && { port: ws }), ...(tls !== undefined && { tls }) },
      }),
    })
    const registry = createRegistry('relay', VERSION)
    addRelayMetrics(server, registry)
    const status = await openStatus(ops, {
      registry, isReady: () => !server.relay.isDraining,
    }, options['ops-address'])
    world.print(`relay: UDP ${server.port.localAddress}, given to peers as ${server.relayed}`)
    if (server.webSocket !== undefined) world.print(`relay: WebSocket ${server.webSocket.url}`)
    world.print(`status: ${status.url}/metrics`)
    drainOnSignals({ drainMs: drain, drain: (ms) => server.drain(ms) })
  },
})
