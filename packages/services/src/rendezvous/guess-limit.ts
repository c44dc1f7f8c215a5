/**
 * How often an origin may guess a code: 5 wrong guesses in a minute, 30 in an hour. Then nothing is looked up for it.
 *
 * With 100 live codes of 31 bits, an origin hits one in an hour with a chance of 1.4e-6. An IPv6 network counts as one
 * origin by its first 64 bits. The table is bounded: the origin that guessed longest ago is forgotten first.
 */

import { isIPv4, isIPv6 } from 'node:net'

export const GUESSES_PER_MINUTE = 5
export const GUESSES_PER_HOUR = 30
const ORIGINS_MAX = 20_000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

interface Guesses {
  /** When wrong guesses were made, in the last hour at most. */
  readonly at: number[]
}

/** Counts wrong guesses. */
export class GuessLimit {
  readonly #origins: Map<string, Guesses> = new Map()

  /** How many origins have guessed wrong of late. */
  get origins(): number {
    return this.#origins.size
  }

  /** Whether a code of this origin is looked up at all. */
  mayGuess(now: number, ip: string): boolean {
    const guesses = this.#origins.get(originName(ip))
    if (guesses === undefined) return true
    const recent = guesses.at.filter((at) => at > now - HOUR_MS)
    return recent.length < GUESSES_PER_HOUR && recent.filter((at) => at > now - MINUTE_MS).length < GUESSES_PER_MINUTE
  }

  /** Takes all remaining guesses from an origin, because it made them at other instances. */
  exhaust(now: number, ip: string): void {
    while (this.mayGuess(now, ip)) this.note(now, ip)
  }

  /** Notes a wrong guess. */
  note(now: number, ip: string): void {
    const name = originName(ip)
    const at = [...(this.#origins.get(name)?.at ?? []).filter((each) => each > now - HOUR_MS), now]
    this.#origins.delete(name)
    this.#origins.set(name, { at: at.slice(-GUESSES_PER_HOUR) })
    for (const oldest of this.#origins.keys()) {
      if (this.#origins.size <= ORIGINS_MAX) break
      this.#origins.delete(oldest)
    }
  }
}

/** The name that an address counts under. */
export function originName(ip: string): string {
  const mapped = ip.replace(/^::ffff:(?=\d+\.)/i, '')
  if (isIPv4(mapped) || !isIPv6(mapped)) return mapped
  const [head = '', tail] = mapped.split('%', 1)[0]?.toLowerCase().split('::') ?? []
  const words = head === '' ? [] : head.split(':')
  const rest = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: Math.max(0, 8 - words.length - rest.length) }, () => '0')
  return [...words, ...zeros, ...rest].slice(0, 4).map((word) => Number.parseInt(word, 16).toString(16)).join(':')
}
