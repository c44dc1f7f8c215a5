/**
 * The listings of a tracker, as leases of their hosts.
 *
 * The id of a listing is made of the identity and the game: one host has one listing of a game, also after the tracker
 * lost everything. Each instance reads all leases once a second and answers from that copy, so the store sees
 * instances and not players. While the store does not answer, the copy is served as stale for up to a minute.
 */

import { randomBytes, timingSafeEqual } from 'node:crypto'
import { listingKey, readListing } from 'tickwire/engine'
import type { GameListing } from 'tickwire/node'
import { leaseIdOf } from '../store/lease-key.ts'
import { LEASE_PAGE_MAX, type Leases } from '../store/leases.ts'

/** The copy is read again this often, in ms. */
const REFRESH_MS = 1000
/** A copy that is older is not served, in ms. */
const STALE_MS_MAX = 60_000

/** A listing of the copy. */
export interface ListedGame {
  readonly id: string
  readonly listing: GameListing
  /** The listing as JSON. */
  readonly text: string
  /** The origin that published it, as an opaque tag. */
  readonly origin: string
  /** The text of its lease. */
  readonly stored: string
}

interface Stored {
  readonly listing: GameListing
  readonly lease: string
  readonly origin: string
}

export type PublishAnswer =
  | { readonly id: string; readonly lease: string } | 'full' | 'too-many' | 'older' | 'unavailable'
export type RenewAnswer = 'ok' | 'gone' | 'forbidden' | 'older' | 'unavailable'

/** Limits of a tracker. */
export interface ListingLimits {
  /** How long a listing lives without a renewal, in ms. */
  readonly ttlMs: number
  /** Most listings at the same time. */
  readonly listingsMax: number
  /** Most listings of one origin. */
  readonly listingsPerOrigin: number
}

export class Listings {
  readonly limits: ListingLimits
  /** Changes with every change of the copy. */
  revision: number = 0
  /** When the copy last changed, in ms since 1970. */
  asOf: number = Date.now()
  isStale: boolean = false
  /** Listings that ended without being removed. */
  expired: number = 0
  readonly #leases: Leases
  #games: ReadonlyMap<string, ListedGame> = new Map()
  #readAt = performance.now()
  #timer: NodeJS.Timeout | undefined
  readonly #removed: Set<string> = new Set()

  constructor(leases: Leases, limits: ListingLimits) {
    this.#leases = leases
    this.limits = limits
  }

  /** In the order of ids. */
  get games(): ReadonlyMap<string, ListedGame> {
    return this.#games
  }

  /** Reads the copy now and every second, until `close`. */
  async open(): Promise<void> {
    await this.refresh()
    const again = (): void => {
      this.#timer = setTimeout(() => void this.refresh().then(again), REFRESH_MS)
      this.#timer.unref()
    }
    again()
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** `listing` was opened: its host has signed it. `origin`: a tag of the address that publishes it. */
  async publish(listing: GameListing, origin: string): Promise<PublishAnswer> {
    const id = leaseIdOf(listingKey(listing))
    const before = this.#games.get(id)
    if (before === undefined) {
      let ofOrigin = 0
      for (const game of this.#games.values()) if (game.origin === origin) ofOrigin++
      if (this.#games.size >= this.limits.listingsMax) return 'full'
      if (ofOrigin >= this.limits.listingsPerOrigin) return 'too-many'
    } else if (listing.signedAt < before.listing.signedAt) return 'older'
    const lease = randomBytes(16).toString('hex')
    const answer = await this.#put(id, { listing, lease, origin })
    return typeof answer === 'number' ? { id, lease } : answer === 'unavailable' ? answer : 'full'
  }

  /** Renews a listing, and replaces it if another is given. `lease`: the secret of its host. */
  async renew(id: string, lease: string, listing: GameListing | undefined): Promise<RenewAnswer> {
    const found = await this.#find(id, lease)
    if (typeof found === 'string') return found
    if (listing === undefined)
      return await this.#leases.touch('listing', id, found.listing.host.identity, this.limits.ttlMs)
    if (leaseIdOf(listingKey(listing)) !== id) return 'forbidden'
    if (listing.signedAt < found.listing.signedAt) return 'older'
    const answer = await this.#put(id, { ...found, listing })
    return typeof answer === 'number' ? 'ok' : answer === 'unavailable' ? answer : 'gone'
  }

  /** Removes a listing at once. */
  async remove(id: string, lease: string): Promise<RenewAnswer> {
    const found = await this.#find(id, lease)
    if (typeof found === 'string') return found
    this.#removed.add(id)
    return await this.#leases.drop('listing', id, found.listing.host.identity)
  }

  /** Reads all leases. */
  async refresh(): Promise<void> {
    const games = new Map<string, ListedGame>()
    let isChanged = false
    for (let after: string | undefined = ''; after !== undefined && games.size < this.limits.listingsMax;) {
      const page = await this.#leases.page('listing', after, LEASE_PAGE_MAX)
      if (page === 'unavailable') return this.#keep()
      for (const { id, value } of page.leases) {
        const before = this.#games.get(id)
        const game = before?.stored === value ? before : gameOf(id, value)
        if (game === undefined) continue
        games.set(id, game)
        if (game !== before) isChanged = true
      }
      after = page.next
    }
    for (const id of this.#games.keys()) {
      if (games.has(id)) continue
      isChanged = true
      if (!this.#removed.delete(id)) this.expired++
    }
    this.#readAt = performance.now()
    this.#replace(games, isChanged, false)
  }

  #keep(): void {
    const isOld = performance.now() - this.#readAt > STALE_MS_MAX
    this.#replace(isOld ? new Map() : this.#games, isOld && this.#games.size > 0, true)
  }

  #replace(games: ReadonlyMap<string, ListedGame>, isChanged: boolean, isStale: boolean): void {
    if (!isChanged && isStale === this.isStale) return
    this.#games = games
    this.isStale = isStale
    this.asOf = Date.now()
    this.revision++
  }

  async #find(id: string, lease: string): Promise<Stored | 'gone' | 'forbidden' | 'unavailable'> {
    const found = await this.#leases.get('listing', id)
    if (found === 'unavailable') return found
    const stored = found === undefined ? undefined : readStored(found.value)
    if (stored === undefined) return 'gone'
    const [expected, given] = [Buffer.from(stored.lease), Buffer.from(lease)]
    return expected.length === given.length && timingSafeEqual(expected, given) ? stored : 'forbidden'
  }

  async #put(id: string, stored: Stored): ReturnType<Leases['put']> {
    const { host: { identity } } = stored.listing
    return await this.#leases.put('listing', id, identity, JSON.stringify(stored), this.limits.ttlMs)
  }
}

function gameOf(id: string, stored: string): ListedGame | undefined {
  const found = readStored(stored)
  if (found === undefined) return undefined
  return { id, listing: found.listing, origin: found.origin, stored, text: JSON.stringify(found.listing) }
}

/** A store is shared with other programs: what it has is checked, as everything else. */
function readStored(text: string): Stored | undefined {
  try {
    const { listing, lease, origin } = JSON.parse(text) as { readonly [name: string]: unknown }
    const read = readListing(listing)
    return read !== undefined && typeof lease === 'string' && typeof origin === 'string'
      ? { listing: read, lease, origin } : undefined
  } catch {
    return undefined
  }
}
