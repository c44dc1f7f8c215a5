/**
 * `tickwire inspect FILE --page`: a recording as a web page, served to this machine only.
 *
 *   GET /              the page (`inspect-page/`: plain files without a build step)
 *   GET /api/summary   /api/packets   /api/packet?n=17   /api/tick?t=1200   /api/why?n=0
 *
 * It is read-only.
 */

import { spawn } from 'node:child_process'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Inspection } from '../core/game/inspection/inspection.ts'
import { createHttpDoor } from '../node/http-door.ts'
import { isLoopbackHost } from '../node/page-origin.ts'
import { StaticFiles } from '../node/static-files.ts'
import { UsageError, type AsyncCommand, type CommandWorld } from './command.ts'
import { codeOf } from './file-option.ts'
import { inspectionSource, openInspectSource, type InspectSource } from './inspect-source.ts'
import { openRecordingOption, readCountOption } from './recording-option.ts'

// The package contains `src`, and bundles of it in `dist`.
const FOLDER = import.meta.url.endsWith('.ts') ? './inspect-page' : '../src/cli/inspect-page'
const PAGE = new StaticFiles(fileURLToPath(new URL(FOLDER, import.meta.url)))

const OPTIONS = {
  page: { type: 'boolean', default: false },
  open: { type: 'boolean', default: false },
  server: { type: 'string' },
  port: { type: 'string' },
  tick: { type: 'string' },
  chunks: { type: 'boolean' },
  json: { type: 'boolean' },
} as const
/** Options of the list, which are not allowed here. */
const OF_THE_LIST = ['tick', 'chunks', 'json'] as const
const PORT_MAX = 65_535

/** Serves a recording as a page, until the process is ended. */
export const inspectPage: AsyncCommand = {
  summary: 'open a recording as a page',
  help: '',
  async run(args, world) {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
    const stray = OF_THE_LIST.find((name) => values[name] !== undefined)
    if (stray !== undefined)
      throw new UsageError(`--${stray} cannot be used with --page, which shows everything. Fix: leave one of them out.`)
    const port = readCountOption('--port', values.port, 0, 0, PORT_MAX)
    const { recording, path } = openRecordingOption(positionals)
    const authority = values.server === undefined ? undefined : openRecordingOption([values.server]).recording
    const source = openSource(() => openInspectSource(recording, basename(path), authority))
    const { url, close } = await serveSource(source, port).catch((error: unknown) => {
      throw new UsageError(
        `--port ${port} cannot be listened on (${codeOf(error)}). `
          + 'Fix: give another port, or leave it out for any free port.',
      )
    })
    world.print(`${path} is at ${url}   (Ctrl+C ends it)`)
    if (values.open) openInBrowser(url, world)
    await new Promise<void>((resolve) => { process.once('SIGINT', resolve) })
    await close()
    return 0
  },
}

function openSource(open: () => InspectSource): InspectSource {
  try {
    return open()
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(error.message)
    throw error
  }
}

/** A page that is being served. */
export interface ServedInspection {
  readonly url: string
  close(): Promise<void>
}

/** Serves the page of an inspection on a port of this machine; 0 selects any free port. */
export function serveInspection(inspection: Inspection, name: string, port: number): Promise<ServedInspection> {
  return serveSource(inspectionSource(inspection, name), port)
}

/** The same for any recording. */
export function serveSource(source: InspectSource, port: number): Promise<ServedInspection> {
  const server = createHttpDoor((request, response) => {
    answer(source, request, response).catch(() => response.destroy())
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      const bound = typeof address === 'object' && address !== null ? address.port : port
      resolve({
        url: `http://127.0.0.1:${bound}/`,
        close: () => new Promise((done) => {
          server.close(() => done())
          server.closeAllConnections()
        }),
      })
    })
  })
}

async function answer(
  source: InspectSource,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // A web page whose name resolves to this machine must not read the recording.
  if (!isLoopbackHost(request.headers.host)) {
    response
      .writeHead(421, { 'content-type': 'text/plain; charset=utf-8' })
      .end('Ask for this machine by its own name.\n')
    return
  }
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  const number = Number(searchParams.get('n') ?? searchParams.get('t') ?? 0)
  const said = pathname.startsWith('/api/') ? source.answer(pathname, number) : undefined
  if (!pathname.startsWith('/api/')) return await PAGE.answer(request, response)
  response.writeHead(said === undefined ? 404 : 200, {
    'content-type': 'application/json',
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
  })
  response.end(JSON.stringify(said ?? null, plain))
}

/** Converts values that JSON cannot represent. */
function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value
}

function openInBrowser(url: string, world: CommandWorld): void {
  const command = process.platform === 'darwin' ? 'open' : process.platform === 'win32' ? 'explorer' : 'xdg-open'
  const child = spawn(command, [url], { stdio: 'ignore', detached: true })
  child.once('error', () => world.complain(`No browser could be opened by ${command}: open ${url} yourself.`))
  child.unref()
}
