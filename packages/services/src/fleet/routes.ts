/**
 * The HTTP routes of a fleet: seats for clients, and what game servers report.
 *
 * Requests of game servers and of backends are signed with the secret of the fleet (`isFleetRequest`); those of clients
 * are not, and have a limit for each origin.
 */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { isAllowedOrigin, isFleetRequest } from 'tickwire/node'
import { HttpRefusal, originOf, type Site } from '../http/site.ts'
import type { Leases } from '../store/leases.ts'
import { chooseTargets } from './choose-server.ts'
import type { GameServer, GameServers } from './game-servers.ts'
import {
  Claim, ClaimAnswer, LastServer, MoveTargets, MoveWanted, Refusal, RoomList, RoomsAsked, SeatAt, SeatNumber,
  SeatsGiven, SeatsWanted, ServerId, ServerReport,
} from './schemas.ts'
import type { ReservedSeats, SeatDesk, SeatRefusal } from './seat-desk.ts'
import type { SeatLimit } from './seat-limit.ts'

/** What the routes work with. */
export interface FleetDesk {
  readonly servers: GameServers
  readonly seats: SeatDesk
  readonly leases: Leases
  readonly secret: string | undefined
  /** Pages of these origins may ask. */
  readonly origins: readonly string[] | 'any'
  readonly limit: SeatLimit
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it came, which is what a signature is of. */
    text?: string
  }
}

/** A game server with hundreds of rooms. */
const REPORT_BYTES_MAX = 1_048_576
/** How long a move is remembered: longer than a game server tries. */
const CLAIM_MS = 120_000
const TARGETS_MAX = 3
/** Routes of game servers have no limit for each origin: all are on few machines. */
const SIGNED = { config: { rateLimit: false }, bodyLimit: REPORT_BYTES_MAX } as const
const OPENS = { '4xx': Refusal, '5xx': Refusal }

/** Adds the routes. */
export function addFleetRoutes(app: Site, desk: FleetDesk): void {
  keepText(app)
  app.addHook('onRequest', (request, reply, done) => allowPage(request, reply, desk, done))
  app.options('/*', { schema: { hide: true } }, (_request, reply) => reply.code(204).send())
  addServerRoutes(app, desk)
  const { servers, seats } = desk
  app.post('/rooms/quick', {
    schema: { body: SeatsWanted, response: { 200: SeatsGiven, ...OPENS } },
  }, async (request) => {
    if (request.body.users !== undefined) checkSigned(desk, request)
    limitSeats(desk, request, seats.knows(request.body.id) ? 0 : request.body.party)
    return seatsOrRefuse(await seats.reserve(request.body, request.traceparent))
  })
  app.get('/rooms', { schema: { querystring: RoomsAsked, response: { 200: RoomList } } }, (request) => ({
    isStale: servers.isStale,
    rooms: servers.all.flatMap(({ rooms, region, version, isDraining }) => isDraining ? [] : rooms
      .filter(({ code, type }) => code === undefined && (request.query.type ?? type) === type)
      .map(({ number: _number, code: _code, ...room }) => ({ ...room, region, version }))),
  }))
  app.get('/seats/:number', {
    schema: { params: SeatNumber, querystring: LastServer, response: { 200: SeatAt, ...OPENS } },
  }, async (request) => {
    const { number } = request.params
    let found = serverOf(servers, number)
    // The client was there, and comes because it lost that server: the list may be a second old.
    if (found === undefined || found.url === request.query.last) {
      await servers.refresh()
      found = serverOf(servers, number)
    }
    if (found === undefined && servers.isYoung)
      throw new HttpRefusal(503, 'starting', 'Game servers are reporting.', 'Ask again in some seconds.')
    if (found === undefined) throw new HttpRefusal(404, 'no-room', 'No server has this room.', 'Ask for a new seat.')
    return { url: found.url, server: found.id }
  })
}

function addServerRoutes(app: Site, desk: FleetDesk): void {
  const { servers, seats, leases } = desk
  const issuer = Buffer.from(seats.issuerKey).toString('hex')
  app.get('/fleet/key', { schema: { hide: true } }, () => ({ issuer }))
  app.put('/fleet/servers/:id', {
    ...SIGNED, schema: { params: ServerId, body: ServerReport, hide: true },
  }, async (request) => {
    checkSigned(desk, request)
    const { port, isSecure, url, ...report } = request.body
    const { remoteAddress = '' } = request.socket
    const host = remoteAddress.replace(/^::ffff:/, '')
    const own = `${isSecure ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`
    const put = await servers.report({ id: request.params.id, url: url ?? own, ...report })
    if (put === 'taken') throw new HttpRefusal(409, 'taken', 'Another server has this id.', 'Start again.')
    if (put === 'full') throw new HttpRefusal(507, 'full', 'The fleet has too many servers.', 'End some of them.')
    // The list of this instance has it already. 503 makes the server try again.
    if (put === 'unavailable') throw new HttpRefusal(503, 'store', 'The store does not answer.', 'Try again.')
    return { issuer }
  })
  app.delete('/fleet/servers/:id', { ...SIGNED, schema: { params: ServerId, hide: true } }, async (request) => {
    checkSigned(desk, request)
    await servers.remove(request.params.id, String((request.body as { identity?: unknown } | null)?.identity))
    return {}
  })
  app.post('/fleet/moves', {
    ...SIGNED, schema: { body: MoveWanted, response: { 200: MoveTargets, ...OPENS }, hide: true },
  }, async (request) => {
    checkSigned(desk, request)
    await servers.refresh()
    const targets = chooseTargets(servers.all, request.body).slice(0, TARGETS_MAX)
    const [first] = targets
    if (first !== undefined) first.players += request.body.players
    return { urls: targets.map(({ url }) => url) }
  })
  app.post('/fleet/claims', {
    ...SIGNED, schema: { body: Claim, response: { 200: ClaimAnswer, ...OPENS }, hide: true },
  }, async (request) => {
    checkSigned(desk, request)
    const { move, server } = request.body
    const put = await leases.put('room', move, server, '', CLAIM_MS)
    if (typeof put === 'number') return { owner: server }
    const held = put === 'taken' ? await leases.get('room', move) : 'unavailable'
    if (held === 'unavailable' || held === undefined)
      throw new HttpRefusal(503, 'store', 'The store does not answer.', 'Try again.')
    return { owner: held.owner }
  })
}

/** Refuses a request that is not of the fleet. */
export function checkSigned({ secret }: Pick<FleetDesk, 'secret'>, request: FastifyRequest): void {
  if (isFleetRequest(secret, request.raw, request.text ?? '')) return
  const fix = secret === undefined ? 'Start all processes with TICKWIRE_FLEET_SECRET.' : 'Check TICKWIRE_FLEET_SECRET.'
  throw new HttpRefusal(403, 'not-signed', 'Only processes of the fleet may ask this.', fix)
}

/** Counts seats for the origin of a request, unless it is of the fleet, such as of a backend. */
export function limitSeats(
  { secret, limit }: Pick<FleetDesk, 'secret' | 'limit'>, request: FastifyRequest, count: number = 1,
): void {
  if (isFleetRequest(secret, request.raw, request.text ?? '')) return
  if (limit.take(performance.now(), originOf(request), count)) return
  throw new HttpRefusal(429, 'too-many-seats', 'Too many seats from one address.', 'Wait ten seconds, then ask again.')
}

const STATUS: { readonly [refusal in SeatRefusal]: number } = {
  schema: 409, 'no-room': 404, full: 409, locked: 409, refused: 403, late: 503, away: 503, 'old-leader': 409,
  moved: 503, invalid: 400,
}

/** The seats, or an error with the reason. */
export function seatsOrRefuse(given: ReservedSeats | SeatRefusal): ReservedSeats {
  if (typeof given !== 'string') return given
  throw new HttpRefusal(STATUS[given], given, `There is no seat: ${given}.`, 'Try again, or ask for another room.')
}

function serverOf({ all }: GameServers, number: number): GameServer | undefined {
  const having = all.filter(({ rooms }) => rooms.some((room) => room.number === number))
  return having.find(({ isDraining }) => !isDraining) ?? having[0]
}

/** Keeps the body of each request as text. */
function keepText(app: Site): void {
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
    request.text = String(text)
    try {
      done(null, request.text === '' ? undefined : JSON.parse(request.text) as unknown)
    } catch {
      done(new HttpRefusal(400, 'bad-request', 'The body is not JSON.', 'See /openapi.json.'))
    }
  })
}

/** Browsers send the origin of a page. A page of another origin is refused, unless it is on the list. */
function allowPage(request: FastifyRequest, reply: FastifyReply, { origins }: FleetDesk, done: () => void): void {
  const { origin } = request.headers
  if (!isAllowedOrigin(origin, [request.headers.host], origins))
    throw new HttpRefusal(403, 'origin', 'Pages of this origin may not ask.', 'Start the fleet with --origin.')
  if (origin !== undefined) {
    reply.header('access-control-allow-origin', origin)
    reply.header('access-control-allow-headers', 'content-type, traceparent')
    reply.header('access-control-allow-methods', 'GET, POST, DELETE')
    reply.header('vary', 'origin')
  }
  done()
}
