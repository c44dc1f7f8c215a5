/**
 * The game servers of a fleet, as one instance of the fleet service knows them: from the shared store, read once a
 * second, and from the reports that came to this instance. So the store sees instances and not players, and a store
 * that is away for a while leaves a list that is a little old.
 *
 * Each server numbers its reports, which may come to different instances: the list with the higher number is newer.
 *
 * Each server owns its lease. Nothing here deletes it: a server that is silent for ten seconds is gone, and one that
 * comes back is listed by its next report.
 */

import type { Lease, Leases } from '../store/leases.ts'
import { LEASE_BYTES_MAX, LEASE_PAGE_MAX } from '../store/leases.ts'

/** A room of a game server. */
export interface FleetRoom {
  readonly id: string
  /** The number in the tickets of its players. */
  readonly number: number
  readonly type: string
  /** Seats of players that are taken, held or reserved. */
  players: number
  readonly capacity: number
  readonly spectators: number
  readonly metadata: { readonly [key: string]: string }
  readonly isLocked: boolean
  readonly hasPassword: boolean
  /** Of a private room. */
  readonly code?: string
}

/** A process that has rooms. */
export interface GameServer {
  readonly id: string
  /** Its public identity key: 64 hexadecimal digits. */
  readonly identity: string
  /** Where players reach it. */
  readonly url: string
  readonly region: string
  readonly version: string
  /** Most players, and those that are there or expected. */
  readonly seats: number
  players: number
  readonly maxRooms: number
  readonly audience: string
  readonly isDraining: boolean
  /** How often the process has reported until now. */
  readonly report: number
  readonly types: readonly { readonly name: string; readonly fingerprint: string; readonly capacity: number }[]
  readonly rooms: readonly FleetRoom[]
}

/** How long a game server is listed after its last report: three of them may be lost. */
export const SERVER_TTL_MS = 10_000
/** How long a list is shown that the store does not confirm. */
const STALE_MS_MAX = 60_000
const REFRESH_MS = 1000
/** The least time between two reads that clients cause. */
const REFRESH_MS_MIN = 100

interface Known {
  server: GameServer
  /** When it reported to this instance. -Infinity: it never did. */
  reportedAt: number
  readAt: number
}

export class GameServers {
  readonly #leases: Leases
  readonly #known = new Map<string, Known>()
  readonly #timer: NodeJS.Timeout
  readonly #startedAt = performance.now()
  #refreshedAt = -Infinity
  #readStartedAt = -Infinity
  #reading: Promise<void> = Promise.resolve()
  /** The next read, which has not begun. */
  #next: Promise<void> | undefined

  constructor(leases: Leases) {
    this.#leases = leases
    this.#timer = setInterval(() => void this.refresh(), REFRESH_MS)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** All servers that are listed now. */
  get all(): readonly GameServer[] {
    this.#expire()
    return [...this.#known.values()].map(({ server }) => server)
  }

  get(id: string): GameServer | undefined {
    this.#expire()
    return this.#known.get(id)?.server
  }

  /** Whether this instance has just started, so that servers may be missing from the list. */
  get isYoung(): boolean {
    return performance.now() - this.#startedAt < SERVER_TTL_MS
  }

  /** Whether the store has not confirmed the list for a while. */
  get isStale(): boolean {
    return performance.now() - this.#refreshedAt > 3 * REFRESH_MS
  }

  /** A server reports. Returns what the store says. */
  async report(server: GameServer): Promise<'ok' | 'taken' | 'full' | 'unavailable'> {
    const text = textOf(server)
    const known = this.#known.get(server.id)
    if (known !== undefined && known.server.identity !== server.identity) return 'taken'
    // It was overtaken by a newer one.
    if (known !== undefined && known.server.report > server.report) return 'ok'
    this.#known.set(server.id, { server, reportedAt: performance.now(), readAt: known?.readAt ?? -Infinity })
    const put = await this.#leases.put('server', server.id, server.identity, text, SERVER_TTL_MS)
    if (put === 'taken' || put === 'full') this.#known.delete(server.id)
    return typeof put === 'number' ? 'ok' : put === 'invalid' ? 'full' : put
  }

  /** A server has ended. */
  async remove(id: string, identity: string): Promise<void> {
    if (this.#known.get(id)?.server.identity === identity) this.#known.delete(id)
    await this.#leases.drop('server', id, identity)
  }

  /** Reads the store. What was written there before the call is in the list after it. */
  async refresh(): Promise<void> {
    this.#next ??= this.#readSoon()
    await this.#next
  }

  async #readSoon(): Promise<void> {
    await this.#reading.catch(() => {})
    const waitMs = this.#readStartedAt + REFRESH_MS_MIN - performance.now()
    if (waitMs > 0) await new Promise((resolve) => { setTimeout(resolve, waitMs) })
    // A call from here on waits for the read after this one.
    this.#next = undefined
    this.#readStartedAt = performance.now()
    this.#reading = this.#read()
    await this.#reading
  }

  async #read(): Promise<void> {
    const leases: Lease[] = []
    for (let after = ''; ;) {
      const page = await this.#leases.page('server', after, LEASE_PAGE_MAX)
      if (page === 'unavailable') return
      leases.push(...page.leases)
      if (page.next === undefined) break
      after = page.next
    }
    const now = performance.now()
    this.#refreshedAt = now
    const read = new Set<string>()
    for (const { id, value } of leases) {
      read.add(id)
      const known = this.#known.get(id)
      const server = JSON.parse(value) as GameServer
      // This instance may know a newer list, or have counted seats in this one.
      if (known !== undefined && known.server.report >= server.report) known.readAt = now
      else this.#known.set(id, { server, reportedAt: known?.reportedAt ?? -Infinity, readAt: now })
    }
    for (const [id, { reportedAt }] of this.#known)
      if (!read.has(id) && now - reportedAt > SERVER_TTL_MS) this.#known.delete(id)
  }

  #expire(): void {
    const now = performance.now()
    const isStoreAway = now - this.#refreshedAt > 3 * REFRESH_MS
    for (const [id, { reportedAt, readAt }] of this.#known) {
      const age = now - Math.max(reportedAt, readAt)
      if (age > (isStoreAway ? STALE_MS_MAX : SERVER_TTL_MS)) this.#known.delete(id)
    }
  }
}

/** A server as a lease. Rooms that do not fit are left out: new players do not find them, their own players do. */
function textOf(server: GameServer): string {
  for (let { rooms } = server; ;) {
    const text = JSON.stringify({ ...server, rooms })
    if (Buffer.byteLength(text) <= LEASE_BYTES_MAX || rooms.length === 0) return text
    rooms = rooms.slice(0, Math.floor(rooms.length * 0.8))
  }
}
