/**
 * Serves the files of one folder, so that a game needs no second server for its page.
 *
 * Only what lies inside the folder, no dotfiles, GET and HEAD only. Where `page.js.gz` lies beside `page.js` and is no older, whoever
 * takes gzip gets that. It does not compress by itself, cache or list; put a real web server in front when that day comes.
 */

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join, normalize, resolve, sep } from 'node:path'

const TYPES: { readonly [extension: string]: string } = {
  '.css': 'text/css; charset=utf-8', '.gif': 'image/gif', '.html': 'text/html; charset=utf-8', '.ico': 'image/x-icon',
  '.jpg': 'image/jpeg', '.js': 'text/javascript; charset=utf-8', '.json': 'application/json', '.map': 'application/json',
  '.mjs': 'text/javascript; charset=utf-8', '.mp3': 'audio/mpeg', '.ogg': 'audio/ogg', '.png': 'image/png',
  '.svg': 'image/svg+xml', '.txt': 'text/plain; charset=utf-8', '.wasm': 'application/wasm', '.webp': 'image/webp',
  '.woff2': 'font/woff2',
}

/** Answers one request from the folder, or with 404. */
export async function serveFile(folder: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(response, 405)
  const path = safePath(folder, request.url ?? '/')
  const info = path === undefined ? undefined : await stat(path).catch(() => undefined)
  if (path === undefined || !info?.isFile()) return refuse(response, 404)
  const packed = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? '')) ? await stat(`${path}.gz`).catch(() => undefined) : undefined
  const isPacked = packed?.isFile() === true && packed.mtimeMs >= info.mtimeMs
  response.writeHead(200, {
    'content-type': TYPES[extname(path)] ?? 'application/octet-stream',
    'content-length': isPacked ? packed.size : info.size,
    ...(isPacked && { 'content-encoding': 'gzip' }),
    vary: 'accept-encoding',
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
  })
  if (request.method === 'HEAD') {
    response.end()
    return
  }
  const stream = createReadStream(isPacked ? `${path}.gz` : path)
  stream.on('error', () => response.destroy())
  stream.pipe(response)
}

/** The file a URL names, or undefined when it points outside the folder, into a dotfile or nowhere. */
function safePath(folder: string, url: string): string | undefined {
  let path: string
  try {
    path = decodeURIComponent(new URL(url, 'http://localhost').pathname)
  } catch {
    return undefined
  }
  if (path.includes('\0') || path.split('/').some((part) => part.startsWith('.'))) return undefined
  const root = resolve(folder)
  const file = normalize(join(root, path.endsWith('/') ? `${path}index.html` : path))
  return file.startsWith(root + sep) ? file : undefined
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' })
  response.end(status === 405 ? 'Only GET and HEAD are answered here.\n' : 'There is no such file.\n')
}
