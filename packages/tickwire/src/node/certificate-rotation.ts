/**
 * A certificate in use and the one that follows it, so that none is used past half its life.
 *
 * Pages are handed the hashes of both: one that asked just before the change connects just after it. Time is handed in.
 */

import { type HashedCertificate, makeCertificate } from './certificate.ts'

/** With this much of its life left, a certificate makes room for the next. */
const RENEW_MS = 6 * 86_400_000

export class CertificateRotation {
  #names: readonly string[] | undefined
  #current: HashedCertificate
  #next: HashedCertificate

  constructor(wallMs: number, names?: readonly string[]) {
    this.#names = names
    this.#current = makeCertificate(wallMs, names)
    this.#next = makeCertificate(wallMs, names)
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
    if (wallMs < this.#current.notAfter - RENEW_MS) return false
    // After a long sleep the next may be old as well.
    this.#current = wallMs < this.#next.notAfter - RENEW_MS ? this.#next : makeCertificate(wallMs, this.#names)
    this.#next = makeCertificate(wallMs, this.#names)
    return true
  }
}
