/**
 * A packet relay and a STUN server on real UDP sockets.
 *
 * ```ts
 * const relay = await openRelay({ issuers: [issuerPublicKey], relayed: '203.0.113.10:7777' })
 * ```
 *
 * One UDP socket serves relay control, data, STUN and TURN. The process never opens another one for an allocation.
 * Where UDP is blocked, WebSocket (`/v1/relay`) carries relay control and data: one binary message is one datagram.
 */

import { createSocket } from 'node:dgram'
import { isIP } from 'node:net'
import { ConfigError } from '../core/base/assert.ts'
import { DATAGRAM_BYTES_MAX, PATHS_MAX } from '../core/base/limits.ts'
import { createTransmit } from '../core/connection/transmit.ts'
import { canonicalAddress } from '../core/endpoint/canonical-address.ts'
import { PacketRelay } from '../core/nat/packet-relay.ts'
import type { PacketRelayConfig } from '../core/nat/relay-options.ts'
import { StunResponder } from '../core/nat/stun-responder.ts'
import type { Certificate } from './certificate.ts'
import { monotonicNow } from './clock.ts'
import { bestProvider } from './crypto.ts'
import { systemEntropy } from './entropy.ts'
import { createHttpDoor } from './http-door.ts'
import { listen, portOf } from './listen.ts'
import { type UdpPort, openUdp } from './udp.ts'
import { type WebSocketListener, listenWebSocket } from './websocket.ts'

/** The port of a packet relay, unless another is given. */
export const RELAY_PORT_DEFAULT = 7777
/** Where the WebSocket of a relay is. */
const RELAY_PATH = '/v1/relay'
/** The port of a STUN server, unless another is given. */
export const STUN_PORT_DEFAULT = 3478

/** How a relay is opened. */
export interface RelayServerOptions
  extends Pick<PacketRelayConfig, 'issuers' | 'audience' | 'quota' | 'allocationsMax' | 'areLocalExempt'> {
  /** The UDP port. Default 7777; 0: any free port. */
  readonly port?: number
  /** A numeric address of this machine. Default: all of them. */
  readonly address?: string
  /** The public address of this relay, with or without a port. Default: the address by which this machine sends. */
  readonly relayed?: string
  /** Requests for STUN and relay are limited for each origin; how many allocations one origin may have. Default 8. */
  readonly allocationsPerOrigin?: number
  /** WebSocket, for networks without UDP. Default: none. */
  readonly webSocket?: RelayWebSocketOptions
}

/** How the WebSocket of a relay is opened. */
export interface RelayWebSocketOptions {
  /** The TCP port. Default: the number of the UDP port. */
  readonly port?: number
  /** Serves wss, which pages from https need. Default: ws. */
  readonly tls?: Certificate
}

/** An open relay. */
export interface RelayServer {
  /** The relay itself, with its counters. */
  readonly relay: PacketRelay
  /** Its socket. */
  readonly port: UdpPort
  /** The public address that peers are given. */
  readonly relayed: string
  /** The WebSocket, if it has one. */
  readonly webSocket: { readonly url: string; readonly port: WebSocketListener } | undefined
  /** Refuses new allocations, asks peers to move, and resolves after `ms`. */
  drain(ms: number): Promise<void>
  /** Closes the socket. */
  close(): Promise<void>
}

/** Opens a relay. Throws `ConfigError` on invalid options, and when the port is taken. */
export async function openRelay(options: RelayServerOptions): Promise<RelayServer> {
  const { port: number = RELAY_PORT_DEFAULT, address, relayed: given, webSocket, ...config } = options
  const port = await openUdp({
    port: number, maxDatagramBytes: DATAGRAM_BYTES_MAX, ...(address !== undefined && { address }),
  })
  try {
    const relayed = publicAddress(given ?? (await ownAddress()), Number(port.localAddress.split(':').pop()))
    const wallSeconds = (): number => Math.floor(Date.now() / 1000)
    const sockets = webSocket === undefined ? undefined : await openSockets(webSocket, number, address)
    const relay = new PacketRelay({
      ...config, relayed, wallSeconds, provider: bestProvider(), entropy: systemEntropy,
      ...(sockets !== undefined && { addressOf: (from) => sockets.port.originOf(from) }),
    })
    return run(relay, port, relayed, sockets)
  } catch (error) {
    port.close()
    throw error
  }
}

interface Sockets {
  readonly url: string
  readonly port: WebSocketListener
  close(): Promise<void>
}

async function openSockets(options: RelayWebSocketOptions, udp: number, address?: string): Promise<Sockets> {
  const { port: number = udp, tls } = options
  const server = createHttpDoor((_request, response) => {
    response.writeHead(404, { 'content-type': 'text/plain' }).end('A relay. Its WebSocket is /v1/relay.\n')
  }, { maxWebSockets: PATHS_MAX, ...(tls !== undefined && { tls }) })
  await listen(server, number, address)
  // A token is needed to use it, so pages of every origin may connect.
  const port = listenWebSocket({ server, path: RELAY_PATH, origins: 'any', maxDatagramBytes: DATAGRAM_BYTES_MAX })
  const bound = address === undefined || address === '::' ? 'localhost' : address
  const host = bound.includes(':') ? `[${bound}]` : bound
  return {
    url: `${tls === undefined ? 'ws' : 'wss'}://${host}:${portOf(server, number)}${RELAY_PATH}`, port,
    close: () => new Promise((resolve) => {
      port.close()
      server.close(() => resolve())
      server.closeAllConnections()
    }),
  }
}

function run(relay: PacketRelay, port: UdpPort, relayed: string, sockets: Sockets | undefined): RelayServer {
  const out = createTransmit()
  const send = (): void => {
    const isByWebSocket = sockets !== undefined && out.to.startsWith('ws:')
    ;(isByWebSocket ? sockets.port : port).send(out.to, out.bytes, out.length)
  }
  const poll = (): void => {
    const now = monotonicNow()
    while (relay.pollTransmit(now, out)) send()
    timer = setTimeout(poll, Math.max(1, relay.pollTimeout(now) - now))
    timer.unref()
  }
  let timer: NodeJS.Timeout | undefined
  port.onDatagram = (from, bytes, length) => {
    if (relay.handleDatagram(monotonicNow(), from, bytes, length, out)) send()
  }
  if (sockets !== undefined) {
    sockets.port.onDatagram = (from, bytes, length) => {
      if (relay.handleDatagram(monotonicNow(), from, bytes, length, out)) send()
    }
    sockets.port.onPathClosed = (address) => relay.handlePathClosed(address)
  }
  poll()
  return {
    relay, port, relayed, webSocket: sockets,
    drain: async (ms) => {
      relay.drain(monotonicNow(), ms)
      clearTimeout(timer)
      poll()
      await new Promise((resolve) => setTimeout(resolve, ms))
    },
    close: async () => {
      clearTimeout(timer)
      port.close()
      await Promise.all([port.closed, sockets?.close()])
    },
  }
}

/** How a STUN server is opened. */
export interface StunServerOptions {
  /** The UDP port. Default 3478; 0: any free port. */
  readonly port?: number
  /** A numeric address of this machine. Default: all of them. */
  readonly address?: string
  /** Whether this machine and its local network are exempt from the limit for each origin. Default true. */
  readonly areLocalExempt?: boolean
}

/** An open STUN server. */
export interface StunServer {
  /** The part that answers, with its counters. */
  readonly responder: StunResponder
  /** Its socket. */
  readonly port: UdpPort
  /** Closes the socket. */
  close(): Promise<void>
}

/** Opens a STUN server. Throws `ConfigError` when the port is taken. */
export async function openStun(options: StunServerOptions = {}): Promise<StunServer> {
  const { port: number = STUN_PORT_DEFAULT, address, ...limits } = options
  const port = await openUdp({ port: number, ...(address !== undefined && { address }) })
  const responder = new StunResponder(systemEntropy, limits)
  const out = createTransmit()
  port.onDatagram = (from, bytes, length) => {
    if (responder.handleDatagram(monotonicNow(), from, bytes, length, out)) port.send(out.to, out.bytes, out.length)
  }
  return {
    responder, port,
    close: async () => {
      port.close()
      await port.closed
    },
  }
}

function publicAddress(text: string, port: number): string {
  const bare = canonicalAddress(text, port)
  if (bare !== undefined) return bare
  const colon = text.lastIndexOf(':')
  const host = text.slice(0, colon).replace(/^\[(.*)\]$/, '$1')
  const full = isIP(host) === 0 ? undefined : canonicalAddress(host, Number(text.slice(colon + 1)))
  if (full === undefined) {
    const problem = `not an address (expected ip or ip:port, got ${JSON.stringify(text)})`
    throw new ConfigError('relayed', problem, 'give the public address of this relay.')
  }
  return full
}

/** The address by which this machine would send to the internet. Nothing is sent. */
async function ownAddress(): Promise<string> {
  const socket = createSocket('udp4')
  try {
    return await new Promise<string>((resolve) => {
      socket.once('error', () => resolve('127.0.0.1'))
      socket.connect(STUN_PORT_DEFAULT, '192.0.2.1', () => resolve(socket.address().address))
    })
  } finally {
    socket.close()
  }
}
