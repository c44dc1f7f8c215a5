/**
 * One world of services from one seed: instances of the fleet and the tracker, a store that they share, game servers,
 * players that look for matches, hosts with listings and join codes, and the invariants I15, I20, I21 and I47 to I52.
 *
 * All parts are the real ones, in simulated time (`services-time.ts`). Every process crashes, stands still and starts
 * again; the store is away, slow, read-only, loses answers, keys, or everything; the disk of results is full; requests
 * and answers are lost; the wall clock is set by up to an hour. Then it is calm, and everything is there again.
 */

import { Sessions } from '../../packages/services/src/rendezvous/sessions.ts'
import { MemoryRecords } from '../../packages/services/src/store/memory-records.ts'
import type { AddAnswer } from '../../packages/services/src/store/records.ts'
import { hashBytes, hashHex } from '../../packages/tickwire/src/core/base/hash.ts'
import { LinkTally } from '../../packages/tickwire/src/testing/link-model-tally.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { calm } from '../../packages/tickwire/src/testing/weather.ts'
import { hold, violationOf, type Violation } from './invariants.ts'
import { Instance, Server } from './services-fleet.ts'
import { type ServicesHost, startHost } from './services-hosts.ts'
import { ServicesPlayers } from './services-players.ts'
import { ServicesTime, type SimProcess } from './services-time.ts'
import { SimLeases, SimStore, type StoreFault } from './services-store.ts'
import type { WorldResult } from './world-result.ts'

const STEP_MS = 1000 / 60
const STORM_MS = 40_000
const CALM_MS = 30_000
const FAULTS: readonly StoreFault[] = ['away', 'read-only', 'slow', 'lossy']
const PLAYERS = 4
const CODE_MS = 20_000
const HOLD_MS = 10_000
const UNDER_WAY_MS = 3000
/** A move takes at most so long. If the store forgets who has claimed the room meanwhile, two may have it. */
const MOVE_MS_MAX = 2 * HOLD_MS

/** What a bug may reach. */
export interface ServicesScene {
  readonly time: ServicesTime
  readonly store: SimStore
  readonly instances: readonly Instance[]
  readonly servers: readonly Server[]
  readonly records: MemoryRecords
  readonly sessions: Sessions
  readonly isStorm: boolean
}

/** A bug to plant: called after every step of time. */
export type ServicesPlant = (scene: ServicesScene) => void

/** Plays the world of a seed. */
export async function playServices(seed: number, plant: ServicesPlant = () => {}): Promise<WorldResult> {
  return await new ServicesWorld(seed, plant).play()
}

class ServicesWorld {
  readonly #seed: number
  readonly #plant: ServicesPlant
  readonly #dice: Dice
  readonly #time: ServicesTime
  readonly #counts: Record<string, number> = {}
  readonly #trace = new Uint32Array(2)
  readonly #processes: SimProcess[] = []
  readonly #instances: Instance[] = []
  readonly #servers: Server[] = []
  readonly #hosts: ServicesHost[] = []
  readonly #records = new MemoryRecords()
  #sessions: Sessions
  #store!: SimStore
  #players!: ServicesPlayers
  #isStorm = true
  #isDiskFull = false
  #ticks = 0
  #failure: unknown
  #startedServers = 0
  #calmEndsAt = Infinity
  #losses = 0
  #lostAt = -Infinity

  constructor(seed: number, plant: ServicesPlant) {
    this.#seed = seed
    this.#plant = plant
    this.#dice = new Dice(seed ^ 0x5e4)
    this.#time = new ServicesTime(new Dice(seed ^ 0x71e), (url, method, body, headers) =>
      this.#route(url, method, body, headers))
    this.#sessions = this.#newSessions()
  }

  async play(): Promise<WorldResult> {
    let violation: Violation | undefined
    this.#time.install()
    try {
      this.#begin()
      for (const end = this.#now + STORM_MS; this.#now < end;) {
        await this.#mischief()
        await this.#step()
      }
      this.#clear()
      this.#calmEndsAt = this.#now + CALM_MS
      while (this.#now < this.#calmEndsAt) await this.#step()
      await this.#check()
    } catch (error) {
      violation = violationOf(error, this.#now, 'services')
    } finally {
      this.#time.uninstall()
    }
    return {
      seed: this.#seed, violation, weather: calm(), endpointTicks: this.#ticks, simulatedMs: this.#now,
      traceHash: hashHex(this.#trace, 0), tally: new LinkTally(), counts: this.#counts,
    }
  }

  get #now(): number {
    return this.#time.now
  }

  #count(name: string): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + 1
    const bytes = Buffer.from(`${name} ${this.#now}`)
    hashBytes(bytes, 0, bytes.length, this.#trace[0]!, this.#trace, 0)
  }

  #newSessions(): Sessions {
    return new Sessions({ codeMs: CODE_MS, sessionsMax: 100, sessionsPerOrigin: 100 }, new Uint8Array(16).fill(5))
  }

  #begin(): void {
    this.#store = new SimStore(this.#time)
    // A leader that stands still goes on as if it led, with the tickets that it has read, and another one leads.
    this.#store.onTickets = (process) => {
      if (!this.#isStorm || !this.#dice.chance(0.02)) return
      process.frozenUntil = this.#now + 7000 * this.#dice.fraction()
      this.#count('leader stood still')
    }
    const { add } = this.#records
    this.#records.add = async (...record): Promise<AddAnswer> =>
      this.#isDiskFull ? 'waiting' : await add.apply(this.#records, record)
    for (let each = 0; each < 2; each++) this.#startInstance(each)
    const servers = 2 + this.#dice.word() % 2
    for (let each = 0; each < servers; each++) this.#startServer(each)
    for (let each = 0; each < 3; each++) this.#startHost(each)
    const { count, judge } = this.#watch
    this.#players = new ServicesPlayers({
      time: this.#time, dice: this.#dice, servers: this.#servers, count, judge,
      losses: () => this.#store.losses,
      // What is reported at the very end is still on its way.
      mayReport: () => this.#isStorm || this.#now <= this.#calmEndsAt - UNDER_WAY_MS,
    }, PLAYERS)
  }

  #spawn(name: string): SimProcess {
    const process = { name, isDead: false, frozenUntil: 0 }
    this.#processes.push(process)
    return process
  }

  #startInstance(index: number): void {
    const process = this.#spawn(`instance ${index}`)
    const leases = new SimLeases(this.#time, this.#store, this.#dice, process)
    this.#instances[index] = this.#time.run(process, () => new Instance(process, leases, this.#records))
  }

  #startServer(index: number): void {
    const process = this.#spawn(`server ${index}`)
    const number = this.#startedServers++
    this.#servers[index] = this.#time.run(process, () => new Server(process, number, () => this.#now))
  }

  #startHost(index: number): void {
    const process = this.#spawn(`host ${index}`)
    const { count, judge } = this.#watch
    this.#hosts[index] = startHost({
      time: this.#time, dice: this.#dice, instances: this.#instances, sessions: () => this.#sessions, count, judge,
    }, process, this.#seed % 200 * 3 + index, this.#hosts[index])
  }

  /** How the others report. */
  get #watch(): { readonly count: (name: string) => void; readonly judge: (check: () => void) => void } {
    return { count: (name) => this.#count(name), judge: (check) => this.#judge(check) }
  }

  /** Requests reach a process that lives; in the storm some of them and some answers are lost. */
  async #route(
    { hostname, pathname }: URL, method: string, body: string, headers: Record<string, string>,
  ): Promise<{ readonly status: number; readonly body: string } | undefined> {
    const lost = (rate = 0.03): boolean => this.#isStorm && this.#dice.chance(rate)
    const server = this.#servers.find(({ url }) => url === `http://${hostname}`)
    const instance = this.#instances[this.#dice.word() % this.#instances.length]!
    const target = hostname === 'fleet' ? instance : server
    if (target === undefined || target.process.isDead || lost()) return undefined
    const { process } = target
    const answer = await this.#time.run(process, async () => {
      await this.#time.sleep(0)
      const before = server?.rooms.reservations.count ?? 0
      const given = await (target === instance ? instance.handle(method, pathname, body)
        : server!.handle(method, pathname, body, headers))
      if (server !== undefined && target === server && pathname.endsWith('/reserve'))
        this.#judge(() => this.#judgeReserve(server, JSON.parse(body) as object, given.body, before))
      return given
    })
    if (process.isDead || lost()) return undefined
    // Moves of rooms are rare, and claims decide about those without an answer.
    return lost(pathname.endsWith('/thaw') ? 0.4 : 0.03) ? { status: 0, body: '' } : answer
  }

  #judgeReserve(server: Server, asked: { readonly leader?: number }, body: string, before: number): void {
    if (!body.includes('"room"')) return
    const isNew = server.rooms.reservations.count > before
    hold(!isNew || !server.isDraining, 'I21', () => 'a server that drains has given new seats')
    const { leader = 0 } = asked
    hold(!isNew || leader >= server.leader, 'I49', () => `leader ${leader} got seats after ${server.leader}`)
    if (isNew) server.leader = Math.max(server.leader, leader)
  }

  #judge(check: () => void): void {
    try {
      check()
    } catch (error) {
      this.#failure ??= error
    }
  }

  /** Processes crash, stand still and start again; the store and the disk have faults; the wall clock is set. */
  async #mischief(): Promise<void> {
    const dice = this.#dice
    this.#instances.forEach(({ process }, index) => this.#hurt(process, 'instance', () => this.#startInstance(index)))
    this.#servers.forEach((server, index) => {
      if (!server.isDraining) this.#hurt(server.process, 'server', () => this.#startServer(index))
      if (!server.process.isDead && !server.isDraining && dice.chance(0.0006)) this.#drain(server, index)
    })
    this.#hosts.forEach(({ process }, index) => this.#hurt(process, 'host', () => this.#startHost(index)))
    if (dice.chance(0.002)) {
      this.#store.fault = dice.chance(0.5) ? 'none' : FAULTS[dice.word() % FAULTS.length]!
      this.#count(`store ${this.#store.fault}`)
    }
    if (dice.chance(0.0003)) {
      await this.#store.lose()
      this.#count('store lost')
    }
    if (dice.chance(0.0005)) {
      await this.#store.evict(dice)
      this.#count('key lost')
    }
    if (dice.chance(0.001)) this.#isDiskFull = dice.chance(0.5)
    if (dice.chance(0.0005)) {
      this.#sessions = this.#newSessions()
      this.#count('rendezvous crashed')
    }
    if (dice.chance(0.0005)) {
      this.#time.wallOffsetMs += (dice.fraction() - 0.5) * 7_200_000
      this.#count('wall clock set')
    }
  }

  #hurt(process: SimProcess, name: string, start: () => void): void {
    const dice = this.#dice
    if (process.isDead) {
      if (dice.chance(0.01)) start()
    } else if (dice.chance(0.0005)) {
      process.isDead = true
      this.#count(`${name} crashed`)
    } else if (dice.chance(0.0005)) {
      process.frozenUntil = this.#now + 5000 * dice.fraction()
      this.#count(`${name} stood still`)
    }
  }

  /** A server ends in an orderly way, and the next one starts. */
  #drain(server: Server, index: number): void {
    server.isDraining = true
    this.#count('server drained')
    void this.#time.run(server.process, async () => {
      await server.member.leave(HOLD_MS)
      server.hasLeft = true
      await server.member.close()
      server.process.isDead = true
      if (this.#servers[index] === server) this.#startServer(index)
    })
  }

  async #step(): Promise<void> {
    this.#ticks += this.#processes.reduce((sum, { isDead, frozenUntil }) =>
      sum + Number(!isDead && frozenUntil <= this.#now), 1)
    await this.#time.advance(STEP_MS)
    this.#store.raise()
    if (this.#failure !== undefined) throw this.#failure
    for (const { areSeatsSound } of this.#servers)
      hold(areSeatsSound, 'I15', () => 'a seat is sold twice, or kept for no client')
    this.#judgeRooms()
    this.#plant({
      time: this.#time, store: this.#store, instances: this.#instances, servers: this.#servers,
      records: this.#records, sessions: this.#sessions, isStorm: this.#isStorm,
    })
  }

  /** A room runs in one process, unless the store has lost a claim. */
  #judgeRooms(): void {
    if (this.#store.losses > this.#losses) [this.#losses, this.#lostAt] = [this.#store.losses, this.#now]
    const rooms = this.#servers.flatMap((server) => server.process.isDead ? [] : server.runningRooms)
    const twice = rooms.find((room, at) => rooms.indexOf(room) !== at)
    const isCertain = this.#now > this.#lostAt + MOVE_MS_MAX
    hold(twice === undefined || !isCertain, 'I52', () => `room ${twice} runs in two game servers`)
  }

  #clear(): void {
    this.#isStorm = false
    this.#store.fault = 'none'
    this.#isDiskFull = false
    this.#processes.forEach((process) => { process.frozenUntil = Math.min(process.frozenUntil, this.#now) })
    this.#instances.forEach(({ process }, index) => process.isDead && this.#startInstance(index))
    this.#servers.forEach(({ process }, index) => process.isDead && this.#startServer(index))
    this.#hosts.forEach(({ process }, index) => process.isDead && this.#startHost(index))
  }

  async #check(): Promise<void> {
    const living = this.#servers.map(({ member }) => member.id).sort()
    const listed = this.#hosts.map(({ listing }) => listing?.id ?? 'none').sort()
    for (const { servers, listings, process: { name } } of this.#instances) {
      const known = servers.all.map(({ id }) => id).sort()
      hold(`${known}` === `${living}`, 'I50', () => `${name} lists the servers ${known}, and there are ${living}`)
      const games = [...listings.games.keys()].sort()
      hold(`${games}` === `${listed}`, 'I50', () => `${name} lists the games ${games}, and there are ${listed}`)
    }
    for (const { session } of this.#hosts) {
      const found = session && this.#sessions.find(this.#now, session.code, session.key)
      hold(found?.id === session?.id, 'I51', () => `the code ${session?.code} leads to ${found?.id}`)
    }
    this.#counts['results'] = await this.#players.check(this.#records)
  }

}
