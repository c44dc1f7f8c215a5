/**
 * The players of a world of services: each looks for a match, takes its seat, plays for a moment, and looks again. Some
 * matches have a result.
 */

import type { MemoryRecords } from '../../packages/services/src/store/memory-records.ts'
import { parseToken } from '../../packages/tickwire/src/core/crypto/connect-token.ts'
import type { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { hold } from './invariants.ts'
import { FINGERPRINT, type Server } from './services-fleet.ts'
import type { ServicesTime } from './services-time.ts'

/** What players need of their world. */
export interface PlayersHome {
  readonly time: ServicesTime
  readonly dice: Dice
  readonly servers: readonly Server[]
  /** How often the store has lost something. */
  losses(): number
  /** Whether matches end with results now. */
  mayReport(): boolean
  count(name: string): void
  judge(check: () => void): void
}

interface Player {
  readonly number: number
  servedAt: number
}

interface Seats {
  readonly url: string
  readonly room: string
  readonly tokens: readonly string[]
}

/** In the calm, players have got a match for the last time at most so long ago. */
const SERVED_MS = 20_000
const TRIES_MAX = 20
/** The seat of a player is held for at most so long. */
const HELD_MS = 8000

export class ServicesPlayers {
  readonly #home: PlayersHome
  readonly #players: Player[] = []
  /** Names of results that a fleet acknowledged. */
  readonly #acknowledged: string[] = []
  /** By ticket: the first seats that were given. */
  readonly #given = new Map<string, string>()

  constructor(home: PlayersHome, count: number) {
    this.#home = home
    for (let number = 0; number < count; number++) {
      const player = { number, servedAt: 0 }
      this.#players.push(player)
      void this.#play(player)
    }
  }

  /** When it is calm: every player was served lately, and every acknowledged result is stored, none twice. */
  async check(records: MemoryRecords): Promise<number> {
    for (const { number, servedAt } of this.#players) {
      const ms = this.#home.time.now - servedAt
      hold(ms < SERVED_MS, 'I50', () => `player ${number} has got no match for ${ms.toFixed()} ms`)
    }
    const rooms: string[] = []
    for (let after: number | undefined = 0; after !== undefined;) {
      const page: Awaited<ReturnType<MemoryRecords['page']>> = await records.page('result', after, 500)
      rooms.push(...page.records.map(({ body }) => (JSON.parse(body) as { room: string }).room))
      after = page.next
    }
    const twice = rooms.find((room, at) => rooms.indexOf(room) !== at)
    hold(twice === undefined, 'I20', () => `the result of ${twice} is stored twice`)
    const lost = this.#acknowledged.find((room) => !rooms.includes(room))
    hold(lost === undefined, 'I20', () => `the result of ${lost} was acknowledged, and is not stored`)
    const waiting = this.#home.servers.reduce((sum, { member }) => sum + member.results.count, 0)
    hold(waiting === 0, 'I50', () => `${waiting} results still wait`)
    return rooms.length
  }

  /** A player asks for a match, takes its seat, plays for a moment, and asks for the next. */
  async #play(player: Player): Promise<void> {
    for (;;) {
      const ticket = this.#hex(16)
      const asked = { id: ticket, fingerprint: FINGERPRINT, waitMs: 2000, type: 'duel' }
      let seats: Seats | undefined
      for (let tries = 0; tries < TRIES_MAX && seats === undefined; tries++) {
        const losses = this.#home.losses()
        const answer = await this.#ask('http://fleet/match/tickets', asked)
        if (answer === undefined) continue
        seats = answer
        this.#home.judge(() => this.#judgeSeats(ticket, JSON.stringify(answer), losses))
        // A player whose answer was lost asks again, and the seats are still the same.
        const isUnsure = this.#home.dice.chance(0.3)
        if (isUnsure) await this.#home.time.sleep(2000 * this.#home.dice.fraction())
        const again = isUnsure ? await this.#ask('http://fleet/match/tickets', asked) : undefined
        if (again !== undefined) this.#home.judge(() => this.#judgeSeats(ticket, JSON.stringify(again), losses))
      }
      this.#home.count(seats === undefined ? 'gave up' : 'matched')
      if (seats !== undefined) {
        player.servedAt = this.#home.time.now
        await this.#takeSeat(seats)
      }
      await this.#home.time.sleep(500 + 2000 * this.#home.dice.fraction())
    }
  }

  /** A ticket leads to one room, however often it is asked about. */
  #judgeSeats(ticket: string, text: string, losses: number): void {
    const before = this.#given.get(ticket)
    const isLost = this.#home.losses() > losses
    hold(before === undefined || before === text || isLost, 'I20', () => `ticket ${ticket} has two rooms`)
    this.#given.set(ticket, text)
  }

  async #takeSeat({ url, room, tokens }: Seats): Promise<void> {
    const { time, dice, servers } = this.#home
    const server = servers.find((each) => each.url === url)
    const token = parseToken(Uint8Array.from(Buffer.from(tokens[0] ?? '', 'base64url')))
    this.#home.judge(() => hold(token !== undefined, 'I48', () => 'the token of a seat cannot be read'))
    if (server === undefined || server.process.isDead || token === undefined || server.hasLeft) return
    const kept = server.rooms.reservations.of(token.id)
    if (kept !== undefined) server.rooms.reservations.use(token.id)
    this.#home.count(kept === undefined ? 'too late' : 'seated')
    const match = server.rooms.room(room)
    // A room with a seat that is held moves when its server drains. The player does not come back.
    if (kept !== undefined && match !== undefined && match.seats.hasRoom(false)) {
      const seat = { peer: match.seats.drawPeer(), serial: 1, isSpectator: false, promised: [] }
      match.seats.restore(seat, (time.now + HELD_MS * dice.fraction()) as never)
    }
    if (match === undefined || !this.#home.mayReport() || !dice.chance(0.5)) return
    const name = `${server.member.id} ${this.#hex(8)}`
    void time.run(server.process, async () => {
      const stored = await server.member.report({ id: name as never, typeName: 'duel' }, { winner: 1 })
      if (stored === 'stored') this.#acknowledged.push(name)
    })
    this.#home.count('result')
  }

  /** Asks as a player, with a deadline. Undefined: there is no answer, or not yet. */
  async #ask(url: string, body: object): Promise<Seats | undefined> {
    try {
      const signal = AbortSignal.timeout(5000)
      const response = await fetch(url, { method: 'POST', body: JSON.stringify(body), signal })
      return response.status === 200 ? await response.json() as Seats : undefined
    } catch {
      // reason: a player asks again
      return undefined
    }
  }

  #hex(bytes: number): string {
    const drawn = new Uint8Array(bytes)
    this.#home.dice.fill(drawn)
    return Buffer.from(drawn).toString('hex')
  }
}
