/** A reverse proxy that serves another server under a path, as a game behind a web site is. */

import { createServer, request, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

/** A running proxy. */
export interface PathProxy {
  readonly origin: string
  close(): Promise<void>
}

/** Passes requests and upgrades under `path` (`/duel/`) on to a server of this machine, and answers others with 404. */
export async function openPathProxy(path: string, port: number): Promise<PathProxy> {
  const innerPath = ({ url = '' }: IncomingMessage): string | undefined =>
    url.startsWith(path) ? `/${url.slice(path.length)}` : undefined
  const proxy = createServer((asked, response) => {
    const inner = innerPath(asked)
    if (inner === undefined) {
      response.writeHead(404).end()
      return
    }
    const { method, headers } = asked
    const passed = request({ host: '127.0.0.1', port, path: inner, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    passed.on('error', () => response.destroy())
    asked.pipe(passed)
  })
  /** Upgraded sockets, which the server does not know any more. */
  const upgraded = new Set<Duplex>()
  proxy.on('upgrade', (asked, socket, head) => {
    upgraded.add(socket)
    socket.on('close', () => upgraded.delete(socket))
    const inner = innerPath(asked)
    if (inner === undefined) return socket.destroy()
    const passed = connect(port, '127.0.0.1', () => {
      const headers = asked.rawHeaders.flatMap((name, at, all) => at % 2 === 0 ? [`${name}: ${all[at + 1]}`] : [])
      passed.write([`GET ${inner} HTTP/1.1`, ...headers, '', ''].join('\r\n'))
      passed.write(head)
      passed.pipe(socket)
      socket.pipe(passed)
    })
    for (const each of [socket, passed]) each.on('error', () => [socket, passed].forEach((one) => one.destroy()))
    return undefined
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://localhost:${(proxy.address() as AddressInfo).port}`,
    close: async () => {
      proxy.closeAllConnections()
      for (const socket of upgraded) socket.destroy()
      await new Promise((resolve) => proxy.close(resolve))
    },
  }
}
