/**
 * Serves the files of one folder, so that a game needs no second server for its page.
 *
 * Only files inside the folder, no dotfiles, GET and HEAD only. A symbolic link counts as its target, so a link that
 * leads out of the folder is not served. If `page.js.gz` exists beside `page.js` and is not older, a client that
 * accepts gzip receives it. This module does not compress, cache or list; put a web server in front for that.
 *
 * Invariant: an open file belongs to a response that is not closed, and there are at most DOWNLOADS_MAX of them.
 */

import { createReadStream } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join, normalize, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream'
import { DOWNLOADS_MAX, DOWNLOADS_PER_ORIGIN } from '../core/base/limits.ts'
import { OriginTally } from './origin-tally.ts'
import { originOfRequest } from './request-origin.ts'

const TYPES: { readonly [extension: string]: string } = {
  '.css': 'text/css; charset=utf-8',
  '.gif': 'image/gif',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.mjs': 'text/javascript; charset=utf-8',
  '.mp3': 'audio/mpeg',
  '.ogg': 'audio/ogg',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
}

const REFUSALS = {
  404: 'There is no such file.\n',
  405: 'Only GET and HEAD are answered here.\n',
  503: 'Too many files are being sent. Ask again in a second.\n',
} as const

interface FoundFile {
  readonly path: string
  readonly size: number
  readonly isPacked: boolean
}

/** The files of one folder. */
export class StaticFiles {
  readonly #folder: string
  readonly #downloads: OriginTally

  /** The folder may be missing and created later. Until then there are no files. */
  constructor(folder: string, areLocalExempt: boolean = true) {
    this.#folder = resolve(folder)
    this.#downloads = new OriginTally(DOWNLOADS_PER_ORIGIN, areLocalExempt)
  }

  /** How many files are being sent. */
  get downloads(): number {
    return this.#downloads.total
  }

  /** Answers one request with a file, or with an error status. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(response, 405)
    const path = namedBy(this.#folder, request.url ?? '/')
    const file = path === undefined ? undefined : await this.#find(path, request)
    if (path === undefined || file === undefined) return refuse(response, 404)
    const origin = originOfRequest(request)
    const isDownload = request.method === 'GET'
    if (request.socket.destroyed) return
    if (isDownload && (this.#downloads.total >= DOWNLOADS_MAX || !this.#downloads.take(origin)))
      return refuse(response, 503)
    response.writeHead(200, {
      'content-type': TYPES[extname(path)] ?? 'application/octet-stream',
      'content-length': file.size,
      ...(file.isPacked && { 'content-encoding': 'gzip' }),
      vary: 'accept-encoding',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
    })
    if (isDownload) send(file, request, response, () => this.#downloads.release(origin))
    else response.end()
  }

  async #find(path: string, { headers }: IncomingMessage): Promise<FoundFile | undefined> {
    const [plain, packed] = await Promise.all([
      this.#look(path),
      /\bgzip\b/.test(String(headers['accept-encoding'] ?? '')) ? this.#look(`${path}.gz`) : undefined,
    ])
    if (plain === undefined) return undefined
    const isPacked = packed !== undefined && packed.changedAt >= plain.changedAt
    const { path: real, size } = isPacked ? packed : plain
    return { path: real, size, isPacked }
  }

  /** Finds a file by its real path; undefined when it is not a file, outside the folder, or a dotfile. */
  async #look(
    path: string,
  ): Promise<{ readonly path: string; readonly size: number; readonly changedAt: number } | undefined> {
    try {
      const [root, real] = await Promise.all([realpath(this.#folder), realpath(path)])
      if (!real.startsWith(root + sep) || hasDotfile(real.slice(root.length), sep)) return undefined
      const found = await stat(real)
      return found.isFile() ? { path: real, size: found.size, changedAt: found.mtimeMs } : undefined
    } catch {
      return undefined
    }
  }
}

/** Sends a file. The file is closed with the response, and then `onDone` is called. */
function send(
  { path, size }: FoundFile,
  { socket }: IncomingMessage,
  response: ServerResponse,
  onDone: () => void,
): void {
  const stream = createReadStream(path, { end: Math.max(0, size - 1) })
  // A response that is queued behind another one on its socket is not notified when the socket closes.
  const drop = (): void => void stream.destroy()
  socket.once('close', drop)
  pipeline(stream, response, () => {
    socket.off('close', drop)
    onDone()
  })
}

/** The file that a URL names, or undefined when it points outside the folder, to a dotfile or to nothing. */
function namedBy(folder: string, url: string): string | undefined {
  let path: string
  try {
    path = decodeURIComponent(new URL(url, 'http://localhost').pathname)
  } catch {
    return undefined
  }
  if (path.includes('\0') || hasDotfile(path, '/')) return undefined
  const file = normalize(join(folder, path.endsWith('/') ? `${path}index.html` : path))
  return file.startsWith(folder + sep) ? file : undefined
}

function hasDotfile(path: string, separator: string): boolean {
  return path.split(separator).some((part) => part.startsWith('.'))
}

function refuse(response: ServerResponse, status: keyof typeof REFUSALS): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    ...(status === 503 && { 'retry-after': '1' }),
  })
  response.end(REFUSALS[status])
}
