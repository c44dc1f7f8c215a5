/** The bodies of the rendezvous, as TypeBox schemas: types, validation and `openapi.json` come from here. */

import { type Static, Type } from 'typebox'

const Hex = (digits: number, description: string) =>
  Type.String({ pattern: `^[0-9a-f]{${digits}}$`, description })

export const Relay = Type.Object({
  address: Type.String({ description: 'ip:port of the relay, for UDP' }),
  url: Type.Optional(Type.String({ description: 'ws:// or wss:// address of the relay, for pages' })),
  token: Type.String({ description: 'a relay token, base64url' }),
  turn: Type.String({ description: 'another relay token, the user name of TURN' }),
})
export type RelayOffer = Static<typeof Relay>

export const RelaysAnswer = Type.Object({
  relays: Type.Array(Type.Object({ address: Type.String(), url: Type.Optional(Type.String()) })),
})

const description = {
  fingerprint: Hex(16, 'the fingerprint of the game'),
  identity: Hex(64, 'the public identity key of the host'),
  capacity: Type.Integer({ minimum: 1, maximum: 256, description: 'most guests at once' }),
}

export const NewSession = Type.Object({
  ...description,
  strong: Type.Optional(Type.Boolean({ description: 'a code with two words' })),
}, { additionalProperties: false })

export const ResumedSession = Type.Object({
  ...description,
  code: Type.String({ maxLength: 32 }),
  key: Type.String({ maxLength: 32 }),
  secret: Hex(64, 'the secret of the session'),
}, { additionalProperties: false })

export const SessionId = Type.Object({ session: Hex(32, 'the id of the session') })

export const SessionAnswer = Type.Object({
  session: Type.String(),
  code: Type.String({ description: 'for players: IRON-7K3M' }),
  key: Type.String({ description: 'what a link has in addition' }),
  secret: Type.String({ description: 'takes the code back' }),
  link: Type.String({ description: 'opens the game and joins' }),
  expiresInMs: Type.Integer({ description: 'how long the code is valid without its host' }),
  relays: Type.Array(Relay),
})

export const Join = Type.Object({
  code: Type.String({ maxLength: 64, description: 'what a player typed, or the end of a link' }),
  fingerprint: Type.Optional(Hex(16, 'the fingerprint of the game')),
}, { additionalProperties: false })

export const JoinAnswer = Type.Object({
  session: Type.String(),
  ticket: Type.String({ description: 'opens the signalling socket, once' }),
  identity: Type.String({ description: 'the public identity key of the host' }),
  isHostHere: Type.Boolean(),
  relays: Type.Array(Relay),
})

export const Refusal = Type.Object({
  error: Type.Object({ code: Type.String(), message: Type.String(), fix: Type.String() }),
})
