/** The HTTP routes of a token issuer: sign a token for a caller with an API key, and publish the public keys. */

import { createHash, timingSafeEqual } from 'node:crypto'
import { Type } from 'typebox'
import { HttpRefusal, originOf, type Site } from '../http/site.ts'
import { leaseIdOf } from '../store/lease-key.ts'
import type { Leases } from '../store/leases.ts'
import type { Issuer } from './issuer.ts'
import { bearerOf } from './token-door.ts'

/** Wrong API keys of one origin in a minute: then nothing is compared for it. */
const WRONG_KEYS_PER_MINUTE = 10
const API_KEY_CHARS_MIN = 16

const Hex = (min: number, max: number, description: string) =>
  Type.String({ pattern: `^(?:[0-9a-f]{2}){${min},${max}}$`, description })

const NewToken = Type.Object({
  purpose: Type.Union([
    Type.Literal('connect'), Type.Literal('publish'), Type.Literal('fleet'), Type.Literal('relay'),
  ], { description: 'what the token is for; it is refused everywhere else' }),
  server: Type.Optional(Hex(32, 32, 'the identity key of the server or host that it is for')),
  audience: Type.Optional(Type.String({ minLength: 1, maxLength: 32, description: 'the name of the game or service' })),
  user: Type.Optional(Hex(0, 256, 'data about the player, for the server')),
  seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 3600, description: 'how long it is valid' })),
  session: Type.Optional(Hex(16, 16, 'the session of a relay token')),
}, { additionalProperties: false })

const TokenAnswer = Type.Object({
  token: Type.String({ description: 'base64url' }),
  expiresAt: Type.Integer({ description: 'seconds since 1970' }),
})

const KeysAnswer = Type.Object({
  keys: Type.Array(Type.Object({
    id: Type.String(), publicKey: Type.String({ description: '32 bytes, hexadecimal digits' }),
    isCurrent: Type.Boolean({ description: 'whether it signs' }),
  })),
})

/** What the routes count. They only grow. */
export interface IssueCounts {
  issued: number
  refused: number
  limited: number
}

/** What the routes work with. */
export interface IssueDesk {
  readonly issuer: Issuer
  /** API keys that may ask for tokens: none, one, or two while one replaces the other. */
  readonly apiKeys: readonly string[]
  readonly leases: Leases
  readonly counts: IssueCounts
}

/** Whether a text can be an API key: long enough not to be guessed. */
export function isApiKey(text: string): boolean {
  return text.length >= API_KEY_CHARS_MIN && /^[\w-]+$/.test(text)
}

/** Adds the routes. */
export function addIssueRoutes(app: Site, { issuer, apiKeys, leases, counts }: IssueDesk): void {
  const digests = apiKeys.map(digest)
  app.get('/v1/keys', { schema: { response: { 200: KeysAnswer } } }, (_request, reply) => {
    reply.header('access-control-allow-origin', '*')
    return { keys: issuer.keys() }
  })
  app.post('/v1/tokens', { schema: { body: NewToken, response: { 201: TokenAnswer } } }, async (request, reply) => {
    const given = digest(bearerOf(request.headers.authorization) ?? '')
    if (!digests.some((each) => timingSafeEqual(each, given))) {
      const wrong = await leases.count('origin', leaseIdOf(`api-key ${originOf(request)}`), 60_000)
      counts.refused++
      if (wrong === 'unavailable' || wrong > WRONG_KEYS_PER_MINUTE) {
        counts.limited++
        throw new HttpRefusal(429, 'too-many-keys', 'Too many wrong API keys.', 'Wait a minute, then try again.')
      }
      throw new HttpRefusal(401, 'api-key', 'Not an API key.', 'Send "Authorization: Bearer KEY"; see --api-key.')
    }
    const token = issuer.issue(request.body)
    if (token === undefined) {
      throw new HttpRefusal(
        400, 'bad-request', 'A field is missing.',
        'A connect token needs server and audience, a relay token session, others server.',
      )
    }
    counts.issued++
    return await reply.code(201).send(token)
  })
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
