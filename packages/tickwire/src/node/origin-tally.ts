/**
 * Counts what each origin holds: sockets, downloads, offers.
 *
 * Memory is bounded by what is held: an origin that holds nothing has no entry. This machine and its own network are
 * not limited unless `areLocalExempt` is false; everything else is counted by `originKey`. A text that is not an
 * address counts as an origin of its own.
 */

import { originKey } from '../core/endpoint/origin-key.ts'
import { PREFIXES, sizesOf } from '../core/endpoint/origin-limits.ts'

export class OriginTally {
  readonly #max: number
  readonly #areLocalExempt: boolean
  readonly #counts: Map<string, number> = new Map()
  #total = 0

  /** `max` is what one origin may hold. */
  constructor(max: number, areLocalExempt: boolean) {
    this.#max = max
    this.#areLocalExempt = areLocalExempt
  }

  /** The total over all origins. */
  get total(): number {
    return this.#total
  }

  /** Counts one more for `ip`, unless that exceeds the limit of the address, or of an IPv6 network around it. */
  take(ip: string): boolean {
    const names = namesOf(ip)
    const isFull = names.some((name, size) => (this.#counts.get(name) ?? 0) >= this.#max * (PREFIXES[size]?.times ?? 1))
    if (isFull && !this.#isExempt(ip)) return false
    for (const name of names) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
    this.#total++
    return true
  }

  /** Counts one less for `ip`. */
  release(ip: string): void {
    if (this.countOf(ip) === 0) return
    this.#total--
    for (const name of namesOf(ip)) {
      const count = this.#counts.get(name) ?? 0
      if (count <= 1) this.#counts.delete(name)
      else this.#counts.set(name, count - 1)
    }
  }

  countOf(ip: string): number {
    return this.#counts.get(namesOf(ip)[0] ?? '') ?? 0
  }

  #isExempt(ip: string): boolean {
    return this.#areLocalExempt && originKey(ip)?.isLocal === true
  }
}

/** An address counts for itself; an IPv6 address also for the networks around it. */
function namesOf(ip: string): string[] {
  const key = originKey(ip)
  if (key === undefined) return [ip]
  const { family, high, low } = key
  return PREFIXES.slice(0, sizesOf(family)).map(({ bits, mask }) => `${family}/${high}/${(low & mask) >>> 0}/${bits}`)
}
