/**
 * A listing: one match or server in a public list of games, signed by the identity of its host.
 *
 * It is a JSON object, so that any program can read it. Its signature covers the canonical text of all its fields
 * except `sig` (`canonical.ts`), also of fields that this version does not know. A list that passes a listing on cannot
 * change it, and a client pins the identity before it says anything about its player.
 *
 * Everything here comes from strangers: sizes are limited, and texts have no control characters and no characters that
 * change the direction of writing, which could make one name look like another.
 */

import {
  LISTING_CUSTOM_MAX, LISTING_MODS_MAX, LISTING_NAME_CHARS_MAX, LISTING_NAMES_MAX, LISTING_URL_CHARS_MAX,
} from '../base/limits-listing.ts'

/** Whether a match can be joined. */
export type ListingStatus = 'waiting' | 'in_progress' | 'full'

/** How a host is reached. A host behind a router has a code instead of an address. */
export interface ListingHost {
  /** The public identity key of the host: 64 hexadecimal digits. */
  readonly identity: string
  /** Where pages and `connect` join: `https://play.example/`. */
  readonly url?: string
  /** Where native clients join by UDP: `203.0.113.5:4001`. */
  readonly address?: string
  /** A join code, for hosts that are reached through a rendezvous. */
  readonly code?: string
  /** The address of that rendezvous. */
  readonly rendezvous?: string
  /** The relay that players go through, if the address of the host is not public. */
  readonly relay?: string
}

/** A modification that a client must have. */
export interface RequiredMod {
  /** `namespace/name`. */
  readonly id: string
  /** The versions that fit, as the game writes them: `>=1.2 <2`. */
  readonly version: string
  /** The SHA-256 of its bytes: 64 hexadecimal digits. */
  readonly sha256: string
  /** Its size in bytes. */
  readonly bytes: number
  /** Where it is downloaded. Default: the game knows. */
  readonly url?: string
}

/** What the host of a match says about it. */
export interface ListingFacts {
  /** The name of the game: clients look for it. */
  readonly game: string
  /** The engine of the game: `tickwire`. Matches of other engines are shown, and cannot be joined. */
  readonly engine: string
  /** The name of this match, for people. */
  readonly name: string
  /** How its host is reached. */
  readonly host: ListingHost
  /** Where the host is: `eu-central`. */
  readonly region: string
  /** The build of the game: 16 hexadecimal digits of its fingerprint. Clients of other builds cannot join. */
  readonly build?: string
  /** The map that is played: its name, a hash of its bytes, and for how many players it is. */
  readonly map?: { readonly name: string; readonly hash: string; readonly players: number }
  /** The rules that are played: a mod, its version, and settings of the game. */
  readonly rules?: {
    readonly mod: string; readonly version: string; readonly custom: { readonly [name: string]: string }
  }
  /** How many play. */
  readonly players: number
  /** Most players. */
  readonly capacity: number
  /** Names of the players, if the host publishes them. */
  readonly names?: readonly string[]
  /** Whether a client can join now. */
  readonly status: ListingStatus
  /** Whether players need a password. Default: no. */
  readonly hasPassword?: boolean
  /** Mods that a client must have. Default: none. */
  readonly requiredMods?: readonly RequiredMod[]
}

/** A listing, with its signature. */
export interface GameListing extends ListingFacts {
  /** When it was signed, in ms since 1970. */
  readonly signedAt: number
  /** The signature of the host, 64 bytes as base64url. */
  readonly sig: string
}

/** Control characters, lone surrogates, and characters that change the direction of writing. */
const HIDDEN = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u
const WORD = /^[a-z0-9][a-z0-9._-]{0,31}$/
const HEX_64 = /^[0-9a-f]{64}$/
const HEX_16 = /^[0-9a-f]{16}$/
const MOD_ID = /^[a-z0-9._-]{1,48}\/[a-z0-9._-]{1,48}$/
const MAP_HASH = /^[0-9a-zA-Z_-]{1,64}$/
const SIGNATURE = /^[A-Za-z0-9_-]{86}$/
const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]{2,45}\]):\d{1,5}$/
const URL_TEXT = /^https?:\/\/[^\s"'<>\\^`{|}]+$/
const CODE = /^[A-Z0-9-]{8,48}$/
const STATUSES: readonly string[] = ['waiting', 'in_progress', 'full']
const COUNT_MAX = 65_535

type Fields = { readonly [name: string]: unknown }

/** The listing, if its form is right; undefined otherwise. The signature is not checked. Never throws. */
export function readListing(value: unknown): GameListing | undefined {
  if (!isFields(value)) return undefined
  const { game, engine, name, host, region, build, map, rules, players, capacity, names } = value
  const { status, hasPassword, requiredMods, signedAt, sig } = value
  const isRight = isLine(game, LISTING_NAME_CHARS_MAX) && isLike(engine, WORD) && isLine(name, LISTING_NAME_CHARS_MAX)
    && isHost(host) && isLike(region, WORD) && isMaybe(build, (text) => isLike(text, HEX_16)) && isMaybe(map, isMap)
    && isMaybe(rules, isRules) && isCount(players) && isCount(capacity) && isMaybe(names, areNames)
    && typeof status === 'string' && STATUSES.includes(status)
    && isMaybe(hasPassword, (flag) => typeof flag === 'boolean') && isMaybe(requiredMods, areMods)
    && Number.isSafeInteger(signedAt) && Number(signedAt) >= 0 && isLike(sig, SIGNATURE)
  return isRight ? value as unknown as GameListing : undefined
}

/** What makes two listings the same: one host has one listing of a game. */
export function listingKey({ host: { identity }, game }: Pick<GameListing, 'host' | 'game'>): string {
  return `${identity} ${game}`
}

/** The required mods that a client does not have. `installed`: their SHA-256, in hexadecimal digits, by id. */
export function missingMods(
  { requiredMods = [] }: Pick<GameListing, 'requiredMods'>, installed: ReadonlyMap<string, string>,
): readonly RequiredMod[] {
  return requiredMods.filter(({ id, sha256 }) => installed.get(id) !== sha256)
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isMaybe(value: unknown, check: (value: unknown) => boolean): boolean {
  return value === undefined || check(value)
}

function isLine(value: unknown, charsMax: number, charsMin: number = 1): boolean {
  return typeof value === 'string' && value.length >= charsMin && value.length <= charsMax
    && !HIDDEN.test(value)
}

function isLike(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value)
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= COUNT_MAX
}

function isUrl(value: unknown): boolean {
  return typeof value === 'string' && value.length <= LISTING_URL_CHARS_MAX && URL_TEXT.test(value)
}

function isHost(value: unknown): boolean {
  if (!isFields(value)) return false
  const { identity, url, address, code, rendezvous, relay } = value
  return isLike(identity, HEX_64) && isMaybe(url, isUrl) && isMaybe(address, (text) => isLike(text, ADDRESS))
    && isMaybe(code, (text) => isLike(text, CODE)) && isMaybe(rendezvous, isUrl)
    && isMaybe(relay, (text) => isLine(text, LISTING_NAME_CHARS_MAX))
}

function isMap(value: unknown): boolean {
  if (!isFields(value)) return false
  return isLine(value['name'], LISTING_NAME_CHARS_MAX) && isLike(value['hash'], MAP_HASH) && isCount(value['players'])
}

function isRules(value: unknown): boolean {
  if (!isFields(value)) return false
  const { mod, version, custom } = value
  const entries = isFields(custom) ? Object.entries(custom) : undefined
  return isLine(mod, LISTING_NAME_CHARS_MAX) && isLine(version, LISTING_NAME_CHARS_MAX)
    && entries !== undefined && entries.length <= LISTING_CUSTOM_MAX
    && entries.every(([key, text]) => isLike(key, WORD) && isLine(text, LISTING_NAME_CHARS_MAX, 0))
}

function areNames(value: unknown): boolean {
  return Array.isArray(value) && value.length <= LISTING_NAMES_MAX
    && value.every((name) => isLine(name, LISTING_NAME_CHARS_MAX))
}

function areMods(value: unknown): boolean {
  return Array.isArray(value) && value.length <= LISTING_MODS_MAX && value.every((mod) => {
    if (!isFields(mod)) return false
    const { id, version, sha256, bytes, url } = mod
    return isLike(id, MOD_ID) && isLine(version, LISTING_NAME_CHARS_MAX) && isLike(sha256, HEX_64)
      && Number.isSafeInteger(bytes) && Number(bytes) >= 0 && isMaybe(url, isUrl)
  })
}
