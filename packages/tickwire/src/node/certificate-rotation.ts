/**
 * A certificate in use and the one that follows it, so that none is used past half its life.
 *
 * Pages are handed the hashes of both: one that asked just before the change connects just after it. Time is handed in.
 */

import { type HashedCertificate, makeCertificate } from './certificate.ts'

/** How long a certificate is in use: half its life. */
const USE_MS = 6 * 86_400_000

export class CertificateRotation {
  #names: readonly string[] | undefined
  #current: HashedCertificate
  /** Made for the day it is put to use. */
  #next: HashedCertificate
  #renewAt: number

  constructor(wallMs: number, names?: readonly string[]) {
    this.#names = names
    this.#current = makeCertificate(wallMs, names)
    this.#next = makeCertificate(wallMs + USE_MS, names)
    this.#renewAt = wallMs + USE_MS
  }

  get current(): HashedCertificate {
    return this.#current
  }

  /** What a page may meet, now or soon. */
  get hashes(): readonly Uint8Array[] {
    return [this.#current.hash, this.#next.hash]
  }

  /** Whether the next has become the current one: it must be put to use. */
  renew(wallMs: number): boolean {
    if (wallMs < this.#renewAt) return false
    const hasSlept = wallMs >= this.#renewAt + USE_MS
    const startedAt = hasSlept ? wallMs : this.#renewAt
    this.#current = hasSlept ? makeCertificate(wallMs, this.#names) : this.#next
    this.#next = makeCertificate(startedAt + USE_MS, this.#names)
    this.#renewAt = startedAt + USE_MS
    return true
  }
}
