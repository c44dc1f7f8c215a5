/**
 * The HTTP routes of a rendezvous: make a session, take it back, join by a code.
 */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { isAllowedOrigin, monotonicNow } from 'tickwire/node'
import { HttpRefusal, originOf, type Site } from '../http/site.ts'
import { GuessLimit } from './guess-limit.ts'
import { readCode } from './join-code.ts'
import type { RelayIssuer } from './relay-issuer.ts'
import {
  Join, JoinAnswer, NewSession, Refusal, RelaysAnswer, ResumedSession, SessionAnswer, SessionId,
} from './schemas.ts'
import type { Session, Sessions } from './sessions.ts'

/** The parts that the routes use. */
export interface RendezvousDesk {
  readonly sessions: Sessions
  readonly relays: RelayIssuer
  /** Where the page of the game is; undefined: at the address of the rendezvous itself. */
  readonly pageUrl: string | undefined
  /** The text after the address of the page in links, before the code: `?tick=64`. */
  readonly pageQuery: string
  /** Pages of these origins may use the rendezvous. */
  readonly origins: readonly string[] | 'any'
  readonly counts: RendezvousCounts
}

/** What happened, by its name. They only grow. */
export interface RendezvousCounts {
  created: number
  resumed: number
  joined: number
  wrong: number
  limited: number
  full: number
  otherGame: number
  hostAway: number
}

export function createRendezvousCounts(): RendezvousCounts {
  return { created: 0, resumed: 0, joined: 0, wrong: 0, limited: 0, full: 0, otherGame: 0, hostAway: 0 }
}

const FULL = new HttpRefusal(503, 'full', 'No place for another session.', 'Try again later, or end another session.')

/** Adds the routes. */
export function addRendezvousRoutes(app: Site, desk: RendezvousDesk): void {
  const guesses = new GuessLimit()
  const { sessions, counts } = desk
  app.addHook('onRequest', (request, reply, done) => allowPage(request, reply, desk, done))
  app.options('/v1/*', { schema: { hide: true } }, (_request, reply) => reply.code(204).send())
  app.post('/v1/sessions', {
    schema: { body: NewSession, response: { 201: SessionAnswer, '4xx': Refusal, '5xx': Refusal } },
  }, async (request, reply) => {
    const { strong = false, ...description } = request.body
    const session = sessions.create(monotonicNow(), originOf(request), description, strong)
    if (session === 'full') throw FULL
    counts.created++
    return reply.code(201).send(answerOf(session, desk, request))
  })
  app.put('/v1/sessions/:session', {
    schema: {
      params: SessionId, body: ResumedSession, response: { 200: SessionAnswer, '4xx': Refusal, '5xx': Refusal },
    },
  }, async (request) => {
    const { code, key, secret, ...description } = request.body
    const proof = { session: request.params.session, code, key, secret }
    const session = sessions.resume(monotonicNow(), originOf(request), description, proof)
    if (session === 'full') throw FULL
    if (session === 'refused') throw new HttpRefusal(403, 'secret', 'Not the host of it.', 'Make a new session.')
    counts.resumed++
    return answerOf(session, desk, request)
  })
  app.get('/v1/relays', { schema: { response: { 200: RelaysAnswer } } }, () => ({ relays: desk.relays.known() }))
  app.post('/v1/joins', {
    schema: { body: Join, response: { 200: JoinAnswer, '4xx': Refusal, '5xx': Refusal } },
  }, async (request) => {
    const now = monotonicNow()
    const origin = originOf(request)
    // Nothing is looked up, so a right guess gets the same answer as a wrong one.
    if (!guesses.mayGuess(now, origin)) {
      counts.limited++
      throw new HttpRefusal(429, 'too-many-guesses', 'Too many wrong codes.', 'Wait some minutes, then try again.')
    }
    const read = readCode(request.body.code)
    const session = read === undefined ? undefined : sessions.find(now, read.code, read.key)
    if (session === undefined) {
      guesses.note(now, origin)
      counts.wrong++
      throw new HttpRefusal(404, 'no-such-code', 'No match has this code.', 'Check the code; it may have expired.')
    }
    return joinAnswer(session, request.body.fingerprint, desk, now)
  })
}

function joinAnswer(
  session: Session, fingerprint: string | undefined, { sessions, counts, relays }: RendezvousDesk, now: number,
): Static<typeof JoinAnswer> {
  if (fingerprint !== undefined && fingerprint !== session.fingerprint) {
    counts.otherGame++
    throw new HttpRefusal(409, 'other-game', 'The match has another game, or another build.', 'Reload the page.')
  }
  if (!session.isHostHere) {
    counts.hostAway++
    throw new HttpRefusal(503, 'host-away', 'The host is not connected.', 'Try again in a few seconds.')
  }
  const ticket = sessions.admit(now, session)
  if (ticket === 'full') {
    counts.full++
    throw new HttpRefusal(503, 'full', 'The match is full.', 'Wait until a player leaves.')
  }
  counts.joined++
  const { id, identity, isHostHere } = session
  return { session: id, ticket, identity, isHostHere, relays: relays.offers(id) }
}

function answerOf(
  session: Session, { sessions, relays, pageUrl, pageQuery }: RendezvousDesk, request: FastifyRequest,
): Static<typeof SessionAnswer> {
  const { id, code, key } = session
  return {
    session: id, code, key, secret: sessions.secretOf(session), expiresInMs: sessions.limits.codeMs,
    relays: relays.offers(id),
    link: `${pageUrl ?? `${request.protocol}://${request.host}/`}${pageQuery}#${code}-${key}`,
  }
}

/** Browsers send the origin of a page. A page of another origin is refused, unless it is on the list. */
function allowPage(request: FastifyRequest, reply: FastifyReply, { origins }: RendezvousDesk, done: () => void): void {
  const { origin } = request.headers
  if (!isAllowedOrigin(origin, [request.headers.host], origins))
    throw new HttpRefusal(403, 'origin', 'Pages of this origin may not ask.', 'Start the rendezvous with --origin.')
  if (origin !== undefined) {
    reply.header('access-control-allow-origin', origin)
    reply.header('access-control-allow-headers', 'content-type, traceparent')
    reply.header('access-control-allow-methods', 'GET, POST, PUT')
    reply.header('vary', 'origin')
  }
  done()
}
