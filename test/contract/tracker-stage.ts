/** Hosts and requests for the tests of trackers. */

import { bestProvider } from 'tickwire/node'
import type { GameListing, ListingFacts } from '../../packages/tickwire/src/core/listing/listing.ts'
import { signListing } from '../../packages/tickwire/src/core/listing/listing-signature.ts'
import { bytesToHex } from '../../packages/tickwire/src/core/nat/hex.ts'

/** An answer, whatever its status. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  // reason: tests look into answers of many forms.
  readonly body: any
}

/** A host with an identity of its own. */
export class TestHost {
  readonly number: number
  readonly key: ReturnType<ReturnType<typeof bestProvider>['importSigning']>
  readonly identity: string

  constructor(number: number) {
    this.number = number
    this.key = bestProvider().importSigning(new Uint8Array(32).map((_, at) => (at === 0 ? number & 255 : number >> 8)))
    this.identity = bytesToHex(this.key.publicKey)
  }

  sign(facts: Partial<ListingFacts> = {}, signedAt: number = Date.now()): GameListing {
    return signListing(this.key, {
      game: 'arena', engine: 'tickwire', name: `match ${this.number}`, region: 'eu-central', players: 1, capacity: 8,
      status: 'in_progress', host: { identity: this.identity, url: 'https://play.example/' }, ...facts,
    }, signedAt)
  }
}

/** Asks with JSON. */
export async function ask(
  method: string, url: string, body?: unknown, bearer?: string, headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }), ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : parse(text) }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export async function until(isTrue: () => boolean | Promise<boolean>, msMax: number = 15_000): Promise<void> {
  for (const deadline = performance.now() + msMax; !await isTrue();) {
    if (performance.now() > deadline) throw new Error('never true')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
