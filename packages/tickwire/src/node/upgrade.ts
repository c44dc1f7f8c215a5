/**
 * Requests to upgrade a socket to a WebSocket: their path, how one is refused, and their bytes, for another process
 * that answers them.
 */

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { REFUSAL_MS } from '../core/base/limits.ts'

/** The path of a request, without its query. */
export function pathOf(request: IncomingMessage): string {
  const url = request.url ?? '/'
  const query = url.indexOf('?')
  return query < 0 ? url : url.slice(0, query)
}

/** Answers an upgrade with a status, and destroys the socket once it is written: the peer may never close its half. */
export function refuseUpgrade(socket: Duplex, status: string): void {
  // The peer may be gone already. An error on a socket without a listener would end the process.
  socket.on('error', () => {})
  const timer = setTimeout(() => socket.destroy(), REFUSAL_MS)
  socket.once('close', () => clearTimeout(timer))
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy())
}

/** The bytes of a request as they were received, for the HTTP parser of another process. */
export function headOf({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`)
  // The parser has decoded header values as Latin-1.
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}
