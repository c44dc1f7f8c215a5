/** Listings by their document: an independent reader with node:crypto alone, and the engine. */

import { createPublicKey, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { pureProvider } from '../../packages/tickwire/src/core/crypto/pure-provider.ts'
import { canonicalText } from '../../packages/tickwire/src/core/listing/canonical.ts'
import { openListing } from '../../packages/tickwire/src/core/listing/listing-signature.ts'
import { listingVectorsText, makeListingVectors } from '../../tools/gen-vectors-listing.ts'
import vectors from '../vectors/listing.json' with { type: 'json' }

type Json = { readonly [name: string]: unknown }

/** Keys in order, no spaces: written from docs/wire/LISTINGS.md, without the engine. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const keys = Object.keys(value).sort()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical((value as Json)[key])}`).join(',')}}`
}

function isSigned(listing: Json): boolean {
  const { sig, ...unsigned } = listing
  const { identity } = listing['host'] as { readonly identity: string }
  const spki = Buffer.from(`302a300506032b6570032100${identity}`, 'hex')
  const bytes = Buffer.concat([Buffer.from('tickwire/v1/listing\0'), Buffer.from(canonical(unsigned))])
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
  return verify(null, bytes, key, Buffer.from(String(sig ?? ''), 'base64url'))
}

describe('listing vectors', () => {
  test('[TRACK3] the file is what its generator makes', () => {
    expect(readFileSync(new URL('../vectors/listing.json', import.meta.url), 'utf8'))
      .toBe(listingVectorsText(makeListingVectors()))
  })

  test.each(vectors.good)('[TRACK3] $name: the document and the engine agree', ({ listing, canonical: text }) => {
    const { sig: _, ...unsigned } = listing
    expect(canonical(unsigned)).toBe(text)
    expect(canonicalText(unsigned)).toBe(text)
    expect(isSigned(listing)).toBe(true)
    expect(openListing(pureProvider, listing)).toEqual(listing)
    // Another order of keys is the same listing.
    const turned = Object.fromEntries(Object.entries(listing).toReversed())
    expect(openListing(pureProvider, turned)).toEqual(listing)
    // A field of a later version is signed too.
    expect(openListing(pureProvider, { ...listing, later: 1 })).toBeUndefined()
  })

  test.each(vectors.refused)('[TRACK3] refused: $name', ({ listing }) => {
    expect(openListing(pureProvider, listing)).toBeUndefined()
  })
})
