/**
 * The lifecycle of a game server under Agones, by the REST interface of its sidecar (`AGONES_SDK_HTTP_PORT`):
 *
 *   listening               POST /ready, and PUT /metadata/label with the version of the wire
 *   ticking, every 2 s      POST /health
 *   the first seat          POST /allocate
 *   drained and closed      POST /shutdown
 *
 * The sidecar may start after the game server, so `ready` is repeated for 30 s. A sidecar that does not answer never
 * stops a match.
 */

import { PROTOCOL_VERSION } from '../core/packet/header.ts'
import type { RoomHost } from '../core/rooms/room-host.ts'
import type { Match } from '../core/game/match.ts'
import type { ServeLog } from './status-log.ts'
import { workerIndex } from './worker-index.ts'

const HEALTH_MS = 2000
/** The first seat is noticed within this time. */
const LOOK_MS = 200
const READY_MS_MAX = 30_000
const ANSWER_MS_MAX = 2000

/** The connection to the sidecar of this process. */
export class Agones {
  readonly #url: string
  readonly #rooms: RoomHost<Match>
  readonly #log: ServeLog
  readonly #timer: NodeJS.Timeout
  #isReady = false
  #isAllocated = false
  #isClosed = false
  #ticks = -1
  #looks = 0

  constructor(port: number, rooms: RoomHost<Match>, log: ServeLog) {
    this.#url = `http://127.0.0.1:${port}`
    this.#rooms = rooms
    this.#log = log
    this.#timer = setInterval(() => this.#look(), LOOK_MS)
    this.#timer.unref()
    void this.#announce()
  }

  /** Reports that the process ends. Agones then deletes the pod. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    clearInterval(this.#timer)
    if (this.#isReady) await this.#ask('POST', '/shutdown')
  }

  async #announce(): Promise<void> {
    for (let waited = 0; waited < READY_MS_MAX && !this.#isClosed; waited += LOOK_MS) {
      if (await this.#ask('POST', '/ready')) {
        this.#isReady = true
        await this.#ask('PUT', '/metadata/label', { key: 'tickwire-version', value: String(PROTOCOL_VERSION) })
        return
      }
      await new Promise((resolve) => { setTimeout(resolve, LOOK_MS) })
    }
    if (this.#isClosed) return
    this.#log({ level: 'error', event: 'agones-away', message: 'the sidecar of Agones did not answer for 30 s' })
  }

  #look(): void {
    if (!this.#isReady) return
    const rooms = this.#rooms
    if (!this.#isAllocated && rooms.players > 0) {
      this.#isAllocated = true
      void this.#ask('POST', '/allocate').then((isDone) => {
        // Asked again at the next look.
        if (!isDone) this.#isAllocated = false
      })
    }
    if (this.#looks++ % (HEALTH_MS / LOOK_MS) !== 0) return
    // Rooms that no longer tick are not healthy, although the event loop runs.
    const isTicking = rooms.players === 0 || rooms.ticks.count !== this.#ticks
    this.#ticks = rooms.ticks.count
    if (isTicking) void this.#ask('POST', '/health')
  }

  async #ask(method: 'POST' | 'PUT', path: string, body: object = {}): Promise<boolean> {
    try {
      const { ok } = await fetch(this.#url + path, {
        method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' },
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
      })
      return ok
    } catch {
      return false
    }
  }
}

/**
 * Reports to the sidecar that the environment names. Undefined: there is none, or this is a worker. A pod is one game
 * server: a worker that ends must not end the others.
 */
export function openAgones(rooms: RoomHost<Match>, log: ServeLog): Agones | undefined {
  const text = process.env['AGONES_SDK_HTTP_PORT']
  if (text === undefined || !/^\d{1,5}$/.test(text) || workerIndex() !== undefined) return undefined
  return new Agones(Number(text), rooms, log)
}
