/**
 * The certificate in use and its successor. No certificate is used past half its life.
 *
 * Pages receive the hashes of both, so a page that fetched them just before a rotation connects just after it. The
 * caller passes the time in.
 */

import { type HashedCertificate, makeCertificate } from './certificate.ts'

/** How long a certificate is in use: half its life. */
const USE_MS = 6 * 86_400_000

export class CertificateRotation {
  #names: readonly string[] | undefined
  #current: HashedCertificate
  /** Valid from the day it is put to use. */
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

  /** Hashes of the certificates that a page may see, now or after the next rotation. */
  get hashes(): readonly Uint8Array[] {
    return [this.#current.hash, this.#next.hash]
  }

  /** Whether the next certificate has become the current one. The caller must then start to use it. */
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
