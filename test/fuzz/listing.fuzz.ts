/** Hostile input for public lists: listings, lists of another engine, ids of leases, and what a page shows of them. */

import { isLeaseId, leaseKeys } from '../../packages/services/src/store/lease-key.ts'
import { gamesPage } from '../../packages/services/src/track/games-page.ts'
import { canonicalText } from '../../packages/tickwire/src/core/listing/canonical.ts'
import { openListing } from '../../packages/tickwire/src/core/listing/listing-signature.ts'
import { readListing } from '../../packages/tickwire/src/core/listing/listing.ts'
import { mergeGames } from '../../packages/tickwire/src/core/listing/merge-games.ts'
import { readOpenRaList } from '../../packages/tickwire/src/core/listing/openra-list.ts'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'
import vectors from '../vectors/listing.json' with { type: 'json' }
import type { FuzzTarget } from './target.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
const OPENRA = [{ name: 'a', state: 1, mod: 'ra', players: 1, maxplayers: 2, clients: [{ name: 'b', isbot: false }] }]
/** Fast: the signature check of the pure one allocates more than a target may. */
const provider = bestProvider()
const GOOD: ReadonlySet<string> = new Set(vectors.good.map(({ canonical }) => canonical))

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(textOf(bytes))
  } catch {
    return undefined
  }
}

const listing: FuzzTarget = {
  name: 'listing',
  seeds: () => [...vectors.good, ...vectors.refused].map((vector) => bytesOf(JSON.stringify(vector.listing))),
  run(bytes) {
    const value = parse(bytes)
    const read = readListing(value)
    if (read === undefined) return
    const { sig: _, ...unsigned } = read
    const text = canonicalText(unsigned)
    if (text !== undefined && canonicalText(JSON.parse(text)) !== text) throw new Error('two texts of one value')
    if (openListing(provider, value) !== undefined && !GOOD.has(text ?? '')) throw new Error('a forged listing')
    const [game] = mergeGames([{ url: '', badge: 'community', listings: [read], foreign: [] }])
    const html = game === undefined ? '' : gamesPage([game], {}, false)
    if (/<(?:img|iframe|svg)|href="(?!https?:|\/)/i.test(html)) throw new Error('a listing put code into the page')
  },
}

const openra: FuzzTarget = {
  name: 'openra-list',
  seeds: () => [bytesOf(JSON.stringify(OPENRA))],
  run(bytes) {
    for (const { name, game, names } of readOpenRaList(parse(bytes)))
      for (const text of [name, game, ...names]) if (text.length > 64 || /\p{Cc}/u.test(text)) throw new Error(text)
  },
}

const key: FuzzTarget = {
  name: 'lease-key',
  seeds: () => ['0123456789abcdef', 'ABCDEFGH', 'tw:{code}:ids', '*'].map(bytesOf),
  run(bytes) {
    const id = textOf(bytes)
    const keys = leaseKeys('listing', id)
    if ((keys !== undefined) !== isLeaseId(id)) throw new Error('a key without an id')
    if (keys !== undefined && !/^tw:\{listing\}:lease:[A-Za-z0-9]{8,64}$/.test(keys.lease)) throw new Error(keys.lease)
  },
}

export const targets: readonly FuzzTarget[] = [listing, openra, key]
