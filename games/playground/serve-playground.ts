/**
 * Serves the playground: the page, and the sources of its labs as they are on disk. The matches run in the page.
 *
 * Only the files that are there when it starts are served, by their names, so there is no path to escape by.
 */

import { createReadStream, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname } from 'node:path'
import type { PlaygroundSettings } from './arguments.ts'

const TYPES: { readonly [extension: string]: string } = {
  '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript', '.svg': 'image/svg+xml', '.ts': 'text/plain', '.map': 'application/json',
}

export interface ServedPlayground {
  readonly url: string
  close(): Promise<void>
}

/** Serves it; throws when the port cannot be had. */
export async function servePlayground({ port, host }: PlaygroundSettings): Promise<ServedPlayground> {
  const files = new Map([...filesIn('public', '/'), ...filesIn('labs', '/labs/')])
  const server = createServer(({ method, url }, response) => {
    const { pathname } = new URL(url ?? '/', 'http://localhost')
    const file = files.get(pathname === '/' ? '/index.html' : pathname)
    if (file === undefined || (method !== 'GET' && method !== 'HEAD')) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('There is no such file.\n')
      return
    }
    response.writeHead(200, {
      'content-type': `${TYPES[extname(file.pathname)] ?? 'text/plain'}; charset=utf-8`, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff',
    })
    if (method === 'HEAD') response.end()
    else createReadStream(file).on('error', () => response.destroy()).pipe(response)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', ({ message }) => reject(new Error(`port ${port} of ${host} cannot be had (${message}). Say another: --port ${port + 10}`)))
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
  return readdirSync(place).filter((name) => !name.endsWith('.test.ts')).map((name) => [`${under}${name}`, new URL(name, place)])
}
