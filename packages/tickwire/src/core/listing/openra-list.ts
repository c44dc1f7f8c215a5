/**
 * The list of OpenRA's master server as listings of a foreign engine: they are shown, and cannot be joined.
 *
 * Its form is that of `games?protocol=2&type=json`: an array of objects with `name`, `address` (`ip:port`), `state` (1
 * waiting, 2 playing), `mod`, `version`, `map`, `players`, `maxplayers`, `protected`, `location`, `clients` (objects
 * with `name` and `isbot`). It was read from games.php of OpenRA/OpenRAMasterServer, commit
 * c415a534cd8d78f6a2aca482e5eeaa5867f87359, and the names of the states from GameServer.cs of OpenRA/OpenRA, commit
 * 360531417d17e09c025752d40e0ab584f3c4897a.
 */

import { LISTING_NAME_CHARS_MAX, LISTING_NAMES_MAX, LISTINGS_FOREIGN_MAX } from '../base/limits-listing.ts'
import type { ListingStatus } from './listing.ts'

/** A match of another engine. It has no identity and no signature, and its address is not kept. */
export interface ForeignListing {
  /** The name of the game: of OpenRA, the mod. */
  readonly game: string
  /** The name of the engine: `openra`. */
  readonly engine: string
  /** The name of the match, for people. */
  readonly name: string
  /** Where the host is. Empty: unknown. */
  readonly region: string
  /** The version of the game. */
  readonly version: string
  /** The id of the map. */
  readonly map: string
  /** How many play. */
  readonly players: number
  /** Most players. */
  readonly capacity: number
  /** Names of the players, without bots. */
  readonly names: readonly string[]
  /** Whether the match has begun, or is full. */
  readonly status: ListingStatus
  /** Whether players need a password. */
  readonly hasPassword: boolean
}

const WAITING = 1
const PLAYING = 2
const COUNT_MAX = 65_535
const HIDDEN = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/gu

/** The matches of a list. Entries of another form are left out. Never throws. */
export function readOpenRaList(value: unknown): ForeignListing[] {
  if (!Array.isArray(value)) return []
  return value.slice(0, LISTINGS_FOREIGN_MAX).flatMap((entry: unknown) => {
    const found = readServer(entry)
    return found === undefined ? [] : [found]
  })
}

function readServer(entry: unknown): ForeignListing | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined
  const { name, state, mod, version, map, players, maxplayers, protected: isProtected, location, clients } =
    entry as { readonly [key: string]: unknown }
  if (typeof name !== 'string' || typeof mod !== 'string' || (state !== WAITING && state !== PLAYING)) return undefined
  const [count, capacity] = [countOf(players), countOf(maxplayers)]
  return {
    engine: 'openra', game: lineOf(mod), name: lineOf(name), region: lineOf(location), version: lineOf(version),
    map: lineOf(map), players: count, capacity, hasPassword: isProtected === true, names: namesOf(clients),
    status: state === PLAYING ? 'in_progress' : capacity > 0 && count >= capacity ? 'full' : 'waiting',
  }
}

function lineOf(value: unknown): string {
  return typeof value === 'string' ? value.replace(HIDDEN, '').slice(0, LISTING_NAME_CHARS_MAX).trim() : ''
}

function countOf(value: unknown): number {
  return Number.isInteger(value) && Number(value) >= 0 ? Math.min(Number(value), COUNT_MAX) : 0
}

function namesOf(clients: unknown): string[] {
  if (!Array.isArray(clients)) return []
  return clients.slice(0, LISTING_NAMES_MAX).flatMap((client: unknown) => {
    const { name, isbot } = (client ?? {}) as { readonly name?: unknown; readonly isbot?: unknown }
    const line = isbot === true ? '' : lineOf(name)
    return line === '' ? [] : [line]
  })
}
