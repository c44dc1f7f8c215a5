/**
 * The HTTP routes of a rendezvous: make a session, take it back, join by a code.
 */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { isAllowedOrigin, monotonicNow } from 'tickwire/node'
import { HttpRefusal, originOf, storeAway, type Site } from '../http/site.ts'
import { GuessLimit, originName } from './guess-limit.ts'
import { readCode } from './join-code.ts'
import type { RelayIssuer } from './relay-issuer.ts'
import type { HomeAnswer, HomeRequest, SessionDirectory } from './session-directory.ts'
import {
  Join, JoinAnswer, NewSession, Refusal, RelaysAnswer, ResumedSession, SessionAnswer, SessionId,
} from './schemas.ts'
import type { Session, SessionDescription, SessionProof, Sessions } from './sessions.ts'

/** The parts that the routes use. */
export interface RendezvousDesk {
  readonly sessions: Sessions
  /** Sessions of other instances. Undefined: this is the only one. */
  readonly directory: SessionDirectory | undefined
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
  unavailable: number
}

export function createRendezvousCounts(): RendezvousCounts {
  return {
    created: 0, resumed: 0, joined: 0, wrong: 0, limited: 0, full: 0, otherGame: 0, hostAway: 0, unavailable: 0,
  }
}

const FULL = new HttpRefusal(503, 'full', 'No place for another session.', 'Try again later, or end another session.')

const MOVED = new HttpRefusal(503, 'moved', 'Another instance has the session.', 'Try again.')
const SECRET = new HttpRefusal(403, 'secret', 'Not the host of it.', 'Make a new session.')

const HOST_AWAY = new HttpRefusal(503, 'host-away', 'The host is not connected.', 'Try again in a few seconds.')
const NO_SUCH_CODE =
  new HttpRefusal(404, 'no-such-code', 'No match has this code.', 'Check the code; it may have expired.')

/** How often a code is drawn that another instance has: once is rare. */
const CODE_TRIES = 3

/** Makes a session with a code that no other instance has. */
async function makeSession(
  origin: string, description: SessionDescription, isStrong: boolean, { sessions, directory }: RendezvousDesk,
): Promise<Session> {
  for (let tries = 0; tries < CODE_TRIES; tries++) {
    const session = sessions.create(monotonicNow(), origin, description, isStrong)
    if (session === 'full') throw FULL
    const announced = await directory?.announce(session) ?? 'ok'
    if (announced === 'ok' || announced === 'unavailable') return session
    sessions.remove(session)
    if (announced === 'full') break
  }
  throw FULL
}

/**
 * Takes a session back. Undefined: another instance has it, and lives. 'unavailable': the store does not say whether
 * one has it.
 */
async function resumeSession(
  origin: string, description: SessionDescription, proof: SessionProof, { sessions, directory }: RendezvousDesk,
): Promise<Session | undefined | 'unavailable'> {
  const isHere = sessions.get(proof.session) !== undefined
  const home = isHere || !sessions.isProven(proof) ? undefined : await directory?.homeOf(proof)
  const answer = home === undefined || home === 'unavailable'
    ? home : await directory?.ask(home, { kind: 'resume', proof })
  if (answer === 'unavailable') return answer
  if (answer?.status === 200) return undefined
  const session = sessions.resume(monotonicNow(), origin, description, proof)
  if (session === 'full') throw FULL
  if (session === 'refused') throw SECRET
  const announced = await directory?.announce(session, home) ?? 'ok'
  if (announced === 'ok' || announced === 'unavailable' || (announced === 'full' && isHere)) return session
  directory?.onLost(session)
  throw announced === 'full' ? FULL : announced === 'taken' ? MOVED : SECRET
}

/** Answers another instance about a session that lives here. */
function answerHome(request: HomeRequest, desk: RendezvousDesk): HomeAnswer {
  const now = monotonicNow()
  const { sessions } = desk
  if (request.kind === 'resume') {
    const session = sessions.get(request.proof.session)
    if (session === undefined || !sessions.isProven(request.proof)) return { status: 404, body: undefined }
    sessions.keep(now, session)
    return { status: 200, body: undefined }
  }
  try {
    const read = readCode(request.code)
    const session = read === undefined ? undefined : sessions.find(now, read.code, read.key)
    if (session === undefined) throw NO_SUCH_CODE
    return { status: 200, body: joinAnswer(session, request.fingerprint, desk, now) }
  } catch (error) {
    if (!(error instanceof HttpRefusal)) throw error
    const { statusCode: status, code, message, fix } = error
    return { status, body: { error: { code, message, fix } } }
  }
}

/** Adds the routes. */
export function addRendezvousRoutes(app: Site, desk: RendezvousDesk): void {
  const { directory } = desk
  if (directory !== undefined) directory.onRequest = (request) => answerHome(request, desk)
  app.addHook('onRequest', (request, reply, done) => allowPage(request, reply, desk, done))
  app.options('/v1/*', { schema: { hide: true } }, (_request, reply) => reply.code(204).send())
  app.get('/v1/relays', { schema: { response: { 200: RelaysAnswer } } }, () => ({ relays: desk.relays.known() }))
  addSessions(app, desk)
  addJoins(app, desk)
}

function addSessions(app: Site, desk: RendezvousDesk): void {
  const { counts } = desk
  app.post('/v1/sessions', {
    schema: { body: NewSession, response: { 201: SessionAnswer, '4xx': Refusal, '5xx': Refusal } },
  }, async (request, reply) => {
    const { strong = false, ...description } = request.body
    const session = await makeSession(originOf(request), description, strong, desk)
    counts.created++
    return reply.code(201).send(answerOf(session, desk, request))
  })
  app.put('/v1/sessions/:session', {
    schema: {
      params: SessionId, body: ResumedSession, response: { 200: SessionAnswer, '4xx': Refusal, '5xx': Refusal },
    },
  }, async (request, reply) => {
    const { code, key, secret, ...description } = request.body
    const proof = { session: request.params.session, code, key, secret }
    const session = await resumeSession(originOf(request), description, proof, desk)
    if (session === 'unavailable') {
      counts.unavailable++
      throw storeAway(reply)
    }
    counts.resumed++
    return answerOf(session ?? { id: proof.session, code, key }, desk, request)
  })
}

function addJoins(app: Site, desk: RendezvousDesk): void {
  const { sessions, counts, directory } = desk
  const guesses = new GuessLimit()
  // Unknown codes while the store is away. They are not wrong guesses, and must not let an origin find codes by trying.
  const unknown = new GuessLimit()
  const noteGuess = async (now: number, origin: string): Promise<void> => {
    guesses.note(now, origin)
    if (await directory?.countGuess(originName(origin)) === true) guesses.exhaust(now, origin)
  }
  app.post('/v1/joins', {
    schema: { body: Join, response: { 200: JoinAnswer, '4xx': Refusal, '5xx': Refusal } },
  }, async (request, reply) => {
    const now = monotonicNow()
    const origin = originOf(request)
    // Nothing is looked up, so a right guess gets the same answer as a wrong one.
    if (!guesses.mayGuess(now, origin)) {
      counts.limited++
      throw new HttpRefusal(429, 'too-many-guesses', 'Too many wrong codes.', 'Wait some minutes, then try again.')
    }
    const read = readCode(request.body.code)
    const session = read === undefined ? undefined : sessions.find(now, read.code, read.key)
    const isKnown = read === undefined || (session !== undefined && unknown.mayGuess(now, origin))
    const home = isKnown ? undefined : await directory?.homeOf(read)
    if (home !== undefined) {
      const { code, fingerprint } = request.body
      const answer = home === 'unavailable' ? home : await directory?.ask(home, { kind: 'join', code, fingerprint })
      if (answer === undefined) throw HOST_AWAY
      if (answer === 'unavailable') {
        if (session === undefined) unknown.note(now, origin)
        counts.unavailable++
        throw storeAway(reply)
      }
      if (answer.status === 404) await noteGuess(now, origin)
      // reason: the home made it by the same schemas.
      return await reply.code(answer.status as 200).send(answer.body as Static<typeof JoinAnswer>)
    }
    if (session === undefined) {
      await noteGuess(now, origin)
      counts.wrong++
      throw NO_SUCH_CODE
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
    throw HOST_AWAY
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
  session: Pick<Session, 'id' | 'code' | 'key'>, { sessions, relays, pageUrl, pageQuery }: RendezvousDesk,
  request: FastifyRequest,
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
