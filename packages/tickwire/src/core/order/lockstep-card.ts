/**
 * The card of a lockstep game: what a relay knows of a game, without its code. As text it is JSON:
 *
 *   { "players": [2, 8], "text": "lockstep 30\norder 0 ..." }
 *
 * `text` is everything that two builds must agree on: rate, orders and entities. The fingerprint is computed from it,
 * so a card cannot claim a different one. A card may come from an untrusted file: an invalid one is refused, with the
 * reason.
 */

import { LOCKSTEP_CARD_CHARS_MAX, LOCKSTEP_PLAYERS_MAX, TICK_RATE_MAX } from '../base/limits.ts'
import { fingerprintOf } from '../schema/fingerprint.ts'

/** What a relay knows of a game. */
export interface LockstepCard {
  /** Eight bytes of everything that two builds must agree on. */
  readonly fingerprint: Uint8Array
  /** Ticks per second. */
  readonly tickRate: number
  /** The least and the most players. The match starts with the least. */
  readonly players: readonly [number, number]
  /** Everything that two builds must agree on: rate, orders and entities. */
  readonly text: string
}

/** The card of a game as text, for a relay that has no code of the game. */
export function encodeCard({ players, text }: Pick<LockstepCard, 'players' | 'text'>): string {
  return JSON.stringify({ players, text })
}

/** The card in `json`, or the reason why it is not a card. */
export function decodeCard(json: string): LockstepCard | string {
  if (json.length > LOCKSTEP_CARD_CHARS_MAX)
    return `too long (expected at most ${LOCKSTEP_CARD_CHARS_MAX} characters, got ${json.length})`
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return 'not JSON'
  }
  const { players, text } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  if (typeof text !== 'string') return 'no text of a game'
  const tickRate = Number(/^lockstep (\d{1,4})(?:\n|$)/.exec(text)?.[1])
  if (!(tickRate >= 1 && tickRate <= TICK_RATE_MAX)) return `no tick rate from 1 to ${TICK_RATE_MAX} in its text`
  const [least, most, ...rest] = (Array.isArray(players) ? players : []) as unknown[]
  if (!isCount(least) || !isCount(most) || least > most || rest.length > 0)
    return `invalid players (expected [least, most] from 1 to ${LOCKSTEP_PLAYERS_MAX})`
  return { fingerprint: fingerprintBytes(text), tickRate, players: [least, most], text }
}

/** The fingerprint of a text as bytes, least byte first. */
export function fingerprintBytes(text: string): Uint8Array {
  const words = fingerprintOf(text)
  const bytes = new Uint8Array(words.length * 4)
  for (let at = 0; at < bytes.length; at++) bytes[at] = words[at >>> 2] >>> ((at & 3) * 8)
  return bytes
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= LOCKSTEP_PLAYERS_MAX
}
