/**
 * The HTTP routes of a tracker: publish, renew and remove a listing, browse, and the dial-back.
 *
 * Every page may browse and publish: requests carry no cookies, and publishing needs a token.
 */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { LISTING_AGE_MS_MAX, openListing } from 'tickwire/engine'
import { bestProvider, isLoopbackHost, type GameListing } from 'tickwire/node'
import { HttpRefusal, originOf, storeAway, type Site } from '../http/site.ts'
import { bearerOf, type TokenDoor } from '../issue/token-door.ts'
import { leaseIdOf } from '../store/lease-key.ts'
import type { Leases } from '../store/leases.ts'
import { originName } from '../rendezvous/guess-limit.ts'
import type { BrowsePages } from './browse-pages.ts'
import type { Listings, RenewAnswer } from './listings.ts'
import { isReachable, plainAddress } from './reach.ts'
import {
  BrowseQuery, LeaseAnswer, ListingId, NewListing, Reach, ReachAnswer, Renewal, RenewalAnswer, TrackRefusal,
} from './schemas.ts'

/** A listing is renewed three times in its life, so that two lost requests do not end it. */
const HEARTBEATS = 3

/** Which requests may publish. `local`: those of this machine without a token, others with one. */
export type PublishRule = 'token' | 'local' | 'open'

/** What happened, by its name. They only grow. */
export interface TrackCounts {
  published: number
  renewed: number
  removed: number
  gone: number
  refused: number
  limited: number
  full: number
  unavailable: number
}

export function createTrackCounts(): TrackCounts {
  return { published: 0, renewed: 0, removed: 0, gone: 0, refused: 0, limited: 0, full: 0, unavailable: 0 }
}

/** What the routes work with. */
export interface TrackDesk {
  readonly listings: Listings
  readonly pages: BrowsePages
  readonly leases: Leases
  readonly rule: PublishRule
  /** Undefined: no issuer is known, so no token is good. */
  readonly door: TokenDoor | undefined
  readonly publishesPerMinute: number
  readonly counts: TrackCounts
}

/** Adds the routes. */
export function addTrackRoutes(app: Site, desk: TrackDesk): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('access-control-allow-origin', '*')
  })
  app.options('/v1/listings*', { schema: { hide: true } }, allowMethods)
  addPublishing(app, desk)
  app.get('/v1/listings', { schema: { querystring: BrowseQuery } }, (request, reply) =>
    sendPage(request, reply, desk.pages.page(request.url, request.query)))
  app.post('/v1/reach', {
    schema: { body: Reach, response: { 200: ReachAnswer, '4xx': TrackRefusal, '5xx': TrackRefusal } },
  }, async (request) => {
    const origin = originOf(request)
    // A server asks before it publishes: so many of one machine can come back after a restart of the tracker.
    await limit(desk, 'reach', origin, desk.publishesPerMinute)
    const { port, identity } = request.body
    return { address: plainAddress(origin), isReachable: await isReachable(origin, port, identity) }
  })
}

function addPublishing(app: Site, desk: TrackDesk): void {
  const { listings, counts } = desk
  const ttlMs = listings.limits.ttlMs
  const refusals = { '4xx': TrackRefusal, '5xx': TrackRefusal }
  app.post('/v1/listings', {
    schema: { body: NewListing, response: { 201: LeaseAnswer, ...refusals } },
  }, async (request, reply) => {
    const origin = originOf(request)
    mayPublish(request, desk, request.body.listing.host.identity)
    await limit(desk, 'publish', origin, desk.publishesPerMinute)
    const listing = signed(request.body.listing, counts)
    const answer = await listings.publish(listing, leaseIdOf(originName(origin)))
    if (typeof answer === 'string') throw refusalOf(answer, reply, counts)
    counts.published++
    return await reply.code(201).send({ ...answer, ttlMs, heartbeatMs: Math.floor(ttlMs / HEARTBEATS) })
  })
  app.put('/v1/listings/:id', {
    schema: { params: ListingId, body: Renewal, response: { 200: RenewalAnswer, ...refusals } },
  }, async (request, reply) => {
    const { listing } = request.body
    const answer = await listings.renew(
      request.params.id, bearerOf(request.headers.authorization) ?? '',
      listing === undefined ? undefined : signed(listing, counts),
    )
    if (answer !== 'ok') throw refusalOf(answer, reply, counts)
    counts.renewed++
    return { ttlMs }
  })
  app.delete('/v1/listings/:id', {
    schema: { params: ListingId, response: { 204: Type.Null(), ...refusals } },
  }, async (request, reply) => {
    const answer = await listings.remove(request.params.id, bearerOf(request.headers.authorization) ?? '')
    if (answer !== 'ok') throw refusalOf(answer, reply, counts)
    counts.removed++
    return await reply.code(204).send(null)
  })
}

/** Throws unless this request may publish for this identity. */
function mayPublish(request: FastifyRequest, { rule, door, counts }: TrackDesk, identity: string): void {
  if (rule === 'open') return
  // A page in a browser of this machine is a stranger, and so is a client of a proxy that was not declared.
  const { origin, 'x-forwarded-for': forwarded, authorization } = request.headers
  const isLocal = isLoopbackHost(hostOf(originOf(request))) && origin === undefined && forwarded === undefined
  if (rule === 'local' && isLocal && authorization === undefined) return
  try {
    if (door === undefined)
      throw new HttpRefusal(401, 'token-missing', 'A publish token is needed.', 'Start the tracker with --issuer.')
    door.check(authorization, identity)
  } catch (error) {
    counts.refused++
    throw error
  }
}

function hostOf(address: string): string {
  const plain = plainAddress(address)
  return plain.includes(':') ? `[${plain}]` : plain
}

async function limit({ leases, counts }: TrackDesk, what: string, origin: string, perMinute: number): Promise<void> {
  const count = await leases.count('origin', leaseIdOf(`${what} ${originName(origin)}`), 60_000)
  if (count === 'unavailable' || count <= perMinute) return
  counts.limited++
  throw new HttpRefusal(429, 'too-many-requests', 'Too many requests.', 'Wait a minute, then ask again.')
}

/** The listing, if its host signed it and did so of late. */
function signed(value: unknown, counts: TrackCounts): GameListing {
  const listing = openListing(bestProvider(), value)
  if (listing === undefined) {
    counts.refused++
    throw new HttpRefusal(400, 'signature', 'The host did not sign this.', 'Sign it with host.identity.')
  }
  if (Math.abs(Date.now() - listing.signedAt) <= LISTING_AGE_MS_MAX) return listing
  counts.refused++
  throw new HttpRefusal(400, 'clock', 'The signature is of another time.', 'Set the clock of the host.')
}

function refusalOf(
  answer: Exclude<RenewAnswer, 'ok'> | 'full' | 'too-many', reply: FastifyReply, counts: TrackCounts,
): HttpRefusal {
  switch (answer) {
    case 'gone':
      counts.gone++
      return new HttpRefusal(404, 'gone', 'There is no such listing.', 'Publish it again.')
    case 'forbidden':
      counts.refused++
      return new HttpRefusal(403, 'lease', 'Not the owner of this listing.', 'Send the lease that publishing answered.')
    case 'older':
      counts.refused++
      return new HttpRefusal(409, 'older', 'There is a newer listing.', 'Sign it again.')
    case 'too-many':
      counts.limited++
      return new HttpRefusal(429, 'too-many-listings', 'Too many listings of one address.', 'Remove one first.')
    case 'full':
      counts.full++
      return new HttpRefusal(503, 'full', 'The list is full.', 'Try again later.')
    case 'unavailable':
      counts.unavailable++
      return storeAway(reply)
  }
}

function sendPage(
  request: FastifyRequest, reply: FastifyReply, page: ReturnType<BrowsePages['page']>,
): FastifyReply {
  const { 'if-none-match': known, 'accept-encoding': encodings = '' } = request.headers
  reply.header('etag', page.etag).header('cache-control', 'public, max-age=1').header('vary', 'accept-encoding')
  if (known === page.etag) return reply.code(304).send()
  reply.type('application/json; charset=utf-8')
  if (!/\bgzip\b/.test(encodings)) return reply.send(page.plain)
  return reply.header('content-encoding', 'gzip').send(page.gzip())
}

function allowMethods(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.code(204)
    .header('access-control-allow-methods', 'GET, POST, PUT, DELETE')
    .header('access-control-allow-headers', 'authorization, content-type, traceparent')
    .header('access-control-max-age', '86400').send()
}
