/**
 * `tickwire fleet`: many processes with rooms behind one address.
 */

import { pathToFileURL } from 'node:url'
import { resolve } from 'node:path'
import { Registry } from 'prom-client'
import { ConfigError } from 'tickwire'
import { drainOnSignals } from 'tickwire/node'
import { defineService, type Service } from '../cli/service.ts'
import { DRAIN_OPTION } from '../http/readiness.ts'
import { openLeases, openRecords, RECORDS_OPTION, STORE_OPTION } from '../store/open-store.ts'
import { OPS_ADDRESS, openStatus } from '../telemetry/status.ts'
import { closeTraces, openTraces, OTLP_OPTION } from '../telemetry/traces.ts'
import { addOperatorRoutes } from './operator.ts'
import type { Propose } from './propose.ts'
import { SEATS_PER_ORIGIN_DEFAULT } from './seat-limit.ts'
import { FLEET_PORT_DEFAULT, serveFleet } from './serve-fleet.ts'

/** Serves a fleet. */
export const fleet: Service = defineService({
  summary: 'seats in many processes behind one address',
  about: `A fleet: game servers (serveRooms with { fleet }) tell it what they have, and players get seats from it. Game
data does not pass here. Matchmaking and results of matches are part of it. It runs until it gets SIGTERM or SIGINT.`,
  options: {
    port: { kind: 'whole', default: FLEET_PORT_DEFAULT, help: 'TCP port of HTTP; 0 takes any' },
    address: { kind: 'text', value: 'IP', help: 'listen on this address only (all)' },
    'tickwire-fleet-secret': {
      kind: 'text', value: 'TEXT', help: 'what all processes share; better in the environment (all on this machine)',
    },
    store: STORE_OPTION,
    records: RECORDS_OPTION,
    ranked: { kind: 'flag', help: 'results survive a loss of power, at the price of slower writes' },
    propose: { kind: 'text', value: 'FILE', help: 'a module whose `propose` groups players (by skill)' },
    'seats-per-origin': {
      kind: 'whole', default: SEATS_PER_ORIGIN_DEFAULT, help: 'seats that one origin may reserve within ten seconds',
    },
    'rate-limit': { kind: 'whole', default: 600, help: 'requests of one origin in a minute' },
    static: { kind: 'text', value: 'FOLDER', help: 'a folder with the page of the game' },
    origin: { kind: 'list', value: 'URL', help: 'pages of this origin may ask for seats; "any" for all' },
    proxy: { kind: 'list', value: 'IP', help: 'a proxy whose client addresses are trusted' },
    drain: DRAIN_OPTION,
    'otel-exporter-otlp-endpoint': OTLP_OPTION,
    ops: { kind: 'whole', default: 9091, help: 'TCP port of the operator page and /metrics' },
    'ops-address': OPS_ADDRESS,
  },
  async start(options, world) {
    const { port, address, store, records: file, ranked, propose, origin, proxy, ops, static: folder } = options
    const secret = options['tickwire-fleet-secret']
    const stores = new Registry()
    const leases = await openLeases(store, stores)
    const records = await openRecords(file, { isDurable: ranked, registry: stores })
    const traces = openTraces({ service: 'fleet', endpoint: options['otel-exporter-otlp-endpoint'] })
    const serving = await serveFleet({
      tracer: traces?.tracer,
      port, leases, records, requestsPerMinute: options['rate-limit'], trustedProxies: proxy,
      seatsPerOrigin: options['seats-per-origin'],
      origins: origin.includes('any') ? 'any' : origin,
      ...(address !== undefined && { address }), ...(secret !== undefined && { secret }),
      ...(folder !== undefined && { static: folder }),
      ...(propose !== undefined && { propose: await readPropose(propose) }),
    })
    const status = await openStatus(ops, {
      registry: Registry.merge([serving.registry, stores]), isReady: () => serving.readiness.isReady,
      addRoutes: (app) => addOperatorRoutes(app, { servers: serving.servers, secret }),
    }, options['ops-address'])
    world.print(`fleet: http://${address ?? 'localhost'}:${serving.port}`)
    world.print(`operator: ${status.url}/`)
    world.print(`status: ${status.url}/metrics`)
    if (secret === undefined) world.print('no secret: game servers must be on this machine')
    drainOnSignals({
      drainMs: options.drain,
      drain: async (ms) => {
        await serving.readiness.drain(ms)
        await serving.close()
        await records.close()
        await leases.close()
        await closeTraces()
      },
    })
  },
})

async function readPropose(file: string): Promise<Propose> {
  const module = await import(pathToFileURL(resolve(file)).href).catch((error: Error) => {
    throw new ConfigError('--propose', `${file}: ${error.message}`, 'give a module of JavaScript.')
  }) as { readonly propose?: unknown }
  if (typeof module.propose === 'function') return module.propose as Propose
  const fix = 'export function propose(tickets, capacity).'
  throw new ConfigError('--propose', `${file} exports no function "propose"`, fix)
}
