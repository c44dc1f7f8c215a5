/**
 * Which worker a client goes to: the one of its room, or for a quick seat the one of the fullest room that fits, so
 * that players end up together. New rooms go to the worker with the fewest players.
 *
 * Workers report their rooms a moment late. So clients that were sent somewhere count as players there for a while, and
 * clients that ask together for a room that does not exist yet go to the same worker, where they share it.
 */

import { WORKER_VISITS_MAX } from '../core/base/limits.ts'
import type { Millis } from '../core/base/time.ts'
import type { RoomListing } from '../core/rooms/hosted-room.ts'
import { isMatch } from '../core/rooms/room-directory.ts'
import { placeIndex, type PlaceRequest } from '../core/rooms/room-place.ts'

/** What is known about a worker. */
export interface PlacedWorker {
  /** Whether clients can be sent there now. */
  readonly isOpen: boolean
  readonly rooms: readonly RoomListing[]
  readonly players: number
}

/** Somewhere that a client was sent. */
interface Visit {
  readonly worker: number
  /** A room, or what was asked for if there is none yet. */
  readonly target: string
  readonly until: Millis
}

/** Clients that were sent to one worker for the same. */
interface Sent {
  readonly count: number
  readonly latestAt: Millis
}

/** From the request to the seat: a handshake, and the report of the worker, over a bad line. */
const VISIT_MS = 10_000
/** The same over a usual line: after that, a room that is not in the list is full, or will not open. */
const AWAITED_MS = 2000
/** Seats in a room that does not exist yet, if its type does not say how many it has. */
const CAPACITY_UNKNOWN = 64

export class WorkerPlaces {
  readonly #workers: readonly PlacedWorker[]
  readonly #capacityOf: (type: string | undefined) => number | undefined
  /** Keyed by the random name of the visit, oldest first. */
  readonly #visits = new Map<string, Visit>()
  /** How many of them go where. Keyed by target, then by worker. */
  readonly #sent = new Map<string, Map<number, Sent>>()
  /** Indexed by worker. */
  readonly #sentToWorker: number[] = []
  #unnamed = 0

  /** `workers` is read at each call. `capacityOf`: the seats of a type of room, or of the first; undefined: unknown. */
  constructor(workers: readonly PlacedWorker[], capacityOf: (type: string | undefined) => number | undefined) {
    this.#workers = workers
    this.#capacityOf = capacityOf
  }

  /** The index of the worker. Undefined when it does not run, or none does. */
  find(now: Millis, request: PlaceRequest): number | undefined {
    const { at } = request
    if (at !== undefined) {
      const index = placeIndex(at, this.#workers.length) ?? 0
      return this.#workers[index]?.isOpen === true ? index : undefined
    }
    this.#forget(now)
    const visit = request.visit === '' ? `unnamed ${++this.#unnamed}` : request.visit
    const known = this.#visits.get(visit)
    if (known !== undefined && this.#workers[known.worker]?.isOpen === true) return known.worker
    const found = this.#choose(now, request)
    if (found === undefined) return undefined
    if (known !== undefined) this.#count(known, -1)
    const sent = { worker: found.worker, target: found.target, until: now + VISIT_MS }
    this.#visits.set(visit, sent)
    this.#count(sent, 1)
    return found.worker
  }

  #choose(now: Millis, request: PlaceRequest): Omit<Visit, 'until'> | undefined {
    if (!request.isNew) {
      const found = this.#fullest(request) ?? this.#awaited(now, request)
      if (found !== undefined) return found
    }
    const worker = this.#emptiest()
    return worker === undefined ? undefined : { worker, target: targetOf(request) }
  }

  /** A worker with a room for this client. Clients that were sent there recently have their seats. */
  #fullest(request: PlaceRequest): Omit<Visit, 'until'> | undefined {
    const { isSpectator } = request
    let best: (Omit<Visit, 'until'> & { readonly players: number }) | undefined
    this.#workers.forEach(({ isOpen, rooms }, worker) => {
      if (!isOpen) return
      for (const room of rooms) {
        const players = room.players + (isSpectator ? 0 : this.#sentTo(room.id))
        if (!isFit(room, request) || (!isSpectator && players >= room.capacity)) continue
        if (best === undefined || players > best.players) best = { worker, target: room.id, players }
      }
    })
    return best
  }

  /** A worker in which a room for such clients is about to open. */
  #awaited(now: Millis, request: PlaceRequest): Omit<Visit, 'until'> | undefined {
    const target = targetOf(request)
    const capacity = this.#capacityOf(request.type) ?? CAPACITY_UNKNOWN
    for (const [worker, { count, latestAt }] of this.#sent.get(target) ?? []) {
      const isAwaited = now - latestAt < AWAITED_MS && count < capacity
      if (isAwaited && this.#workers[worker]?.isOpen === true) return { worker, target }
    }
    return undefined
  }

  #emptiest(): number | undefined {
    let best: number | undefined
    let fewest = Infinity
    this.#workers.forEach(({ isOpen, players, rooms }, index) => {
      const load = players + rooms.length + (this.#sentToWorker[index] ?? 0)
      if (!isOpen || load >= fewest) return
      best = index
      fewest = load
    })
    return best
  }

  #sentTo(target: string): number {
    let sum = 0
    for (const { count } of this.#sent.get(target)?.values() ?? []) sum += count
    return sum
  }

  /** Counts a visit, or one less. */
  #count({ worker, target, until }: Visit, change: 1 | -1): void {
    this.#sentToWorker[worker] = (this.#sentToWorker[worker] ?? 0) + change
    const counts = this.#sent.get(target) ?? new Map<number, Sent>()
    const { count: before = 0, latestAt = 0 } = counts.get(worker) ?? {}
    const count = before + change
    if (count > 0) counts.set(worker, { count, latestAt: Math.max(latestAt, until - VISIT_MS) })
    else counts.delete(worker)
    if (counts.size > 0) this.#sent.set(target, counts)
    else this.#sent.delete(target)
  }

  #forget(now: Millis): void {
    for (const [name, visit] of this.#visits) {
      if (visit.until > now && this.#visits.size < WORKER_VISITS_MAX) return
      this.#visits.delete(name)
      this.#count(visit, -1)
    }
  }
}

function isFit(room: RoomListing, { type, metadata }: PlaceRequest): boolean {
  const isOpen = !room.isLocked && !room.hasPassword
  return isOpen && (type === undefined || room.type === type) && isMatch(room.metadata, metadata)
}

function targetOf({ type = '', metadata, isNew }: PlaceRequest): string {
  return isNew ? '' : JSON.stringify([type, ...Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1))])
}
