/**
 * Serves the playground: the page, the sources of its labs as they are on disk, and the pages of the guide that it
 * links. The matches run in the page.
 *
 * Only files that exist at the start are served, by their names, so path traversal is impossible. A file is read as a
 * whole, so that no slow reader keeps it open, and sockets are bounded in number and time.
 */

import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname } from 'node:path'
import type { PlaygroundSettings } from './arguments.ts'

const TYPES: { readonly [extension: string]: string } = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.ts': 'text/plain',
  '.map': 'application/json',
}

const SOCKETS_MAX = 256
/** Timeouts of a request's headers and of a whole request; `IDLE_MS` is that of an idle socket. */
const DEADLINES = { headersTimeout: 5000, requestTimeout: 10_000, connectionsCheckingInterval: 1000 }
const IDLE_MS = 20_000

export interface ServedPlayground {
  readonly url: string
  close(): Promise<void>
}

/** Serves the playground; throws when the port is not available. */
export async function servePlayground({ port, host }: PlaygroundSettings): Promise<ServedPlayground> {
  const guide = filesIn('../../docs/guide', '/guide/').filter(([path]) => path.endsWith('.md'))
  const files = new Map([...filesIn('public', '/'), ...filesIn('labs', '/labs/'), ...guide])
  const server = createServer(DEADLINES, ({ method, url }, response) => {
    const { pathname } = new URL(url ?? '/', 'http://localhost')
    const file = files.get(pathname === '/' ? '/index.html' : pathname)
    if (file === undefined || (method !== 'GET' && method !== 'HEAD')) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('There is no such file.\n')
      return
    }
    response.writeHead(200, {
      'content-type': `${TYPES[extname(file.pathname)] ?? 'text/plain'}; charset=utf-8`,
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
    })
    if (method === 'HEAD') response.end()
    else readFile(file).then((bytes) => response.end(bytes), () => response.destroy())
  })
  server.maxConnections = SOCKETS_MAX
  server.timeout = IDLE_MS
  await new Promise<void>((resolve, reject) => {
    server.once('error', ({ message }) =>
      reject(new Error(`port ${port} of ${host} is not available (${message}). Fix: --port ${port + 10}`)),
    )
    server.listen(port, host, resolve)
  })
  const { port: taken } = server.address() as AddressInfo
  return {
    url: `http://localhost:${taken}`,
    close: async () => await new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    }),
  }
}

function filesIn(folder: string, under: string): [path: string, file: URL][] {
  const place = new URL(`${folder}/`, import.meta.url)
  return readdirSync(place)
    .filter((name) => !name.endsWith('.test.ts'))
    .map((name) => [`${under}${name}`, new URL(name, place)])
}
