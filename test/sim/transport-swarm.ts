/**
 * A world of endpoints on the simulated network, determined by one seed: a server, one to eight clients, weather, and
 * user actions.
 *
 * Storm: messages of all kinds on a drawn set of channels, joins, leaves, kicks, moves, new keys, deaths of the server,
 * while a random part of all faults is active. Calm: every client must be connected within 5 s and have received
 * everything within 10 s. End: every client leaves, and nothing may be left.
 *
 * Invariants are those of `invariants.ts`; the first violation ends the world.
 */

import { ChannelSet, type ChannelSpec } from '../../packages/tickwire/src/core/channel/channel-set.ts'
import type { CloseReason } from '../../packages/tickwire/src/core/connection/close-reason.ts'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import type { ConnectionTimers } from '../../packages/tickwire/src/core/connection/timers.ts'
import { KEY_OVERLAP_MS } from '../../packages/tickwire/src/core/base/limits.ts'
import type { CryptoProvider } from '../../packages/tickwire/src/core/crypto/provider.ts'
import { FragmentPool, FragmentQuota } from '../../packages/tickwire/src/core/delivery/fragment-pool.ts'
import { type Endpoint, createEndpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import type { EndpointSecurity } from '../../packages/tickwire/src/core/endpoint/endpoint-security.ts'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'
import { SimClock } from '../../packages/tickwire/src/testing/sim-clock.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { SimNet } from '../../packages/tickwire/src/testing/sim-net.ts'
import { SimNetActor } from '../../packages/tickwire/src/testing/sim-net-actor.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'
import { type NetWeather, calm } from '../../packages/tickwire/src/testing/weather.ts'
import { drawWeather } from '../../packages/tickwire/src/testing/weather-draw.ts'
import { DatagramWatch } from './invariants-datagrams.ts'
import { Session } from './invariants-session.ts'
import { type Violation, hold, violationOf } from './invariants.ts'
import { type Tempo, drawChannels, drawTempo, drawTimers } from './transport-swarm-draw.ts'
import * as judge from './transport-swarm-judge.ts'
import { Party, type Role, type Talk } from './transport-swarm-party.ts'
import { ReusingRouter } from './transport-swarm-router.ts'
import { type WorldCounts, type WorldReport, describeWaiting, newCounts } from './transport-swarm-report.ts'
import { Trace } from './trace.ts'

const KIND = 1
/** One tick: every node that is awake is woken once, whatever else wakes it in between. */
const TICK_MS = 1000 / 60
const CONNECTED_MS = 5000
const DRAINED_MS = 10_000
/** How long the sides go on sending once it is calm. */
const CALM_TALK_MS = 1000
const GONE_MS = 2000
/** How much longer than its period an exchange of keys may take, in the calm. */
const KEYS_SLACK_MS = 3000
/** One seed in this many is played with real cryptography. */
const REAL_CRYPTO_EVERY = 20

/** Plays the world of a seed, in its own weather or in the one given. */
export function playWorld(seed: number, weather: NetWeather = drawWeather(seed, { without: [] })): WorldReport {
  return new World(seed, weather).play()
}

/** One world. */
export class World {
  readonly trace = new Trace()
  readonly datagrams: DatagramWatch
  readonly pool = new FragmentPool()
  readonly counts: WorldCounts = newCounts()
  readonly seats: number
  /** The party that runs now, for the report of a violation. */
  current: Party | undefined
  readonly #seed: number
  readonly #weather: NetWeather
  readonly #dice: Dice
  readonly #clock = new SimClock()
  readonly #net: SimNet
  readonly #router: ReusingRouter
  readonly #crypto: CryptoProvider
  readonly #timers: Partial<ConnectionTimers>
  readonly #specs: readonly ChannelSpec[]
  readonly #security: EndpointSecurity
  readonly #server: Party
  readonly #clients: readonly Party[]
  readonly #parties: readonly Party[]
  readonly #actors: readonly SimNetActor[]
  /** Both sides of a session find each other by its number; a reason waits here for the other side's. */
  readonly #sessions = new Map<number, Session>()
  readonly #reasons = new Map<number, CloseReason>()
  readonly #tempo: Tempo
  /** A relay between the others, which sends their datagrams on from its own address. */
  readonly #thief: Dice
  readonly #steals: number
  #isStormy = true
  #isParting = false
  #endpointTicks = 0
  #violation: Violation | undefined

  constructor(seed: number, weather: NetWeather) {
    this.#seed = seed
    this.#weather = weather
    const dice = this.#dice = new Dice(seed ^ 0x7a4f)
    this.datagrams = new DatagramWatch(this.trace)
    this.#crypto = this.#isReal ? bestProvider() : new StubCrypto()
    this.#tempo = drawTempo(dice)
    this.#thief = new Dice(seed ^ 0x7e1f)
    this.#steals = this.#thief.chance(0.4) ? 0.05 * this.#thief.fraction() : 0
    this.#timers = drawTimers(dice)
    this.#specs = drawChannels(dice)
    const rekey = dice.chance(0.7)
      ? { afterPackets: 20 + Math.floor(200 * dice.fraction()), afterMs: 500 + 8000 * dice.fraction() }
      : {}
    const identity = new Uint8Array(32)
    dice.fill(identity)
    this.#security = { provider: this.#crypto, rekey, identity, resetSecret: identity }
    const count = 1 + (dice.word() % 8)
    this.seats = count + 1
    this.#net = new SimNet({ seed, weather })
    this.#router = new ReusingRouter(this.#net, seed, this.counts)
    this.#server = new Party(this, this.#net.addNode('server', { isFixed: true }), 'server', (party) =>
      this.#endpointOf(party, 0),
    )
    this.#clients = Array.from({ length: count }, (_, index) => this.#addClient(index))
    this.#parties = [this.#server, ...this.#clients]
    this.#actors = this.#parties.map((party) => new SimNetActor(this.#net, party.node, this.#clock, party))
  }

  get now(): number {
    return this.#clock.now
  }

  /** Plays to the end, or to the first violation. */
  play(): WorldReport {
    try {
      this.#storm(8000 + 8000 * this.#dice.fraction())
      this.#settle()
      this.#part()
    } catch (error) {
      this.#violation = violationOf(error, this.now, this.current?.node.name ?? 'the world')
    }
    const clocks = { jumps: 0, sleeps: 0, pauses: 0, stalls: 0 }
    for (const { clock } of this.#net.nodes) {
      for (const key of ['jumps', 'sleeps', 'pauses', 'stalls'] as const) clocks[key] += clock.tally[key]
    }
    return {
      seed: this.#seed,
      violation: this.#violation,
      weather: this.#weather,
      endpointTicks: this.#endpointTicks,
      simulatedMs: this.now,
      traceHash: this.trace.hex,
      tally: this.#net.tally,
      moves: this.#net.moves,
      clocks,
      counts: this.counts,
      datagrams: this.datagrams.counts,
      isReal: this.#isReal,
    }
  }

  /** A client connects. */
  connect(now: number, party: Party): void {
    const session = new Session(this.#sessions.size + 1, this.#specs)
    this.#sessions.set(session.number, session)
    const user = Uint8Array.of(
      session.number,
      session.number >>> 8,
      session.number >>> 16,
      party.role === 'unwelcome' ? 1 : 0,
    )
    const pass = party.role === 'misled' ? { server: new Uint8Array(32).fill(7) } : {}
    party.endpoint.connect(now, this.#server.node.address, user, pass)
  }

  /** Whether a relay takes a client's datagram and sends it on from its own address; the client has not moved. */
  isStolen(from: Party, bytes: Uint8Array, length: number): boolean {
    if (this.#steals === 0 || !this.#isStormy || !this.#thief.chance(this.#steals)) return false
    const by = this.#clients[this.#thief.word() % this.#clients.length]!
    if (by === from) return false
    this.counts.stolen++
    this.#net.send(this.now, by.node, this.#server.node.address, bytes, length)
    return true
  }

  /** How long a client that has lost or left its connection stays away. */
  drawAbsenceMs(role: Role): number {
    // A client that is refused again and again must not dominate the run.
    if (role !== 'player') return 500 + 2000 * this.#dice.fraction()
    return this.#isStormy ? 50 + 2000 * this.#dice.fraction() ** 2 : 50
  }

  /** One side of a session is gone with its process. It may have sent its reason before. */
  handleDeath(talk: Talk): void {
    const { closeReason } = talk.connection
    if (closeReason !== undefined) this.#reasons.set(talk.session.number, closeReason)
  }

  /** One side of a session has ended: the reason that the other side received must be the one that this side sent. */
  handleClosed(party: Party, talk: Talk, reason: CloseReason): void {
    const { closes } = this.counts
    const name = `${reason.by} ${reason.code}`
    closes.set(name, (closes.get(name) ?? 0) + 1)
    this.counts.pathMoves += talk.connection.stats.pathMoves
    const isServer = party.role === 'server'
    const isOther = (each: Talk): boolean => each.session === talk.session
    const far = (isServer ? this.#clients : [this.#server]).flatMap(({ talks }) => talks).find(isOther)
    const other = far?.connection.closeReason ?? this.#reasons.get(talk.session.number)
    const client = isServer ? this.#clients.find(({ talks }) => talks.some(isOther)) : party
    judge.judgeHonesty(reason, client)
    this.#reasons.set(talk.session.number, reason)
    if (this.#isParting && talk.isOpened && party.role === 'player') judge.judgeShutdown(reason)
    if (reason.by === 'peer') judge.judgeReason(reason, other)
  }

  get #isReal(): boolean {
    return this.#seed % REAL_CRYPTO_EVERY === 0
  }

  #addClient(index: number): Party {
    const luck = this.#dice.fraction()
    const role: Role =
      index === 0 || luck > 0.16
        ? 'player'
        : luck > 0.12
          ? 'stranger'
          : luck > 0.08
            ? 'unwelcome'
            : luck > 0.04
              ? 'vandal'
              : 'misled'
    const party = new Party(this, this.#net.addNode(`client ${index}`), role, (self) =>
      this.#endpointOf(self, index + 1),
    )
    party.comesAt = this.#dice.chance(0.5) ? 0 : 3000 * this.#dice.fraction()
    return party
  }

  #endpointOf(party: Party, number: number): Endpoint {
    const { role } = party
    const isServer = role === 'server'
    const { identity, ...security } = this.#security
    return createEndpoint({
      fingerprint: new Uint8Array(8).fill(role === 'stranger' ? 9 : 0),
      entropy: new Dice(this.#seed * 31 + number + this.counts.restarts * 1009),
      maxConnections: isServer ? this.seats : 0,
      timers: this.#timers,
      security: isServer && identity !== undefined ? { ...security, identity } : security,
      admit: ({ user }) => (user[3] === 1 ? undefined : new Uint8Array(4)),
      assemble: (connection) => this.#assemble(party, connection),
    })
  }

  #assemble(party: Party, connection: Connection): void {
    const quota = new FragmentQuota(this.pool)
    const set = new ChannelSet(this.#specs, quota)
    for (const source of set.sources) connection.addSource(KIND, source)
    connection.addSource(KIND, party.vandalism)
    connection.addSink(KIND, set)
    const { user } = connection
    const session = this.#sessions.get(user[0]! | (user[1]! << 8) | (user[2]! << 16))
    hold(session !== undefined, 'I6', () => 'a connection that was never requested')
    if (session !== undefined)
      party.talks.push({
        connection,
        set,
        quota,
        session,
        listenedAt: 0,
        state: connection.state,
        isOpened: false,
        pathMoves: 0,
      })
  }

  #storm(ms: number): void {
    for (const end = this.now + ms; this.now < end;) {
      this.#talk()
      this.#stir()
      this.#tick()
    }
  }

  #settle(): void {
    this.#isStormy = false
    this.#net.setWeather(this.now, calm())
    const since = this.now
    for (const party of this.#clients)
      if (party.comesAt !== Infinity) party.comesAt = Math.min(party.comesAt, party.node.clock.localAt(this.now))
    for (;;) {
      const passed = this.now - since
      if (passed < CALM_TALK_MS) this.#talk()
      else {
        const lost = this.#clients.find((party) => !judge.isConnected(party, this.#server))
        this.current = lost
        hold(
          lost === undefined || passed < CONNECTED_MS,
          'I17',
          () => `is not connected, or not at its known address, ${CONNECTED_MS} ms after the weather cleared`,
        )
        const waiting = this.#parties.find((party) => party.talks.some((talk) => !judge.isDrained(talk, this.#specs)))
        if (lost === undefined && waiting === undefined) {
          this.#checkKeys()
          return
        }
        this.current = waiting
        hold(
          waiting === undefined || passed < DRAINED_MS,
          'I18',
          () => `${DRAINED_MS} ms after the weather cleared, ${describeWaiting(waiting)}`,
        )
      }
      this.#tick()
    }
  }

  /** In every eighth world the calm lasts until all keys must have been replaced. */
  #checkKeys(): void {
    const { afterMs = Infinity } = this.#security.rekey ?? {}
    if (this.#seed % 8 !== 3 || afterMs > 5000) return
    const before = new Map(this.#server.talks.map(({ connection }) => [connection, this.datagrams.epochOf(connection)]))
    for (const end = this.now + afterMs + KEY_OVERLAP_MS + KEYS_SLACK_MS; this.now < end;) {
      this.#talk()
      this.#tick()
    }
    this.current = this.#server
    for (const [connection, epoch] of before) {
      hold(
        !connection.isOpen || epoch === undefined || this.datagrams.epochOf(connection) !== epoch,
        'I8',
        () => `keys of ${afterMs} ms at most have not been replaced`,
      )
    }
  }

  /** The server shuts down, the clients stay away, and nothing may be left. */
  #part(): void {
    this.#isParting = true
    this.#server.endpoint.close(this.#server.node.clock.localAt(this.now))
    for (const end = this.now + GONE_MS; this.now < end;) {
      this.#tick()
      for (const party of this.#clients) party.comesAt = Infinity
    }
    for (const party of this.#parties) {
      this.current = party
      hold(
        !party.talks.some(({ isOpened }) => isOpened),
        'I16',
        () => `a connection outlives the server by ${GONE_MS} ms`,
      )
      // A client that was still connecting may go on connecting.
      party.restart(party.endpoint)
    }
    hold(this.pool.parts === 0 && this.pool.bytes === 0, 'I13', () => `${this.pool.parts} fragments are left`)
    judge.judgeTally(this.#net)
  }

  #tick(): void {
    const { now } = this
    for (let at = 0; at < this.#actors.length; at++) {
      const actor = this.#actors[at]!
      if (!actor.node.clock.isAwake(now)) continue
      this.#endpointTicks++
      actor.wake(now)
    }
    this.#clock.drive(TICK_MS)
    if (this.#steals === 0) return
    const moved = judge.movedTalk(this.#server, this.#clients)
    if (moved !== undefined) this.current = this.#server
    judge.judgeAddress(moved)
  }

  /** Every connected side may send something. */
  #talk(): void {
    const { say } = this.#tempo
    for (const party of this.#parties) {
      if (party.talks.length === 0 || !party.node.clock.isAwake(this.now)) continue
      for (const talk of party.talks) {
        if (!talk.connection.isOpen || !this.#dice.chance(say)) continue
        const channel = this.#dice.word() % this.#specs.length
        // A large message counts as much as twenty others.
        if (this.#specs[channel]!.isLarge !== true || this.#dice.chance(0.05)) party.say(talk, channel)
      }
    }
  }

  /** Leaves, kicks, moves and deaths, by chance. */
  #stir(): void {
    const { leave, kick, move, restart, cut } = this.#tempo
    const dice = this.#dice
    const server = this.#server
    this.#router.stir(this.now, this.#clients)
    for (const client of this.#clients) {
      const talk = client.talks[0]
      if (dice.chance(leave) && talk !== undefined && client.node.clock.isAwake(this.now))
        client.leave(client.node.clock.localAt(this.now), talk, 'left')
      if (dice.chance(move)) this.#net.rebind(this.now, client.node, dice.chance(0.5) ? 'port' : 'address')
    }
    if (!server.node.clock.isAwake(this.now)) return
    const any = server.talks[dice.word() % Math.max(1, server.talks.length)]
    if (dice.chance(kick) && any !== undefined) server.leave(server.node.clock.localAt(this.now), any, 'kicked')
    if (dice.chance(cut) && any !== undefined) server.endpoint.handlePathClosed(any.connection.address)
    if (!dice.chance(restart)) return
    this.counts.restarts++
    server.restart(this.#endpointOf(server, 0))
  }
}
