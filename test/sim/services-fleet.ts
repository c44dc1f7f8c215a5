/** The processes of a simulated fleet: service instances and game servers, made of the real parts. */

import { Readable } from 'node:stream'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { bool, defineGame, type Match } from 'tickwire'
import { createRoomHost, type RoomHost } from 'tickwire/engine'
import { StubCrypto } from 'tickwire/testing'
import { chooseTargets } from '../../packages/services/src/fleet/choose-server.ts'
import { GameServers, type GameServer } from '../../packages/services/src/fleet/game-servers.ts'
import { Matchmaker } from '../../packages/services/src/fleet/matchmaker.ts'
import { skillWindow } from '../../packages/services/src/fleet/propose.ts'
import { SeatDesk } from '../../packages/services/src/fleet/seat-desk.ts'
import { newLeaseId } from '../../packages/services/src/store/lease-key.ts'
import type { Leases } from '../../packages/services/src/store/leases.ts'
import type { Records } from '../../packages/services/src/store/records.ts'
import { Listings } from '../../packages/services/src/track/listings.ts'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'
import { FleetLink } from '../../packages/tickwire/src/node/fleet-link.ts'
import { FleetMember } from '../../packages/tickwire/src/node/fleet-member.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import type { SimProcess } from './services-time.ts'

const SECRET = 'a secret of the fleet'
export const CAPACITY = 2
export const LISTING_TTL_MS = 10_000

export const duel = defineGame({ tickRate: 10, input: { go: bool }, entities: [], step: () => {} })
export const FINGERPRINT: string = Buffer.from(duel.fingerprint).toString('hex')

/** What a simulated request gets. */
interface Answer {
  readonly status: number
  readonly body: string
}

/** The fields of a request that are read here. */
interface Fields {
  readonly identity?: string
  readonly move?: string
  readonly server?: string
  readonly id?: string
  readonly at?: number
}

const json = (status: number, body: object): Answer => ({ status, body: JSON.stringify(body) })

/** One instance of the fleet service and of the tracker. */
export class Instance {
  readonly process: SimProcess
  readonly servers: GameServers
  readonly seats: SeatDesk
  readonly matchmaker: Matchmaker
  readonly listings: Listings
  readonly #leases: Leases
  readonly #records: Records

  constructor(process: SimProcess, leases: Leases, records: Records) {
    this.process = process
    this.#leases = leases
    this.#records = records
    const instance = newLeaseId()
    this.servers = new GameServers(leases)
    const issuer = new Uint8Array(32).fill(3)
    this.seats = new SeatDesk({ servers: this.servers, leases, instance, issuer, secret: SECRET })
    this.matchmaker = new Matchmaker({
      leases, servers: this.servers, seats: this.seats, instance,
      propose: skillWindow({ patienceMs: 3000, playersMin: 1 }),
    })
    this.listings = new Listings(leases, { ttlMs: LISTING_TTL_MS, listingsMax: 100, listingsPerOrigin: 100 })
    void this.listings.open()
  }

  /** Answers a request, as the routes of the service do. */
  async handle(method: string, path: string, body: string): Promise<Answer> {
    const fields: Fields = body === '' ? {} : JSON.parse(body)
    const id = path.split('/')[3] ?? ''
    if (method === 'PUT') return await this.#report(id, fields)
    if (method === 'DELETE') {
      await this.servers.remove(id, String(fields.identity))
      return json(200, {})
    }
    if (path === '/fleet/moves') {
      await this.servers.refresh()
      return json(200, { urls: chooseTargets(this.servers.all, fields as never).map(({ url }) => url) })
    }
    if (path === '/fleet/claims') {
      const { move = '', server = '' } = fields
      const put = await this.#leases.put('room', move, server, '', 60_000)
      if (typeof put === 'number') return json(200, { owner: server })
      const held = put === 'taken' ? await this.#leases.get('room', move) : undefined
      return held === undefined || held === 'unavailable' ? json(503, {}) : json(200, { owner: held.owner })
    }
    if (path === '/results') {
      const { id: result = '', at = 0 } = fields
      const added = await this.#records.add('result', result, at, body)
      return added === 'waiting' || added === 'failed' ? json(503, {}) : json(200, { stored: added === 'stored' })
    }
    const given = await this.matchmaker.wait(fields as never, () => {})
    if (typeof given === 'string') return json(503, {})
    return given === undefined ? json(202, {}) : json(200, given)
  }

  async #report(id: string, fields: Fields): Promise<Answer> {
    const put = await this.servers.report({ id, ...fields } as unknown as GameServer)
    const status = { ok: 200, taken: 409, full: 507, unavailable: 503 }[put]
    return json(status, { issuer: Buffer.from(this.seats.issuerKey).toString('hex') })
  }
}

/** One game server with its rooms. */
export class Server {
  readonly process: SimProcess
  readonly rooms: RoomHost<Match>
  readonly member: FleetMember
  readonly url: string
  isDraining = false
  /** Whether `leave` has ended. */
  hasLeft = false
  /** The highest number of a leader that got seats here. */
  leader = 0

  constructor(process: SimProcess, number: number, now: () => number, capacity: number = CAPACITY) {
    this.process = process
    this.url = `http://game-${number}`
    const key = bestProvider().importSigning(new Uint8Array(32).fill(number + 1))
    this.rooms = createRoomHost({ duel: { game: duel, capacity, emptyMs: 2000 } }, {
      entropy: new Dice(number), security: { provider: new StubCrypto() }, areNumbersRandom: true,
    } as never)
    this.rooms.tick(now())
    const link = new FleetLink({ url: 'http://fleet', secret: SECRET, publicUrl: this.url, seats: 20 * capacity })
    this.member = new FleetMember(link, {
      rooms: this.rooms, port: 1, isSecure: false, maxRooms: 20, audience: 'duel', log: () => {}, wake: () => {},
      types: { duel: { fingerprint: duel.fingerprint, capacity } }, identity: key.publicKey,
      sign: (bytes) => key.sign(bytes), onIssuer: () => {}, leave: () => {},
    })
    void this.member.start()
    setInterval(() => {
      this.rooms.tick(now())
      this.rooms.drain(now(), { send: () => {} })
    }, 100)
  }

  /** Answers a request of the fleet. */
  async handle(method: string, path: string, body: string, headers: Record<string, string>): Promise<Answer> {
    const request = Object.assign(Readable.from([Buffer.from(body)]), { method, url: path, headers })
    let answer: Answer | undefined
    const response = {
      writeHead: (status: number) => ({ end: (text: string) => { answer = { status, body: text } } }),
    }
    // reason: the member reads the body, the method, the path and the headers, and nothing else of a request.
    await this.member.handle(request as unknown as IncomingMessage, response as unknown as ServerResponse)
    return answer ?? json(500, {})
  }

  /** Ids of rooms that have ticks here. */
  get runningRooms(): readonly string[] {
    return this.rooms.rooms.filter(({ isFrozen, ending }) => !isFrozen && ending === undefined).map(({ id }) => id)
  }

  /** No seat is sold twice, and every seat that is kept is kept for a client. */
  get areSeatsSound(): boolean {
    const kept = this.rooms.rooms.reduce((sum, { seats }) => sum + seats.reserved, 0)
    const isSold = this.rooms.rooms.some(({ seats: { players, reserved, capacity, free } }) =>
      free < 0 || players + reserved > capacity)
    return kept <= this.rooms.reservations.count && !isSold
  }
}
