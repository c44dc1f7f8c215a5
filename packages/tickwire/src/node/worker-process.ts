/**
 * The inside of a worker: an ordinary room server whose HTTP server does not listen. Sockets come from the first
 * process (`worker.ts`), with the request that was read from them, and are served as if they had been accepted here.
 *
 * `serve` and `serveRooms` do not return in a worker: code after them runs once, in the first process.
 */

import { rmSync } from 'node:fs'
import { rename, unlink, writeFile } from 'node:fs/promises'
import { createServer, Socket } from 'node:net'
import { createHttpDoor } from './http-door.ts'
import type { HttpSite } from './http-site.ts'
import { guardLog } from './open-room-server.ts'
import { markProxied } from './request-origin.ts'
import type { RoomServer, RoomServerParts } from './room-server.ts'
import type { RoomServerOptions } from './room-server-options.ts'
import { keptRoomsText } from './rooms-keep.ts'
import { openTransports, type OpenTransports } from './serve-transports.ts'
import { limitLines, plainLog } from './status-log.ts'
import { TrustedProxies } from './trusted-proxies.ts'
import type { FromWorker, SocketFacts, ToWorker, WorkerSetup, WorkerState } from './worker-messages.ts'
import { WorkerTokens } from './worker-tokens.ts'

/** How often the first process learns about rooms, if they have changed. */
const STATE_MS = 100
/** How often rooms are saved with `keepRooms`: a worker that is killed loses at most this much of its matches. */
const KEEP_MS = 2000

/** Serves rooms until the first process ends it, or ends itself. Never returns. */
export async function runWorker(
  given: RoomServerOptions,
  build: (parts: RoomServerParts) => RoomServer,
): Promise<never> {
  // Signals of a terminal reach all processes. The first one decides what they mean.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
  const setup = await new Promise<WorkerSetup>((resolve) => {
    process.on('message', (message: ToWorker) => { if (message.kind === 'begin') resolve(message.setup) })
    process.on('disconnect', () => process.exit(1))
    tell({ kind: 'hello' })
  })
  try {
    await open(given, setup, build)
    tell({ kind: 'open' })
  } catch (error) {
    tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) })
    process.exit(1)
  }
  return await new Promise<never>(() => {})
}

async function open(
  given: RoomServerOptions,
  setup: WorkerSetup,
  build: (parts: RoomServerParts) => RoomServer,
): Promise<void> {
  const options = optionsOf(given, setup)
  const log = limitLines(guardLog(options.log ?? plainLog()))
  const { place, ticketKey, port } = setup
  const site = openSite(options, setup)
  const transports = await openTransports(
    site.server, port, options, log,
    { udp: port + 1 + place.index, webtransport: place.index === 0 ? port : port + place.count + place.index },
  )
  const served = build({ site, transports, options, log, share: { place, ticketKey } })
  const { keepRooms } = options
  const stopKeeping = keepRooms === undefined ? () => {} : keepOften(keepRooms, served, setup.identity)
  const end = async (ending: Promise<void>): Promise<void> => {
    stopKeeping()
    await ending.catch(() => {})
    process.exit(0)
  }
  process.on('message', (message: ToWorker, socket: unknown) => {
    if (message.kind === 'socket' && socket instanceof Socket) site.adopt(socket, message.facts)
    else if (message.kind === 'ask') void answer(message, served, transports)
    else if (message.kind === 'drain') void end(served.drain(message.ms))
    else if (message.kind === 'close') void end(served.close())
  })
  process.removeAllListeners('disconnect')
  process.on('disconnect', () => void end(served.drain(0)))
  reportState(served, transports)
}

/** The options of this worker: no page, no signals, no operator port, and ports of its own. */
function optionsOf(given: RoomServerOptions, { place, port, identity, tokensFolder }: WorkerSetup): RoomServerOptions {
  const { server: _server, handler: _handler, static: _static, workers: _workers, ...options } = given
  const { index, count } = place
  const { udp, webtransport, webrtc, keepRooms, security } = options
  const shifted = (first: number): number => (first === 0 ? 0 : first + index)
  const tokens = security?.tokens
  return {
    ...options,
    port,
    ops: false,
    signals: false,
    security: {
      ...security,
      identity,
      ...(tokens && { tokens: { ...tokens, spent: new WorkerTokens(tokens.spent, tokensFolder) } }),
    },
    ...(keepRooms !== undefined && { keepRooms: keptPath(keepRooms, index) }),
    ...(udp && udp.port !== undefined && { udp: { ...udp, port: shifted(udp.port) } }),
    ...(webtransport && {
      webtransport: {
        ...webtransport,
        ...(webtransport.port !== undefined && { port: shifted(webtransport.port) }),
        ...(webtransport.announcePort !== undefined && { announcePort: shifted(webtransport.announcePort) }),
      },
    }),
    ...(webrtc && webrtc.ports !== undefined && { webrtc: { ...webrtc, ports: partOf(webrtc.ports, index, count) } }),
  }
}

/** The file in which a worker keeps its rooms. */
export function keptPath(keepRooms: string, index: number): string {
  return `${keepRooms}.${index}`
}

/** The ports of one worker, of a range for all. */
function partOf([first, last]: readonly [number, number], index: number, count: number): readonly [number, number] {
  const size = Math.max(1, Math.floor((last - first + 1) / count))
  const from = Math.min(last, first + index * size)
  return [from, index === count - 1 ? last : Math.min(last, from + size - 1)]
}

interface WorkerSite extends HttpSite {
  /** Serves a socket of the first process. */
  adopt(socket: Socket, facts: SocketFacts): void
}

/** An HTTP server that gets its sockets from the first process. */
function openSite(options: RoomServerOptions, { port, pipePath }: WorkerSetup): WorkerSite {
  const { maxSockets, limits: { areLocalExempt = true } = {} } = options
  const proxies = new TrustedProxies(options.trustedProxies)
  const server = createHttpDoor((_request, response) => response.writeHead(404).end(), {
    ...(maxSockets !== undefined && { maxWebSockets: maxSockets }), areLocalExempt,
  })
  const adopt = (socket: Socket, { head, source }: SocketFacts): void => {
    if (source !== undefined || proxies.has(socket.remoteAddress ?? '')) markProxied(socket, proxies, source)
    socket.unshift(head)
    server.emit('connection', socket)
    socket.resume()
  }
  // A stream that the first process decrypts has no socket to hand over. It begins with a line of facts.
  const pipes = createServer((socket) => readFacts(socket, (facts) => adopt(socket, facts)))
  // The worker before, if it was killed, has left the name of its pipe.
  if (process.platform !== 'win32') rmSync(pipePath, { force: true })
  pipes.listen(pipePath)
  return {
    server,
    port,
    adopt,
    close: async () => {
      pipes.close()
      server.closeAllConnections()
    },
  }
}

/** Reads the line that a piped stream begins with. */
function readFacts(socket: Socket, done: (facts: SocketFacts) => void): void {
  let text = Buffer.alloc(0)
  socket.on('error', () => {})
  const onData = (bytes: Buffer): void => {
    text = Buffer.concat([text, bytes])
    const end = text.indexOf(10)
    if (end < 0) return
    socket.off('data', onData)
    socket.pause()
    const facts = JSON.parse(text.toString('utf8', 0, end)) as Omit<SocketFacts, 'head'>
    // Its limits count by the address of the client, which a pipe does not have.
    Object.defineProperties(socket, {
      remoteAddress: { value: facts.remoteAddress },
      remotePort: { value: facts.remotePort },
    })
    setImmediate(() => done({ ...facts, head: text.subarray(end + 1) }))
  }
  socket.on('data', onData)
}

/** Reports rooms to the first process, whenever they have changed. */
function reportState(served: RoomServer, transports: OpenTransports): void {
  let known = ''
  const report = (): void => {
    const { rooms } = served
    const state: WorkerState = {
      rooms: rooms.list(), roomCount: rooms.rooms.length, players: rooms.players, transports: transports.info,
    }
    const text = JSON.stringify(state)
    if (text !== known) tell({ kind: 'state', state })
    known = text
  }
  report()
  setInterval(report, STATE_MS).unref()
}

/** Saves all rooms every two seconds. The file is complete at each moment: a process may be killed while it writes. */
function keepOften(path: string, served: RoomServer, identity: Uint8Array): () => void {
  let isWriting = false
  let isOver = false
  const timer = setInterval(() => {
    if (isWriting) return
    isWriting = true
    const next = `${path}.next`
    void writeFile(next, keptRoomsText(served.rooms, identity), { mode: 0o600 })
      .then(() => (isOver ? unlink(next) : rename(next, path)))
      .catch((error: unknown) => console.warn(`tickwire: keepRooms: ${String(error)}`))
      .finally(() => { isWriting = false })
  }, KEEP_MS)
  timer.unref()
  return () => {
    isOver = true
    clearInterval(timer)
  }
}

async function answer(
  { id, question, asked }: Extract<ToWorker, { readonly kind: 'ask' }>,
  served: RoomServer,
  transports: OpenTransports,
): Promise<void> {
  try {
    tell({ kind: 'answer', id, value: await valueOf(question, asked, served, transports) })
  } catch (error) {
    tell({ kind: 'problem', id, message: error instanceof Error ? error.message : String(error) })
  }
}

async function valueOf(
  question: string, asked: unknown, served: RoomServer, transports: OpenTransports,
): Promise<unknown> {
  if (question === 'status') return served.readStatus()
  if (question === 'offer') {
    const { offer, originIp } = asked as { readonly offer: string; readonly originIp: string }
    return await transports.answer?.(offer, originIp)
  }
  if (question === 'create') {
    const { type, options } = asked as { readonly type: string; readonly options: object }
    return served.rooms.create(type, options).listing
  }
  transports.replaceCertificate(asked as { readonly cert: string; readonly key: string })
  return undefined
}

function tell(message: FromWorker): void {
  if (process.connected) process.send?.(message)
}
