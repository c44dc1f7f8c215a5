/**
 * Asks several trackers for their listings, checks every signature, and merges the lists. A tracker that does not
 * answer is reported, and the others are shown.
 *
 * Core has no requests, so the machine hands them in.
 */

import { ConfigError } from '../base/assert.ts'
import { LIST_PAGES_MAX, LISTING_AGE_MS_MAX, LISTINGS_PER_TRACKER_MAX, TRACKERS_MAX } from '../base/limits.ts'
import type { CryptoProvider } from '../crypto/provider.ts'
import { openListing } from './listing-signature.ts'
import type { GameListing, ListingStatus } from './listing.ts'
import { mergeGames, type Badge, type BrowsedGame, type GameSource } from './merge-games.ts'
import { readOpenRaList } from './openra-list.ts'

/** What the machine does for `browse`. */
export interface BrowseMachine {
  readonly provider: CryptoProvider
  /** The JSON at an address. Rejects when nothing answers in time, or too much. `traceparent`: a header. */
  getJson(url: string, traceparent?: string): Promise<unknown>
  /** Ms since 1970. */
  wallMs(): number
}

/** One tracker. */
export interface TrackerSource {
  /** Its address; https, except on this machine. */
  readonly url: string
  /** How far it is trusted. `verified` is for trackers that come with the game. Default `community`. */
  readonly badge?: Badge
  /** `openra`: a master server of OpenRA, whose matches are shown and cannot be joined. Default `tickwire`. */
  readonly form?: 'tickwire' | 'openra'
}

/** Which games are wanted. */
export interface BrowseFilter {
  /** The name of the game. Default: all games. */
  readonly game?: string
  /** Where the host is. Default: everywhere. */
  readonly region?: string
  /** Whether the match waits for players. Default: all. */
  readonly status?: ListingStatus
  /** Free seats at least. Default 0. */
  readonly seats?: number
  /** The build of the game, 16 hexadecimal digits. Default: all builds. */
  readonly build?: string
}

/** What `browse` is asked. */
export interface BrowseOptions extends BrowseFilter {
  /** At most 10. A plain address is a tracker of the community. */
  readonly trackers: readonly (string | TrackerSource)[]
  /** Identities of hosts that the player has joined before, as `listing.host.identity` has them. Default: none. */
  readonly known?: Iterable<string>
  /** The `traceparent` of the span that this is part of, for the trackers. Default: it is not traced. */
  readonly traceparent?: string
}

/** How a tracker answered. */
export interface TrackerState {
  /** Its address. */
  readonly url: string
  /** `stale`: it has lost its store, and its list may be a minute old. `down`: it did not answer. */
  readonly state: 'ok' | 'stale' | 'down'
  /** Listings that were left out: altered, too old, or of another form. */
  readonly dropped: number
}

/** The merged list. */
export interface BrowseResult {
  /** Each game once. */
  readonly games: readonly BrowsedGame[]
  /** How each tracker answered. */
  readonly trackers: readonly TrackerState[]
}

const LOCAL = /^http:\/\/(?:localhost|[a-z0-9-]+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?(?:\/|$)/
const HTTPS = /^https:\/\/[^\s/@]+(?:\/|$)/

/** The sources, complete. Throws `ConfigError` for more than 10, or an address without https. */
export function checkTrackers(
  path: string, trackers: readonly (string | TrackerSource)[],
): readonly Required<TrackerSource>[] {
  if (trackers.length > TRACKERS_MAX) {
    throw new ConfigError(
      path, `too many (expected at most ${TRACKERS_MAX}, got ${trackers.length})`, `give ${TRACKERS_MAX} or fewer.`,
    )
  }
  return trackers.map((given) => {
    const { url, badge = 'community', form = 'tickwire' } = typeof given === 'string' ? { url: given } : given
    if (!HTTPS.test(url) && !LOCAL.test(url)) {
      throw new ConfigError(
        path, `not an https address (got "${url}")`, 'write https://host/; http is for this machine only.',
      )
    }
    return { url, badge: form === 'openra' ? 'unverified' : badge, form }
  })
}

/** Asks all trackers at once. */
export async function browseTrackers(options: BrowseOptions, machine: BrowseMachine): Promise<BrowseResult> {
  const { trackers, known = [], traceparent, ...filter } = options
  const sources = checkTrackers('browse.trackers', trackers)
  const answers = await Promise.all(sources.map(async (source) =>
    await (source.form === 'openra' ? askOpenRa(source, machine) : askTracker(source, filter, machine, traceparent))))
  return {
    games: mergeGames(answers.map(({ source }) => source), new Set(known)),
    trackers: answers.map(({ state }) => state),
  }
}

interface Answer {
  readonly source: GameSource
  readonly state: TrackerState
}

async function askTracker(
  { url, badge }: Required<TrackerSource>, filter: BrowseFilter, machine: BrowseMachine,
  traceparent: string | undefined,
): Promise<Answer> {
  const listings: GameListing[] = []
  let [dropped, state]: [number, TrackerState['state']] = [0, 'ok']
  let after = ''
  for (let page = 0; page < LIST_PAGES_MAX; page++) {
    let answer: { readonly [name: string]: unknown }
    try {
      answer = fieldsOf(await machine.getJson(queryUrl(url, filter, after), traceparent))
    } catch {
      state = page === 0 ? 'down' : 'stale'
      break
    }
    const { listings: found, next, isStale } = answer
    if (!Array.isArray(found)) {
      state = 'down'
      break
    }
    if (isStale === true) state = 'stale'
    for (const value of found.slice(0, LISTINGS_PER_TRACKER_MAX - listings.length)) {
      const listing = openListing(machine.provider, value)
      const isOld = listing !== undefined && Math.abs(machine.wallMs() - listing.signedAt) > LISTING_AGE_MS_MAX
      if (listing === undefined || isOld || !isWanted(listing, filter)) dropped++
      else listings.push(listing)
    }
    if (typeof next !== 'string' || next === after || listings.length >= LISTINGS_PER_TRACKER_MAX) break
    after = next
  }
  return { source: { url, badge, listings, foreign: [] }, state: { url, state, dropped } }
}

async function askOpenRa({ url }: Required<TrackerSource>, machine: BrowseMachine): Promise<Answer> {
  let [state, value]: [TrackerState['state'], unknown] = ['ok', undefined]
  try {
    value = await machine.getJson(url)
  } catch {
    state = 'down'
  }
  const foreign = readOpenRaList(value)
  const dropped = Array.isArray(value) ? value.length - foreign.length : 0
  return { source: { url, badge: 'unverified', listings: [], foreign }, state: { url, state, dropped } }
}

/** Whether a listing fits. A tracker that answers with other games is not believed. */
export function isWanted(listing: GameListing, { game, region, status, seats = 0, build }: BrowseFilter): boolean {
  return (game === undefined || listing.game === game) && (region === undefined || listing.region === region)
    && (status === undefined || listing.status === status) && (build === undefined || listing.build === build)
    && listing.capacity - listing.players >= seats
}

function queryUrl(url: string, filter: BrowseFilter, after: string): string {
  const pairs = Object.entries({ ...filter, ...(after !== '' && { after }) }).filter(([, value]) => value !== undefined)
  const query = pairs.map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`).join('&')
  return `${url.endsWith('/') ? url : `${url}/`}v1/listings${query === '' ? '' : `?${query}`}`
}

function fieldsOf(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null ? value as { readonly [name: string]: unknown } : {}
}
