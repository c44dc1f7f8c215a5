/** What the routes of a fleet take and give. One schema is the type, the check and the documentation. */

import { Type, type TObject, type TProperties } from 'typebox'

const HEX32 = Type.String({ pattern: '^[0-9a-f]{32}$' })
const HEX64 = Type.String({ pattern: '^[0-9a-f]{64}$' })
const FINGERPRINT = Type.String({ pattern: '^[0-9a-f]{16}$', description: 'The build of the game.' })
const NAME = Type.String({ maxLength: 64 })
const PAIRS = Type.Record(Type.String({ maxLength: 64 }), Type.String({ maxLength: 256 }), { maxProperties: 16 })
const WHOLE = Type.Integer({ minimum: 0, maximum: 1_000_000 })

function strict<P extends TProperties>(properties: P): TObject<P> {
  return Type.Object(properties, { additionalProperties: false })
}

export const ServerId = strict({ id: HEX32 })

/** The report of a game server. */
export const ServerReport = strict({
  identity: HEX64,
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  isSecure: Type.Boolean(),
  url: Type.Optional(Type.String({ maxLength: 256, pattern: '^https?://[^/]' })),
  region: NAME,
  version: NAME,
  seats: WHOLE,
  players: WHOLE,
  maxRooms: WHOLE,
  audience: Type.String({ minLength: 1, maxLength: 32 }),
  isDraining: Type.Boolean(),
  report: WHOLE,
  types: Type.Array(strict({ name: NAME, fingerprint: FINGERPRINT, capacity: WHOLE }), { maxItems: 64 }),
  rooms: Type.Array(strict({
    id: NAME, number: Type.Integer({ minimum: 0, maximum: 0xffff_ffff }), type: NAME, players: WHOLE, capacity: WHOLE,
    spectators: WHOLE, metadata: PAIRS, isLocked: Type.Boolean(), hasPassword: Type.Boolean(),
    code: Type.Optional(NAME),
  }), { maxItems: 4096 }),
})

/** A request of a client for seats. */
export const SeatsWanted = strict({
  id: HEX32,
  fingerprint: FINGERPRINT,
  deadlineMs: Type.Integer({ minimum: 1, maximum: 30_000, description: 'How long the client waits.' }),
  type: Type.Optional(NAME),
  filter: Type.Optional(PAIRS),
  party: Type.Optional(Type.Integer({ minimum: 1, maximum: 64 })),
  room: Type.Optional(NAME),
  code: Type.Optional(NAME),
  isNew: Type.Optional(Type.Boolean()),
  isSpectator: Type.Optional(Type.Boolean()),
  region: Type.Optional(NAME),
  users: Type.Optional(Type.Array(Type.String({ maxLength: 256 }), {
    maxItems: 64, description: 'Data of each player for its token. Only a backend with the secret may send it.',
  })),
})

/** Reserved seats. */
export const SeatsGiven = strict({
  url: Type.String(), server: Type.String(), room: Type.String(), tokens: Type.Array(Type.String()),
})

export const SeatNumber = strict({ number: Type.Integer({ minimum: 0, maximum: 0xffff_ffff }) })
export const LastServer = strict({ last: Type.Optional(Type.String({ maxLength: 256 })) })
export const SeatAt = strict({ url: Type.String(), server: Type.String() })

export const RoomsAsked = Type.Object({ type: Type.Optional(NAME) })
export const RoomList = strict({
  isStale: Type.Boolean(),
  rooms: Type.Array(strict({
    id: Type.String(), type: Type.String(), players: WHOLE, capacity: WHOLE, spectators: WHOLE, metadata: PAIRS,
    isLocked: Type.Boolean(), hasPassword: Type.Boolean(), region: Type.String(), version: Type.String(),
  })),
})

/** A game server that is drained asks where its rooms may go. */
export const MoveWanted = strict({ from: HEX32, type: NAME, fingerprint: FINGERPRINT, players: WHOLE })
export const MoveTargets = strict({ urls: Type.Array(Type.String()) })

/** One of two game servers gets a room that moves: the first to claim it. */
export const Claim = strict({ move: HEX32, server: HEX32 })
export const ClaimAnswer = strict({ owner: Type.String() })

/** A result of a match. */
export const Result = strict({
  id: HEX32, game: NAME, room: NAME, at: Type.Integer({ minimum: 0 }), text: Type.String({ maxLength: 32_768 }),
  identity: HEX64, signature: Type.String({ pattern: '^[0-9a-f]{128}$' }),
})
export const ResultAnswer = strict({ stored: Type.Boolean() })
export const ResultsAsked = strict({
  after: Type.Optional(Type.Integer({ minimum: 0 })), limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500 })),
})

/** A player, or a party, that looks for a match. */
export const TicketWanted = strict({
  id: HEX32,
  fingerprint: FINGERPRINT,
  waitMs: Type.Integer({ minimum: 0, maximum: 30_000 }),
  type: Type.Optional(NAME),
  skill: Type.Optional(Type.Number()),
  party: Type.Optional(Type.Integer({ minimum: 1, maximum: 64 })),
  attributes: Type.Optional(PAIRS),
})
export const TicketWaits = strict({ isWaiting: Type.Literal(true) })

/** Errors have one form. */
export const Refusal = strict({ error: strict({ code: Type.String(), message: Type.String(), fix: Type.String() }) })
