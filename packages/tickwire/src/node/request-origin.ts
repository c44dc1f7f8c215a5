/**
 * Which origin a socket or a request counts for. All limits use it, so that all of them count the same origins.
 *
 * Behind a trusted proxy, the client's address is the one that the proxy reports: by the PROXY protocol for a socket,
 * and by `X-Forwarded-For` for a request. `http-door.ts` marks the sockets of such a proxy.
 */

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { TrustedProxies } from './trusted-proxies.ts'

interface ProxiedSocket {
  readonly proxies: TrustedProxies
  /** The client's address by the PROXY protocol. */
  readonly source: string | undefined
}

type Ends = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localPort'>

/** Keyed by both ends of the socket: a TLS socket and its TCP socket are different objects with the same ends. */
const proxied = new Map<string, ProxiedSocket>()

/** Makes a socket count for the client behind it, until the socket closes. */
export function markProxied(socket: Socket, proxies: TrustedProxies, source: string | undefined): void {
  const name = nameOf(socket)
  proxied.set(name, { proxies, source })
  socket.once('close', () => proxied.delete(name))
}

/** The numeric address of the peer of a TCP socket, or the client behind it; empty when the socket is gone. */
export function originOfSocket(socket: Ends): string {
  return proxied.get(nameOf(socket))?.source ?? socket.remoteAddress ?? ''
}

/** The numeric address that a request comes from. */
export function originOfRequest(request: IncomingMessage): string {
  const peer = originOfSocket(request.socket)
  const known = proxied.get(nameOf(request.socket))
  if (known === undefined || known.source !== undefined) return peer
  const header = request.headers['x-forwarded-for']
  return known.proxies.clientOf(peer, Array.isArray(header) ? header.join(',') : header)
}

function nameOf({ remoteAddress, remotePort, localPort }: Ends): string {
  return `${remoteAddress} ${remotePort} ${localPort}`
}
