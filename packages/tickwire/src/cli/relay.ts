/**
 * `tickwire relay` and `tickwire stun`: they serve until a signal ends them.
 */

import { parseArgs } from 'node:util'
import { RELAY_PORT_DEFAULT, STUN_PORT_DEFAULT, openRelay, openStun } from '../node/relay-server.ts'
import { openRelayStatus } from '../node/relay-status.ts'
import { drainOnSignals } from '../node/rooms-signals.ts'
import { type AsyncCommand, UsageError } from './command.ts'
import { readKeyOption } from './key-option.ts'

const RELAY_OPTIONS = {
  port: { type: 'string', default: String(RELAY_PORT_DEFAULT) },
  address: { type: 'string' },
  issuer: { type: 'string', multiple: true },
  audience: { type: 'string', default: 'relay' },
  relayed: { type: 'string' },
  ops: { type: 'string', default: '9091' },
  allocations: { type: 'string' },
  drain: { type: 'string', default: '10' },
} as const

/** Serves a packet relay. */
export const relay: AsyncCommand = {
  summary: 'forward packets between players behind routers',
  help: `
tickwire relay --issuer FILE [--port N] [--relayed IP] [--audience NAME] [--ops N] [--drain SECONDS]

A packet relay and a STUN server on one UDP port, until it gets SIGTERM or SIGINT.

  --issuer FILE    the public key of the issuer of relay tokens (issuer.pub); twice while one key replaces another
  --port N         UDP port (${RELAY_PORT_DEFAULT}); 0 takes any free port
  --address IP     listen on this address only (all)
  --relayed IP     the public address of this relay, with :PORT if it differs (the one this machine sends from)
  --audience NAME  the name in relay tokens ("relay")
  --allocations N  how many peers at the same time (4096)
  --ops N          TCP port of /healthz, /readyz and /metrics, on this machine only (9091)
  --drain SECONDS  how long peers have to move after SIGTERM (10)`,
  async run(args, world) {
    const { values } = parseArgs({ args: [...args], options: RELAY_OPTIONS })
    const issuers = (values.issuer ?? []).map((value) => readKeyOption('--issuer', value, 'issuer-public'))
    if (issuers.length === 0) readKeyOption('--issuer', undefined, 'issuer-public')
    const server = await openRelay({
      issuers, port: numberOf('--port', values.port), audience: values.audience,
      ...(values.address !== undefined && { address: values.address }),
      ...(values.relayed !== undefined && { relayed: values.relayed }),
      ...(values.allocations !== undefined && { allocationsMax: numberOf('--allocations', values.allocations) }),
    })
    const status = await openRelayStatus(numberOf('--ops', values.ops), {
      port: server.port, counts: server.relay.counts, isReady: () => !server.relay.isDraining,
      gauges: () => ({ allocations: server.relay.allocations }),
    })
    world.print(`relay: UDP ${server.port.localAddress}, given to peers as ${server.relayed}`)
    world.print(`status: ${status.url}/metrics`)
    return untilSignal(numberOf('--drain', values.drain) * 1000, (ms) => server.drain(ms))
  },
}

const STUN_OPTIONS = {
  port: { type: 'string', default: String(STUN_PORT_DEFAULT) },
  address: { type: 'string' },
} as const

/** Serves STUN. */
export const stun: AsyncCommand = {
  summary: 'tell peers their public address (STUN)',
  help: `
tickwire stun [--port N] [--address IP]

A STUN server (RFC 8489, Binding only), until it gets SIGTERM or SIGINT.

  --port N         UDP port (${STUN_PORT_DEFAULT}); 0 takes any free port
  --address IP     listen on this address only (all)`,
  async run(args, world) {
    const { values } = parseArgs({ args: [...args], options: STUN_OPTIONS })
    const server = await openStun({
      port: numberOf('--port', values.port), ...(values.address !== undefined && { address: values.address }),
    })
    world.print(`stun: UDP ${server.port.localAddress}`)
    return untilSignal(0, () => server.close())
  },
}

function numberOf(option: string, text: string): number {
  const number = Number(text)
  if (!Number.isInteger(number) || number < 0 || text.trim() === '')
    throw new UsageError(`${option} ${text}: not a number. Fix: give a whole number from 0.`)
  return number
}

/** Never resolves: the process exits with 0 when it has drained. */
function untilSignal(drainMs: number, drain: (ms: number) => Promise<void>): Promise<number> {
  return new Promise(() => {
    drainOnSignals({ drainMs, drain })
  })
}
