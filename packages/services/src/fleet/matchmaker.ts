/**
 * Matchmaking: tickets wait as leases, one instance groups them, and each ticket gets seats in a new room.
 *
 * The instance with the lease `leader` groups. Its number grows with every new leader, game servers refuse requests
 * with an older number, and a ticket gets seats once: the first assignment that is written counts. So an instance that
 * was frozen, and believes to be the leader still, does no harm.
 *
 * A ticket lives for 15 seconds and is renewed by the client that waits, with the same request.
 */

import { randomBytes } from 'node:crypto'
import type { Static } from 'typebox'
import { HttpRefusal, type Site } from '../http/site.ts'
import { leaseIdOf } from '../store/lease-key.ts'
import { LEASE_PAGE_MAX, type Leases } from '../store/leases.ts'
import type { GameServer, GameServers } from './game-servers.ts'
import type { Group, Propose, Ticket } from './propose.ts'
import { Refusal, SeatsGiven, ServerId, TicketWaits, TicketWanted } from './schemas.ts'
import { limitSeats } from './routes.ts'
import type { ReservedSeats, SeatDesk } from './seat-desk.ts'
import type { SeatLimit } from './seat-limit.ts'

const TICKET_MS = 15_000
const ROUND_MS = 250
const LEADER_MS = 3000
/** How long an assignment can be fetched. The seats are kept for ten seconds. */
const ASSIGNED_MS = 30_000
const RESERVE_MS = 2000
/** A message to an instance may be lost, so it also looks. */
const LOOK_MS = 1000
const LEADER: string = leaseIdOf('matchmaker')

/** What happened to tickets. */
export interface MatchCounts {
  asked: number
  grouped: number
  matches: number
  /** Groups that got no seats, and are tried again. */
  failed: number
  /** Groups of `propose` that name unknown tickets, one ticket twice, or too many players; and errors that it threw. */
  invalid: number
}

/** What a matchmaker needs. */
export interface MatchmakerOptions {
  readonly leases: Leases
  readonly servers: GameServers
  readonly seats: SeatDesk
  readonly instance: string
  readonly propose: Propose
}

type Wanted = Static<typeof TicketWanted>

interface Waiting extends Wanted {
  /** When it was first asked for, by the clock of the instance. */
  readonly at: number
  /** The instance that its client waits at. */
  readonly instance: string
}

export class Matchmaker {
  readonly counts: MatchCounts = { asked: 0, grouped: 0, matches: 0, failed: 0, invalid: 0 }
  readonly #options: MatchmakerOptions
  readonly #wakers = new Map<string, () => void>()
  readonly #timer: NodeJS.Timeout
  readonly #forget: () => void
  #isBusy = false
  #isClosed = false
  #leads = 0

  constructor(options: MatchmakerOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.#round(), ROUND_MS)
    this.#forget = options.leases.onMessage(options.instance, (text) => this.#wakers.get(text)?.())
  }

  /** The number of this instance as the leader. 0: it is not the leader. */
  get leads(): number {
    return this.#leads
  }

  /** Clients that wait are answered at once, and ask another instance. */
  close(): void {
    this.#isClosed = true
    clearInterval(this.#timer)
    this.#forget()
    for (const wake of this.#wakers.values()) wake()
  }

  /**
   * Waits for seats, up to `waitMs`. Undefined: there are none yet. `charge` gets the seats that the ticket in the
   * store does not ask for yet, before it is written. It throws when the origin has reserved too many.
   */
  async wait(
    wanted: Wanted, charge: (seats: number) => void,
  ): Promise<ReservedSeats | 'unavailable' | 'too-many' | undefined> {
    const { leases, instance } = this.#options
    const { id, waitMs, party = 1 } = wanted
    this.counts.asked++
    if (party > (this.#typeOf(wanted)?.capacity ?? Infinity)) return 'too-many'
    const until = performance.now() + waitMs
    let hasTicket = false
    for (;;) {
      const assigned = await leases.get('seat', assignmentOf(id))
      if (assigned === 'unavailable') return 'unavailable'
      if (assigned !== undefined) return JSON.parse(assigned.value) as ReservedSeats
      if (!hasTicket) {
        const before = await leases.get('ticket', id)
        if (before === 'unavailable') return 'unavailable'
        const known = before && JSON.parse(before.value) as Waiting
        charge(Math.max(0, party - (known === undefined ? 0 : known.party ?? 1)))
        const ticket: Waiting = { ...wanted, at: known?.at ?? Date.now(), instance }
        const put = await leases.put('ticket', id, id, JSON.stringify(ticket), TICKET_MS)
        if (typeof put !== 'number') return 'unavailable'
        hasTicket = true
      }
      const leftMs = until - performance.now()
      if (leftMs <= 0 || this.#isClosed) return undefined
      await this.#sleep(id, Math.min(leftMs, LOOK_MS))
    }
  }

  /** A client no longer waits. */
  async cancel(id: string): Promise<void> {
    await this.#options.leases.drop('ticket', id, id)
  }

  #sleep(id: string, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer)
        this.#wakers.delete(id)
        resolve()
      }
      const timer = setTimeout(wake, ms)
      this.#wakers.set(id, wake)
    })
  }

  async #round(): Promise<void> {
    if (this.#isBusy) return
    this.#isBusy = true
    try {
      const { leases, instance } = this.#options
      const lead = await leases.put('leader', LEADER, instance, '', LEADER_MS)
      this.#leads = typeof lead === 'number' ? lead : 0
      if (typeof lead === 'number') await this.#group(lead)
    } finally {
      this.#isBusy = false
    }
  }

  async #group(leader: number): Promise<void> {
    const byType = new Map<string, Waiting[]>()
    for (const ticket of await this.#tickets()) {
      const key = `${ticket.fingerprint} ${ticket.type ?? ''}`
      byType.set(key, [...byType.get(key) ?? [], ticket])
    }
    for (const waiting of byType.values()) {
      const [first] = waiting
      if (first === undefined) continue
      const known = this.#typeOf(first)
      if (known === undefined) continue
      const tickets = new Map(waiting.map((each) => [each.id, each]))
      const groups = this.#propose(waiting.map((each) => ticketOf(each, known.name)), known.capacity)
      await Promise.all(groups.map((group) => this.#assign(group, tickets, known, leader)))
    }
  }

  /** The type of room that a ticket is for, as a game server has it. */
  #typeOf({ fingerprint, type }: Pick<Wanted, 'fingerprint' | 'type'>): GameServer['types'][number] | undefined {
    return this.#options.servers.all.flatMap(({ types }) => types)
      .find((each) => each.fingerprint === fingerprint && (type === undefined || each.name === type))
  }

  #propose(tickets: readonly Ticket[], capacity: number): readonly Group[] {
    try {
      return this.#options.propose(tickets, capacity)
    } catch (error) {
      this.counts.invalid++
      console.error('tickwire: propose threw:', error)
      return []
    }
  }

  async #assign(
    group: Group, tickets: Map<string, Waiting>, type: GameServer['types'][number], leader: number,
  ): Promise<void> {
    const { leases, seats } = this.#options
    const members = [...new Set(group.tickets)].flatMap((id) => tickets.get(id) ?? [])
    const party = members.reduce((sum, each) => sum + (each.party ?? 1), 0)
    if (members.length !== group.tickets.length || party > type.capacity || party === 0) {
      this.counts.invalid++
      return
    }
    for (const { id } of members) tickets.delete(id)
    const owner = randomBytes(16).toString('hex')
    const given = await seats.reserve({
      id: owner, fingerprint: type.fingerprint, type: type.name, party, leader,
      deadlineMs: RESERVE_MS, isFresh: true, ...(group.metadata && { filter: group.metadata }),
    })
    if (typeof given === 'string') {
      this.counts.failed++
      return
    }
    this.counts.matches++
    let at = 0
    for (const { id, party: count = 1, instance: where } of members) {
      const own = { ...given, tokens: given.tokens.slice(at, at += count) }
      // Owned by this group: a ticket that could not be removed is grouped again, and keeps its first seats.
      const put = await leases.put('seat', assignmentOf(id), owner, JSON.stringify(own), ASSIGNED_MS)
      // Without an assignment the ticket waits on. `taken`: another group has assigned it.
      if (typeof put !== 'number' && put !== 'taken') continue
      if (put !== 'taken') this.counts.grouped++
      await leases.drop('ticket', id, id)
      await leases.send(where, id)
    }
  }

  async #tickets(): Promise<readonly Waiting[]> {
    const { leases } = this.#options
    const all: Waiting[] = []
    for (let after = ''; ;) {
      const page = await leases.page('ticket', after, LEASE_PAGE_MAX)
      if (page === 'unavailable') return []
      all.push(...page.leases.map(({ value }) => JSON.parse(value) as Waiting))
      if (page.next === undefined) return all
      after = page.next
    }
  }
}

/** Adds the routes of tickets. */
export function addMatchRoutes(
  app: Site, matchmaker: Matchmaker, desk: { readonly secret: string | undefined; readonly limit: SeatLimit },
): void {
  app.post('/match/tickets', {
    schema: {
      body: TicketWanted, response: { 200: SeatsGiven, 202: TicketWaits, '4xx': Refusal, '5xx': Refusal },
    },
  }, async (request, reply) => {
    const given = await matchmaker.wait(request.body, (seats) => limitSeats(desk, request, seats))
    if (given === 'unavailable')
      throw new HttpRefusal(503, 'store', 'The store does not answer.', 'Send the same ticket again.')
    if (given === 'too-many')
      throw new HttpRefusal(409, 'full', 'The party is larger than a room.', 'Make smaller parties.')
    return given === undefined ? reply.code(202).send({ isWaiting: true }) : given
  })
  app.delete('/match/tickets/:id', { schema: { params: ServerId, hide: true } }, async (request) => {
    await matchmaker.cancel(request.params.id)
    return {}
  })
}

function ticketOf({ id, skill = 0, party = 1, attributes = {}, at }: Waiting, type: string): Ticket {
  return { id, type, skill, party, attributes, waitedMs: Math.max(0, Date.now() - at) }
}

function assignmentOf(ticket: string): string {
  return leaseIdOf(`assignment ${ticket}`)
}
