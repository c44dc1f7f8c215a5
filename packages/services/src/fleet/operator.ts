/**
 * The operator page of a fleet, on the operator port: processes, rooms and players, and four acts.
 *
 * ```
 * GET  /                          the page
 * GET  /fleet                     all processes with their rooms, as JSON
 * GET  /servers/ID/rooms/ROOM     one room with its players and tick times
 * POST /servers/ID/acts           drain, kick, close
 * ```
 *
 * Only requests of this machine are answered, by a name of this machine, not through a proxy, and none of a page of
 * another origin. The fleet signs what it asks the game servers.
 */

import type { FastifyRequest } from 'fastify'
import { isAllowedOrigin, isFleetRequest, requestJson, signFleetRequest } from 'tickwire/node'
import { Type } from 'typebox'
import { HttpRefusal, type Site } from '../http/site.ts'
import type { GameServer, GameServers } from './game-servers.ts'
import { OPERATOR_PAGE, OPERATOR_POLICY } from './operator-page.ts'
import { ServerId } from './schemas.ts'

/** What the page works with. */
export interface OperatorDesk {
  readonly servers: GameServers
  readonly secret: string | undefined
}

const ASK_MS = 2000
const ROOM = Type.String({ minLength: 1, maxLength: 64 })
const RoomAt = Type.Object({ ...ServerId.properties, room: ROOM }, { additionalProperties: false })
const Act = Type.Union([
  Type.Object({ act: Type.Literal('drain') }, { additionalProperties: false }),
  Type.Object({ act: Type.Literal('close'), room: ROOM }, { additionalProperties: false }),
  Type.Object({
    act: Type.Literal('kick'), room: ROOM, peer: Type.Integer({ minimum: 0, maximum: 0xffff }),
  }, { additionalProperties: false }),
])
const HIDDEN = { hide: true } as const

/** Holds for any address of the operator port. A page whose name resolves to this machine is refused too. */
async function onRequest({ raw, headers: { host, origin } }: FastifyRequest): Promise<void> {
  if (!isFleetRequest(undefined, raw, '') || !isAllowedOrigin(origin, [host], []))
    throw new HttpRefusal(403, 'origin', 'Only an operator on this machine may ask.', 'Open it on this machine.')
}

/** Adds the page and its routes to the site of the operator port. */
export function addOperatorRoutes(app: Site, desk: OperatorDesk): void {
  const { servers } = desk
  app.get('/', { onRequest, schema: HIDDEN }, (_request, reply) => reply.type('text/html; charset=utf-8')
    .header('content-security-policy', OPERATOR_POLICY).header('x-frame-options', 'DENY').send(OPERATOR_PAGE))
  app.get('/fleet', { onRequest, schema: HIDDEN }, () => ({
    isStale: servers.isStale,
    servers: servers.all.map(({ identity: _identity, types: _types, audience: _audience, ...server }) => server),
  }))
  app.get('/servers/:id/rooms/:room', {
    onRequest, schema: { ...HIDDEN, params: RoomAt },
  }, async ({ params: { id, room } }) => await ask(desk, serverOf(servers, id), 'inspect', { room }))
  app.post('/servers/:id/acts', {
    onRequest, schema: { ...HIDDEN, params: ServerId, body: Act },
  }, async ({ params, body }) => await ask(desk, serverOf(servers, params.id), 'act', body))
}

function serverOf(servers: GameServers, id: string): GameServer {
  const server = servers.get(id)
  if (server === undefined) throw new HttpRefusal(404, 'no-server', 'No such process.', 'Read the list again.')
  return server
}

/** Asks a game server. Throws a refusal when it refuses or does not answer. */
async function ask({ secret }: OperatorDesk, { url }: GameServer, what: string, body: object): Promise<object> {
  const path = `/tickwire/fleet/${what}`
  const text = JSON.stringify(body)
  const { body: given } = await requestJson(`${url.replace(/\/$/, '')}${path}`, {
    method: 'POST', text, ms: ASK_MS, headers: signFleetRequest(secret, path, text),
  }).catch(() => ({ body: undefined }))
  const answer = (given ?? { error: 'away' }) as { readonly refused?: string; readonly error?: string }
  if (answer.error !== undefined)
    throw new HttpRefusal(502, 'away', 'The process does not answer.', 'Try again; a dead process leaves the list.')
  const { refused } = answer
  if (refused !== undefined)
    throw new HttpRefusal(409, refused, `The process refused: ${refused}.`, 'Read the list again.')
  return answer
}
