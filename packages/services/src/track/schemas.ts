/**
 * The bodies of the tracker, as TypeBox schemas: types, validation and `openapi.json` come from here. The limits of a
 * listing are those of `readListing` of the engine, which every client checks again.
 */

import { Type } from 'typebox'

const Hex = (digits: number, description: string) =>
  Type.String({ pattern: `^[0-9a-f]{${digits}}$`, description })
const Line = (description: string, minLength: number = 1) => Type.String({ minLength, maxLength: 64, description })
const Word = (description: string) => Type.String({ pattern: '^[a-z0-9][a-z0-9._-]{0,31}$', description })
const Count = (description: string) => Type.Integer({ minimum: 0, maximum: 65_535, description })
const Address = (description: string) => Type.String({ maxLength: 256, pattern: '^https?://', description })
const Status = Type.Union([Type.Literal('waiting'), Type.Literal('in_progress'), Type.Literal('full')])

export const Listing = Type.Object({
  game: Line('the name of the game'),
  engine: Word('the engine of the game: tickwire'),
  name: Line('the name of the match, for people'),
  host: Type.Object({
    identity: Hex(64, 'the public identity key of the host'),
    url: Type.Optional(Address('where pages join')),
    address: Type.Optional(Type.String({ maxLength: 64, description: 'ip:port of native UDP' })),
    code: Type.Optional(Type.String({ maxLength: 48, description: 'a join code' })),
    rendezvous: Type.Optional(Address('the rendezvous of the code')),
    relay: Type.Optional(Line('the relay of a host without a public address')),
  }, { additionalProperties: false }),
  region: Word('where the host is'),
  build: Type.Optional(Hex(16, 'the fingerprint of the game')),
  map: Type.Optional(Type.Object({
    name: Line('its name'), hash: Type.String({ maxLength: 64 }), players: Count('most players'),
  }, { additionalProperties: false })),
  rules: Type.Optional(Type.Object({
    mod: Line('the mod'), version: Line('its version'),
    custom: Type.Record(Type.String({ maxLength: 32 }), Type.String({ maxLength: 64 }), { maxProperties: 16 }),
  }, { additionalProperties: false })),
  players: Count('how many play'),
  capacity: Count('most players'),
  names: Type.Optional(Type.Array(Line('the name of a player'), { maxItems: 64 })),
  status: Status,
  hasPassword: Type.Optional(Type.Boolean()),
  requiredMods: Type.Optional(Type.Array(Type.Object({
    id: Type.String({ maxLength: 97, description: 'namespace/name' }), version: Line('versions that fit'),
    sha256: Hex(64, 'the SHA-256 of its bytes'), bytes: Type.Integer({ minimum: 0 }),
    url: Type.Optional(Address('where it is downloaded')),
  }, { additionalProperties: false }), { maxItems: 16 })),
  signedAt: Type.Integer({ minimum: 0, description: 'ms since 1970' }),
  sig: Type.String({ pattern: '^[A-Za-z0-9_-]{86}$', description: 'the signature of the host' }),
}, { additionalProperties: false, description: 'a listing, signed by its host; see docs/wire/LISTINGS.md' })

export const NewListing = Type.Object({ listing: Listing }, { additionalProperties: false })

export const Renewal = Type.Object({
  listing: Type.Optional(Listing),
}, { additionalProperties: false, description: 'without a listing, the lease is renewed' })

export const LeaseAnswer = Type.Object({
  id: Type.String(),
  lease: Type.String({ description: 'secret: renews, changes and removes the listing' }),
  ttlMs: Type.Integer({ description: 'the listing ends so long after its last renewal' }),
  heartbeatMs: Type.Integer({ description: 'renew it this often' }),
})

export const RenewalAnswer = Type.Object({ ttlMs: Type.Integer() })

export const ListingId = Type.Object({ id: Hex(32, 'the id of the listing') })

export const BrowseQuery = Type.Object({
  game: Type.Optional(Line('only this game')),
  region: Type.Optional(Word('only this region')),
  engine: Type.Optional(Word('only this engine')),
  status: Type.Optional(Status),
  seats: Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535, description: 'free seats at least' })),
  build: Type.Optional(Hex(16, 'only this build of the game')),
  version: Type.Optional(Line('only this version of the rules')),
  after: Type.Optional(Type.String({ pattern: '^[0-9a-f]{32}$', description: '`next` of the page before' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, description: 'listings of a page; 100' })),
}, { additionalProperties: false })

export const BrowseAnswer = Type.Object({
  listings: Type.Array(Listing),
  next: Type.Optional(Type.String({ description: 'ask for the next page with after=' })),
  asOf: Type.Integer({ description: 'when the list last changed, ms since 1970' }),
  isStale: Type.Boolean({ description: 'whether the store does not answer' }),
})

export const Reach = Type.Object({
  port: Type.Integer({ minimum: 1, maximum: 65_535, description: 'TCP port of the game server' }),
  identity: Hex(64, 'the identity that must answer there'),
}, { additionalProperties: false })

export const ReachAnswer = Type.Object({
  address: Type.String({ description: 'the address that the request came from' }),
  isReachable: Type.Boolean({ description: 'whether the game server answers there' }),
})

export const TrackRefusal = Type.Object({
  error: Type.Object({ code: Type.String(), message: Type.String(), fix: Type.String() }),
})
