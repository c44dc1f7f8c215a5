/**
 * Leases in the memory of one process: the default. Instances of the same process can send to each other.
 */

import { isLeaseId, isLeaseOwner } from './lease-key.ts'
import {
  LEASE_BYTES_MAX, LEASE_KINDS, LEASE_MS_MAX, LEASE_PAGE_MAX, MESSAGE_BYTES_MAX, type Lease, type LeaseKind,
  type LeasePage, type Leases, type MessageListener, type PutAnswer, type SendAnswer,
} from './leases.ts'

interface Held extends Lease {
  readonly expiresAt: number
}

interface Shelf {
  readonly held: Map<string, Held>
  /** Ids in order; undefined after one was added or removed. */
  ids: readonly string[] | undefined
}

interface Window {
  count: number
  readonly endsAt: number
}

/** Expired leases are removed at most this often, in ms. */
const SWEEP_MS = 1000

/** How memory leases are made. */
export interface MemoryLeasesOptions {
  /** The clock, in ms since 1970. Default: one that never goes back, whatever happens to the wall clock. */
  readonly now?: () => number
}

export class MemoryLeases implements Leases {
  readonly isShared: boolean = false
  readonly isDegraded: boolean = false
  readonly #now: () => number
  readonly #shelves: Map<LeaseKind, Shelf> = new Map()
  readonly #windows: Map<string, Window> = new Map()
  readonly #listeners: Map<string, Set<MessageListener>> = new Map()
  #number = 0
  #sweptAt = -Infinity

  constructor({ now = steadyNow }: MemoryLeasesOptions = {}) {
    this.#now = now
  }

  async put(kind: LeaseKind, id: string, owner: string, value: string, ttlMs: number): Promise<PutAnswer> {
    if (!isLeaseId(id) || !isPut(owner, value, ttlMs)) return 'invalid'
    const now = this.#sweep()
    const shelf = this.#shelf(kind)
    const before = this.#live(kind, id, now)
    if (before !== undefined && before.owner !== owner) return 'taken'
    if (before === undefined && shelf.held.size >= LEASE_KINDS[kind]) {
      this.#sweep(true)
      if (shelf.held.size >= LEASE_KINDS[kind]) return 'full'
    }
    const number = before?.number ?? (this.#number = Math.max(Math.floor(now) * 1000, this.#number + 1))
    if (!shelf.held.has(id)) shelf.ids = undefined
    shelf.held.set(id, { id, owner, value, number, expiresAt: now + ttlMs })
    return number
  }

  async touch(kind: LeaseKind, id: string, owner: string, ttlMs: number): Promise<'ok' | 'gone'> {
    const now = this.#now()
    const held = this.#live(kind, id, now)
    if (held?.owner !== owner || !isTtl(ttlMs)) return 'gone'
    this.#shelf(kind).held.set(id, { ...held, expiresAt: now + ttlMs })
    return 'ok'
  }

  async drop(kind: LeaseKind, id: string, owner: string): Promise<'ok' | 'gone'> {
    if (this.#live(kind, id, this.#now())?.owner !== owner) return 'gone'
    this.#remove(kind, id)
    return 'ok'
  }

  async get(kind: LeaseKind, id: string): Promise<Lease | undefined> {
    const held = this.#live(kind, id, this.#now())
    return held === undefined ? undefined : leaseOf(held)
  }

  async page(kind: LeaseKind, after: string, limit: number): Promise<LeasePage> {
    const now = this.#sweep()
    const shelf = this.#shelf(kind)
    const ids = shelf.ids ??= [...shelf.held.keys()].sort()
    const from = firstAfter(ids, after)
    const named = ids.slice(from, from + pageSize(limit))
    const leases = named.flatMap((id) => {
      const held = this.#live(kind, id, now)
      return held === undefined ? [] : [leaseOf(held)]
    })
    return { leases, next: from + named.length < ids.length ? named.at(-1) : undefined }
  }

  async take(kind: LeaseKind, id: string): Promise<Lease | undefined> {
    const held = this.#live(kind, id, this.#now())
    if (held === undefined) return undefined
    this.#remove(kind, id)
    return leaseOf(held)
  }

  async count(kind: LeaseKind, id: string, windowMs: number): Promise<number | 'unavailable'> {
    if (!isLeaseId(id) || !isTtl(windowMs)) return 'unavailable'
    const now = this.#sweep()
    const name = `${kind} ${id}`
    const found = this.#windows.get(name)
    if (found !== undefined && found.endsAt > now) return ++found.count
    if (this.#windows.size >= LEASE_KINDS.origin) this.#windows.delete(this.#windows.keys().next().value ?? '')
    this.#windows.delete(name)
    this.#windows.set(name, { count: 1, endsAt: now + windowMs })
    return 1
  }

  async send(instance: string, text: string): Promise<SendAnswer> {
    const listeners = this.#listeners.get(instance)
    if (listeners === undefined || listeners.size === 0) return 'gone'
    if (Buffer.byteLength(text) > MESSAGE_BYTES_MAX) return 'too-large'
    // A listener runs later, as it does with another store: a sender never calls its receiver.
    for (const listener of listeners) setImmediate(listener, text)
    return 'ok'
  }

  onMessage(instance: string, listener: MessageListener): () => void {
    if (!isLeaseId(instance)) return () => {}
    const listeners = this.#listeners.get(instance) ?? new Set()
    this.#listeners.set(instance, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(instance)
    }
  }

  async close(): Promise<void> {
    this.#shelves.clear()
    this.#windows.clear()
    this.#listeners.clear()
  }

  #shelf(kind: LeaseKind): Shelf {
    let shelf = this.#shelves.get(kind)
    if (shelf === undefined) this.#shelves.set(kind, shelf = { held: new Map(), ids: undefined })
    return shelf
  }

  #live(kind: LeaseKind, id: string, now: number): Held | undefined {
    const held = this.#shelves.get(kind)?.held.get(id)
    return held !== undefined && held.expiresAt > now ? held : undefined
  }

  #remove(kind: LeaseKind, id: string): void {
    const shelf = this.#shelf(kind)
    if (shelf.held.delete(id)) shelf.ids = undefined
  }

  #sweep(isForced: boolean = false): number {
    const now = this.#now()
    if (!isForced && now - this.#sweptAt < SWEEP_MS) return now
    this.#sweptAt = now
    for (const [kind, { held }] of this.#shelves)
      for (const { id, expiresAt } of held.values()) if (expiresAt <= now) this.#remove(kind, id)
    for (const [name, { endsAt }] of this.#windows) if (endsAt <= now) this.#windows.delete(name)
    return now
  }
}

/** The wall clock at the start of the process, and since then the time that has passed. */
function steadyNow(): number {
  return performance.timeOrigin + performance.now()
}

/** Whether the parts of a new lease are valid. */
export function isPut(owner: string, value: string, ttlMs: number): boolean {
  return isLeaseOwner(owner) && isTtl(ttlMs) && Buffer.byteLength(value) <= LEASE_BYTES_MAX
}

/** Whether a time to live is valid: whole ms. */
export function isTtl(ttlMs: number): boolean {
  return Number.isInteger(ttlMs) && ttlMs > 0 && ttlMs <= LEASE_MS_MAX
}

/** How many leases a page has. */
export function pageSize(limit: number): number {
  return Math.max(1, Math.min(LEASE_PAGE_MAX, Math.floor(limit) || 1))
}

function leaseOf({ id, owner, value, number }: Held): Lease {
  return { id, owner, value, number }
}

function firstAfter(ids: readonly string[], after: string): number {
  let [low, high] = [0, ids.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ids[middle] ?? '') <= after) low = middle + 1
    else high = middle
  }
  return low
}
