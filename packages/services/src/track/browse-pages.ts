/**
 * Pages of the list as finished bytes. A page is made once and served to all until the list changes, which it does at
 * most once a second.
 */

import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { Static } from 'typebox'
import { isWanted } from 'tickwire/engine'
import type { Listings } from './listings.ts'
import type { BrowseQuery } from './schemas.ts'

/** Pages for so many different questions are kept. */
const PAGES_MAX = 512
const LIMIT_DEFAULT = 100

/** A page. */
export interface BrowsePage {
  readonly plain: Buffer
  /** The same, compressed; made when it is first asked for. */
  gzip(): Buffer
  readonly etag: string
}

export class BrowsePages {
  /** How pages were answered. They only grow. */
  readonly counts = { cached: 0, made: 0 }
  readonly #listings: Listings
  readonly #pages: Map<string, BrowsePage> = new Map()
  #revision = -1

  constructor(listings: Listings) {
    this.#listings = listings
  }

  /** `name`: the text of the query, as it was asked. */
  page(name: string, query: Static<typeof BrowseQuery>): BrowsePage {
    if (this.#revision !== this.#listings.revision) {
      this.#pages.clear()
      this.#revision = this.#listings.revision
    }
    const found = this.#pages.get(name)
    if (found !== undefined) {
      this.counts.cached++
      return found
    }
    this.counts.made++
    if (this.#pages.size >= PAGES_MAX) this.#pages.delete(this.#pages.keys().next().value ?? '')
    const page = pageOf(this.#textOf(query))
    this.#pages.set(name, page)
    return page
  }

  #textOf({ after = '', limit = LIMIT_DEFAULT, engine, version, ...filter }: Static<typeof BrowseQuery>): string {
    const { games, asOf, isStale } = this.#listings
    const texts: string[] = []
    let [last, hasMore] = ['', false]
    for (const { id, listing, text } of games.values()) {
      if (id <= after || !isWanted(listing, filter) || (engine !== undefined && listing.engine !== engine)) continue
      if (version !== undefined && listing.rules?.version !== version) continue
      if (texts.length === limit) {
        hasMore = true
        break
      }
      texts.push(text)
      last = id
    }
    const next = hasMore ? `,"next":"${last}"` : ''
    return `{"listings":[${texts.join(',')}]${next},"asOf":${asOf},"isStale":${isStale}}`
  }
}

function pageOf(text: string): BrowsePage {
  const plain = Buffer.from(text)
  let gzip: Buffer | undefined
  return {
    plain, gzip: () => gzip ??= gzipSync(plain, { level: 6 }),
    etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
  }
}
