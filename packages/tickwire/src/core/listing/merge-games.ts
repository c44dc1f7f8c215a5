/**
 * Merges the lists of several trackers into one: a game that several of them have is there once, with the newest
 * signature and the best badge.
 */

import { keyToText } from '../crypto/token-text.ts'
import { hexToBytes } from '../nat/hex.ts'
import { listingKey, type GameListing } from './listing.ts'
import type { ForeignListing } from './openra-list.ts'

/**
 * How far a source is trusted. `verified`: it came with the game. `community`: the player or operator added it.
 * `unverified`: it has no signatures.
 */
export type Badge = 'verified' | 'community' | 'unverified'

const BADGES: readonly Badge[] = ['verified', 'community', 'unverified']

/** The listings of one source. */
export interface GameSource {
  /** Its address. */
  readonly url: string
  /** How far it is trusted. */
  readonly badge: Badge
  /** Opened listings: their signatures are right. */
  readonly listings: readonly GameListing[]
  /** Matches of other engines. */
  readonly foreign: readonly ForeignListing[]
}

/** A game in a merged list. */
export interface BrowsedGame {
  /** How far its best source is trusted. */
  readonly badge: Badge
  /** The trackers that have it. */
  readonly sources: readonly string[]
  /** What the host says. Undefined: it is a match of another engine. */
  readonly listing: GameListing | undefined
  /** A match of another engine. */
  readonly foreign: ForeignListing | undefined
  /** Where `connect` joins: an address or a code. Undefined: it cannot be joined from here. */
  readonly url: string | undefined
  /** Pass it to `connect` as `server`: the client then says nothing about its player to another server. */
  readonly server: string | undefined
  /** Whether the player joins a host for the first time that no verified source has: say so before joining. */
  readonly isUnknownHost: boolean
}

/** One list. `known`: identities of hosts that the player has joined before, in hexadecimal digits. */
export function mergeGames(sources: readonly GameSource[], known: ReadonlySet<string> = new Set()): BrowsedGame[] {
  const signed = new Map<string, { listing: GameListing; badge: Badge; sources: string[] }>()
  for (const { url, badge, listings } of sources) {
    for (const listing of listings) {
      const key = listingKey(listing)
      const found = signed.get(key)
      if (found === undefined) {
        signed.set(key, { listing, badge, sources: [url] })
        continue
      }
      if (!found.sources.includes(url)) found.sources.push(url)
      if (listing.signedAt > found.listing.signedAt) found.listing = listing
      if (BADGES.indexOf(badge) < BADGES.indexOf(found.badge)) found.badge = badge
    }
  }
  const games = [...signed.values()].map(({ listing, badge, sources: urls }) => gameOf(listing, badge, urls, known))
  const foreign = sources.flatMap(({ url, foreign: list }) => list.map((each): BrowsedGame => ({
    badge: 'unverified', sources: [url], listing: undefined, foreign: each, url: undefined, server: undefined,
    isUnknownHost: true,
  })))
  return [...games, ...foreign]
}

function gameOf(
  listing: GameListing, badge: Badge, sources: readonly string[], known: ReadonlySet<string>,
): BrowsedGame {
  const { host: { identity, url, address, code, rendezvous }, engine } = listing
  const byCode = code === undefined || rendezvous === undefined ? undefined : `${rendezvous}#${code}`
  const bytes = hexToBytes(identity)
  return {
    badge, sources, listing, foreign: undefined,
    url: engine === 'tickwire' ? url ?? byCode ?? (address === undefined ? undefined : `udp://${address}`) : undefined,
    server: bytes === undefined ? undefined : keyToText('server-public', bytes),
    isUnknownHost: badge !== 'verified' && !known.has(identity),
  }
}
