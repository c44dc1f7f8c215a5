/**
 * Makes test/vectors/listing.json: listings with their canonical texts and signatures, and listings that a reader must
 * refuse.
 *
 * `node --conditions=tickwire-source --import tsx tools/gen-vectors-listing.ts` writes the file. A test holds the file
 * to this list, and an independent checker holds it to docs/wire/LISTINGS.md.
 */

import { writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { pureProvider } from '../packages/tickwire/src/core/crypto/pure-provider.ts'
import { canonicalText } from '../packages/tickwire/src/core/listing/canonical.ts'
import { signListing } from '../packages/tickwire/src/core/listing/listing-signature.ts'
import type { GameListing, ListingFacts } from '../packages/tickwire/src/core/listing/listing.ts'
import { bytesToHex } from '../packages/tickwire/src/core/nat/hex.ts'

/** The whole file. */
export interface ListingVectors {
  readonly about: string
  readonly good: readonly { readonly name: string; readonly listing: GameListing; readonly canonical: string }[]
  readonly refused: readonly { readonly name: string; readonly listing: unknown }[]
}

const PATH = new URL('../test/vectors/listing.json', import.meta.url)

/** The vectors, made anew. */
export function makeListingVectors(): ListingVectors {
  const key = pureProvider.importSigning(new Uint8Array(32).fill(3))
  const small: ListingFacts = {
    game: 'arena', engine: 'tickwire', name: 'Ada', region: 'eu-central', players: 0, capacity: 8, status: 'waiting',
    host: { identity: bytesToHex(key.publicKey) },
  }
  const large: ListingFacts = {
    ...small, name: 'Zoë "the fox" \u{1f98a}\\ night', build: '0123456789abcdef', hasPassword: true, names: ['ä', 'b'],
    host: { ...small.host, url: 'https://play.example/', address: '203.0.113.5:4001', relay: 'home' },
    map: { name: 'Delta', hash: 'aB_-9', players: 4 },
    rules: { mod: 'base', version: '1.0', custom: { zeta: '', alpha: '1', 'b.c': '\u20ac' } },
    requiredMods: [{ id: 'ada/snow', version: '>=1 <2', sha256: 'a'.repeat(64), bytes: 9007199254740991 }],
  }
  const all = [['the smallest listing', small], ['a listing with all fields', large]] as const
  const good = all.map(([name, facts]) => {
    const listing = signListing(key, facts, 1_800_000_000_000)
    const { sig: _, ...unsigned } = listing
    return { name, listing, canonical: canonicalText(unsigned) ?? '' }
  })
  const first = good[0]?.listing
  const refused = [
    ['a changed number', { ...first, players: 1 }], ['a field more', { ...first, extra: 1 }],
    ['another signature', { ...first, sig: 'A'.repeat(86) }], ['no signature', { ...first, sig: undefined }],
    ['a fraction', { ...first, players: 0.5 }], ['a text that turns around', { ...first, name: 'a\u202eb' }],
    ['an address that runs code', { ...first, host: { ...first?.host, url: 'javascript:alert(1)' } }],
    ['too long', { ...first, name: 'x'.repeat(65) }], ['an unknown status', { ...first, status: 'open' }],
  ].map(([name, listing]) => ({ name: String(name), listing }))
  return { about: 'docs/wire/LISTINGS.md. The secret key is 32 bytes of 3.', good, refused }
}

/** The text of the file. */
export function listingVectorsText(vectors: ListingVectors): string {
  return `${JSON.stringify(vectors, undefined, 2)}\n`
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  writeFileSync(fileURLToPath(PATH), listingVectorsText(makeListingVectors()))
